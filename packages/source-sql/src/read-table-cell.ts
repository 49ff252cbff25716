import { parseLosslessJson, ToolError } from "@callgate/contract";
import type { Column, ValueKind } from "./table.ts";

/**
 * A cell of a table in the form that its column promises. The servers keep to their types; SQLite takes any value into any
 * column, and the JSON of an older MariaDB is a text.
 *
 * @param kind what the driver took it for
 *
 * Errors: `ToolError` COLUMN_MISMATCH for a value that is none of its column's type.
 */
export function readTableCell(value: unknown, kind: ValueKind, { column, table }: { readonly column: Column | undefined; readonly table: string }): unknown {
  if (value === null || column === undefined) return value;
  switch (column.kind) {
    case "boolean":
      if (typeof value === "boolean") return value;
      break;
    case "json":
      return typeof value === "string" && kind !== "json" ? parseJsonCell(value, column, table) : value;
    case "integer":
      if (typeof value === "bigint" || Number.isInteger(value)) return value;
      break;
    case "number":
      if (typeof value === "number" || typeof value === "bigint") return value;
      break;
    case "text":
    case "decimal":
    case "date":
    case "time":
    case "datetime":
    case "instant":
      if (typeof value === "string") return value;
      break;
    case "bytes":
      if (ArrayBuffer.isView(value)) return value;
      break;
    case "list":
    case "any":
      return value;
  }
  throw mismatch(column, table, typeof value === "string" || typeof value === "number" ? `the ${typeof value} ${String(value).slice(0, 40)}` : ArrayBuffer.isView(value) ? "bytes" : `a ${typeof value}`);
}

function parseJsonCell(value: string, column: Column, table: string): unknown {
  try {
    return parseLosslessJson(value);
  } catch {
    throw mismatch(column, table, "text that is no JSON");
  }
}

function mismatch(column: Column, table: string, found: string): ToolError {
  return new ToolError({ code: "COLUMN_MISMATCH", message: `A row of ${table} holds ${found} in "${column.name}", which is declared ${column.type}. Read such rows with query`, notApplied: true });
}
