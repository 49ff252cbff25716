import { Unreadable } from "./document-text.ts";

/** UTF-8 or UTF-16 by its mark, else UTF-8, else the charset that is named, else what old Windows programs write. */
export function decodeText(bytes: Uint8Array, named?: string): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  if (bytes.subarray(0, 4_096).includes(0)) throw new Unreadable("it is not text: it holds bytes of value 0");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return decoderFor(named ?? "windows-1252").decode(bytes);
  }
}

/** The charset that a page of HTML names in its first 2,048 bytes. */
export function namedCharset(bytes: Uint8Array): string | undefined {
  return /<meta[^>]{0,200}charset\s*=\s*["']?([\w-]+)/i.exec(new TextDecoder("latin1").decode(bytes.subarray(0, 2_048)))?.[1];
}

function decoderFor(charset: string): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder("windows-1252");
  }
}
