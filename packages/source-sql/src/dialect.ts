import { SqlFault } from "./sql-fault.ts";

export type Dialect = "sqlite" | "postgres" | "mysql";

/** The only place where a name becomes SQL. Errors: `SqlFault` for a name no database has. */
export function quoteName(dialect: Dialect, name: string): string {
  if (name === "" || name.includes("\0")) throw new SqlFault({ kind: "syntax", message: "A name of a table or column is empty or has a zero character" });
  return dialect === "mysql" ? `\`${name.replaceAll("`", "``")}\`` : `"${name.replaceAll('"', '""')}"`;
}

/** How the value at a place, from 1 on, is referred to. */
export function placeholder(dialect: Dialect, place: number): string {
  return dialect === "postgres" ? `$${place}` : "?";
}

/** How models are told to write placeholders. */
export function placeholderExample(dialect: Dialect): string {
  return dialect === "postgres" ? "$1, $2" : "?, ?";
}
