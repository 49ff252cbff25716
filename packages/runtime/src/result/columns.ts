import type { JsonObject, JsonValue } from "@callgate/contract";
import { typeName } from "./type-name.ts";

/** What is known of the columns of rows. */
export interface Columns {
  show(detail: { readonly keys: number; readonly chars: number }): JsonObject;
}

interface Column {
  readonly types: Map<string, number>;
  nulls: number;
  present: number;
  min: number;
  max: number;
  minChars: number;
  maxChars: number;
  sample: unknown;
}

/** Beyond this, rows are looked at evenly spread, and the outline says so: about 0.1 s of the host's time. */
const maxCells = 1_000_000;
/** Rows with more keys than this in all are no table. */
const maxColumns = 500;

/** True for a list of plain objects (one of ten may be null), of which at least two are there. */
export function isRows(items: readonly unknown[]): boolean {
  if (items.length < 2) return false;
  const step = Math.max(1, Math.floor(items.length / 100));
  let rows = 0;
  let looked = 0;
  for (let index = 0; index < items.length; index += step) {
    looked += 1;
    if (isRow(items[index])) rows += 1;
  }
  return rows >= looked * 0.9;
}

function isRow(item: unknown): item is Readonly<Record<string, unknown>> {
  return typeName(item) === "object";
}

/** Types, nulls, ranges and a sample of each column; undefined when the rows have too many different keys. */
export function describeColumns(rows: readonly unknown[]): Columns | undefined {
  const columns = new Map<string, Column>();
  const width = Math.max(1, ...rows.slice(0, 10).map((row) => (isRow(row) ? Object.keys(row).length : 0)));
  const step = Math.max(1, Math.ceil((rows.length * width) / maxCells));
  let looked = 0;
  for (let index = 0; index < rows.length; index += step) {
    const row = rows[index];
    looked += 1;
    if (!isRow(row)) continue;
    for (const key of Object.keys(row)) {
      let column = columns.get(key);
      if (column === undefined) {
        if (columns.size >= maxColumns) return undefined;
        columns.set(key, (column = emptyColumn()));
      }
      addCell(column, row[key]);
    }
  }
  return { show: (detail) => showColumns(columns, { ...detail, looked, sampled: step > 1 }) };
}

function emptyColumn(): Column {
  return { types: new Map(), nulls: 0, present: 0, min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY, minChars: Number.POSITIVE_INFINITY, maxChars: 0, sample: undefined };
}

function addCell(column: Column, value: unknown): void {
  column.present += 1;
  if (value === null || value === undefined) {
    column.nulls += 1;
    return;
  }
  const type = typeName(value);
  column.types.set(type, (column.types.get(type) ?? 0) + 1);
  column.sample ??= value;
  if (typeof value === "number") {
    if (value < column.min) column.min = value;
    if (value > column.max) column.max = value;
  } else if (typeof value === "string") {
    if (value.length < column.minChars) column.minChars = value.length;
    if (value.length > column.maxChars) column.maxChars = value.length;
  } else if (value instanceof Date) {
    const time = value.getTime();
    if (time < column.min) column.min = time;
    if (time > column.max) column.max = time;
  }
}

interface ShowDetail {
  readonly keys: number;
  readonly chars: number;
  readonly looked: number;
  readonly sampled: boolean;
}

function showColumns(columns: ReadonlyMap<string, Column>, detail: ShowDetail): JsonObject {
  const shown = [...columns].slice(0, detail.keys);
  const left = columns.size - shown.length;
  return {
    ...(detail.sampled ? { rowsLookedAt: detail.looked } : {}),
    columns: Object.fromEntries(shown.map(([name, column]) => [name.length > 100 ? `${name.slice(0, 100)}…` : name, showColumn(column, detail)])),
    ...(left === 0 ? {} : { columnsNotShown: left }),
  };
}

function showColumn(column: Column, { chars, looked }: ShowDetail): JsonObject {
  const types = [...column.types.keys()];
  // An integer column with one fraction in it is a column of numbers.
  const names = types.includes("number") ? types.filter((type) => type !== "integer") : types;
  const missing = looked - column.present + column.nulls;
  const isDate = column.types.has("date") && column.types.size === 1;
  const bound = (value: number): JsonValue => (isDate ? new Date(value).toISOString() : Number.isFinite(value) ? value : String(value));
  return {
    type: names.length === 0 ? "null" : names.join(" | "),
    ...(missing === 0 ? {} : { nulls: missing }),
    ...(column.min <= column.max ? { min: bound(column.min), max: bound(column.max) } : {}),
    ...(column.types.has("string") && column.maxChars > chars ? { chars: [column.minChars, column.maxChars] } : {}),
    ...(typeof column.sample === "string" ? { sample: column.sample.length > chars ? `${column.sample.slice(0, chars).toWellFormed()}…` : column.sample } : {}),
  };
}
