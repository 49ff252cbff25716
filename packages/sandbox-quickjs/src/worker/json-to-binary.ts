// The engine reads its own binary form of plain data four times as fast as it parses JSON, which is most of what a large
// result costs (docs/decisions/0017). So the worker rewrites the text, byte by byte and without building the value. The
// form is that of the one build in engine/abi.ts:
//
//   version, number of names, names as strings, value
//   value   1 null · 3 false · 4 true · 5 int32 · 6 float64 · 7 string · 8 object · 9 array
//   int32   zigzag, then 7 bits a byte      string  2 × length, + 1 when its units are 16 bits wide, then the units
//   array   number of items, items          object  number of properties, each 2 × (number of its name, from 1) and value

import type { BinaryNames } from "./binary-names.ts";
import { createBinaryNames } from "./binary-names.ts";
import { NotCompact, quote, stringEnd, unplainAt, writeCount, writeUnits } from "./json-bytes.ts";

const version = 5;
const [nullTag, falseTag, trueTag, intTag, doubleTag, stringTag, objectTag, arrayTag] = [1, 3, 4, 5, 6, 7, 8, 9];
const [comma, minus, dot, colon, zero, nine] = [0x2c, 0x2d, 0x2e, 0x3a, 0x30, 0x39];
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];
const [plus, lowerE, upperE, lowerN, lowerT, backslash] = [0x2b, 0x65, 0x45, 0x6e, 0x74, 0x5c];
/** Deeper data is left to JSON.parse; the codec writes 200 at most. */
const maxDepth = 256;
/** Characters of a string whose length takes one byte. */
const maxShort = 63;
/** What any value takes beside its characters. */
const slack = 32;
/** Numbers of items are known at the end: five bytes are kept for each, which the engine reads as any other number. */
const countBytes = 5;

/** Where the rewriting is. Room for the fixed part of a value is made before it, so that single bytes need no check. */
interface Rewriting {
  readonly text: Buffer;
  readonly names: BinaryNames;
  /** In the text. */
  at: number;
  out: Buffer;
  /** In the output. */
  to: number;
}

/**
 * The engine's binary form of a JSON text, or undefined when the text is not as `JSON.stringify` writes it (white space,
 * anything malformed, very deep): then the engine's own parser has to look at it.
 */
export function jsonToBinary(json: string): Uint8Array | undefined {
  const text = Buffer.from(json);
  const state: Rewriting = { text, names: createBinaryNames(text), at: 0, out: Buffer.allocUnsafeSlow(text.length + 1024), to: 0 };
  try {
    rewrite(state, 0);
  } catch (thrown) {
    if (thrown instanceof NotCompact || thrown instanceof SyntaxError) return undefined;
    throw thrown;
  }
  if (state.at !== text.length) return undefined;
  return Buffer.concat([Buffer.of(version), state.names.listed(), state.out.subarray(0, state.to)]);
}

function makeRoom(state: Rewriting, bytes: number): void {
  const { out, to } = state;
  if (to + bytes + slack <= out.length) return;
  state.out = Buffer.allocUnsafeSlow(Math.max(out.length * 2, to + bytes + slack));
  out.copy(state.out, 0, 0, to);
}

function rewrite(state: Rewriting, depth: number): void {
  makeRoom(state, 0);
  const first = state.text[state.at] as number;
  if (first === quote) return rewriteString(state);
  if ((first >= zero && first <= nine) || first === minus) return rewriteNumber(state);
  if (depth === maxDepth) throw new NotCompact();
  if (first === openObject) return rewriteObject(state, depth + 1);
  if (first === openArray) return rewriteArray(state, depth + 1);
  if (first === lowerN) return rewriteWord(state, "null", nullTag);
  if (first === lowerT) return rewriteWord(state, "true", trueTag);
  return rewriteWord(state, "false", falseTag);
}

function rewriteWord(state: Rewriting, letters: string, tag: number): void {
  const { text, at } = state;
  if (text.toString("latin1", at, at + letters.length) !== letters) throw new NotCompact();
  state.at += letters.length;
  state.out[state.to++] = tag;
}

