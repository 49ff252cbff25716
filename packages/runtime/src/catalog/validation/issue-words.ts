import { isRecord, itemsOf, own } from "../schema/json-schema.ts";
import { clip } from "../types/schema-doc.ts";

const maxShownChars = 80;
const maxShownValues = 12;

/** A value as an error shows it: its type, and itself when it is small. */
export function got(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return `array of ${value.length}`;
  if (typeof value === "string") return `string ${clip(JSON.stringify(value.slice(0, maxShownChars)), maxShownChars)}`;
  if (typeof value === "number" || typeof value === "boolean") return `${typeof value} ${String(value)}`;
  if (typeof value !== "object") return typeof value;
  const name = Object.prototype.toString.call(value).slice(8, -1);
  return name === "Object" ? `object {${clip(Object.keys(value).slice(0, maxShownValues).join(", "), maxShownChars)}}` : name;
}

/** What a schema asks for, in few words. */
export function expectedOf(schema: unknown): string {
  if (!isRecord(schema)) return "another value";
  if (Object.hasOwn(schema, "const")) return JSON.stringify(schema["const"]);
  const values = own(schema, "enum");
  if (Array.isArray(values)) return `one of ${valueList(values)}`;
  const type = own(schema, "type");
  const types = (Array.isArray(type) ? type : [type]).filter((one) => typeof one === "string");
  if (types.length > 0) return types.map((one) => (one === "array" ? arrayWords(schema) : one)).join(" or ");
  const branches = [...itemsOf(own(schema, "anyOf")), ...itemsOf(own(schema, "oneOf"))].map(branchWords);
  if (branches.length > 0) return clip([...new Set(branches)].join(" or "), 200);
  const ref = own(schema, "$ref");
  return typeof ref === "string" ? (ref.split("/").at(-1) ?? "another value") : "another value";
}

function branchWords(branch: unknown): string {
  const words = expectedOf(branch);
  const required = isRecord(branch) ? itemsOf(branch["required"]).filter((name) => typeof name === "string") : [];
  return (words === "object" || words === "another value") && required.length > 0 ? `object with ${nameList(required)}` : words;
}

function arrayWords(schema: Readonly<Record<string, unknown>>): string {
  const items = own(schema, "items");
  const words = isRecord(items) ? expectedOf(items) : "another value";
  return words === "another value" ? "array" : `array of ${words}`;
}

export function valueList(values: unknown): string {
  return shortList(itemsOf(values).map((value) => clip(JSON.stringify(value) ?? "", maxShownChars)));
}

export function nameList(names: readonly string[]): string {
  return shortList(names.map((name) => clip(name, maxShownChars)));
}

function shortList(words: readonly string[]): string {
  return words.length <= maxShownValues ? words.join(", ") : `${words.slice(0, maxShownValues).join(", ")}, ... (${words.length} in all)`;
}
