import { isRecord, itemsOf, own } from "../schema/json-schema.ts";
import type { SchemaObject } from "../schema/json-schema.ts";

/** Longest description that goes into a declaration. */
const maxDocChars = 400;

/** Constraints that a static type cannot say, in the words of JSON Schema, in this order. */
const constraintKeywords = [
  "format", "pattern", "minLength", "maxLength", "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf",
  "minItems", "maxItems", "uniqueItems", "minContains", "maxContains", "minProperties", "maxProperties", "contentEncoding", "contentMediaType",
];

/**
 * The lines of documentation of one property: description, then what the type cannot say, each as a JSDoc tag.
 * Bounded; not yet escaped.
 */
export function docOf(schema: unknown): string[] {
  if (!isRecord(schema)) return [];
  const lines = describe(schema);
  if (own(schema, "deprecated") === true) lines.push("@deprecated");
  if (Object.hasOwn(schema, "default")) lines.push(`@default ${short(schema["default"])}`);
  const constraints = constraintsOf(schema);
  if (constraints !== "") lines.push(`@constraint ${constraints}`);
  const [example] = itemsOf(own(schema, "examples"));
  if (example !== undefined) lines.push(`@example ${short(example)}`);
  return lines;
}

function describe(schema: SchemaObject): string[] {
  const text = own(schema, "description") ?? own(schema, "title");
  return typeof text === "string" && text.trim() !== "" ? clip(text, maxDocChars).split("\n") : [];
}

/** Constraints in one line, `minLength 1, maxLength 5`. */
function constraintsOf(schema: SchemaObject): string {
  const said = constraintKeywords.filter((keyword) => ["string", "number"].includes(typeof own(schema, keyword)) || own(schema, keyword) === true);
  const words = said.map((keyword) => (schema[keyword] === true ? keyword : `${keyword} ${clip(String(schema[keyword]), 120)}`));
  for (const keyword of ["readOnly", "writeOnly"]) if (own(schema, keyword) === true) words.push(keyword);
  const items = own(schema, "items");
  const ofItems = isRecord(items) ? constraintsOf(items) : "";
  if (ofItems !== "") words.push(`each item: ${ofItems}`);
  const names = own(schema, "propertyNames");
  const ofNames = isRecord(names) ? constraintsOf(names) : "";
  if (ofNames !== "") words.push(`each name: ${ofNames}`);
  return words.join(", ");
}

function short(value: unknown): string {
  return clip(JSON.stringify(value), 120);
}

/** Text with line ends made one kind, blank ends cut, and at most `maxChars` characters. */
export function clip(text: string, maxChars: number): string {
  const clean = text.replace(/\r\n?|[\u2028\u2029]/g, "\n").replace(/[^\P{Cc}\n]/gu, " ").trim().toWellFormed();
  return clean.length <= maxChars ? clean : `${clean.slice(0, maxChars - 1).toWellFormed().trimEnd()}…`;
}
