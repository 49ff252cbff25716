import { closest, distance } from "fastest-levenshtein";

/** The candidate nearest to a misspelt word, when it is near enough to be meant. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  if (candidates.length === 0) return undefined;
  const found = closest(word.toLowerCase(), candidates.map((candidate) => candidate.toLowerCase()));
  const match = candidates.find((candidate) => candidate.toLowerCase() === found);
  return distance(word.toLowerCase(), found) <= Math.max(2, Math.floor(word.length / 3)) ? match : undefined;
}
