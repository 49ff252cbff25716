import { parseLosslessJson } from "@callgate/contract";
import { wholeNumber } from "../whole-number.ts";
import type { ValueKind } from "../table.ts";

/** SQLite keeps any value in any column that is not STRICT; what a column is declared as is what its values are read as. */
export function sqliteKind(type: string): ValueKind {
  const word = type.toUpperCase();
  if (word === "" || word === "ANY") return "any";
  if (word.startsWith("BOOL")) return "boolean";
  if (word === "JSON" || word === "JSONB") return "json";
  // Dates are text or numbers, as whoever wrote them liked.
  if (/DATE|TIME/.test(word)) return "any";
  if (/INT/.test(word)) return "integer";
  if (/CHAR|CLOB|TEXT|UUID/.test(word)) return "text";
  if (/BLOB/.test(word)) return "bytes";
  if (/REAL|FLOA|DOUB|DEC|NUM/.test(word)) return "number";
  return "any";
}

/** In the form that node:sqlite takes: a whole number would else be a double, and `5.0` in a column of text. */
export function sqliteParameter(value: unknown): null | number | bigint | string | NodeJS.ArrayBufferView {
  if (typeof value === "number" && Number.isSafeInteger(value)) return BigInt(value);
  return value as null | number | bigint | string | NodeJS.ArrayBufferView;
}

/** JSON that is none, and booleans that are neither 0 nor 1, stay what they are. */
export function readSqliteCell(value: unknown, kind: ValueKind = "any"): unknown {
  if (typeof value === "bigint") return kind === "boolean" && (value === 0n || value === 1n) ? value === 1n : wholeNumber(value);
  return kind === "json" && typeof value === "string" ? parsedOrText(value) : value;
}

function parsedOrText(text: string): unknown {
  try {
    return parseLosslessJson(text);
  } catch {
    return text;
  }
}