/** Up to nine digits are read here; everything else that looks like a number by the platform. */
function rewriteNumber(state: Rewriting): void {
  const { text, at } = state;
  const isNegative = text[at] === minus;
  const first = isNegative ? at + 1 : at;
  let value = 0;
  let end = first;
  for (; end - first < 10; end++) {
    const digit = (text[end] as number) - zero;
    if (!(digit >= 0 && digit <= 9)) break;
    value = value * 10 + digit;
  }
  const digits = end - first;
  const next = text[end];
  const isInteger = digits > 0 && digits < 10 && next !== dot && next !== lowerE && next !== upperE && (digits === 1 || text[first] !== zero);
  state.at = end;
  if (isInteger && !(isNegative && value === 0)) writeInteger(state, isNegative ? -value : value);
  else rewriteOtherNumber(state, at);
}

function rewriteOtherNumber(state: Rewriting, start: number): void {
  const { text } = state;
  while (isNumberPart(text[state.at])) state.at++;
  const value: unknown = JSON.parse(text.toString("latin1", start, state.at));
  if (typeof value !== "number") throw new NotCompact();
  if ((value | 0) === value && !Object.is(value, -0)) return writeInteger(state, value);
  state.out[state.to++] = doubleTag;
  state.to = state.out.writeDoubleLE(value, state.to);
}

function isNumberPart(byte: number | undefined): boolean {
  return byte !== undefined && ((byte >= zero && byte <= nine) || byte === dot || byte === minus || byte === plus || byte === lowerE || byte === upperE);
}

function writeInteger(state: Rewriting, value: number): void {
  state.out[state.to] = intTag;
  state.to = writeCount(state.out, state.to + 1, ((value << 1) ^ (value >> 31)) >>> 0);
}

/** Short and plain, as most are, it is copied while its end is looked for. */
function rewriteString(state: Rewriting): void {
  makeRoom(state, maxShort);
  const { text, out, to } = state;
  const start = state.at + 1;
  const stop = start + maxShort;
  const ahead = to + 2 - start;
  let end = start;
  for (; end < stop; end++) {
    const byte = text[end] as number;
    if (!(byte >= 0x20 && byte <= 0x7e) || byte === quote || byte === backslash) break;
    out[ahead + end] = byte;
  }
  out[to] = stringTag;
  if (text[end] !== quote) return rewriteLongString(state, start);
  out[to + 1] = (end - start) * 2;
  state.to = ahead + end;
  state.at = end + 1;
}

function rewriteLongString(state: Rewriting, start: number): void {
  const { text } = state;
  const end = unplainAt(text, start);
  const isPlain = text[end] === quote;
  state.at = (isPlain ? end : stringEnd(text, end)) + 1;
  const value = isPlain ? text.toString("latin1", start, end) : (JSON.parse(text.toString("utf8", start - 1, state.at)) as string);
  state.to += 1;
  makeRoom(state, value.length * 2);
  state.to = writeUnits(state.out, state.to, value);
}

function rewriteArray(state: Rewriting, depth: number): void {
  const { text } = state;
  const place = open(state, arrayTag);
  let count = 0;
  if (text[state.at] !== closeArray) {
    for (; ; state.at++) {
      rewrite(state, depth);
      count++;
      if (text[state.at] !== comma) break;
    }
  }
  close(state, { place, count, byte: closeArray });
}

function rewriteObject(state: Rewriting, depth: number): void {
  const { text, names } = state;
  const place = open(state, objectTag);
  let count = 0;
  if (text[state.at] !== closeObject) {
    for (let name = 0; ; state.at++) {
      name = names.read(state.at, name);
      state.at = names.end;
      if (text[state.at] !== colon) throw new NotCompact();
      state.at++;
      makeRoom(state, 0);
      state.to = writeCount(state.out, state.to, name * 2);
      rewrite(state, depth);
      count++;
      if (text[state.at] !== comma) break;
    }
  }
  close(state, { place, count, byte: closeObject });
}

function open(state: Rewriting, tag: number): number {
  const place = state.to + 1;
  state.out[state.to] = tag;
  state.to = place + countBytes;
  state.at++;
  return place;
}

function close(state: Rewriting, { place, count, byte }: { readonly place: number; readonly count: number; readonly byte: number }): void {
  if (state.text[state.at] !== byte) throw new NotCompact();
  state.at++;
  let left = count;
  for (let index = 0; index < countBytes - 1; index++) {
    state.out[place + index] = (left & 127) | 128;
    left >>>= 7;
  }
  state.out[place + countBytes - 1] = left;
}
