import type { JsonSchema } from "@callgate/contract";
import { isRecord, isSchema, itemsOf, own } from "../schema/json-schema.ts";
import type { SchemaObject } from "../schema/json-schema.ts";
import type { Conversion, JsonKind } from "./conversion.ts";
import { objectType } from "./object-type.ts";
import { normalizeDialect } from "../schema/normalize-dialect.ts";
import { openSchema, refOf } from "../schema/schema-document.ts";
import { intersectionOf, neverType, nullType, openObject, unionOf, unknownType } from "./type-node.ts";
import type { TypeNode } from "./type-node.ts";
import type { TypeNames } from "./type-names.ts";

const allKinds: readonly JsonKind[] = ["null", "boolean", "number", "string", "array", "object"];

/** Enums past this many values are printed as their base type. */
const maxEnumValues = 500;

/**
 * The static type of a JSON Schema.
 *
 * It accepts every value the schema accepts, with two chosen exceptions: an object whose schema does not say whether
 * further properties are allowed is taken as saying no, because a misspelt name is the most common mistake; and a schema
 * that never ends (a reference to itself at the same place) is `unknown`. What a static type cannot say (lengths, ranges,
 * patterns, exactly one of, counts) is left to validation.
 */
export function typeOfSchema(schema: JsonSchema, { names, scope, kinds }: { readonly names: TypeNames; readonly scope: string; readonly kinds?: readonly JsonKind[] }): TypeNode {
  const document = openSchema(normalizeDialect(schema));
  const conversion: Conversion = { document, names, scope, convert: (item, kinds = allKinds) => convert(item, kinds, conversion) };
  return conversion.convert(document.root, kinds);
}

function convert(schema: unknown, kinds: readonly JsonKind[], conversion: Conversion): TypeNode {
  if (schema === false) return neverType;
  if (!isRecord(schema)) return kindsType(kinds);
  const narrowed = kindsOf(schema, kinds);
  const parts = [ownType(schema, narrowed, conversion), referenceType(schema, conversion), ...combinedTypes(schema, narrowed, conversion)];
  return intersectionOf(parts);
}

/** The JSON types that `type`, `const`, `enum` and a plain `not` leave of those that are possible here. */
function kindsOf(schema: SchemaObject, kinds: readonly JsonKind[]): readonly JsonKind[] {
  const type = own(schema, "type");
  const said = typeof type === "string" ? [type] : Array.isArray(type) ? type : undefined;
  const byType = said === undefined ? kinds : intersectKinds(kinds, said as JsonKind[]);
  const not = own(schema, "not");
  if (!isRecord(not) || Object.keys(not).some((key) => !["type", "description", "title"].includes(key))) return byType;
  const excluded: unknown[] = typeof not["type"] === "string" ? [not["type"]] : [...itemsOf(not["type"])];
  return byType.filter((kind) => !excluded.includes(kind) && !(kind === "integer" && excluded.includes("number")));
}

function intersectKinds(a: readonly JsonKind[], b: readonly JsonKind[]): JsonKind[] {
  const both = a.filter((kind) => b.includes(kind) || (kind === "integer" && b.includes("number")));
  return a.includes("number") && !b.includes("number") && b.includes("integer") ? [...both, "integer"] : both;
}

function kindsType(kinds: readonly JsonKind[]): TypeNode {
  return kinds === allKinds || allKinds.every((kind) => kinds.includes(kind)) ? unknownType : unionOf(kinds.map(plainType));
}

function plainType(kind: JsonKind): TypeNode {
  switch (kind) {
    case "array":
      return { kind: "array", items: unknownType };
    case "object":
      return openObject;
    case "null":
    case "boolean":
    case "integer":
    case "number":
    case "string":
      return { kind };
  }
}

/** What the schema's own keywords say, without references and combinations. */
function ownType(schema: SchemaObject, kinds: readonly JsonKind[], conversion: Conversion): TypeNode {
  if (Object.hasOwn(schema, "const")) return literalType(schema["const"], kinds);
  const values = own(schema, "enum");
  if (Array.isArray(values)) {
    const types = values.map((value) => literalType(value, kinds));
    return types.length > maxEnumValues ? unionOf(types.map(widen)) : unionOf(types);
  }
  const arrays = kinds.includes("array") ? arrayType(schema, conversion) : undefined;
  const objects = kinds.includes("object") ? objectType(schema, conversion) : undefined;
  if (arrays === undefined && objects === undefined) return kindsType(kinds);
  const others = kinds.filter((kind) => !(kind === "array" && arrays !== undefined) && !(kind === "object" && objects !== undefined));
  return unionOf([...(objects === undefined ? [] : [objects]), ...(arrays === undefined ? [] : [arrays]), ...others.map(plainType)]);
}

