import { SafeRangeError, SafeTypeError, SafeUint8Array, charCodeAt, codePointAt, create, defineProperty, fromCharCode, getOwnPropertyDescriptor, getPrototypeOf, slice, toLowerCase, uncurry } from "./intrinsics.ts";

const { isView } = ArrayBuffer;
const { fromCodePoint } = String;
const getOf = (prototype: object, key: PropertyKey) => uncurry(getOwnPropertyDescriptor(prototype, key)?.get as () => unknown);
const TypedArrayPrototype = getPrototypeOf(Uint8Array.prototype) as object;
const viewTag = getOf(TypedArrayPrototype, Symbol.toStringTag);
const [typedBuffer, typedOffset, typedBytes] = [getOf(TypedArrayPrototype, "buffer"), getOf(TypedArrayPrototype, "byteOffset"), getOf(TypedArrayPrototype, "byteLength")];
const [dataBuffer, dataOffset, dataBytes] = [getOf(DataView.prototype, "buffer"), getOf(DataView.prototype, "byteOffset"), getOf(DataView.prototype, "byteLength")];
const bufferBytes = getOf(ArrayBuffer.prototype, "byteLength");

/** The bytes of a buffer or view. Throws a TypeError for anything else. */
function bytesOf(source: unknown): Uint8Array {
  if (source === undefined) return new SafeUint8Array(0);
  if (isView(source)) {
    const typed = viewTag(source) !== undefined;
    return new SafeUint8Array((typed ? typedBuffer : dataBuffer)(source) as ArrayBuffer, (typed ? typedOffset : dataOffset)(source) as number, (typed ? typedBytes : dataBytes)(source) as number);
  }
  try {
    bufferBytes(source);
  } catch {
    throw new SafeTypeError("Bytes are needed: an ArrayBuffer, a typed array or a DataView");
  }
  return new SafeUint8Array(source as ArrayBuffer);
}

/** UTF-8 of a text; a lone surrogate becomes U+FFFD. */
export function utf8Encode(text: string): Uint8Array {
  const bytes = new SafeUint8Array(text.length * 3);
  const end = utf8EncodeInto(text, bytes).written;
  return new SafeUint8Array(bytes.buffer.slice(0, end));
}

function utf8EncodeInto(text: string, bytes: Uint8Array): { readonly read: number; readonly written: number } {
  let written = 0;
  let index = 0;
  while (index < text.length) {
    let code = codePointAt(text, index) as number;
    const units = code > 0xffff ? 2 : 1;
    if (code >= 0xd800 && code <= 0xdfff) code = 0xfffd;
    const length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (written + length > bytes.length) break;
    if (length === 1) bytes[written] = code;
    else {
      bytes[written] = (length === 2 ? 0xc0 : length === 3 ? 0xe0 : 0xf0) | (code >> (6 * (length - 1)));
      for (let tail = 1; tail < length; tail++) bytes[written + tail] = 0x80 | ((code >> (6 * (length - 1 - tail))) & 0x3f);
    }
    written += length;
    index += units;
  }
  return { read: index, written };
}

/** State of a decoder between chunks. */
interface Utf8State {
  point: number;
  needed: number;
  lower: number;
  upper: number;
}

/** The WHATWG utf-8 decoder: maximal subparts become U+FFFD each, or an error when `fatal`. */
function utf8Decode(bytes: Uint8Array, state: Utf8State, options: { readonly fatal: boolean; readonly stream: boolean }): string {
  let text = "";
  const bad = (): void => {
    if (options.fatal) throw new SafeTypeError("The bytes are not valid UTF-8");
    text += "\ufffd";
  };
  const reset = (): void => {
    state.needed = 0;
    state.lower = 0x80;
    state.upper = 0xbf;
  };
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] as number;
    if (state.needed === 0) {
      if (byte < 0x80) text += fromCharCode(byte);
      else if (byte < 0xc2 || byte > 0xf4) bad();
      else lead(byte, state);
      continue;
    }
    if (byte < state.lower || byte > state.upper) {
      reset();
      bad();
      index -= 1;
      continue;
    }
    state.lower = 0x80;
    state.upper = 0xbf;
    state.point = (state.point << 6) | (byte & 0x3f);
    state.needed -= 1;
    if (state.needed === 0) text += fromCodePoint(state.point);
  }
  if (!options.stream && state.needed > 0) {
    reset();
    bad();
  }
  return text;
}

