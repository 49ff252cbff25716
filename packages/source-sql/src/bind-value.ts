import { ToolError, writeLosslessJson } from "@callgate/contract";
import type { Dialect } from "./dialect.ts";
import type { ValueKind } from "./table.ts";

/** A value on its way to a column whose kind is known, in the form the driver takes. */
export function bindCell(dialect: Dialect, value: unknown, kind: ValueKind): unknown {
  if (value === null || value === undefined) return null;
  switch (kind) {
    case "json":
      return writeLosslessJson(value);
    case "bytes":
      return typeof value === "string" ? Buffer.from(value, "base64") : bindValue(dialect, value);
    case "instant":
    case "datetime":
      return dialect === "mysql" ? mysqlTime(value, kind) : bindValue(dialect, value);
    case "integer":
    case "number":
    case "decimal":
    case "boolean":
    case "text":
    case "date":
    case "time":
    case "list":
    case "any":
      return bindValue(dialect, value);
  }
}

/**
 * A value for a placeholder of which nothing is known. Arrays are those of PostgreSQL, JSON text elsewhere; objects are JSON
 * text.
 *
 * Errors: `ToolError` INVALID_PARAMS for what no database has.
 */
export function bindValue(dialect: Dialect, value: unknown): unknown {
  switch (typeof value) {
    case "string":
    case "bigint":
      return value;
    case "boolean":
      return dialect === "postgres" ? value : Number(value);
    case "number":
      if (Number.isFinite(value) || dialect === "postgres") return value;
      break;
    case "object":
      return value === null ? null : bindObject(dialect, value);
    case "undefined":
    case "function":
    case "symbol":
  }
  throw invalidParameter(`${String(value)} is no value of a database`);
}

function bindObject(dialect: Dialect, value: object): unknown {
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw invalidParameter("A date is invalid");
    return dialect === "mysql" ? mysqlTime(value, "instant") : value.toISOString();
  }
  if (Array.isArray(value)) return dialect === "postgres" ? value.map((item: unknown) => bindValue(dialect, item)) : writeLosslessJson(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return writeLosslessJson(value);
  throw invalidParameter("A Map, Set or instance of a class is no value of a database; pass plain values");
}

/** Its own form knows neither `T` nor zones; connections of ours are in UTC. */
function mysqlTime(value: unknown, kind: "instant" | "datetime"): unknown {
  if (!(value instanceof Date) && typeof value !== "string") return bindValue("mysql", value);
  const hasZone = value instanceof Date || (kind === "instant" && /[+-]\d\d:?\d\d$/.test(value));
  const text = hasZone ? new Date(value).toISOString() : value;
  return text.replace(/^(\d{4,}-\d\d-\d\d)T/, "$1 ").replace(/Z$/, "");
}

function invalidParameter(message: string): ToolError {
  return new ToolError({ code: "INVALID_PARAMS", message, notApplied: true });
}
