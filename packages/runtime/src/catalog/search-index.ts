import type { ToolSpec } from "@callgate/contract";
import MiniSearch from "minisearch";
import type { Options } from "minisearch";
import { stemmer } from "stemmer";
import { entriesOf, isRecord, itemsOf, own } from "./schema/json-schema.ts";

/** What of a tool can be found. */
export interface SearchableTool {
  readonly name: string;
  readonly namespace: string;
  readonly purpose: string | undefined;
  readonly spec: ToolSpec;
}

export interface SearchIndex {
  /** Best first; ties by name, so that the answer is the same every time. */
  search(query: string): readonly { readonly name: string; readonly score: number }[];
}

/**
 * How often a text counts, by where it stands: the name says most, then what its author wrote for search; what a
 * parameter is for says least. Twice the weights one would write down, so that all are whole. None was fitted to a word
 * of the sets in the tests.
 */
const weights = { name: 6, title: 4, whenToUse: 4, tags: 4, description: 2, namespace: 2, parameterNames: 2, parameterDescriptions: 1 };

/** The usual k 1.5 and b 0.75, for texts counted twice; d 0 is BM25 without the plus, which favours long descriptions. */
const bm25 = { k: 3, b: 0.75, d: 0 };

/** What of a query is looked at: likeness costs the square of a word's length, and programs and clients write queries. */
const maxQueryChars = 1_000;

/** Schemas are read this deep for parameter names. */
const maxParameterDepth = 3;

/**
 * BM25 (minisearch) over name, title, situation, description, tags, namespace and parameters of the given tools only.
 *
 * All of a tool is one text in which weighty parts are repeated (what BM25F comes down to). With a field for each, a word
 * that is common in descriptions but rare in names ("the") would count as rare. A word that no tool has is
 * looked for in its other forms ("deleting"), and by likeness when the query has no other word.
 */
export function createSearchIndex(tools: readonly SearchableTool[]): SearchIndex {
  const documents = tools.map((tool) => ({ id: tool.name, terms: termsOf(tool) }));
  const index = indexOf(documents);
  const known = new Set(documents.flatMap(({ terms }) => terms));
  const byStem = Map.groupBy(known, (term) => stemmer(term));
  return {
    search(query) {
      const terms = [...new Set(words(query.slice(0, maxQueryChars)))];
      const found = new Set(terms.flatMap((term) => (known.has(term) ? [term] : (byStem.get(stemmer(term)) ?? []))));
      // Likeness only where nothing else is left: in a longer query it would add noise for every name the catalog lacks.
      const fuzzy = found.size === 0 ? 0.2 : false;
      const hits = index.search([...(found.size === 0 ? terms : found)].join(" "), { bm25, combineWith: "OR", prefix: false, fuzzy });
      // minisearch multiplies a sum by the number of words that matched, which counts those twice that BM25 already summed.
      const ranked = hits.map((hit) => ({ name: String(hit.id), score: hit.score / hit.queryTerms.length }));
      return ranked.sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1));
    },
  };
}

interface Document {
  readonly id: string;
  readonly terms: readonly string[];
}

const indexOptions: Options<{ id: string; text: string }> = { fields: ["text"], tokenize: (text) => text.split(" "), processTerm: (term) => term };

/** minisearch takes the number of *different* words for the length of a text; BM25 means all of them. */
function indexOf(documents: readonly Document[]): MiniSearch {
  const draft = new MiniSearch(indexOptions);
  draft.addAll(documents.map(({ id, terms }) => ({ id, text: terms.join(" ") })));
  const plain = draft.toJSON();
  const lengths = new Map(documents.map(({ id, terms }) => [id, terms.length]));
  const total = documents.reduce((sum, { terms }) => sum + terms.length, 0);
  plain.fieldLength = Object.fromEntries(Object.entries(plain.documentIds).map(([short, id]) => [short, [lengths.get(String(id)) ?? 0]]));
  plain.averageFieldLength = [documents.length === 0 ? 0 : total / documents.length];
  return MiniSearch.loadJS(plain, indexOptions);
}

