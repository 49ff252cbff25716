import { min, slice, toLowerCase } from "./intrinsics.ts";

/** The name most like `wanted`, when it is like enough to be what was meant. */
export function nearestName(wanted: string, names: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = wanted.length < 5 ? 2 : wanted.length * 0.4 + 1;
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    const distance = editDistance(toLowerCase(wanted), toLowerCase(name));
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}

/** Levenshtein over at most 64 characters. */
function editDistance(from: string, to: string): number {
  const a = slice(from, 0, 64);
  const b = slice(to, 0, 64);
  let row = new Uint8Array(b.length + 1);
  for (let column = 0; column <= b.length; column++) row[column] = column;
  for (let line = 1; line <= a.length; line++) {
    const next = new Uint8Array(b.length + 1);
    next[0] = line;
    for (let column = 1; column <= b.length; column++) {
      const change = slice(a, line - 1, line) === slice(b, column - 1, column) ? 0 : 1;
      next[column] = min((row[column] as number) + 1, (next[column - 1] as number) + 1, (row[column - 1] as number) + change);
    }
    row = next;
  }
  return row[b.length] as number;
}
