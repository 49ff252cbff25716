/** A share with the bounds between which the true one lies in 95 of 100 cases. */
export interface Rate {
  readonly rate: number;
  readonly low: number;
  readonly high: number;
}

/** Two-sided 95 %. */
const z = 1.959964;

/** Wilson score interval: right also for few tries, and for none or all of them passed. Of no tries nothing is known: 0 to 1. */
export function wilson(passed: number, tries: number): Rate {
  if (tries === 0) return { rate: 0, low: 0, high: 1 };
  const rate = passed / tries;
  const middle = rate + (z * z) / (2 * tries);
  const spread = z * Math.sqrt((rate * (1 - rate)) / tries + (z * z) / (4 * tries * tries));
  const whole = 1 + (z * z) / tries;
  return { rate, low: Math.max(0, (middle - spread) / whole), high: Math.min(1, (middle + spread) / whole) };
}

/**
 * The chance that `k` tries of one case, drawn from those that were made, have all passed: C(passed, k) / C(tries, k).
 * Undefined where fewer than `k` were made.
 */
export function passHat(k: number, { passed, tries }: { readonly passed: number; readonly tries: number }): number | undefined {
  if (tries < k) return undefined;
  let chance = 1;
  for (let drawn = 0; drawn < k; drawn += 1) chance *= Math.max(0, passed - drawn) / (tries - drawn);
  return chance;
}

/** The value below which `share` of the values lie, by nearest rank; 0 of none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** `98.5 %`, of a share from 0 to 1. */
export function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