function lead(byte: number, state: Utf8State): void {
  if (byte < 0xe0) {
    state.needed = 1;
    state.point = byte & 0x1f;
  } else if (byte < 0xf0) {
    if (byte === 0xe0) state.lower = 0xa0;
    if (byte === 0xed) state.upper = 0x9f;
    state.needed = 2;
    state.point = byte & 0xf;
  } else {
    if (byte === 0xf0) state.lower = 0x90;
    if (byte === 0xf4) state.upper = 0x8f;
    state.needed = 3;
    state.point = byte & 0x7;
  }
}

/** UTF-8 bytes as text, broken parts as U+FFFD. */
export function utf8Text(bytes: Uint8Array): string {
  return utf8Decode(bytes, { point: 0, needed: 0, lower: 0x80, upper: 0xbf }, { fatal: false, stream: false });
}

export class TextEncoder {
  get encoding(): string {
    return "utf-8";
  }
  encode(text: unknown = ""): Uint8Array {
    return utf8Encode(`${text as string}`);
  }
  encodeInto(text: string, target: Uint8Array): { readonly read: number; readonly written: number } {
    return utf8EncodeInto(`${text}`, bytesOf(target));
  }
}

export class TextDecoder {
  readonly #state: Utf8State = { point: 0, needed: 0, lower: 0x80, upper: 0xbf };
  readonly #fatal: boolean;
  readonly #ignoreBom: boolean;
  #atStart = true;

  constructor(label: string = "utf-8", options: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
    const name = toLowerCase(`${label}`);
    if (name !== "utf-8" && name !== "utf8" && name !== "unicode-1-1-utf-8") {
      throw new SafeRangeError(`TextDecoder knows utf-8 only, not "${slice(name, 0, 40)}"; let a tool decode other encodings`);
    }
    this.#fatal = options.fatal === true;
    this.#ignoreBom = options.ignoreBOM === true;
  }
  get encoding(): string {
    return "utf-8";
  }
  get fatal(): boolean {
    return this.#fatal;
  }
  get ignoreBOM(): boolean {
    return this.#ignoreBom;
  }
  decode(bytes?: unknown, options: { stream?: boolean } = {}): string {
    const stream = options.stream === true;
    const text = utf8Decode(bytesOf(bytes), this.#state, { fatal: this.#fatal, stream });
    const strip = this.#atStart && !this.#ignoreBom && charCodeAt(text, 0) === 0xfeff;
    this.#atStart = stream ? this.#atStart && text === "" : true;
    return strip ? slice(text, 1) : text;
  }
}

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const values = create(null) as Record<string, number>;
for (let index = 0; index < 64; index++) values[slice(digits, index, index + 1)] = index;

/** Base64 of a text of bytes: every character below U+0100. */
export function btoa(data: unknown): string {
  const text = `${data as string}`;
  let encoded = "";
  for (let index = 0; index < text.length; index += 3) {
    const left = text.length - index;
    let word = 0;
    for (let offset = 0; offset < 3; offset++) {
      const code = offset < left ? charCodeAt(text, index + offset) : 0;
      if (code > 255) throw invalidCharacter("btoa takes characters up to U+00FF; encode text with TextEncoder first");
      word = (word << 8) | code;
    }
    const digit = (shift: number): string => slice(digits, (word >> shift) & 63, ((word >> shift) & 63) + 1);
    encoded += digit(18) + digit(12) + (left > 1 ? digit(6) : "=") + (left > 2 ? digit(0) : "=");
  }
  return encoded;
}

/** The text of bytes behind base64; ASCII whitespace is skipped, padding may be left out. */
export function atob(data: unknown): string {
  const source = `${data as string}`;
  let text = "";
  for (let index = 0; index < source.length; index++) {
    const code = charCodeAt(source, index);
    if (code !== 32 && code !== 9 && code !== 10 && code !== 12 && code !== 13) text += slice(source, index, index + 1);
  }
  if (text.length % 4 === 0) text = slice(text, -2) === "==" ? slice(text, 0, -2) : slice(text, -1) === "=" ? slice(text, 0, -1) : text;
  if (text.length % 4 === 1) throw invalidCharacter("atob takes base64; the text has a length no base64 has");
  let decoded = "";
  let word = 0;
  let bits = 0;
  for (let index = 0; index < text.length; index++) {
    const value = values[slice(text, index, index + 1)];
    if (value === undefined) throw invalidCharacter("atob takes base64; the text has a character that is none of it");
    word = ((word << 6) | value) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    decoded += fromCharCode((word >> bits) & 255);
  }
  return decoded;
}

function invalidCharacter(message: string): Error {
  const error = new SafeTypeError(message);
  defineProperty(error, "name", { __proto__: null, value: "InvalidCharacterError", writable: true, configurable: true, enumerable: false } as PropertyDescriptor);
  return error;
}
