import type { CedarValueJson } from "@cedar-policy/cedar-wasm/nodejs";
import { decimalBounds } from "./decimal.ts";

/** Longest list whose texts are handed to a policy. */
const maxTexts = 1_000;

/** A value that cannot be handed to a policy without changing it: whatever needs it is denied. */
export class UnusableValue extends Error {
  override readonly name = "UnusableValue";
}

/** The one type of arguments and claims: what kind a value is, and the value in the form of that kind. */
export const valueType = "{ kind: String, text?: String, number?: { low: decimal, high: decimal }, bool?: Bool, texts?: Set<String> }";

/**
 * The values at these JSON Pointers, by pointer; what is not there is left out.
 *
 * Errors: UnusableValue for a text that is no Unicode and a list of more than 1,000 items.
 */
export function recordsAt(root: unknown, pointers: readonly string[]): Record<string, CedarValueJson> {
  const records: Record<string, CedarValueJson> = {};
  for (const pointer of pointers) {
    const found = valueAt(root, pointer);
    if (found !== undefined) records[pointer] = recordOf(found, pointer);
  }
  return records;
}

/** Own properties only: what a prototype says is no argument. */
function valueAt(root: unknown, pointer: string): unknown {
  let current = root;
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replace(/~1/g, "/").replace(/~0/g, "~");
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, key)) return undefined;
    current = (current as Record<string, unknown>)[key];
  }
  return current;
}

function recordOf(value: unknown, pointer: string): CedarValueJson {
  switch (typeof value) {
    case "string":
      return { kind: "text", text: unicode(value, pointer) };
    case "boolean":
      return { kind: "boolean", bool: value };
    case "number":
    case "bigint": {
      const bounds = decimalBounds(value);
      return bounds === undefined ? { kind: "number" } : { kind: "number", number: { low: decimalOf(bounds.low), high: decimalOf(bounds.high) } };
    }
    case "object":
    case "undefined":
    case "function":
    case "symbol":
      if (value === null) return { kind: "null" };
      return Array.isArray(value) ? listRecord(value, pointer) : { kind: isPlain(value) ? "object" : "other" };
  }
}

function listRecord(list: readonly unknown[], pointer: string): CedarValueJson {
  if (!list.every((item) => typeof item === "string")) return { kind: "list" };
  if (list.length > maxTexts) throw new UnusableValue(`${pointer} is a list of more than ${maxTexts} items, more than a policy looks through`);
  return { kind: "list", texts: list.map((item) => unicode(item, pointer)) };
}

function decimalOf(text: string): CedarValueJson {
  return { __extn: { fn: "decimal", arg: text } };
}

/** Half a character would be replaced on the way, and another text be decided about. */
export function unicode(text: string, place: string): string {
  if (!text.isWellFormed()) throw new UnusableValue(`${place} holds a text that is not Unicode`);
  return text;
}

function isPlain(value: unknown): boolean {
  const prototype: unknown = typeof value === "object" && value !== null ? Object.getPrototypeOf(value) : undefined;
  return prototype === Object.prototype || prototype === null;
}
