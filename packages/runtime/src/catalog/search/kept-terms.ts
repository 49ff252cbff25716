import type { Digest, SearchIndexStore } from "@callgate/contract";
import type { Slices } from "../../lib/slices.ts";
import { alignedCopy, bytesOf, encodeParts, readParts } from "./kept-parts.ts";
import type { KeptForm } from "./kept-parts.ts";
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

const form: KeptForm = { what: "search index", version: 1 };

/**
 * Reads the words off tools; where a store is given, only off those whose definitions it does not know. What was new is
 * kept for the next time, and what is no tool any more is dropped then.
 */
export async function numberTools(tools: readonly SearchableTool[], store: SearchIndexStore | undefined, slices: Slices): Promise<ToolTerms> {
  const isKept = store !== undefined && tools.length >= leastKept;
  const kept = isKept ? await readKept(store, slices) : undefined;
  const vocabulary = kept?.vocabulary ?? createVocabulary();
  let isNew = false;
  const own: NumberedTerms[] = [];
  for (const { definitionDigest, spec } of tools) {
    const known = kept?.terms.get(definitionDigest);
    isNew ||= known === undefined;
    own.push(known ?? numberTerms(termsOfTool(spec), vocabulary));
    if (slices.isDue) await slices.giveWay();
  }
  if (isNew && isKept) store.write(await encodeKept(tools.map(({ definitionDigest }) => definitionDigest), { vocabulary, own }, slices));
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

/** Words, digests of the tools, where each tool's entries start, and of every entry the word and how often it counts. */
async function encodeKept(digests: readonly Digest[], { vocabulary, own }: ToolTerms, slices: Slices): Promise<Uint8Array> {
  const fresh = createVocabulary();
  const starts = new Uint32Array(own.length + 1);
  for (const [index, { terms }] of own.entries()) starts[index + 1] = (starts[index] ?? 0) + terms.length;
  const total = starts[own.length] ?? 0;
  const [terms, counts] = [new Uint32Array(total), new Uint16Array(total)];
  for (const [index, one] of own.entries()) {
    const start = starts[index] ?? 0;
    for (let at = 0; at < one.terms.length; at += 1) terms[start + at] = fresh.add(vocabulary.words[one.terms[at] ?? 0] ?? "");
    counts.set(one.counts, start);
    if (slices.isDue) await slices.giveWay();
  }
  return await encodeParts(form, [Buffer.from(fresh.words.join("\n")), Buffer.from(digests.join("\n")), bytesOf(starts), bytesOf(terms), bytesOf(counts)], slices);
}

async function readKept(store: SearchIndexStore, slices: Slices): Promise<Kept | undefined> {
  const [words, digests, starts, terms, counts] = (await readParts(form, store, slices)) ?? [];
  if (words === undefined || digests === undefined || starts === undefined || terms === undefined || counts === undefined) return undefined;
  const vocabulary = createVocabulary();
  for (const word of words.toString().split("\n")) {
    vocabulary.add(word);
    if (slices.isDue) await slices.giveWay();
  }
  const [firsts, allTerms, allCounts] = [new Uint32Array(alignedCopy(starts)), new Uint32Array(alignedCopy(terms)), new Uint16Array(alignedCopy(counts))];
  const known = new Map<Digest, NumberedTerms>();
  for (const [index, digest] of digests.toString().split("\n").entries()) {
    known.set(digest as Digest, { terms: allTerms.subarray(firsts[index], firsts[index + 1]), counts: allCounts.subarray(firsts[index], firsts[index + 1]) });
    if (slices.isDue) await slices.giveWay();
  }
  return { vocabulary, terms: known };
}
