// Base64 of bytes, for the value codec, on both sides of the wall.

import { apply, codeAt, fromCharCode, SafeUint8Array, slice, subarray, typedLength } from "./value-intrinsics.ts";

/** Thrown by nobody else; the decoder says what it means. */
class Base64Error extends Error {
  override readonly name = "Base64Error";
}

function malformed(): never {
  throw new Base64Error("The text is not base64");
}

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
// Where the platform has its own (Node, browsers; not QuickJS), it is many times faster.
const [platformBtoa, platformAtob] = [globalThis.btoa as typeof btoa | undefined, globalThis.atob as typeof atob | undefined];

/** Bytes as base64 with padding. */
export function toBase64(bytes: Uint8Array): string {
  const length = typedLength(bytes) as number;
  if (platformBtoa !== undefined) {
    let binary = "";
    for (let start = 0; start < length; start += 8192) binary += apply(fromCharCode, undefined, subarray(bytes, start, start + 8192) as never);
    return platformBtoa(binary);
  }
  let text = "";
  for (let index = 0; index < length; index += 3) {
    const left = length - index;
    const word = ((bytes[index] as number) << 16) | ((left > 1 ? (bytes[index + 1] as number) : 0) << 8) | (left > 2 ? (bytes[index + 2] as number) : 0);
    text += digit(word >> 18) + digit((word >> 12) & 63) + (left > 1 ? digit((word >> 6) & 63) : "=") + (left > 2 ? digit(word & 63) : "=");
  }
  return text;
}

function digit(value: number): string {
  return slice(digits, value, value + 1);
}

/** Bytes of base64 with padding. Throws for anything else. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  if (text.length % 4 !== 0) return malformed();
  const padding = slice(text, -2) === "==" ? 2 : slice(text, -1) === "=" ? 1 : 0;
  const bytes = new SafeUint8Array((text.length / 4) * 3 - padding);
  if (platformAtob !== undefined) {
    const binary = decodeWith(platformAtob, text);
    for (let index = 0; index < bytes.length; index++) bytes[index] = codeAt(binary, index);
    return bytes;
  }
  for (let index = 0, out = 0; index < text.length; index += 4, out += 3) {
    const word = (sextet(text, index) << 18) | (sextet(text, index + 1) << 12) | (sextet(text, index + 2) << 6) | sextet(text, index + 3);
    bytes[out] = word >> 16;
    bytes[out + 1] = (word >> 8) & 255;
    bytes[out + 2] = word & 255;
  }
  return bytes;
}

function decodeWith(decode: typeof atob, text: string): string {
  try {
    return decode(text);
  } catch {
    return malformed();
  }
}

function sextet(text: string, index: number): number {
  const code = codeAt(text, index);
  if (code >= 65 && code <= 90) return code - 65;
  if (code >= 97 && code <= 122) return code - 71;
  if (code >= 48 && code <= 57) return code + 4;
  if (code === 43) return 62;
  if (code === 47) return 63;
  if (code === 61 && index >= text.length - 2) return 0;
  return malformed();
}
