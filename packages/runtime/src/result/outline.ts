import type { JsonObject, JsonValue } from "@callgate/contract";
import { describeColumns, isRows } from "./columns.ts";
import type { Columns } from "./columns.ts";
import { modelView } from "./model-view.ts";
import { readText } from "./prose.ts";
import type { ReadText } from "./prose.ts";
import { typeName } from "./type-name.ts";

/** How much of a value an outline shows. */
export interface OutlineDetail {
  /** Items, entries or rows from the start. */
  readonly head: number;
  /** Items from the end. */
  readonly tail: number;
  /** Keys of an object, columns of rows. */
  readonly keys: number;
  /** Characters of a string, a key, a sample. */
  readonly chars: number;
  /** Levels of nesting that are opened. */
  readonly depth: number;
}

/** From generous to hardly anything; the first that fits is used. */
export const outlineDetails: readonly OutlineDetail[] = [
  { head: 20, tail: 5, keys: 60, chars: 400, depth: 5 },
  { head: 10, tail: 3, keys: 40, chars: 240, depth: 4 },
  { head: 5, tail: 2, keys: 40, chars: 160, depth: 4 },
  { head: 5, tail: 2, keys: 30, chars: 80, depth: 3 },
  { head: 3, tail: 1, keys: 30, chars: 60, depth: 3 },
  { head: 2, tail: 1, keys: 20, chars: 40, depth: 2 },
  { head: 1, tail: 0, keys: 16, chars: 40, depth: 2 },
  { head: 1, tail: 0, keys: 8, chars: 24, depth: 1 },
  { head: 0, tail: 0, keys: 8, chars: 24, depth: 1 },
  { head: 0, tail: 0, keys: 3, chars: 16, depth: 0 },
];

/** Makes outlines of one value in several sizes; what is costly to find out is found out once. */
export interface Outliner {
  outline(detail: OutlineDetail): JsonValue;
  /** Kind and size alone: never more than some 20 tokens. */
  readonly least: JsonObject;
}

export function createOutliner(value: unknown): Outliner {
  const columns = new Map<object, Columns | undefined>();
  const texts = new Map<string, ReadText>();
  const found: Found = {
    columnsOf(rows) {
      if (!columns.has(rows)) columns.set(rows, isRows(rows) ? describeColumns(rows) : undefined);
      return columns.get(rows);
    },
    textOf(text) {
      let read = texts.get(text);
      if (read === undefined) texts.set(text, (read = readText(text)));
      return read;
    },
  };
  return { outline: (detail) => outlineValue(value, detail, found), least: leastOf(value) };
}

/** What was found out about parts of the value. */
interface Found {
  columnsOf(rows: readonly unknown[]): Columns | undefined;
  textOf(text: string): ReadText;
}

function outlineValue(value: unknown, detail: OutlineDetail, found: Found): JsonValue {
  if (typeof value === "string") return outlineString(value, detail, found);
  if (typeof value === "bigint") return outlineString(value.toString(), detail, found);
  if (typeof value !== "object" || value === null || value instanceof Date || value instanceof Uint8Array) return modelView(value);
  if (isSmall(value, detail)) return modelView(value);
  if (Array.isArray(value)) return outlineArray(value, detail, found);
  if (value instanceof Map) return outlineEntries("map", value, { detail, found });
  if (value instanceof Set) return { ...outlineArray([...value], detail, found), type: "set" };
  if (value instanceof Error) return { $error: { name: cut(value.name, detail.chars), message: cut(value.message, detail.chars) } };
  return outlineEntries("object", Object.entries(value), { detail, found });
}

