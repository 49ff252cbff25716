import type { SearchIndexStore } from "@callgate/contract";
import { distance } from "fastest-levenshtein";
import { createSlices } from "../../lib/slices.ts";
import type { Slices } from "../../lib/slices.ts";
import { addLikeness } from "./add-likeness.ts";
import { bestOf } from "./best-of.ts";
import { scoreCompanions } from "./companions.ts";
import { numberTerms, numberTools } from "./kept-terms.ts";
import type { ToolTerms } from "./kept-terms.ts";
import { namespaceScores, numberNamespaces } from "./namespace-scores.ts";
import type { NamespaceNumbers } from "./namespace-scores.ts";
import { createPostings } from "./postings.ts";
import type { NumberedTerms } from "./postings.ts";
import { createScratch } from "./scratch.ts";
import { readQuery } from "./read-query.ts";
import { createScope } from "./scope.ts";
import type { Scope } from "./scope.ts";
import { scoreWords } from "./score-words.ts";
import type { Scored } from "./score-words.ts";
import { termsOfNamespace, termsOfTool } from "./tool-terms.ts";
import type { SearchableTool, TermCounts } from "./tool-terms.ts";

export interface SearchOptions {
  readonly limit: number;
  /** Which tools there are for the asker. Default: all. */
  readonly scope?: Scope;
  /** How like the query each of `tools` is in meaning; any scale. Default: nobody says. */
  readonly likeness?: Float32Array | undefined;
}

/** Finds tools by what they say of themselves. */
export interface SearchIndex {
  /** By name: the order in which scopes and likeness count them. */
  readonly tools: readonly SearchableTool[];
  /** For `search`; worth keeping, it looks at every tool once. */
  scopeOf(isVisible: (name: string) => boolean): Scope;
  /** Best first; ties by name, so that the answer is the same every time. Scores are comparable within one answer. */
  search(query: string, options: SearchOptions): readonly { readonly name: string; readonly score: number }[];
}

/** Places that go to what fits the query best; those after them to what a task of several steps may need beside. */
const firstPlaces = 10;
/** A tool among others that fit is likelier meant than one that fits alone. */
const namespaceShare = 0.3;

/**
 * Lexical search over name, title, situation, description, tags, namespace and parameters: BM25 (score-words.ts) of the
 * asker's tools only, as if no others existed. Beyond ten places companions follow (companions.ts). Where no tool has a
 * word of the query, words are compared by likeness.
 *
 * Words of tools that `store` knows are not read off them again. Made in slices, between which others of the process work.
 *
 * An index of our own because all that is weighed has to be counted within a scope, which no library does that we found;
 * see docs/decisions/0061-search-among-many-tools.md.
 */
export async function createSearchIndex(given: readonly SearchableTool[], store?: SearchIndexStore): Promise<SearchIndex> {
  const slices = createSlices();
  const tools = [...given].sort((a, b) => (a.name < b.name ? -1 : 1));
  const { vocabulary, own } = await numberTools(tools, store, slices);
  const postings = await createPostings(await withNamespaces(tools, { vocabulary, own }, slices), vocabulary, slices);
  const scratch = createScratch(tools.length);
  const namespaces = numberNamespaces(tools);
  await slices.giveWay();
  const whole = createScope(postings, namespaces);
  return {
    tools,
    scopeOf: (isVisible) => createScope(postings, namespaces, Uint8Array.from(tools, ({ name }) => (isVisible(name) ? 1 : 0))),
    search(text, { limit, scope = whole, likeness }) {
      scratch.clear();
      const scored = { postings, vocabulary, scope, scratch };
      const asked = readQuery(text);
      const asWritten = scoreWords(asked.words, asked, scored);
      // Likeness only where nothing else is left: in a longer query it would add noise for every name the tools lack.
      const query = asWritten.some((score) => score > 0) ? asked : { ...asked, words: wordsLike(asked.words, scored) };
      const scores = query === asked ? asWritten : scoreWords(query.words, query, scored);
      if (likeness !== undefined) addLikeness(scores, likeness, scored);
      if (scope.namespaceCount > 1) addNamespaces(scores, namespaces);
      const best = bestOf(scores, Math.min(limit, firstPlaces + 1));
      const found = best.slice(0, firstPlaces).map((tool) => ({ tool, score: scores[tool] ?? 0 }));
      if (best.length > firstPlaces) found.push(...companionsOf(scoreCompanions({ ...scored, namespaces, query, scores, best, termsOf: (tool) => termsOf(tools[tool]) }), found, limit));
      return found.slice(0, Math.max(0, limit)).map(({ tool, score }) => ({ name: tools[tool]?.name ?? "", score }));
    },
  };
}

