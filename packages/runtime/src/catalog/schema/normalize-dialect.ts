import type { JsonSchema } from "@callgate/contract";
import { isRecord, own, subschemas } from "./json-schema.ts";

/**
 * Schema as validator and type generator read it: a copy in which the spellings of other dialects are those of
 * JSON Schema. `nullable: true` (OpenAPI 3.0) adds null, also to an enum; a boolean `exclusiveMinimum`/`Maximum`
 * (draft-04) becomes a number. `$schema`, draft-04's `id` and Ajv's own `$async` (which would turn every answer into a
 * promise, and a promise is never false) are dropped. The depth of a schema is bounded where it is registered.
 */
export function normalizeDialect(schema: JsonSchema): JsonSchema {
  const copy = structuredClone(schema) as JsonSchema;
  const open: unknown[] = [copy];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (!isRecord(next)) continue;
    open.push(...subschemas(next).map((sub) => sub.schema));
    normalizeOne(next as Record<string, unknown>);
  }
  return copy;
}

function normalizeOne(schema: Record<string, unknown>): void {
  delete schema["$schema"];
  delete schema["$async"];
  if (typeof own(schema, "id") === "string") delete schema["id"];
  exclusive(schema, "minimum", "exclusiveMinimum");
  exclusive(schema, "maximum", "exclusiveMaximum");
  if (own(schema, "nullable") === true) allowNull(schema);
  delete schema["nullable"];
}

function exclusive(schema: Record<string, unknown>, bound: string, keyword: string): void {
  const flag = own(schema, keyword);
  if (typeof flag !== "boolean") return;
  delete schema[keyword];
  if (!flag || typeof own(schema, bound) !== "number") return;
  schema[keyword] = schema[bound];
  delete schema[bound];
}

function allowNull(schema: Record<string, unknown>): void {
  const type = own(schema, "type");
  const types: readonly unknown[] | undefined = typeof type === "string" ? [type] : Array.isArray(type) ? type : undefined;
  const combined = ["$ref", "allOf", "anyOf", "oneOf", "not", "const", "if"].filter((keyword) => Object.hasOwn(schema, keyword));
  if (types !== undefined && !types.includes("null")) schema["type"] = [...types, "null"];
  const values = own(schema, "enum");
  if (Array.isArray(values) && !values.includes(null)) schema["enum"] = [...(values as unknown[]), null];
  if (combined.length === 0) return;
  // Wrapped, because each of these would go on refusing null.
  const inner: Record<string, unknown> = {};
  for (const key of Object.keys(schema).filter((name) => !annotations.has(name))) {
    inner[key] = schema[key];
    delete schema[key];
  }
  delete inner["nullable"];
  schema["anyOf"] = [inner, { type: "null" }];
}

const annotations: ReadonlySet<string> = new Set(["title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$defs", "definitions", "$id", "$anchor"]);

