import { createBytePairs } from "./byte-pairs.ts";
import type { BytePairs } from "./byte-pairs.ts";
import { loadTokenTable } from "./load-token-table.ts";

/** Counts o200k tokens: the unit of every budget. */
export interface TokenCounter {
  /** Exact for ordinary text of any length the caller can afford (about 5 MB/s); see `estimate` for the rest. */
  count(text: string): number;
  /** The count, or undefined as soon as it is over `limit`: costs no more than counting `limit` tokens. */
  within(text: string, limit: number): number | undefined;
  /** Exact up to 16,000 characters, beyond that projected from three samples. */
  estimate(text: string): number;
}

/** The table of o200k is 200,000 entries and takes 0.4 s to make, in a thread of its own, so it is made once it is needed. */
export interface LazyTokenCounter {
  load(): Promise<TokenCounter>;
}

/** Longer pieces cost the square of their length in byte-pair merging (40,000 letters without a space: 3.5 s). */
const maxPieceChars = 200;
const sampleChars = 5_000;
/** The longest token of o200k is 128 blanks; for real text 64 is far beyond anything. */
const maxCharsPerToken = 64;

export function createLazyTokenCounter(): LazyTokenCounter {
  let loading: Promise<TokenCounter> | undefined;
  return {
    load() {
      // No text is a special token here: `<|endoftext|>` is the text it is.
      loading ??= Promise.all([loadTokenTable(), import("gpt-tokenizer/encodingParams/constants")]).then(([table, { O200K_TOKEN_SPLIT_REGEX }]) => createTokenCounter(createBytePairs(table, O200K_TOKEN_SPLIT_REGEX)));
      return loading;
    },
  };
}

function createTokenCounter(encoding: BytePairs): TokenCounter {
  function within(text: string, limit: number): number | undefined {
    if (limit < 0 || text.length > (limit + 1) * maxCharsPerToken) return undefined;
    let total = 0;
    for (const piece of pieces(text)) {
      const count = encoding.within(piece, limit - total);
      if (count === undefined) return undefined;
      total += count;
      if (total > limit) return undefined;
    }
    return total;
  }

  function count(text: string): number {
    let total = 0;
    for (const piece of pieces(text)) total += encoding.count(piece);
    return total;
  }

  return {
    count,
    within,
    estimate(text) {
      if (text.length <= sampleChars * 3) return count(text);
      const middle = Math.floor((text.length - sampleChars) / 2);
      const samples = [text.slice(0, sampleChars), text.slice(middle, middle + sampleChars), text.slice(-sampleChars)];
      return Math.round((samples.reduce((total, sample) => total + count(sample), 0) / (sampleChars * 3)) * text.length);
    },
  };
}

const longPiece = /[\p{L}\p{M}]{201,}|[^\s\p{L}\p{N}]{201,}|\s{201,}/u;
const longPieces = new RegExp(longPiece.source, "gu");

/** The text itself, or, where it holds very long unbroken runs, those in slices: at most one token more per 200 characters. */
function* pieces(text: string): Generator<string> {
  if (text.length <= maxPieceChars || !longPiece.test(text)) {
    yield text;
    return;
  }
  let start = 0;
  for (const { index, 0: run } of text.matchAll(longPieces)) {
    if (index > start) yield text.slice(start, index);
    for (let offset = 0; offset < run.length; offset += maxPieceChars) yield run.slice(offset, offset + maxPieceChars);
    start = index + run.length;
  }
  if (start < text.length) yield text.slice(start);
}

/**
 * The longest start of `text` (or its end) that is within `tokens`, cut between characters.
 * Costs a few counts of about `tokens` tokens, whatever the length of the text.
 */
export function cutToTokens(text: string, tokens: number, options: { readonly counter: TokenCounter; readonly from?: "start" | "end" }): string {
  const { counter, from = "start" } = options;
  if (tokens <= 0) return "";
  if (counter.within(text, tokens) !== undefined) return text;
  let chars = Math.min(text.length, tokens * 8);
  for (;;) {
    const part = from === "start" ? trimEnd(text.slice(0, chars)) : trimStart(text.slice(text.length - chars));
    if (counter.within(part, tokens) !== undefined) return part;
    const count = counter.count(part);
    chars = Math.min(chars - 1, Math.floor((chars * tokens) / count));
    if (chars <= 0) return "";
  }
}

function trimEnd(part: string): string {
  return isHighSurrogate(part.charCodeAt(part.length - 1)) ? part.slice(0, -1) : part;
}

function trimStart(part: string): string {
  const first = part.charCodeAt(0);
  return first >= 0xdc00 && first <= 0xdfff ? part.slice(1) : part;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
