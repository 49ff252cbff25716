import { entriesOf, isRecord, isSchema, itemsOf, own, stringsOf } from "../schema/json-schema.ts";
import type { SchemaObject } from "../schema/json-schema.ts";
import { docOf } from "./schema-doc.ts";
import { refOf } from "../schema/schema-document.ts";
import type { Conversion } from "./conversion.ts";
import { intersectionOf, neverType, openObject, unionOf, unknownType } from "./type-node.ts";
import type { KeyPattern, ObjectNode, PropertyNode, TypeNode } from "./type-node.ts";

const objectKeywords = ["properties", "required", "additionalProperties", "patternProperties", "propertyNames", "unevaluatedProperties", "dependentRequired", "dependencies"];

/** Triggers of `dependentRequired` past this many are left to validation; each one doubles what a reader must hold. */
const maxDependencies = 4;

/**
 * The type of the objects a schema accepts; undefined where it says nothing about objects.
 *
 * A property that is only `required` is `unknown`; a property whose schema is `false` is `never`. `not: { required: [a] }`
 * makes `a` impossible, and `dependentRequired` is a choice: without the first, or with both.
 */
export function objectType(schema: SchemaObject, conversion: Conversion): TypeNode | undefined {
  const excluded = excludedNames(schema);
  if (excluded.length === 0 && !objectKeywords.some((keyword) => Object.hasOwn(schema, keyword))) return undefined;
  const required = new Set(stringsOf(own(schema, "required")));
  const properties = propertyNodes(schema, required, conversion);
  for (const name of excluded) properties.push({ name, optional: true, type: neverType, doc: [] });
  const object: ObjectNode = { kind: "object", properties, ...indexesOf(schema, conversion) };
  if (object.properties.some(({ optional, type }) => !optional && type.kind === "never")) return neverType;
  const plain = object.properties.length === 0 && object.indexes.length === 0 && !object.closed ? openObject : object;
  return intersectionOf([plain, ...dependencyTypes(schema)]);
}

function propertyNodes(schema: SchemaObject, required: ReadonlySet<string>, conversion: Conversion): PropertyNode[] {
  const declared = entriesOf(own(schema, "properties"));
  const names = new Set(declared.map(([name]) => name));
  const nodes = declared.map(([name, item]) => ({ name, optional: !required.has(name), type: conversion.convert(item), doc: docOf(resolved(item, conversion)) }));
  // A record over a closed list of names, as schema libraries write it.
  const keys = keyNames(schema).filter((name) => !names.has(name));
  const rest = own(schema, "additionalProperties");
  for (const name of keys) nodes.push({ name, optional: !required.has(name), type: conversion.convert(rest), doc: [] });
  for (const name of required) {
    if (names.has(name) || keys.includes(name)) continue;
    nodes.push({ name, optional: false, type: unnamedType(schema, name, conversion), doc: [] });
  }
  return nodes;
}

/** Documentation of the target where a reference says nothing of its own. */
function resolved(item: unknown, { document }: Conversion): unknown {
  if (!isRecord(item)) return item;
  const ref = refOf(item);
  const target = ref === undefined ? undefined : document.resolve(item, ref)?.schema;
  return isRecord(target) ? { description: own(target, "description"), ...item } : item;
}

function keyNames(schema: SchemaObject): string[] {
  const names = own(schema, "propertyNames");
  if (!isRecord(names)) return [];
  return Object.hasOwn(names, "const") ? stringsOf([names["const"]]) : stringsOf(own(names, "enum"));
}

/** What the patterns and the rest say of a property that is required but not declared. */
function unnamedType(schema: SchemaObject, name: string, conversion: Conversion): TypeNode {
  const patterns = entriesOf(own(schema, "patternProperties"));
  if (patterns.length > 0) return unionOf([...patterns.map(([, item]) => conversion.convert(item)), conversion.convert(own(schema, "additionalProperties") ?? true)]);
  const rest = own(schema, "additionalProperties");
  return rest === undefined ? unknownType : conversion.convert(rest);
}

function indexesOf(schema: SchemaObject, conversion: Conversion): Pick<ObjectNode, "indexes" | "closed"> {
  const patterns = entriesOf(own(schema, "patternProperties")).map(([pattern, item]) => ({ key: keyPattern(pattern), type: conversion.convert(item) }));
  const rest = own(schema, "additionalProperties");
  const closedByNames = keyNames(schema).length > 0;
  const closed = rest === false || closedByNames || (own(schema, "unevaluatedProperties") === false && rest === undefined && !combines(schema));
  const all: { key: KeyPattern; type: TypeNode }[] = [...patterns];
  if (isSchema(rest) && rest !== false && !closedByNames) all.push({ key: { kind: "any" }, type: conversion.convert(rest) });
  return { indexes: mergeSameKeys(all), closed };
}

/** Combined schemas may add names that `unevaluatedProperties` then allows. */
function combines(schema: SchemaObject): boolean {
  return refOf(schema) !== undefined || ["allOf", "anyOf", "oneOf", "if", "dependentSchemas"].some((keyword) => Object.hasOwn(schema, keyword));
}

/** The key type of a pattern: `^x-` and `-id$` can be said, anything else is every string. */
function keyPattern(pattern: string): KeyPattern {
  const prefix = /^\^([\w -]+)(?:\.\*\$?)?$/.exec(pattern)?.[1];
  if (prefix !== undefined) return { kind: "prefix", text: prefix };
  const suffix = /^(?:\^\.\*)?([\w -]+)\$$/.exec(pattern)?.[1];
  return suffix === undefined ? { kind: "any" } : { kind: "suffix", text: suffix };
}

function mergeSameKeys(indexes: readonly { key: KeyPattern; type: TypeNode }[]): { key: KeyPattern; type: TypeNode }[] {
  const byKey = new Map<string, { key: KeyPattern; type: TypeNode }>();
  for (const { key, type } of indexes) {
    const text = JSON.stringify(key);
    byKey.set(text, { key, type: unionOf([type, byKey.get(text)?.type ?? neverType]) });
  }
  return [...byKey.values()];
}

/** Names that `not: { required: [name] }` makes impossible. */
function excludedNames(schema: SchemaObject): string[] {
  const not = own(schema, "not");
  if (!isRecord(not)) return [];
  const keys = Object.keys(not);
  if (keys.length === 1 && keys[0] === "required") return stringsOf(not["required"]).length === 1 ? stringsOf(not["required"]) : [];
  const choices = keys.length === 1 && keys[0] === "anyOf" ? itemsOf(not["anyOf"]) : [];
  return choices.flatMap((choice) => (isRecord(choice) && Object.keys(choice).join() === "required" && itemsOf(choice["required"]).length === 1 ? stringsOf(choice["required"]) : []));
}

function dependencyTypes(schema: SchemaObject): TypeNode[] {
  const pairs = [...entriesOf(own(schema, "dependentRequired")), ...entriesOf(own(schema, "dependencies"))].filter(([, names]) => Array.isArray(names) && names.length > 0);
  if (pairs.length > maxDependencies) return [];
  return pairs.map(([trigger, names]) => {
    const without = objectOf([{ name: trigger, optional: true, type: neverType, doc: [] }]);
    const both = objectOf([trigger, ...stringsOf(names)].map((name) => ({ name, optional: false, type: unknownType, doc: [] })));
    return unionOf([without, both]);
  });
}

function objectOf(properties: readonly PropertyNode[]): ObjectNode {
  return { kind: "object", properties, indexes: [], closed: false };
}
