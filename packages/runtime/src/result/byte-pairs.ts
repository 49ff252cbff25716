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
  let room = newRoom(bytes.length);

  function countWord(word: string): number {
    if (word.length * 3 > bytes.length) {
      bytes = new Uint8Array(word.length * 6);
      room = newRoom(bytes.length);
    }
    const length = encoder.encodeInto(word, bytes).written;
    return length === 1 || rankOf(table, bytes, [0, length]) !== undefined ? 1 : countMerged(table, bytes.subarray(0, length), room);
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

/** Where the parts of a word begin, and the rank of each with its right neighbour. Kept from word to word: merging makes no garbage. */
interface Room {
  readonly starts: Uint32Array;
  readonly ranks: Uint32Array;
}

const newRoom = (bytes: number): Room => ({ starts: new Uint32Array(bytes + 1), ranks: new Uint32Array(bytes + 1) });

const noToken = 0xffff_ffff;

/** Merges the pair of neighbours with the lowest rank until no two neighbours make a token; what is left is the count. */
function countMerged(table: TokenTable, word: Uint8Array, { starts, ranks }: Room): number {
  let parts = word.length;
  const rankAt = (index: number): number => (index + 1 < parts ? (rankOf(table, word, [starts[index] ?? 0, starts[index + 2] ?? 0]) ?? noToken) : noToken);
  for (let index = 0; index <= parts; index += 1) starts[index] = index;
  for (let index = 0; index < parts; index += 1) ranks[index] = rankAt(index);
  for (;;) {
    let best = -1;
    let lowest = noToken;
    for (let index = 0; index < parts; index += 1) {
      const rank = ranks[index] ?? noToken;
      if (rank < lowest) [best, lowest] = [index, rank];
    }
    if (best < 0) return parts;
    starts.copyWithin(best + 1, best + 2, parts + 1);
    ranks.copyWithin(best + 1, best + 2, parts);
    parts -= 1;
    ranks[best] = rankAt(best);
    if (best > 0) ranks[best - 1] = rankAt(best - 1);
  }
}
