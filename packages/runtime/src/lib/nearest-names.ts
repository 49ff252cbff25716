import { distance } from "fastest-levenshtein";

/** Longer names are not compared: nobody misspells them, and the cost grows with the square of the length. */
const maxComparedChars = 200;

/**
 * The candidates a misspelt name may have meant, best first, at most `limit`.
 *
 * Case and separators (`_ - . /` and spaces) do not count; after that, at most a third of the letters (and at least one,
 * for names of three letters or more) may differ. Candidates that hold the whole name, or the reverse, come after those.
 * Ties are in code-unit order, so that the answer is the same every time.
 */
export function nearestNames(name: string, candidates: Iterable<string>, limit = 3): string[] {
  const wanted = plain(name);
  if (wanted === "" || wanted.length > maxComparedChars) return [];
  const ranked: { candidate: string; rank: number }[] = [];
  for (const candidate of candidates) {
    const rank = rankOf(wanted, plain(candidate));
    if (rank !== undefined) ranked.push({ candidate, rank });
  }
  ranked.sort((a, b) => a.rank - b.rank || (a.candidate < b.candidate ? -1 : 1));
  return ranked.slice(0, limit).map(({ candidate }) => candidate);
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[-_./\s]+/g, "");
}

/** Levenshtein's distance, but for two letters in the wrong order, the commonest slip, which counts as one. */
function editsBetween(a: string, b: string): number {
  const edits = distance(a, b);
  return edits === 2 && a.length === b.length && lettersOf(a) === lettersOf(b) ? 1 : edits;
}

function lettersOf(name: string): string {
  return Array.from(name).sort().join("");
}

/** Smaller is nearer; undefined when the two have nothing to do with each other. */
function rankOf(wanted: string, candidate: string): number | undefined {
  if (candidate === "" || candidate.length > maxComparedChars) return undefined;
  const longest = Math.max(wanted.length, candidate.length);
  const allowed = longest < 3 ? 0 : Math.max(1, Math.floor(longest / 3));
  if (Math.abs(wanted.length - candidate.length) <= allowed) {
    const edits = editsBetween(wanted, candidate);
    if (edits <= allowed) return edits / longest;
  }
  const shorter = Math.min(wanted.length, candidate.length);
  return shorter >= 4 && (wanted.includes(candidate) || candidate.includes(wanted)) ? 2 - shorter / longest : undefined;
}
