import type { DatabaseSync } from "node:sqlite";
import type { Column, Schema, Table } from "../table.ts";
import { sqliteKind } from "./sqlite-values.ts";

const tablesSql = `select name, type, strict from pragma_table_list where schema = 'main' and type in ('table', 'view', 'virtual') and name not like 'sqlite\\_%' escape '\\' order by name`;

/** `hidden` is 1 for columns of virtual tables that `*` leaves out, 2 and 3 for generated ones. */
const columnsSql = `select name, type, "notnull" as required, dflt_value is not null as has_default, pk, hidden from pragma_table_xinfo(?) where hidden <> 1 order by cid`;

type Named = Readonly<Record<string, unknown>>;

export function readSqliteSchema(database: DatabaseSync): Schema {
  const rows = (sql: string, ...values: string[]): readonly Named[] => database.prepare(sql).all(...values) as Named[];
  const [mode] = rows("pragma journal_mode");
  return {
    tables: rows(tablesSql).flatMap((table) => tableOf(table, columnsOf(String(table["name"]), rows))),
    defaultSchema: "",
    rollsBack: true,
    hasReturning: true,
    readersBlockWriters: mode?.["journal_mode"] !== "wal",
  };
}

/** A view over a table that is gone has none; it costs only itself. */
function columnsOf(table: string, rows: (sql: string, ...values: string[]) => readonly Named[]): readonly Named[] {
  try {
    return rows(columnsSql, table);
  } catch {
    return [];
  }
}

function tableOf(table: Named, columns: readonly Named[]): readonly Table[] {
  if (columns.length === 0) return [];
  const key = columns.filter(({ pk }) => Number(pk) > 0).toSorted((a, b) => Number(a["pk"]) - Number(b["pk"]));
  const [only] = key;
  // The one column that is another name of the row's number: it has a value without being given one.
  const rowId = key.length === 1 && String(only?.["type"]).toUpperCase() === "INTEGER" ? only?.["name"] : undefined;
  return [
    {
      schema: "",
      name: String(table["name"]),
      kind: table["type"] === "view" ? "view" : "table",
      columns: columns.map((column) => columnOf(column, rowId)),
      key: key.map(({ name }) => String(name)),
    },
  ];
}

function columnOf(row: Named, rowId: unknown): Column {
  const isRowId = row["name"] === rowId;
  const type = String(row["type"]);
  return {
    name: String(row["name"]),
    type,
    kind: sqliteKind(type),
    // A primary key of another type may hold null in SQLite, an old fault that it keeps.
    nullable: !isRowId && Number(row["required"]) === 0,
    hasDefault: isRowId || Number(row["has_default"]) === 1,
    isGenerated: Number(row["hidden"]) > 1,
  };
}
