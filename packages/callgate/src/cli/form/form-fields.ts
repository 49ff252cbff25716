import type { JsonSchema, JsonValue } from "@callgate/contract";
import { createSchemaValidator } from "@callgate/runtime/catalog";

/** How a field is asked for. */
export type FieldInput =
  | { readonly kind: "text" }
  | { readonly kind: "number" }
  | { readonly kind: "yes_no" }
  /** One of these values. */
  | { readonly kind: "choice"; readonly values: readonly JsonValue[] }
  /** Some of these texts. */
  | { readonly kind: "choices"; readonly values: readonly string[] }
  /** A list of texts, written with commas between them. */
  | { readonly kind: "texts" }
  | { readonly kind: "json" };

/** A field of a tool's form. */
export interface FormField {
  readonly name: string;
  readonly isRequired: boolean;
  readonly description: string;
  readonly input: FieldInput;
  readonly byDefault: JsonValue | undefined;
  /** The value that was typed, or what is wrong with it. */
  read(typed: string): FieldValue;
  /** What is wrong with a value; undefined where nothing is. */
  check(value: JsonValue): string | undefined;
}

export type FieldValue = { readonly kind: "value"; readonly value: JsonValue } | { readonly kind: "invalid"; readonly problem: string };

type Json = Readonly<Record<string, unknown>>;

/** The form of an input schema: its fields, those that are needed first. Undefined where it is not one of named fields: it is asked for as JSON then. */
export function formFields(schema: JsonSchema): readonly FormField[] | undefined {
  if (!isRecord(schema) || ["oneOf", "anyOf", "allOf", "$ref"].some((key) => key in schema)) return undefined;
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const shared = Object.fromEntries(["$schema", "$defs", "definitions"].flatMap((key) => (key in schema ? [[key, schema[key]]] : [])));
  const fields = Object.entries(properties).map(([name, property]) => fieldOf(name, { property: isRecord(property) ? property : {}, isRequired: required.includes(name), shared }));
  return [...fields.filter(({ isRequired }) => isRequired), ...fields.filter(({ isRequired }) => !isRequired)];
}

function fieldOf(name: string, { property, isRequired, shared }: { readonly property: Json; readonly isRequired: boolean; readonly shared: Json }): FormField {
  const input = inputOf(property);
  // The field alone, with what it may refer to: what is said of it is said at once.
  const validator = createSchemaValidator({ ...shared, type: "object", properties: { [name]: property } });
  const check = (value: JsonValue): string | undefined => {
    const result = validator.validate({ [name]: value });
    return result.kind === "ok" ? undefined : result.issues.map(({ message }) => message).join("; ");
  };
  return {
    name,
    isRequired,
    input,
    description: typeof property["description"] === "string" ? property["description"] : "",
    byDefault: property["default"] as JsonValue | undefined,
    check,
    read(typed) {
      const parsed = parse(typed, input);
      const problem = parsed.kind === "value" ? check(parsed.value) : parsed.problem;
      return problem === undefined ? parsed : { kind: "invalid", problem };
    },
  };
}

function parse(typed: string, input: FieldInput): FieldValue {
  switch (input.kind) {
    case "number": {
      const number = Number(typed.trim());
      return typed.trim() === "" || Number.isNaN(number) ? { kind: "invalid", problem: "must be a number" } : { kind: "value", value: number };
    }
    case "json":
      try {
        return { kind: "value", value: JSON.parse(typed) as JsonValue };
      } catch {
        return { kind: "invalid", problem: 'must be JSON, such as "a text", 1, [1, 2] or { "a": 1 }' };
      }
    case "texts":
      return { kind: "value", value: typed.split(",").map((text) => text.trim()).filter((text) => text !== "") };
    case "text":
    case "yes_no":
    case "choice":
    case "choices":
      return { kind: "value", value: typed };
  }
}

function inputOf(property: Json): FieldInput {
  const { enum: values, type, items } = property;
  if (Array.isArray(values) && values.length > 0) return { kind: "choice", values: values as readonly JsonValue[] };
  if ("const" in property) return { kind: "choice", values: [property["const"] as JsonValue] };
  switch (type) {
    case "string":
      return { kind: "text" };
    case "number":
    case "integer":
      return { kind: "number" };
    case "boolean":
      return { kind: "yes_no" };
    case "array": {
      const item = isRecord(items) ? items : {};
      if (Array.isArray(item["enum"]) && item["enum"].every((value) => typeof value === "string")) return { kind: "choices", values: item["enum"] };
      return item["type"] === "string" ? { kind: "texts" } : { kind: "json" };
    }
    default:
      return { kind: "json" };
  }
}

function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
