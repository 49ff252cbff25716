import type { FaultKind } from "../sql-fault.ts";
import { SqlFault } from "../sql-fault.ts";

// https://www.sqlite.org/rescode.html, the low byte
const kinds: ReadonlyMap<number, FaultKind> = new Map<number, FaultKind>([
  [3, "denied"],
  [5, "conflict"],
  [6, "conflict"],
  [8, "read_only"],
  [9, "cancelled"],
  [14, "unreachable"],
  [18, "too_large"],
  [19, "constraint"],
  [20, "value"],
  [23, "denied"],
  [25, "parameters"],
  [26, "unreachable"],
]);

export function sqliteFault(error: unknown): SqlFault {
  if (error instanceof SqlFault) return error;
  const { errcode, message } = error as { readonly errcode?: unknown; readonly message?: unknown };
  const said = typeof message === "string" ? message : String(error);
  const missing = /no such (table|view|column): ([^\s]+)|has no column named ([^\s]+)/.exec(said);
  if (missing !== null) {
    const [, what, name, column] = missing;
    return new SqlFault({ kind: what === "table" || what === "view" ? "unknown_table" : "unknown_column", message: said, name: (name ?? column)?.split(".").at(-1), cause: error });
  }
  // node:sqlite refuses values before SQLite sees them.
  if (typeof errcode !== "number") return new SqlFault({ kind: /parameter|bound|bind/i.test(said) ? "parameters" : "other", message: said, cause: error });
  const kind = kinds.get(errcode & 0xff) ?? (errcode === 1 ? "syntax" : "other");
  return new SqlFault({ kind, message: said, code: `SQLITE_${errcode}`, cause: error });
}
