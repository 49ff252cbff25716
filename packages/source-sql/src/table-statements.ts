import type { Dialect } from "./dialect.ts";
import { columnOf, writeWhere } from "./conditions.ts";
import type { Statement } from "./session.ts";
import { createSqlWriter } from "./sql-writer.ts";
import type { Table } from "./table.ts";

type Cells = Readonly<Record<string, unknown>>;

export interface FindRequest {
  readonly where?: Cells;
  readonly orderBy?: readonly { readonly column: string; readonly direction?: "asc" | "desc" }[];
}

/** All columns by name, so that a column added later changes no row that was promised. */
export function selectStatement(dialect: Dialect, table: Table, { where = {}, orderBy = [] }: FindRequest): Statement {
  const writer = createSqlWriter(dialect);
  const columns = table.columns.map(({ name }) => writer.name(name)).join(", ");
  const conditions = writeWhere(where, table, writer);
  const order = orderBy.map(({ column, direction = "asc" }) => `${writer.name(columnOf(table, column).name)} ${direction === "desc" ? "DESC" : "ASC"}`);
  return writer.statement(`SELECT ${columns} FROM ${writer.table(table)}${conditions}${order.length === 0 ? "" : ` ORDER BY ${order.join(", ")}`}`);
}

/** @param hasReturning whether the database gives the keys back in the same statement */
export function insertStatement(dialect: Dialect, table: Table, { row, hasReturning }: { readonly row: Cells; readonly hasReturning: boolean }): Statement {
  const writer = createSqlWriter(dialect);
  const cells = Object.entries(row).filter(([, value]) => value !== undefined);
  const names = cells.map(([name]) => writer.name(columnOf(table, name).name));
  const values = cells.map(([name, value]) => writer.value(value, columnOf(table, name).kind));
  const returning = hasReturning && table.key.length > 0 ? ` RETURNING ${table.key.map((name) => writer.name(name)).join(", ")}` : "";
  const what = cells.length > 0 ? `(${names.join(", ")}) VALUES (${values.join(", ")})` : dialect === "mysql" ? "() VALUES ()" : "DEFAULT VALUES";
  return writer.statement(`INSERT INTO ${writer.table(table)} ${what}${returning}`);
}

export function updateStatement(dialect: Dialect, table: Table, { set, where }: { readonly set: Cells; readonly where: Cells }): Statement {
  const writer = createSqlWriter(dialect);
  const changes = Object.entries(set).filter(([, value]) => value !== undefined).map(([name, value]) => `${writer.name(columnOf(table, name).name)} = ${writer.value(value, columnOf(table, name).kind)}`);
  return writer.statement(`UPDATE ${writer.table(table)} SET ${changes.join(", ")}${writeWhere(where, table, writer)}`);
}

export function deleteStatement(dialect: Dialect, table: Table, where: Cells): Statement {
  const writer = createSqlWriter(dialect);
  return writer.statement(`DELETE FROM ${writer.table(table)}${writeWhere(where, table, writer)}`);
}
