// Reading JSON Schema, 2020-12 and draft-07 alike, without believing anything about its inside.

import type { JsonSchema } from "@callgate/contract";

export type SchemaObject = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is SchemaObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "boolean" || isRecord(value);
}

/** Own property of a record; `undefined` where there is none, whatever the name. */
export function own(record: SchemaObject, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

const singleKeywords = ["additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "not", "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"];
const listKeywords = ["allOf", "anyOf", "oneOf", "prefixItems"];
const mapKeywords = ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];

/** The keywords of a schema that hold schemas, with their paths. A property that is literally named `$ref` is data here. */
export function subschemas(schema: SchemaObject): { readonly path: readonly string[]; readonly schema: unknown }[] {
  const found: { path: readonly string[]; schema: unknown }[] = [];
  for (const keyword of singleKeywords) if (Object.hasOwn(schema, keyword)) found.push({ path: [keyword], schema: schema[keyword] });
  const lists = Array.isArray(own(schema, "items")) ? [...listKeywords, "items"] : listKeywords;
  if (lists === listKeywords && Object.hasOwn(schema, "items")) found.push({ path: ["items"], schema: schema["items"] });
  for (const keyword of lists) {
    const list = own(schema, keyword);
    if (Array.isArray(list)) found.push(...list.map((item: unknown, index) => ({ path: [keyword, String(index)], schema: item })));
  }
  for (const keyword of mapKeywords) found.push(...entriesOf(own(schema, keyword)).map(([key, item]) => ({ path: [keyword, key], schema: item })));
  // Draft-07's `dependencies` mixes schemas and lists of names.
  const dependencies = entriesOf(own(schema, "dependencies")).filter(([, item]) => isSchema(item));
  found.push(...dependencies.map(([key, item]) => ({ path: ["dependencies", key], schema: item })));
  return found;
}

/** Entries of a record, none for anything else. */
export function entriesOf(value: unknown): [string, unknown][] {
  return isRecord(value) ? Object.entries(value) : [];
}

/** Items of an array, none for anything else. */
export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function stringsOf(value: unknown): string[] {
  return itemsOf(value).filter((item) => typeof item === "string");
}
