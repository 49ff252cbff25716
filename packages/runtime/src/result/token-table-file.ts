import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import type { TokenTable } from "./token-table.ts";

/** Checksum of all that follows, length of `starts`, length of `slots`: each 32 bits, in the order of this machine. */
const headWords = 3;

/** The table as it was kept, or undefined where none was, or not a whole one. */
export async function readTokenTable(file: string): Promise<TokenTable | undefined> {
  const kept = await readFile(file).catch(() => undefined);
  if (kept === undefined || kept.length < headWords * 4) return undefined;
  // Views of words need an offset that fits them.
  const { buffer } = new Uint8Array(kept);
  const [checksum, starts = 0, slots = 0] = new Uint32Array(buffer, 0, headWords);
  const words = headWords * 4;
  const end = words + (starts + slots) * 4;
  if (checksum !== crc32(kept.subarray(4)) || kept.length < end) return undefined;
  return { starts: new Uint32Array(buffer, words, starts), slots: new Uint32Array(buffer, words + starts * 4, slots), bytes: new Uint8Array(buffer, end) };
}

/** Keeps a table for later processes. Where it cannot be written it is made again by each, and nothing is said. */
export async function writeTokenTable(file: string, { bytes, starts, slots }: TokenTable): Promise<void> {
  const head = new Uint32Array([0, starts.length, slots.length]);
  const parts = [head, starts, slots, bytes].map((part) => Buffer.from(part.buffer, part.byteOffset, part.byteLength));
  head[0] = crc32(Buffer.concat(parts).subarray(4));
  const draft = `${file}.${randomUUID()}`;
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(draft, parts, { mode: 0o600 });
    await rename(draft, file);
  } catch {
    await rm(draft, { force: true }).catch(() => undefined);
  }
}
