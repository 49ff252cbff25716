import { stemmer } from "stemmer";
import type { Postings, TermPostings, Vocabulary } from "./postings.ts";
import type { Scope } from "./scope.ts";
import type { Scratch } from "./scratch.ts";
import { synonymsOf } from "./synonyms.ts";

/** What a score is made of. */
export interface Scored {
  readonly postings: Postings;
  readonly vocabulary: Vocabulary;
  readonly scope: Scope;
  readonly scratch: Scratch;
}

/** BM25 with the usual b; k for texts whose first sentence counts three times. */
const bm25 = { k: 4, b: 0.75 };
/** Rare words count more, but a task names things that are rare by chance. */
const rarityExponent = 0.8;
/** Another word for the same thing counts less than the word itself, however rare it is. */
const synonymWeight = 0.4;
/** Something that no tool knows by name has to be looked up first, whatever else is to be done with it. */
const lookupWeight = 0.8;
const lookupStems = ["search", "find"].map((word) => stemmer(word));

/**
 * BM25 of every tool for some words, 0 outside the scope, in a row of the scratch. A word counts as it is written and once more by its stem, so that
 * other forms are found and the same form is preferred; general synonyms count a little.
 *
 * @param namesSomething the query names a thing of the world: where no tool knows the name, tools that look things up gain
 */
export function scoreWords(words: ReadonlySet<string>, { namesSomething }: { readonly namesSomething: boolean }, scored: Scored): Float64Array {
  const { postings, vocabulary, scope, scratch } = scored;
  const [scores, spare] = [scratch.row(), scratch.row()];
  const stems = new Set([...words].map((word) => stemmer(word)));
  const ofStem = (stem: string): TermPostings => scope.entries(postings.withStem(stem));
  let isUnknown = false;
  for (const word of words) {
    const id = vocabulary.idOf(word);
    const stem = stemmer(word);
    const [written, stemmed] = [scope.entries(id === undefined ? [] : [id]), ofStem(stem)];
    isUnknown ||= stemmed.documents.length === 0;
    const synonyms = [...synonymsOf(stem)].filter((other) => !stems.has(other)).map(ofStem).filter(({ documents }) => documents.length > 0);
    addWord(scores, { written, stemmed, synonyms, own: spare.fill(0) }, scope);
  }
  if (namesSomething && isUnknown) for (const stem of lookupStems) addLookup(scores, ofStem(stem), scope);
  return scores;
}

function addLookup(scores: Float64Array, entries: TermPostings, scope: Scope): void {
  add(scores, entries, { scope, weight: lookupWeight * rarity(entries.documents.length, scope) });
}

interface WordEntries {
  readonly written: TermPostings;
  readonly stemmed: TermPostings;
  readonly synonyms: readonly TermPostings[];
  /** All 0, to work in. */
  readonly own: Float64Array;
}

/** A tool that has the word and a synonym of it gains by the better of both. */
function addWord(scores: Float64Array, { written, stemmed, synonyms, own }: WordEntries, scope: Scope): void {
  const rare = rarity(stemmed.documents.length, scope);
  if (synonyms.length === 0) {
    add(scores, written, { scope, weight: rarity(written.documents.length, scope) });
    add(scores, stemmed, { scope, weight: rare });
    return;
  }
  add(own, written, { scope, weight: rarity(written.documents.length, scope) });
  add(own, stemmed, { scope, weight: rare });
  const rarest = stemmed.documents.length === 0 ? Infinity : rare;
  for (const entries of synonyms) raise(own, entries, { scope, weight: synonymWeight * Math.min(rarity(entries.documents.length, scope), rarest) });
  for (let document = 0; document < own.length; document += 1) scores[document] = (scores[document] ?? 0) + (own[document] ?? 0);
}

interface Weighed {
  readonly scope: Scope;
  readonly weight: number;
}

function add(scores: Float64Array, { documents, counts }: TermPostings, { scope: { relativeLengths }, weight }: Weighed): void {
  for (let index = 0; index < documents.length; index += 1) {
    const document = documents[index] ?? 0;
    scores[document] = (scores[document] ?? 0) + weight * saturation(counts[index] ?? 0, relativeLengths[document] ?? 0);
  }
}

function raise(scores: Float64Array, { documents, counts }: TermPostings, { scope: { relativeLengths }, weight }: Weighed): void {
  for (let index = 0; index < documents.length; index += 1) {
    const document = documents[index] ?? 0;
    const score = weight * saturation(counts[index] ?? 0, relativeLengths[document] ?? 0);
    if (score > (scores[document] ?? 0)) scores[document] = score;
  }
}

/** How much a word says by how few tools of the scope have it. */
export function rarity(frequency: number, { size }: Scope): number {
  return Math.log(1 + (size - frequency + 0.5) / (frequency + 0.5)) ** rarityExponent;
}

/** How much a word counts in a text: more the oftener it stands there, but less each time, and less in a long one. At most 5. */
export function saturation(count: number, relativeLength: number): number {
  return (count * (bm25.k + 1)) / (count + bm25.k * (1 - bm25.b + bm25.b * relativeLength));
}
