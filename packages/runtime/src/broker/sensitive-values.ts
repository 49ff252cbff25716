import type { CallError, JsonValue } from "@callgate/contract";

/** Shorter values turn up in any text by chance. */
const MIN_CHARS = 4;
const MAX_VALUES = 200;

/** Texts and numbers of a value at JSON Pointers; `*` stands for every item. */
export function sensitiveValues(value: unknown, pointers: readonly string[]): readonly string[] {
  if (pointers.length === 0) return [];
  const found = new Set<string>();
  for (const pointer of pointers) collect(value, pointer.split("/").slice(1), found);
  // Longest first, so that one which contains another is not taken apart.
  return [...found].sort((a, b) => b.length - a.length);
}

function collect(value: unknown, path: readonly string[], found: Set<string>): void {
  if (found.size >= MAX_VALUES) return;
  const [key, ...rest] = path;
  if (typeof value === "string" || typeof value === "number" || typeof value === "bigint") {
    const text = String(value);
    if (key === undefined && text.length >= MIN_CHARS) found.add(text);
  } else if (typeof value === "object" && value !== null) {
    const all = key === undefined || key === "*";
    const name = key?.replace(/~1/g, "/").replace(/~0/g, "~");
    for (const [own, item] of Object.entries(value)) if (all || own === name) collect(item, rest, found);
  }
}

/** An error as it may be written down: a tool that repeats a sensitive argument in its message does not make it public. */
export function withoutValues(error: CallError, values: readonly string[]): CallError {
  if (values.length === 0) return error;
  const { message, details } = hideValues({ message: error.message, details: error.details ?? null }, values, () => "[sensitive]") as { readonly message: string; readonly details: NonNullable<CallError["details"]> };
  return { ...error, message, ...(error.details === undefined ? {} : { details }) };
}

/** Puts something in the place of every text and number of `values`, wherever in plain data it stands. */
export function hideValues(data: JsonValue, values: readonly string[], inPlaceOf: (value: string) => string): JsonValue {
  const hide = (text: string): string => values.reduce((left, value) => (left.includes(value) ? left.replaceAll(value, () => inPlaceOf(value)) : left), text);
  const hidden = (value: JsonValue): JsonValue => {
    if (typeof value === "string") return hide(value);
    if (typeof value === "number") return values.includes(String(value)) ? inPlaceOf(String(value)) : value;
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((item: JsonValue) => hidden(item));
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [hide(key), hidden(item)]));
  };
  return hidden(data);
}
