import { SafeTypeError, charCodeAt, codePointAt, fromCharCode, isArray, keys, slice } from "./intrinsics.ts";
import { utf8Encode, utf8Text } from "./text-coding.ts";

type Pair = readonly [name: string, value: string];

export interface SearchParamsClass {
  readonly URLSearchParams: typeof URLSearchParams;
  /** Parameters that tell `changed` their text whenever they change. */
  bindTo(search: string, changed: (search: string) => void): URLSearchParams;
}

/** application/x-www-form-urlencoded pairs, as the URL standard has them. */
class URLSearchParams implements Iterable<Pair> {
  #pairs: Pair[];
  #changed: (search: string) => void = () => {};

  constructor(init: unknown = "") {
    this.#pairs = pairsFrom(init);
  }
  static bound(search: string, changed: (search: string) => void): URLSearchParams {
    const params = new URLSearchParams(search);
    params.#changed = changed;
    return params;
  }
  /** Takes new text without telling anybody: the text changed where it came from. */
  reset(search: string): void {
    this.#pairs = parsePairs(withoutQuestionMark(search));
  }
  #update(pairs: Pair[]): void {
    this.#pairs = pairs;
    const text = this.toString();
    this.#changed(text === "" ? "" : `?${text}`);
  }
  get size(): number {
    return this.#pairs.length;
  }
  append(name: unknown, value: unknown): void {
    this.#update([...this.#pairs, [wellFormed(name), wellFormed(value)]]);
  }
  delete(name: unknown, value?: unknown): void {
    const wanted = wellFormed(name);
    this.#update(this.#pairs.filter((pair) => pair[0] !== wanted || (value !== undefined && pair[1] !== wellFormed(value))));
  }
  get(name: unknown): string | null {
    const wanted = wellFormed(name);
    return this.#pairs.find((pair) => pair[0] === wanted)?.[1] ?? null;
  }
  getAll(name: unknown): string[] {
    const wanted = wellFormed(name);
    return this.#pairs.filter((pair) => pair[0] === wanted).map((pair) => pair[1]);
  }
  has(name: unknown, value?: unknown): boolean {
    const wanted = wellFormed(name);
    return this.#pairs.some((pair) => pair[0] === wanted && (value === undefined || pair[1] === wellFormed(value)));
  }
  set(name: unknown, value: unknown): void {
    const wanted = wellFormed(name);
    const next: Pair[] = [];
    let isSet = false;
    for (const pair of this.#pairs) {
      if (pair[0] !== wanted) next.push(pair);
      else if (!isSet) {
        next.push([wanted, wellFormed(value)]);
        isSet = true;
      }
    }
    this.#update(isSet ? next : [...next, [wanted, wellFormed(value)]]);
  }
  sort(): void {
    // By UTF-16 units, and stable.
    this.#update([...this.#pairs].sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0)));
  }
  forEach(callback: (value: string, name: string, params: URLSearchParams) => void, self?: unknown): void {
    for (const [name, value] of this.#pairs) callback.call(self, value, name, this);
  }
  *entries(): Generator<[string, string]> {
    for (const [name, value] of this.#pairs) yield [name, value];
  }
  *keys(): Generator<string> {
    for (const [name] of this.#pairs) yield name;
  }
  *values(): Generator<string> {
    for (const [, value] of this.#pairs) yield value;
  }
  [Symbol.iterator](): Generator<[string, string]> {
    return this.entries();
  }
  toString(): string {
    return this.#pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&");
  }
}

export function createSearchParams(): SearchParamsClass {
  return { URLSearchParams, bindTo: URLSearchParams.bound };
}

function pairsFrom(init: unknown): Pair[] {
  if (typeof init !== "object" || init === null) return parsePairs(withoutQuestionMark(wellFormed(init)));
  const iterable = (init as Partial<Iterable<unknown>>)[Symbol.iterator];
  const pairs: Pair[] = [];
  if (typeof iterable === "function") {
    for (const pair of init as Iterable<unknown>) {
      const parts = isArray(pair) ? (pair as unknown[]) : typeof pair === "object" && pair !== null ? [...(pair as Iterable<unknown>)] : [];
      if (parts.length !== 2) throw new SafeTypeError("URLSearchParams takes pairs of a name and a value");
      pairs.push([wellFormed(parts[0]), wellFormed(parts[1])]);
    }
    return pairs;
  }
  for (const key of keys(init)) pairs.push([wellFormed(key), wellFormed((init as Record<string, unknown>)[key])]);
  return pairs;
}

function withoutQuestionMark(text: string): string {
  return charCodeAt(text, 0) === 63 ? slice(text, 1) : text;
}

function parsePairs(text: string): Pair[] {
  const pairs: Pair[] = [];
  for (const part of text.split("&")) {
    if (part === "") continue;
    const equals = part.indexOf("=");
    pairs.push(equals < 0 ? [decode(part), ""] : [decode(slice(part, 0, equals)), decode(slice(part, equals + 1))]);
  }
  return pairs;
}

/** A text whose lone surrogates are U+FFFD. */
function wellFormed(value: unknown): string {
  const text = `${value as string}`;
  let result = "";
  let start = 0;
  for (let index = 0; index < text.length; index++) {
    const code = codePointAt(text, index) as number;
    if (code > 0xffff) index += 1;
    else if (code >= 0xd800 && code <= 0xdfff) {
      result += `${slice(text, start, index)}\ufffd`;
      start = index + 1;
    }
  }
  return start === 0 ? text : result + slice(text, start);
}

function hex(value: number): string {
  return slice("0123456789ABCDEF", value, value + 1);
}

function encode(text: string): string {
  const bytes = utf8Encode(text);
  let encoded = "";
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] as number;
    const plain = (byte >= 48 && byte <= 57) || (byte >= 65 && byte <= 90) || (byte >= 97 && byte <= 122) || byte === 42 || byte === 45 || byte === 46 || byte === 95;
    encoded += plain ? fromCharCode(byte) : byte === 32 ? "+" : `%${hex(byte >> 4)}${hex(byte & 15)}`;
  }
  return encoded;
}

function hexValue(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  if (code >= 65 && code <= 70) return code - 55;
  return code >= 97 && code <= 102 ? code - 87 : -1;
}

function decode(text: string): string {
  const source = utf8Encode(text);
  const bytes = new Uint8Array(source.length);
  let length = 0;
  for (let index = 0; index < source.length; index++) {
    const byte = source[index] as number;
    const high = byte === 37 ? hexValue(source[index + 1] ?? 0) : -1;
    const low = high < 0 ? -1 : hexValue(source[index + 2] ?? 0);
    if (low >= 0) index += 2;
    bytes[length] = low >= 0 ? high * 16 + low : byte === 43 ? 32 : byte;
    length += 1;
  }
  return utf8Text(bytes.subarray(0, length));
}