function termsOf(tool: SearchableTool | undefined): TermCounts {
  return tool === undefined ? new Map() : termsOfTool(tool.spec);
}

async function withNamespaces(tools: readonly SearchableTool[], { own, vocabulary }: ToolTerms, slices: Slices): Promise<readonly NumberedTerms[]> {
  const known = new Map<string, NumberedTerms>();
  const all: NumberedTerms[] = [];
  for (const [index, terms] of own.entries()) {
    const tool = tools[index];
    if (tool === undefined) continue;
    let ofNamespace = known.get(tool.namespace);
    if (ofNamespace === undefined) known.set(tool.namespace, (ofNamespace = numberTerms(termsOfNamespace(tool), vocabulary)));
    all.push(merged(terms, ofNamespace));
    if (slices.isDue) await slices.giveWay();
  }
  return all;
}

function merged(own: NumberedTerms, more: NumberedTerms): NumberedTerms {
  const [terms, counts] = [new Uint32Array(own.terms.length + more.terms.length), new Uint16Array(own.terms.length + more.terms.length)];
  terms.set(own.terms);
  counts.set(own.counts);
  let size = own.terms.length;
  for (let index = 0; index < more.terms.length; index += 1) {
    const known = own.terms.indexOf(more.terms[index] ?? 0);
    const at = known === -1 ? size : known;
    terms[at] = more.terms[index] ?? 0;
    counts[at] = Math.min((counts[at] ?? 0) + (more.counts[index] ?? 0), 65_535);
    if (known === -1) size += 1;
  }
  return { terms: terms.subarray(0, size), counts: counts.subarray(0, size) };
}

/** Longest word that is compared by likeness, and how many of a query are. */
const maxLikeChars = 40;
const maxLikeWords = 5;

/** Words of the scope that a misspelt one may have meant. */
function wordsLike(asked: ReadonlySet<string>, { vocabulary, scope }: Scored): ReadonlySet<string> {
  const misspelt = [...asked].filter(({ length }) => length > 2 && length <= maxLikeChars).slice(0, maxLikeWords);
  return new Set(misspelt.flatMap((word) => {
    const allowed = Math.round(word.length * 0.2);
    const isLike = (known: string): boolean => Math.abs(known.length - word.length) <= allowed && distance(known, word) <= allowed;
    return vocabulary.words.filter((known, id) => isLike(known) && scope.entries([id]).documents.length > 0);
  }));
}

function addNamespaces(scores: Float64Array, namespaces: NamespaceNumbers): void {
  const share = namespaceScores(scores, namespaces);
  for (let tool = 0; tool < scores.length; tool += 1) {
    const score = scores[tool] ?? 0;
    if (score > 0) scores[tool] = score + namespaceShare * (share[namespaces.of[tool] ?? 0] ?? 0);
  }
}

interface Found {
  readonly tool: number;
  readonly score: number;
}

/** Their scores go on below those of the first. */
function companionsOf(scores: Float64Array, first: readonly Found[], limit: number): readonly Found[] {
  for (const { tool } of first) scores[tool] = 0;
  const ranked = bestOf(scores, limit - first.length);
  const highest = scores[ranked[0] ?? 0] ?? 1;
  const last = first.at(-1)?.score ?? 0;
  return ranked.map((tool) => ({ tool, score: (0.99 * last * (scores[tool] ?? 0)) / highest }));
}
