/**
 * The tokens of an encoding as flat memory: built in a worker thread, handed over without a copy, looked up by bytes.
 * As JavaScript strings and maps the same table is 100 MB and holds up the event loop for 0.3 s when it is made.
 */
export interface TokenTable {
  /** The bytes of all tokens, in the order of their ranks. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Where each token begins in `bytes`; one more for the end of the last. */
  readonly starts: Uint32Array<ArrayBuffer>;
  /** Hash → rank + 1, or 0; a token whose slot is taken is in the next free one. Its length is a power of two. */
  readonly slots: Uint32Array<ArrayBuffer>;
}

/** @param tokens by rank: text, or bytes where they are no text */
export function buildTokenTable(tokens: readonly (string | readonly number[])[]): TokenTable {
  // A UTF-16 unit is three bytes of UTF-8 at most.
  const bytes = Buffer.alloc(tokens.reduce((sum, { length }) => sum + length * 3, 0));
  const starts = new Uint32Array(tokens.length + 1);
  // A third full: most look-ups meet the right token, or an empty slot, at once.
  const slots = new Uint32Array(2 ** Math.ceil(Math.log2(tokens.length * 2)));
  let end = 0;
  tokens.forEach((token, rank) => {
    const start = end;
    end = typeof token === "string" ? writeToken(bytes, start, token) : start + Buffer.from(token).copy(bytes, start);
    starts[rank + 1] = end;
    let slot = hashOf(bytes, start, end) & (slots.length - 1);
    while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1);
    slots[slot] = rank + 1;
  });
  return { bytes: new Uint8Array(bytes.subarray(0, end)), starts, slots };
}

/** Returns where it ends. A call of the platform's encoder costs more than a token of a few ASCII letters. */
function writeToken(bytes: Buffer, start: number, token: string): number {
  for (let index = 0; index < token.length; index += 1) {
    const unit = token.charCodeAt(index);
    if (unit > 0x7f) return start + bytes.write(token, start);
    bytes[start + index] = unit;
  }
  return start + token.length;
}

/** Rank of the token with the bytes of `text` from `from` to `to`, or undefined when there is none. */
export function rankOf({ bytes, starts, slots }: TokenTable, text: Uint8Array, [from, to]: readonly [number, number]): number | undefined {
  const mask = slots.length - 1;
  for (let slot = hashOf(text, from, to) & mask; ; slot = (slot + 1) & mask) {
    const rank = (slots[slot] ?? 0) - 1;
    if (rank < 0) return undefined;
    const start = starts[rank] ?? 0;
    if ((starts[rank + 1] ?? 0) - start !== to - from) continue;
    let same = 0;
    while (same < to - from && bytes[start + same] === text[from + same]) same += 1;
    if (same === to - from) return rank;
  }
}

/** FNV-1a, with its upper half folded in. */
function hashOf(text: Uint8Array, from: number, to: number): number {
  let hash = 0x811c9dc5;
  for (let index = from; index < to; index += 1) hash = Math.imul(hash ^ (text[index] ?? 0), 0x01000193);
  return hash ^ (hash >>> 15);
}
