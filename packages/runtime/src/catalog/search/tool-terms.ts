import type { Digest, ToolSpec } from "@callgate/contract";
import { entriesOf, isRecord, itemsOf, own, stringsOf } from "../schema/json-schema.ts";
import { words } from "./words.ts";

/** What of a tool can be found. */
export interface SearchableTool {
  /** What the search answers. */
  readonly name: string;
  readonly namespace: string;
  readonly purpose: string | undefined;
  readonly spec: ToolSpec;
  /** Of all of it that its words are read off. */
  readonly definitionDigest: Digest;
}

/** How often each word of a text counts. */
export type TermCounts = ReadonlyMap<string, number>;

/**
 * How often a text counts, by where it stands: the name says most, then what its author wrote for search; the first sentence
 * of a description says what the tool is, the rest what else there is to know; what a parameter is for says least. None was
 * fitted to a word of the sets in the tests.
 *
 * All of a tool is one text in which weighty parts are repeated (what BM25F comes down to). With a field for each, a word
 * that is common in descriptions but rare in names ("the") would count as rare.
 */
const toolWeights = { name: 6, title: 4, whenToUse: 4, tags: 4, firstSentence: 2, description: 1, examples: 1, parameterNames: 2, parameterTexts: 1 };
const namespaceWeight = 2;

/** Schemas are read this deep for parameters. */
const maxParameterDepth = 3;

/** The words of a tool by itself. */
export function termsOfTool(spec: ToolSpec): TermCounts {
  const parameters = parametersOf(spec.input, maxParameterDepth);
  const parts: Readonly<Record<keyof typeof toolWeights, string>> = {
    name: spec.name,
    title: spec.title ?? "",
    whenToUse: spec.whenToUse ?? "",
    tags: spec.tags.join(" "),
    firstSentence: spec.description.split(/(?<=[.!?])\s|\n/, 1)[0] ?? "",
    description: spec.description,
    examples: spec.examples.map(({ description }) => description ?? "").join("\n"),
    parameterNames: parameters.map(({ name }) => name).join(" "),
    parameterTexts: parameters.map(({ text }) => text).join("\n"),
  };
  const counts = new Map<string, number>();
  for (const [part, weight] of Object.entries(toolWeights)) addTo(counts, parts[part as keyof typeof toolWeights], weight);
  return counts;
}

/** The words that all tools of a namespace have of it. */
export function termsOfNamespace({ namespace, purpose }: Pick<SearchableTool, "namespace" | "purpose">): TermCounts {
  const counts = new Map<string, number>();
  addTo(counts, namespace, namespaceWeight);
  addTo(counts, purpose ?? "", namespaceWeight);
  return counts;
}

function addTo(counts: Map<string, number>, text: string, weight: number): void {
  for (const word of words(text)) counts.set(word, (counts.get(word) ?? 0) + weight);
}

interface Parameter {
  readonly name: string;
  /** What it is for, and the values it may have. */
  readonly text: string;
}

/** The properties of a schema, also of those inside its objects and arrays. */
function parametersOf(schema: unknown, depth: number): Parameter[] {
  if (!isRecord(schema) || depth === 0) return [];
  const named = entriesOf(own(schema, "properties")).flatMap(([name, item]) => [{ name, text: textOf(item) }, ...parametersOf(item, depth - 1)]);
  const branches = ["allOf", "anyOf", "oneOf"].flatMap((keyword) => itemsOf(own(schema, keyword)));
  return [...named, ...[own(schema, "items"), ...branches].flatMap((item) => parametersOf(item, depth - 1))];
}

function textOf(schema: unknown): string {
  if (!isRecord(schema)) return "";
  const description = own(schema, "description");
  return [...(typeof description === "string" ? [description] : []), ...stringsOf(own(schema, "enum"))].join(" ");
}