/** The type of exactly one value; `never` when the schema's `type` does not allow it. */
function literalType(value: unknown, kinds: readonly JsonKind[]): TypeNode {
  const kind = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  const allowed = kinds.some((one) => one === kind || (one === "integer" && Number.isInteger(value)));
  if (!allowed) return neverType;
  if (value === null) return nullType;
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return { kind: "literal", value };
  if (Array.isArray(value)) return { kind: "tuple", items: value.map((item: unknown) => ({ type: literalType(item, allKinds), optional: false })), rest: undefined };
  const properties = Object.entries(value as object).map(([name, item]) => ({ name, optional: false, type: literalType(item, allKinds), doc: [] }));
  return { kind: "object", properties, indexes: [], closed: true };
}

function widen(type: TypeNode): TypeNode {
  return type.kind === "literal" ? { kind: typeof type.value as "string" | "number" | "boolean" } : type;
}

/** Undefined where the schema says nothing about arrays. */
function arrayType(schema: SchemaObject, conversion: Conversion): TypeNode | undefined {
  const items = own(schema, "items");
  const prefix = own(schema, "prefixItems") ?? (Array.isArray(items) ? items : undefined);
  const others = Array.isArray(items) ? own(schema, "additionalItems") : items;
  if (Array.isArray(prefix) && prefix.length > 0) return tupleType(schema, { prefix, others }, conversion);
  if (items === false || own(schema, "maxItems") === 0) return { kind: "tuple", items: [], rest: undefined };
  return isSchema(others) ? { kind: "array", items: conversion.convert(others) } : undefined;
}

/** Items past a tuple's own that `minItems` asks for are written out up to this many. */
const maxWrittenItems = 16;

function tupleType(schema: SchemaObject, { prefix, others }: { prefix: readonly unknown[]; others: unknown }, conversion: Conversion): TypeNode {
  const [min, max] = [own(schema, "minItems"), own(schema, "maxItems")];
  const required = typeof min === "number" ? min : 0;
  const most = typeof max === "number" ? max : Number.POSITIVE_INFINITY;
  const rest = others === false || most <= prefix.length ? undefined : conversion.convert(others);
  const first = prefix.slice(0, most).map((item, index) => ({ type: conversion.convert(item), optional: index >= required }));
  const isFull = rest === undefined || rest.kind === "never";
  if (required > most || (isFull && required > first.length)) return neverType;
  const more = isFull ? 0 : Math.min(Math.max(0, required - first.length), maxWrittenItems);
  const written = Array.from({ length: more }, () => ({ type: rest ?? unknownType, optional: false }));
  return { kind: "tuple", items: [...first, ...written], rest: isFull ? undefined : rest };
}

/** A reference is a name, which also makes recursion and sharing cheap. */
function referenceType(schema: SchemaObject, conversion: Conversion): TypeNode {
  const ref = refOf(schema);
  if (ref === undefined) return unknownType;
  const target = conversion.document.resolve(schema, ref);
  if (target === undefined) return unknownType;
  const hint = target.key === "" ? "Self" : (target.key.split("/").at(-1) ?? "Self");
  return conversion.names.nameFor({ key: `${conversion.scope}#${target.key}`, scope: conversion.scope, hint, convert: () => conversion.convert(target.schema) });
}

/** `allOf`, `anyOf`, `oneOf`, `if`: each says something about the same value, so what is known of it narrows them. */
function combinedTypes(schema: SchemaObject, kinds: readonly JsonKind[], conversion: Conversion): TypeNode[] {
  const child = (item: unknown): TypeNode => conversion.convert(item, kinds);
  const types = itemsOf(own(schema, "allOf")).map(child);
  for (const keyword of ["anyOf", "oneOf"]) {
    const branches = itemsOf(own(schema, keyword));
    if (branches.length > 0) types.push(unionOf(branches.map(child)));
  }
  if (Object.hasOwn(schema, "if") && (Object.hasOwn(schema, "then") || Object.hasOwn(schema, "else"))) {
    const met = intersectionOf([child(schema["if"]), child(own(schema, "then") ?? true)]);
    types.push(unionOf([met, child(own(schema, "else") ?? true)]));
  }
  const not = own(schema, "not");
  if (not === true || (isRecord(not) && Object.keys(not).length === 0)) types.push(neverType);
  return types;
}