/** A part that is no longer than its outline is shown as it is. */
function isSmall(value: object, { chars, keys, depth }: OutlineDetail): boolean {
  if (depth < 0) return false;
  let left = Math.min(keys, 24);
  const open: unknown[] = [value];
  for (let next = open.pop(); open.length > 0 || next !== undefined; next = open.pop()) {
    left -= 1;
    if (left < 0 || (typeof next === "string" && next.length > chars) || typeof next === "bigint") return false;
    if (typeof next !== "object" || next === null) continue;
    if (next instanceof Map || next instanceof Set || next instanceof Error) return false;
    if (next instanceof Date || next instanceof Uint8Array) continue;
    const children: readonly unknown[] = Array.isArray(next) ? next : Object.values(next);
    if (children.length > left || (!Array.isArray(next) && Object.keys(next).some((key) => key.length > chars))) return false;
    open.push(...children);
  }
  return true;
}

function outlineString(text: string, { chars, keys }: OutlineDetail, found: Found): JsonValue {
  return text.length <= chars ? text : found.textOf(text).show({ chars, words: Math.min(12, keys) });
}

function cut(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars).toWellFormed()}… (${text.length} characters)`;
}

function inner(detail: OutlineDetail): OutlineDetail {
  return { ...detail, depth: detail.depth - 1, head: Math.ceil(detail.head / 3), tail: Math.floor(detail.tail / 3), keys: Math.max(3, Math.ceil(detail.keys / 2)) };
}

function outlineArray(items: readonly unknown[], detail: OutlineDetail, found: Found): JsonObject {
  const least = { type: "array", length: items.length };
  if (detail.depth < 0) return least;
  const columns = found.columnsOf(items);
  const show = (item: unknown): JsonValue => outlineValue(item, inner(detail), found);
  const { head, tail } = ends(items.length, detail);
  return {
    ...least,
    ...(columns === undefined ? itemTypes(items, detail) : columns.show(detail)),
    ...(head === 0 ? {} : { head: Array.from(items.slice(0, head), show) }),
    ...(tail === 0 ? {} : { tail: Array.from(items.slice(items.length - tail), show) }),
  };
}

/** No item twice. */
function ends(length: number, detail: OutlineDetail): { readonly head: number; readonly tail: number } {
  const head = Math.min(length, detail.head);
  return { head, tail: Math.min(length - head, detail.tail) };
}

/** Counts by type, and the range of numbers, of a list that has no columns. */
function itemTypes(items: readonly unknown[], { keys }: OutlineDetail): JsonObject {
  const counts = new Map<string, number>();
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (const item of items) {
    const type = typeName(item);
    counts.set(type, (counts.get(type) ?? 0) + 1);
    if (typeof item === "number") {
      if (item < min) min = item;
      if (item > max) max = item;
    }
  }
  const range = min <= max ? { min: modelView(min), max: modelView(max) } : {};
  return { items: Object.fromEntries([...counts].slice(0, keys)), ...range };
}

function outlineEntries(type: "object" | "map", source: Iterable<readonly [unknown, unknown]>, { detail, found }: { readonly detail: OutlineDetail; readonly found: Found }): JsonObject {
  const entries = [...source];
  const least = { type, size: entries.length };
  if (detail.depth < 0 || (detail.depth === 0 && detail.head === 0)) return { ...least, keys: entries.slice(0, detail.keys).map(([key]) => keyText(key, detail.chars)) };
  const shown = entries.slice(0, detail.keys);
  const left = entries.length - shown.length;
  return {
    ...least,
    ...(left === 0 ? {} : { notShown: left }),
    keys: Object.fromEntries(shown.map(([key, item]) => [keyText(key, detail.chars), outlineValue(item, inner(detail), found)])),
  };
}

function keyText(key: unknown, chars: number): string {
  return cut(typeof key === "string" ? key : typeof key === "object" && key !== null ? typeName(key) : String(key), Math.max(chars, 40));
}

function leastOf(value: unknown): JsonObject {
  const type = typeName(value);
  if (typeof value === "string") return { type, chars: value.length };
  if (Array.isArray(value)) return { type, length: value.length };
  if (value instanceof Map || value instanceof Set) return { type, size: value.size };
  return typeof value === "object" && value !== null ? { type, size: Object.keys(value).length } : { type };
}
