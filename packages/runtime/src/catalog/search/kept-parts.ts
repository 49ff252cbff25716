import { createHash } from "node:crypto";
import type { SearchIndexStore } from "@callgate/contract";
import type { Slices } from "../../lib/slices.ts";

/** A file of parts, and which version of what it is. */
export interface KeptForm {
  /** Such as `search index`. */
  readonly what: string;
  /** Changes whenever the same tool may have other contents than before, or the file another form. */
  readonly version: number;
}

/** Bytes that are hashed in one go. */
const hashedAtOnce = 4 * 2 ** 20;
const digestBytes = 32;

/**
 * One line that says what it is, SHA-256 of the rest, and the rest: parts, each after its length in bytes. Numbers are in the
 * byte order of the machine, for the file stays on it.
 */
export async function encodeParts(form: KeptForm, parts: readonly Buffer[], slices: Slices): Promise<Uint8Array> {
  const rest = Buffer.concat(parts.flatMap((part) => [lengthOf(part), part]));
  return Buffer.concat([Buffer.from(lineOf(form)), await digestOf(rest, slices), rest]);
}

/** What the store has in this form. What cannot be used is told to it, unless it is of another version. */
export async function readParts(form: KeptForm, store: SearchIndexStore, slices: Slices): Promise<readonly Buffer[] | undefined> {
  const bytes = store.read();
  if (bytes === undefined) return undefined;
  const decoded = await decodeParts(form, bytes, slices);
  if (typeof decoded !== "string") return decoded;
  if (decoded !== otherVersion) store.damaged(decoded);
  return undefined;
}

const otherVersion = "it was written by another version";

/** What is wrong with it, as a clause, where it cannot be used. */
async function decodeParts(form: KeptForm, bytes: Uint8Array, slices: Slices): Promise<readonly Buffer[] | string> {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const line = lineOf(form);
  const start = `callgate ${form.what} `;
  if (!file.subarray(0, line.length).equals(Buffer.from(line))) return file.subarray(0, start.length).toString() === start ? otherVersion : `it is no ${form.what}`;
  const rest = file.subarray(line.length + digestBytes);
  if (!(await digestOf(rest, slices)).equals(file.subarray(line.length, line.length + digestBytes))) return "its bytes are not those that were written";
  const parts: Buffer[] = [];
  for (let at = 0; at < rest.length; ) {
    const length = rest.readUInt32LE(at);
    parts.push(rest.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return parts;
}

function lineOf({ what, version }: KeptForm): string {
  return `callgate ${what} ${version}\n`;
}

async function digestOf(bytes: Buffer, slices: Slices): Promise<Buffer> {
  const hash = createHash("sha256");
  for (let at = 0; at < bytes.length; at += hashedAtOnce) {
    hash.update(bytes.subarray(at, at + hashedAtOnce));
    if (slices.isDue) await slices.giveWay();
  }
  return hash.digest();
}

function lengthOf(part: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(part.length);
  return length;
}

/** The bytes of numbers, as a part. */
export function bytesOf(numbers: Uint32Array | Uint16Array | Int8Array | Float32Array): Buffer {
  return Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}

/** Numbers of several bytes cannot be read where a part happens to begin. */
export function alignedCopy(part: Buffer): ArrayBuffer {
  return part.buffer.slice(part.byteOffset, part.byteOffset + part.byteLength) as ArrayBuffer;
}
