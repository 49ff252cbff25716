import { rankOf } from "./token-table.ts";
import type { TokenTable } from "./token-table.ts";

/** Counts the tokens of texts by byte-pair encoding: words are cut off by `split`, and each is a token or is merged from its bytes. */
export interface BytePairs {
  count(text: string): number;
  /** The count, or undefined as soon as it is over `limit`. */
  within(text: string, limit: number): number | undefined;
}

/** Words whose count is remembered; most texts repeat theirs. Then it starts over. */
const maxKnownWords = 4_096;

/** @param split global; its matches are the words, one after the other */
export function createBytePairs(table: TokenTable, split: RegExp): BytePairs {
  const encoder = new TextEncoder();
  const known = new Map<string, number>();
  let bytes = new Uint8Array(256);

  function countWord(word: string): number {
    if (word.length * 3 > bytes.length) bytes = new Uint8Array(word.length * 6);
    const length = encoder.encodeInto(word, bytes).written;
    return length === 1 || rankOf(table, bytes, [0, length]) !== undefined ? 1 : countMerged(table, bytes, length);
  }

  function countKnown(word: string): number {
    let count = known.get(word);
    if (count !== undefined) return count;
    count = countWord(word);
    if (known.size >= maxKnownWords) known.clear();
    known.set(word, count);
    return count;
  }

  function within(text: string, limit: number): number | undefined {
    let total = 0;
    for (const [word] of text.matchAll(split)) {
      total += countKnown(word);
      if (total > limit) return undefined;
    }
    return total;
  }

  return { within, count: (text) => within(text, Number.POSITIVE_INFINITY) ?? 0 };
}

/** Merges the pair of neighbours with the lowest rank until no two neighbours make a token; what is left is the count. */
function countMerged(table: TokenTable, bytes: Uint8Array, length: number): number {
  // Parts begin at `starts`; `ranks[i]` is the rank of part i and its right neighbour together.
  const starts = Array.from({ length: length + 1 }, (_, index) => index);
  const rankAt = (index: number): number => {
    const [from, to] = [starts[index], starts[index + 2]];
    return from === undefined || to === undefined ? Number.POSITIVE_INFINITY : (rankOf(table, bytes, [from, to]) ?? Number.POSITIVE_INFINITY);
  };
  const ranks = starts.slice(1).map((_, index) => rankAt(index));
  for (;;) {
    let best = -1;
    let lowest = Number.POSITIVE_INFINITY;
    for (const [index, rank] of ranks.entries()) {
      if (rank < lowest) [best, lowest] = [index, rank];
    }
    if (best < 0) return starts.length - 1;
    starts.splice(best + 1, 1);
    ranks.splice(best + 1, 1);
    ranks[best] = rankAt(best);
    if (best > 0) ranks[best - 1] = rankAt(best - 1);
  }
}
