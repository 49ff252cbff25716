import { itemsOf, own } from "../document/local-reference.ts";

/** In which direction a schema's values go: what a service sends and what it takes are not the same. */
export type Side = "input" | "output";

/** Names of types that documents write and JSON Schema does not know. */
const otherNames: Readonly<Record<string, string>> = {
  bool: "boolean",
  str: "string",
  text: "string",
  date: "string",
  datetime: "string",
  "date-time": "string",
  uuid: "string",
  int: "integer",
  int32: "integer",
  int64: "integer",
  long: "integer",
  float: "number",
  double: "number",
  decimal: "number",
  list: "array",
  map: "object",
  dict: "object",
};
const jsonTypes: ReadonlySet<unknown> = new Set(["null", "boolean", "integer", "number", "string", "array", "object"]);

/** The types that a schema says, as JSON Schema names them; empty where it says none that means anything. */
export function typesOf(schema: unknown): readonly string[] {
  const said = own(schema, "type");
  const names = (Array.isArray(said) ? said.flat() : [said]).map((name: unknown) => (typeof name === "string" ? (otherNames[name.toLowerCase()] ?? name.toLowerCase()) : name));
  return [...new Set(names.filter((name): name is string => jsonTypes.has(name)))];
}

const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;
const isNumber = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value);
const isText = (value: unknown): boolean => typeof value === "string";

/** Keywords that only narrow values down, with what each of them must hold. */
const constraints: Readonly<Record<string, (value: unknown) => boolean>> = {
  minLength: isCount,
  maxLength: isCount,
  pattern: isText,
  format: isText,
  minimum: isNumber,
  maximum: isNumber,
  exclusiveMinimum: isNumber,
  exclusiveMaximum: isNumber,
  multipleOf: (value) => isNumber(value) && (value as number) > 0,
  minItems: isCount,
  maxItems: isCount,
  uniqueItems: (value) => typeof value === "boolean",
  minProperties: isCount,
  maxProperties: isCount,
};

/** Longest default that is told. */
const maxDefaultChars = 200;

/**
 * The keywords of a schema that hold no schemas, each only where its value means something.
 *
 * Of what a service answers, constraints are left out: they say nothing about the type, services do not keep to them, and
 * an answer would be refused that the program could have used.
 */
export function plainKeywords(schema: unknown, side: Side): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  const types = typesOf(schema);
  const [only] = types;
  if (only !== undefined) kept["type"] = types.length === 1 ? only : types;
  const values = itemsOf(own(schema, "enum"));
  // Past tools wrote `nullable: true` beside an enum without null, and meant it.
  if (values.length > 0) kept["enum"] = types.includes("null") && !values.includes(null) ? [...values, null] : values;
  if (own(schema, "const") !== undefined) kept["const"] = own(schema, "const");
  if (own(schema, "nullable") === true) kept["nullable"] = true;
  if (own(schema, "deprecated") === true) kept["deprecated"] = true;
  if (side === "output") return kept;
  for (const [keyword, holds] of Object.entries(constraints)) {
    const value = own(schema, keyword);
    if (holds(value)) kept[keyword] = value;
  }
  const standard = own(schema, "default");
  if (standard !== undefined && (JSON.stringify(standard)?.length ?? maxDefaultChars + 1) <= maxDefaultChars) kept["default"] = standard;
  return kept;
}
