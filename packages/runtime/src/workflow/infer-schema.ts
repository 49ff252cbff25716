import type { JsonObject, JsonSchema, JsonValue } from "@callgate/contract";
import { isPlainObject } from "../lib/is-plain-object.ts";

export interface SchemaOptions {
  /** Values that are always the same: they stay as they are. */
  readonly constants?: ReadonlySet<string | number>;
  /** Objects may have more properties than were seen. Default false. */
  readonly isOpen?: boolean;
}

const none: ReadonlySet<string | number> = new Set();

/** The shape of values that were seen, without the values: types, the properties of objects, what all of them had. */
export function schemaOfValues(values: readonly JsonValue[], { constants = none, isOpen = false }: SchemaOptions = {}): JsonSchema {
  const [first] = values;
  if ((typeof first === "string" || typeof first === "number") && constants.has(first) && values.every((value) => value === first)) return { const: first };
  const options = { constants, isOpen };
  const kinds = [...new Set(values.map(kindOf))];
  const schemas = kinds.map((kind): JsonObject => {
    const of = values.filter((value) => kindOf(value) === kind);
    if (kind === "object") return objectSchema(of.filter(isPlainObject) as readonly JsonObject[], options);
    if (kind === "array") return arraySchema(of.flatMap((value) => (Array.isArray(value) ? value : [])), options);
    if (kind === "number") return { type: of.every((value) => Number.isInteger(value)) ? "integer" : "number" };
    return { type: kind };
  });
  const [only, ...others] = schemas;
  if (only === undefined) return {};
  return others.length === 0 ? only : { anyOf: schemas };
}

function objectSchema(objects: readonly JsonObject[], options: Required<SchemaOptions>): JsonObject {
  const keys = [...new Set(objects.flatMap((object) => Object.keys(object)))];
  const properties = Object.fromEntries(keys.map((key) => [key, schemaOfValues(objects.flatMap((object) => (Object.hasOwn(object, key) ? [object[key] ?? null] : [])), options) as JsonValue]));
  return { type: "object", properties, required: keys.filter((key) => objects.every((object) => Object.hasOwn(object, key))), ...(options.isOpen ? {} : { additionalProperties: false }) };
}

function arraySchema(items: readonly JsonValue[], options: Required<SchemaOptions>): JsonObject {
  return items.length === 0 ? { type: "array" } : { type: "array", items: schemaOfValues(items, options) as JsonValue };
}

function kindOf(value: JsonValue): "null" | "boolean" | "number" | "string" | "array" | "object" {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  const kind = typeof value;
  return kind === "boolean" || kind === "number" || kind === "string" ? kind : "object";
}
