/** The text is not JSON as `JSON.stringify` writes it. */
export class NotCompact extends Error {}

export const quote = 0x22;
const backslash = 0x5c;

/** Where a string stops being plain ASCII: its closing quote, an escape, or the first byte of another character. */
export function unplainAt(text: Buffer, start: number): number {
  for (let index = start; ; index++) {
    const byte = text[index];
    if (byte === undefined || byte < 0x20) throw new NotCompact();
    if (byte === quote || byte === backslash || byte > 0x7e) return index;
  }
}

/** The closing quote of a string. */
export function stringEnd(text: Buffer, from: number): number {
  for (let index = from; ; index++) {
    const byte = text[index];
    if (byte === undefined) throw new NotCompact();
    if (byte === backslash) index++;
    else if (byte === quote) return index;
  }
}

/** Seven bits a byte, the lowest first. Returns where it ends, at most five bytes on. */
export function writeCount(out: Buffer, start: number, count: number): number {
  let to = start;
  let left = count;
  while (left > 127) {
    out[to++] = (left & 127) | 128;
    left >>>= 7;
  }
  out[to++] = left;
  return to;
}

/** Length and units of a string. Returns where it ends. */
export function writeUnits(out: Buffer, start: number, value: string): number {
  const isWide = !isLatin1(value);
  const to = writeCount(out, start, value.length * 2 + (isWide ? 1 : 0));
  return to + out.write(value, to, isWide ? "utf16le" : "latin1");
}

function isLatin1(value: string): boolean {
  for (let index = 0; index < value.length; index++) if (value.charCodeAt(index) > 0xff) return false;
  return true;
}
