import type { ToolSpec } from "@callgate/contract";
import MiniSearch from "minisearch";
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
 * How much a word counts by where it stands: the name says most, then what its author wrote for search. Round numbers
 * chosen once; none was fitted to the sets in the tests.
 */
const boost = { name: 3, title: 2, whenToUse: 2, tags: 2, description: 1, namespace: 1, parameters: 1 };

/** Schemas are read this deep for parameter names. */
const maxParameterDepth = 3;

/** BM25+ (minisearch) over name, title, purpose, description, tags, namespace and parameters of the given tools only. */
export function createSearchIndex(tools: readonly SearchableTool[]): SearchIndex {
  const index = new MiniSearch<Record<string, string>>({ idField: "name_", fields: Object.keys(boost), tokenize: words, processTerm: (term) => term });
  index.addAll(tools.map(documentOf));
  return {
    search(query) {
      const hits = index.search(query, { boost, combineWith: "OR", prefix: false, fuzzy: false });
      return hits.map((hit) => ({ name: String(hit.id), score: hit.score })).sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1));
    },
  };
}

function documentOf({ name, namespace, purpose, spec }: SearchableTool): Record<string, string> {
  return {
    name_: name,
    name: spec.name,
    title: spec.title ?? "",
    whenToUse: spec.whenToUse ?? "",
    tags: spec.tags.join(" "),
    description: spec.description,
    namespace: `${namespace} ${purpose ?? ""}`,
    parameters: parameterWords(spec.input, maxParameterDepth).join(" "),
  };
}

/** Names and descriptions of the properties of a schema, also of those inside its objects and arrays. */
function parameterWords(schema: unknown, depth: number): string[] {
  if (!isRecord(schema) || depth === 0) return [];
  const named = entriesOf(own(schema, "properties")).flatMap(([name, item]) => [name, textOf(item), ...parameterWords(item, depth - 1)]);
  const branches = ["allOf", "anyOf", "oneOf"].flatMap((keyword) => itemsOf(own(schema, keyword)));
  return [...named, ...[own(schema, "items"), ...branches].flatMap((item) => parameterWords(item, depth - 1))];
}

function textOf(schema: unknown): string {
  const description = isRecord(schema) ? own(schema, "description") : undefined;
  return typeof description === "string" ? description : "";
}

/**
 * Words of a text: split at everything that is no letter or digit and at `camelCase` humps, lower case, English endings
 * cut. Scripts without spaces give pairs of characters.
 */
export function words(text: string): string[] {
  const split = text.normalize("NFKC").replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2").replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2");
  const runs = split.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return runs.flatMap((run) => (/^[a-z0-9]+$/.test(run) ? [stemmer(run)] : /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(run) ? pairs(run) : [run]));
}

function pairs(run: string): string[] {
  const characters = [...run];
  return characters.length === 1 ? characters : characters.slice(1).map((character, index) => `${characters[index] ?? ""}${character}`);
}
