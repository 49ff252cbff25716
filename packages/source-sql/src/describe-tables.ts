import type { Schema, Table } from "./table.ts";

/** Of a tool's description; the catalog shows at most 1,500 characters of one. */
const maxChars = 1_100;

/** What a writer of SQL must know: tables with their columns as long as there is room, then names alone, then a number. */
export function describeTables({ tables, defaultSchema }: Schema): string {
  if (tables.length === 0) return "There are no tables that its user may read.";
  const full = tables.map((table) => `${qualified(table, defaultSchema)}(${table.columns.map(({ name, type }) => `${name}${type === "" ? "" : ` ${type.toLowerCase()}`}`).join(", ")})`);
  if (lengthOf(full) <= maxChars) return `Tables: ${full.join("; ")}`;
  const columns = tables.map((table) => `${qualified(table, defaultSchema)}(${table.columns.map(({ name }) => name).join(", ")})`);
  if (lengthOf(columns) <= maxChars) return `Tables: ${columns.join("; ")}`;
  const names = tables.map((table) => qualified(table, defaultSchema));
  const shown: string[] = [];
  for (let left = maxChars; shown.length < names.length; ) {
    const name = names[shown.length] ?? "";
    left -= name.length + 2;
    if (left < 0) break;
    shown.push(name);
  }
  const more = names.length - shown.length;
  return `Tables: ${shown.join(", ")}${more === 0 ? "" : ` and ${more} more`}. The find tool of a table says its columns`;
}

function lengthOf(parts: readonly string[]): number {
  return parts.reduce((sum, part) => sum + part.length + 2, 0);
}

/** As SQL names it, and as the tools of a table are called with a `_` for the dot. */
export function qualified({ schema, name }: Pick<Table, "schema" | "name">, defaultSchema: string): string {
  return schema === "" || schema === defaultSchema ? name : `${schema}.${name}`;
}
