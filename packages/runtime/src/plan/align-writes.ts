import type { Digest } from "@callgate/contract";

interface Aligned {
  readonly tool: string;
  readonly argsDigest: Digest;
}

/**
 * Which write of one rehearsal is which of another, in their order: as many as possible, and of these as many with the same
 * arguments as possible.
 *
 * @returns for each of `ones` its counterpart among `others`; undefined: it has none
 */
export function alignWrites<Write extends Aligned>(ones: readonly Write[], others: readonly Write[]): readonly (Write | undefined)[] {
  const width = others.length + 1;
  const best = new Float64Array((ones.length + 1) * width);
  const at = (i: number, j: number): number => best[i * width + j] ?? 0;
  for (let i = ones.length - 1; i >= 0; i -= 1) {
    for (let j = others.length - 1; j >= 0; j -= 1) best[i * width + j] = Math.max(at(i + 1, j), at(i, j + 1), at(i + 1, j + 1) + likeness(ones[i], others[j]));
  }
  const pairs: (Write | undefined)[] = [];
  let j = 0;
  for (let i = 0; i < ones.length; i += 1) {
    while (j < others.length && at(i, j) === at(i, j + 1)) j += 1;
    const alike = j < others.length && likeness(ones[i], others[j]) > 0 && at(i, j) === at(i + 1, j + 1) + likeness(ones[i], others[j]);
    pairs.push(alike ? others[j] : undefined);
    if (alike) j += 1;
  }
  return pairs;
}

/** That it is the same tool counts first; equal arguments decide between equals. */
function likeness(one: Aligned | undefined, other: Aligned | undefined): number {
  if (one === undefined || other === undefined || one.tool !== other.tool) return 0;
  return one.argsDigest === other.argsDigest ? 1_001 : 1_000;
}
