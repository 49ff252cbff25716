import { stemmer } from "stemmer";
import type { Slices } from "../../lib/slices.ts";

/** The words of all tools, each with a number. */
export interface Vocabulary {
  readonly words: readonly string[];
  idOf(word: string): number | undefined;
  /** Gives it a number if it has none. */
  add(word: string): number;
}

export function createVocabulary(): Vocabulary {
  const words: string[] = [];
  const ids = new Map<string, number>();
  return {
    words,
    idOf: (word) => ids.get(word),
    add(word) {
      const known = ids.get(word);
      if (known !== undefined) return known;
      ids.set(word, words.length);
      return words.push(word) - 1;
    },
  };
}

/** The words of one text by their numbers, and how often each counts. */
export interface NumberedTerms {
  readonly terms: Uint32Array;
  readonly counts: Uint16Array;
}

/** Which texts have a word, in ascending order, and how often it counts there. */
export interface TermPostings {
  readonly documents: Uint32Array;
  readonly counts: Uint16Array | Uint32Array;
}

/** From words to the texts that have them. */
export interface Postings {
  readonly size: number;
  /** Of each text: how often all of its words count. */
  readonly lengths: Uint32Array;
  /** One number for each text, all 0 between two uses, to add up in. */
  readonly sums: Uint32Array;
  of(term: number): TermPostings;
  /** Numbers of the words that have this stem. */
  withStem(stem: string): readonly number[];
}

const nothing: readonly number[] = [];

/** All lists in two flat arrays: a hundred thousand tools have millions of entries. */
export async function createPostings(documents: readonly NumberedTerms[], vocabulary: Vocabulary, slices: Slices): Promise<Postings> {
  const starts = new Uint32Array(vocabulary.words.length + 1);
  const lengths = new Uint32Array(documents.length);
  for (const { terms } of documents) {
    for (const term of terms) starts[term + 1] = (starts[term + 1] ?? 0) + 1;
    if (slices.isDue) await slices.giveWay();
  }
  for (let term = 0; term < vocabulary.words.length; term += 1) starts[term + 1] = (starts[term + 1] ?? 0) + (starts[term] ?? 0);
  const total = starts[vocabulary.words.length] ?? 0;
  const [ids, counts, next] = [new Uint32Array(total), new Uint16Array(total), starts.slice()];
  for (const [document, one] of documents.entries()) {
    let length = 0;
    for (let index = 0; index < one.terms.length; index += 1) {
      const [term, count] = [one.terms[index] ?? 0, one.counts[index] ?? 0];
      const at = next[term] ?? 0;
      ids[at] = document;
      counts[at] = count;
      next[term] = at + 1;
      length += count;
    }
    lengths[document] = length;
    if (slices.isDue) await slices.giveWay();
  }
  const stems = await groupByStem(vocabulary, slices);
  return {
    size: documents.length,
    lengths,
    sums: new Uint32Array(documents.length),
    of(term) {
      const [start, end] = [starts[term], starts[term + 1]];
      return { documents: ids.subarray(start, end), counts: counts.subarray(start, end) };
    },
    withStem: (stem) => stems.get(stem) ?? nothing,
  };
}

async function groupByStem({ words }: Vocabulary, slices: Slices): Promise<ReadonlyMap<string, readonly number[]>> {
  const stems = new Map<string, number[]>();
  for (const [term, word] of words.entries()) {
    const stem = stemmer(word);
    const known = stems.get(stem);
    if (known === undefined) stems.set(stem, [term]);
    else known.push(term);
    if (slices.isDue) await slices.giveWay();
  }
  return stems;
}
