import type { JsonObject, JsonSchema, JsonValue } from "@callgate/contract";
import { createSchemaValidator } from "../catalog/validation/schema-validator.ts";
import { isPlainObject } from "../lib/is-plain-object.ts";
import { schemaOfValues } from "./infer-schema.ts";

export interface WidenOptions {
  /** Objects that are new in it may have more properties than were seen. Default false. */
  readonly isOpen?: boolean;
  /** Literals of the program: a constant that is none of them gives way to one that is. */
  readonly literals?: ReadonlySet<string | number>;
}

/** The schema where it takes the values; else as little wider as they need, and what else a person wrote in it stays. */
export function widenSchema(schema: JsonSchema, values: readonly JsonValue[], options: WidenOptions = {}): JsonSchema {
  return values.reduce<JsonSchema>((wide, value) => widened(wide, value, options), schema);
}

function widened(schema: JsonSchema, value: JsonValue, options: WidenOptions): JsonSchema {
  if (accepts(schema, value)) return schema;
  const wider = isPlainObject(schema) ? within(schema as JsonObject, value, options) : undefined;
  return wider !== undefined && accepts(wider, value) ? wider : beside(schema, value, options);
}

export function accepts(schema: JsonSchema, value: unknown): boolean {
  return createSchemaValidator(schema).validate(value).kind === "ok";
}

/** Undefined: not by a change within the schema. */
function within(schema: JsonObject, value: JsonValue, options: WidenOptions): JsonObject | undefined {
  if ("const" in schema) return ofConstant(schema, value, options);
  if (Array.isArray(schema["anyOf"])) return ofChoices(schema, schema["anyOf"] as readonly JsonSchema[], { value, options });
  if (isPlainObject(value) && schema["type"] === "object") return ofObject(schema, value as JsonObject, options);
  if (Array.isArray(value) && schema["type"] === "array") return { ...schema, items: widenSchema((schema["items"] ?? {}) as JsonSchema, value as readonly JsonValue[], options) as JsonValue };
  return typeof value === "number" && schema["type"] === "integer" ? { ...schema, type: "number" } : undefined;
}

function ofConstant({ const: held, ...rest }: JsonObject, value: JsonValue, { literals = new Set() }: WidenOptions): JsonObject {
  const isLiteral = (one: unknown): boolean => (typeof one === "string" || typeof one === "number") && literals.has(one);
  if (!isLiteral(value)) return { ...rest, ...(schemaOfValues([held ?? null, value]) as JsonObject) };
  return isLiteral(held) ? { ...rest, enum: [held ?? null, value] } : { ...rest, const: value };
}

interface Given {
  readonly value: JsonValue;
  readonly options: WidenOptions;
}

/** The first choice that can be made to fit becomes wider, else there is one more. */
function ofChoices(schema: JsonObject, choices: readonly JsonSchema[], { value, options }: Given): JsonObject {
  for (const [index, choice] of choices.entries()) {
    const wider = isPlainObject(choice) ? within(choice as JsonObject, value, options) : undefined;
    if (wider !== undefined && accepts(wider, value)) return { ...schema, anyOf: choices.map((one, at) => (at === index ? wider : one) as JsonValue) };
  }
  return { ...schema, anyOf: [...choices, schemaOfValues([value], options)] as JsonValue };
}

function ofObject(schema: JsonObject, value: JsonObject, options: WidenOptions): JsonObject {
  const known = isPlainObject(schema["properties"]) ? (schema["properties"] as JsonObject) : {};
  const isRefused = (key: string): boolean => !Object.hasOwn(known, key) && schema["additionalProperties"] !== undefined && schema["additionalProperties"] !== true;
  const properties = Object.fromEntries([
    ...Object.entries(known).map(([key, of]) => [key, (Object.hasOwn(value, key) ? widened(of as JsonSchema, value[key] ?? null, options) : of) as JsonValue] as const),
    ...Object.entries(value).flatMap(([key, item]) => (isRefused(key) || (!Object.hasOwn(known, key) && options.isOpen === true) ? [[key, schemaOfValues([item], options) as JsonValue] as const] : [])),
  ]);
  const required = Array.isArray(schema["required"]) ? { required: (schema["required"] as readonly JsonValue[]).filter((key) => typeof key === "string" && Object.hasOwn(value, key)) } : {};
  return { ...schema, properties, ...required };
}

function beside(schema: JsonSchema, value: JsonValue, options: WidenOptions): JsonSchema {
  const seen = schemaOfValues([value], options);
  return schema === false ? seen : { anyOf: [schema as JsonValue, seen as JsonValue] };
}

/** The schema without constants that were literals of a program and are none any more. */
export function withoutConstants(schema: JsonSchema, lost: ReadonlySet<string | number>): JsonSchema {
  return walk(schema as JsonValue) as JsonSchema;

  function walk(part: JsonValue): JsonValue {
    if (Array.isArray(part)) return part.map((item: JsonValue) => walk(item));
    if (!isPlainObject(part)) return part;
    const { const: held, ...rest } = part as JsonObject;
    if ((typeof held === "string" || typeof held === "number") && lost.has(held)) return { ...rest, ...(schemaOfValues([held]) as JsonObject) };
    return Object.fromEntries(Object.entries(part as JsonObject).map(([key, item]) => [key, key === "properties" && isPlainObject(item) ? Object.fromEntries(Object.entries(item as JsonObject).map(([name, of]) => [name, walk(of)])) : walk(item)]));
  }
}
