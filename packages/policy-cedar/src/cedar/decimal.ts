// Cedar has no floating point. Its decimals have four places and 64 bits; a number of JSON is put between two of them.

const scale = 4;
const maxUnits = 2n ** 63n - 1n;
const minUnits = -(2n ** 63n);

/** The nearest decimals below and above a number, equal where it is one itself. */
export interface DecimalBounds {
  readonly low: string;
  readonly high: string;
}

/**
 * The decimals around a number, by its shortest decimal form (0.1 is 0.1). Beyond their range both are the last there is.
 *
 * With `low` and `high` every comparison with a decimal t that is not itself one of the two last is exact: x > t if high > t,
 * x >= t if low >= t, x < t if low < t, x <= t if high <= t, x = t if low = t = high. So neither 1.00001 nor 1e30 is ever
 * taken for something it is not.
 *
 * @returns undefined for what is no finite number
 */
export function decimalBounds(number: number | bigint): DecimalBounds | undefined {
  const units = unitsOf(number);
  return units === undefined ? undefined : { low: decimalText(clamp(units.floor)), high: decimalText(clamp(units.isExact ? units.floor : units.floor + 1n)) };
}

/** The decimal that a number is, as Cedar writes it; or why there is none, with what to write instead. */
export function exactDecimal(number: number): { readonly kind: "decimal"; readonly text: string } | { readonly kind: "none"; readonly problem: string } {
  const units = unitsOf(number);
  if (units === undefined) return { kind: "none", problem: "is no number" };
  if (!units.isExact) return { kind: "none", problem: `${number} has more than four decimal places; write ${decimalText(clamp(units.floor))} or ${decimalText(clamp(units.floor + 1n))}` };
  if (units.floor >= maxUnits || units.floor <= minUnits) return { kind: "none", problem: `${number} is beyond what can be compared, 922337203685477; write a smaller one` };
  return { kind: "decimal", text: decimalText(units.floor) };
}

interface Units {
  /** Ten-thousandths, rounded down. */
  readonly floor: bigint;
  readonly isExact: boolean;
}

/** More digits before the point than any decimal has. */
const farDigits = 40;

function unitsOf(number: number | bigint): Units | undefined {
  if (typeof number === "bigint") return { floor: number > maxUnits ? maxUnits : number < minUnits ? minUnits : number * 10n ** BigInt(scale), isExact: true };
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(number)) ?? [];
  if (whole === "") return undefined;
  const digits = BigInt(`${sign}${whole}${fraction}`);
  const shift = Number(exponent) - fraction.length + scale;
  if (digits === 0n) return { floor: 0n, isExact: true };
  if (shift > farDigits) return { floor: digits > 0n ? maxUnits : minUnits, isExact: true };
  if (shift >= 0) return { floor: digits * 10n ** BigInt(shift), isExact: true };
  const divisor = 10n ** BigInt(-shift);
  const isExact = digits % divisor === 0n;
  const towardsZero = digits / divisor;
  return { floor: isExact || digits > 0n ? towardsZero : towardsZero - 1n, isExact };
}

function clamp(units: bigint): bigint {
  return units > maxUnits ? maxUnits : units < minUnits ? minUnits : units;
}

function decimalText(units: bigint): string {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, "0");
  return `${units < 0n ? "-" : ""}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}
