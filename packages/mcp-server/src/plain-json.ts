import type { JsonValue } from "@callgate/contract";

/**
 * A value as JSON can hold it, for a client. What JSON has no word for is written out: BigInt and special numbers as
 * text, dates as ISO text, bytes as their size, maps as pairs. Cost: linear; deeper than 200 levels is cut.
 */
export function toPlainJson(value: unknown, depth = 0): JsonValue {
  if (depth > 200) return "…";
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "bigint":
      return value.toString();
    case "undefined":
      return null;
    case "function":
    case "symbol":
      return `<${typeof value}>`;
    case "object":
      return value === null ? null : objectToJson(value, depth);
  }
}

function objectToJson(value: object, depth: number): JsonValue {
  if (Array.isArray(value)) return value.map((item) => toPlainJson(item, depth + 1));
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  if (value instanceof Map) return [...value].map((pair) => toPlainJson(pair, depth + 1));
  if (value instanceof Set) return [...value].map((item) => toPlainJson(item, depth + 1));
  if (value instanceof Error) return { name: value.name, message: value.message };
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `<${value.byteLength} bytes>`;
  return Object.fromEntries(Object.entries(value).flatMap(([key, item]) => (item === undefined ? [] : [[key, toPlainJson(item, depth + 1)]])));
}

/** A value as the model reads it: text as it is, anything else as JSON without spaces. */
export function toModelText(value: unknown): string {
  if (value === undefined) return "(no value)";
  return typeof value === "string" ? value : JSON.stringify(toPlainJson(value));
}
