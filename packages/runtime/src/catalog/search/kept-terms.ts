import { hash } from "node:crypto";
import type { Digest, SearchIndexStore } from "@callgate/contract";
import { createVocabulary } from "./postings.ts";
import type { NumberedTerms, Vocabulary } from "./postings.ts";
import { termsOfTool } from "./tool-terms.ts";
import type { SearchableTool, TermCounts } from "./tool-terms.ts";

/** The words of tools, each tool's by its own. */
export interface ToolTerms {
  readonly vocabulary: Vocabulary;
  /** In the order of the tools. */
  readonly own: readonly NumberedTerms[];
}

/** Of fewer tools the words are read off faster than a file is opened. */
const leastKept = 500;

/**
 * Reads the words off tools; where a store is given, only off those whose definitions it does not know. What was new is
 * kept for the next time, and what is no tool any more is dropped then.
 */
export function numberTools(tools: readonly SearchableTool[], store?: SearchIndexStore): ToolTerms {
  const kept = store === undefined || tools.length < leastKept ? undefined : readKept(store);
  const vocabulary = kept?.vocabulary ?? createVocabulary();
  let isNew = false;
  const own = tools.map(({ definitionDigest, spec }) => {
    const known = kept?.terms.get(definitionDigest);
    if (known !== undefined) return known;
    isNew = true;
    return numberTerms(termsOfTool(spec), vocabulary);
  });
  if (isNew && store !== undefined && tools.length >= leastKept) store.write(encodeKept(tools.map(({ definitionDigest }) => definitionDigest), { vocabulary, own }));
  return { vocabulary, own };
}

export function numberTerms(counts: TermCounts, vocabulary: Vocabulary): NumberedTerms {
  const numbered = { terms: new Uint32Array(counts.size), counts: new Uint16Array(counts.size) };
  let index = 0;
  for (const [word, count] of counts) {
    numbered.terms[index] = vocabulary.add(word);
    numbered.counts[index] = Math.min(count, 65_535);
    index += 1;
  }
  return numbered;
}

interface Kept {
  readonly vocabulary: Vocabulary;
  readonly terms: ReadonlyMap<Digest, NumberedTerms>;
}

function readKept(store: SearchIndexStore): Kept | undefined {
  const bytes = store.read();
  if (bytes === undefined) return undefined;
  const decoded = decodeKept(bytes);
  if (typeof decoded !== "string") return decoded;
  if (decoded !== otherVersion) store.damaged(decoded);
  return undefined;
}

/** Changes whenever the same tool may have other words than before, or the file another form. */
const version = 1;
const magic = `callgate search index ${version}\n`;
const otherVersion = "it was written by another version";

/**
 * One line that says what it is, SHA-256 of the rest, and the rest: five parts, each after its length in bytes. Numbers are in
 * the byte order of the machine, for the file stays on it.
 */
function encodeKept(digests: readonly Digest[], { vocabulary, own }: ToolTerms): Uint8Array {
  const fresh = createVocabulary();
  const starts = new Uint32Array(own.length + 1);
  for (const [index, { terms }] of own.entries()) starts[index + 1] = (starts[index] ?? 0) + terms.length;
  const total = starts[own.length] ?? 0;
  const [terms, counts] = [new Uint32Array(total), new Uint16Array(total)];
  for (const [index, one] of own.entries()) {
    const start = starts[index] ?? 0;
    for (let at = 0; at < one.terms.length; at += 1) terms[start + at] = fresh.add(vocabulary.words[one.terms[at] ?? 0] ?? "");
    counts.set(one.counts, start);
  }
  const parts = [Buffer.from(fresh.words.join("\n")), Buffer.from(digests.join("\n")), bytesOf(starts), bytesOf(terms), bytesOf(counts)];
  const rest = Buffer.concat(parts.flatMap((part) => [lengthOf(part), part]));
  return Buffer.concat([Buffer.from(magic), hash("sha256", rest, "buffer"), rest]);
}

function bytesOf(numbers: Uint32Array | Uint16Array): Buffer {
  return Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}

function lengthOf(part: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(part.length);
  return length;
}

/** What is wrong with it, as a clause, where it cannot be used. */
function decodeKept(bytes: Uint8Array): Kept | string {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!file.subarray(0, magic.length).equals(Buffer.from(magic))) return file.subarray(0, 22).toString() === magic.slice(0, 22) ? otherVersion : "it is no search index";
  const rest = file.subarray(magic.length + 32);
  if (!hash("sha256", rest, "buffer").equals(file.subarray(magic.length, magic.length + 32))) return "its bytes are not those that were written";
  const parts: Buffer[] = [];
  for (let at = 0; at < rest.length; ) {
    const length = rest.readUInt32LE(at);
    parts.push(rest.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  const [words, digests, starts, terms, counts] = parts;
  if (words === undefined || digests === undefined || starts === undefined || terms === undefined || counts === undefined) return "parts of it are missing";
  const vocabulary = createVocabulary();
  for (const word of words.toString().split("\n")) vocabulary.add(word);
  const [firsts, allTerms, allCounts] = [new Uint32Array(alignedCopy(starts)), new Uint32Array(alignedCopy(terms)), new Uint16Array(alignedCopy(counts))];
  const known = new Map<Digest, NumberedTerms>();
  for (const [index, digest] of digests.toString().split("\n").entries()) {
    known.set(digest as Digest, { terms: allTerms.subarray(firsts[index], firsts[index + 1]), counts: allCounts.subarray(firsts[index], firsts[index + 1]) });
  }
  return { vocabulary, terms: known };
}

/** Numbers of four bytes cannot be read where a part happens to begin. */
function alignedCopy(part: Buffer): ArrayBuffer {
  return part.buffer.slice(part.byteOffset, part.byteOffset + part.byteLength) as ArrayBuffer;
}
