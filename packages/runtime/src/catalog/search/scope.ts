import type { NamespaceNumbers } from "./namespace-scores.ts";
import type { Postings, TermPostings } from "./postings.ts";

/**
 * The tools that one asker may know of, as if there were no others: how rare a word is and how long a text usually is are
 * counted among these, so that neither the order nor a score says anything of a tool outside.
 */
export interface Scope {
  readonly size: number;
  /** Namespaces with a tool inside. */
  readonly namespaceCount: number;
  /** Of each text, by the mean of those inside. */
  readonly relativeLengths: Float32Array;
  has(document: number): boolean;
  /** Texts inside that have a word. */
  frequency(term: number): number;
  /** Entries inside, of several words as if they were one. */
  entries(terms: readonly number[]): TermPostings;
}

/** @param isVisible one for each tool: 1 inside, 0 outside. Default: all are inside */
export function createScope(postings: Postings, namespaces: NamespaceNumbers, isVisible: Uint8Array = new Uint8Array(postings.size).fill(1)): Scope {
  let [size, length] = [0, 0];
  const inside = new Set<number>();
  for (let document = 0; document < postings.size; document += 1) {
    if (isVisible[document] !== 1) continue;
    size += 1;
    inside.add(namespaces.of[document] ?? 0);
    length += postings.lengths[document] ?? 0;
  }
  const isWhole = size === postings.size;
  const meanLength = size === 0 ? 1 : Math.max(1, length / size);
  const frequencies = new Map<number, number>();
  const entriesOf = (term: number): TermPostings => (isWhole ? postings.of(term) : within(postings.of(term), isVisible));
  return {
    size,
    namespaceCount: inside.size,
    relativeLengths: Float32Array.from(postings.lengths, (own) => own / meanLength),
    has: (document) => isVisible[document] === 1,
    frequency(term) {
      const frequency = frequencies.get(term) ?? entriesOf(term).documents.length;
      frequencies.set(term, frequency);
      return frequency;
    },
    entries(terms) {
      const [first, ...others] = terms;
      if (first === undefined) return { documents: new Uint32Array(0), counts: new Uint16Array(0) };
      return others.length === 0 ? entriesOf(first) : join(terms.map(entriesOf), postings.sums);
    },
  };
}

function within({ documents, counts }: TermPostings, isVisible: Uint8Array): TermPostings {
  const [kept, keptCounts] = [new Uint32Array(documents.length), new Uint32Array(documents.length)];
  let size = 0;
  for (let index = 0; index < documents.length; index += 1) {
    const document = documents[index] ?? 0;
    if (isVisible[document] !== 1) continue;
    kept[size] = document;
    keptCounts[size] = counts[index] ?? 0;
    size += 1;
  }
  return { documents: kept.subarray(0, size), counts: keptCounts.subarray(0, size) };
}

/** @param sums all 0, and again after it */
function join(lists: readonly TermPostings[], sums: Uint32Array): TermPostings {
  const documents = new Uint32Array(lists.reduce((sum, list) => sum + list.documents.length, 0));
  let found = 0;
  for (const list of lists) {
    for (let index = 0; index < list.documents.length; index += 1) {
      const document = list.documents[index] ?? 0;
      const sum = sums[document] ?? 0;
      if (sum === 0) documents[found++] = document;
      sums[document] = sum + (list.counts[index] ?? 0);
    }
  }
  const counts = new Uint32Array(found);
  for (let index = 0; index < found; index += 1) {
    counts[index] = sums[documents[index] ?? 0] ?? 0;
    sums[documents[index] ?? 0] = 0;
  }
  return { documents: documents.subarray(0, found), counts };
}