function termsOf({ namespace, purpose, spec }: SearchableTool): string[] {
  const parameters = parametersOf(spec.input, maxParameterDepth);
  const parts: Readonly<Record<keyof typeof weights, string>> = {
    name: spec.name,
    title: spec.title ?? "",
    whenToUse: spec.whenToUse ?? "",
    tags: spec.tags.join(" "),
    description: spec.description,
    namespace: `${namespace} ${purpose ?? ""}`,
    parameterNames: parameters.map(({ name }) => name).join(" "),
    parameterDescriptions: parameters.map(({ description }) => description).join("\n"),
  };
  return Object.entries(weights).flatMap(([part, times]) => {
    const terms = words(parts[part as keyof typeof weights]);
    return Array.from({ length: times }, () => terms).flat();
  });
}

/** Names and descriptions of the properties of a schema, also of those inside its objects and arrays. */
function parametersOf(schema: unknown, depth: number): { name: string; description: string }[] {
  if (!isRecord(schema) || depth === 0) return [];
  const named = entriesOf(own(schema, "properties")).flatMap(([name, item]) => [{ name, description: descriptionOf(item) }, ...parametersOf(item, depth - 1)]);
  const branches = ["allOf", "anyOf", "oneOf"].flatMap((keyword) => itemsOf(own(schema, keyword)));
  return [...named, ...[own(schema, "items"), ...branches].flatMap((item) => parametersOf(item, depth - 1))];
}

function descriptionOf(schema: unknown): string {
  const description = isRecord(schema) ? own(schema, "description") : undefined;
  return typeof description === "string" ? description : "";
}

/** Words that say nothing about what a tool does: articles, pronouns, prepositions, auxiliaries, question words. */
const functionWords: ReadonlySet<string> = new Set(
  (
    "a about above after again all also am among an and any anyone anything are as at be because been before being below between both but by can could " +
    "did do does doing down during each either else every everyone everything few for from further had has have having he her here hers him his how however " +
    "i if in into is it its itself just let me might mine more most must my myself neither no nor not of off on once one only onto or other our ours out over " +
    "own please same shall she should so some such than that the their theirs them then there these they this those through to too under until up upon us " +
    "very was we were what when where whether which while who whom whose why will with within without would yes you your yours"
  ).split(" "),
);

/**
 * Words of a text without its links: split at everything that is no letter or digit and at `camelCase` humps, lower case, English plurals
 * made singular, function words left out. Scripts without spaces give pairs of characters. Linear: a link's target ends at
 * the next parenthesis of either kind, or a text of nothing but openings would be read from each of them to its end.
 */
export function words(text: string): string[] {
  const plain = text.normalize("NFKC").replace(/https?:\/\/\S+|\]\([^()]*\)/g, " ").replace(/['’](?:s|t|re|ve|ll|d|m)\b/gi, " ");
  // Two small letters at least, or `PDFs` and `OAuth` would fall apart.
  const split = plain.replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2").replace(/(\p{Lu})(\p{Lu}\p{Ll}{2,})/gu, "$1 $2");
  const runs = split.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return runs.filter((run) => !functionWords.has(run)).flatMap((run) => (/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(run) ? pairs(run) : [singular(run)]));
}

/** The S stemmer (Harman, 1991): plurals only, because `issue` and `issuer` are different things in a tool's name. */
function singular(word: string): string {
  if (word.length < 3 || !word.endsWith("s")) return word;
  if (word.endsWith("ies")) return /[ae]ies$/.test(word) ? word : `${word.slice(0, -3)}y`;
  if (word.endsWith("es")) return /[aeo]es$/.test(word) ? word : word.slice(0, -1);
  return /[us]s$/.test(word) ? word : word.slice(0, -1);
}

function pairs(run: string): string[] {
  const characters = Array.from(run);
  return characters.length === 1 ? characters : characters.slice(1).map((character, index) => `${characters[index] ?? ""}${character}`);
}
