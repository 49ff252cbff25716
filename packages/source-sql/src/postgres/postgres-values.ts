import pg from "pg";
import { parseLosslessJson } from "@callgate/contract";
import { wholeNumber } from "../whole-number.ts";
import type { ValueKind } from "../table.ts";

const { types } = pg;
const { builtins } = types;

/** Types that have a form of their own; all others, and what extensions bring, are text as PostgreSQL writes it. */
const kinds: ReadonlyMap<number, ValueKind> = new Map<number, ValueKind>([
  [builtins.INT2, "integer"],
  [builtins.INT4, "integer"],
  [builtins.INT8, "integer"],
  [builtins.OID, "integer"],
  [builtins.FLOAT4, "number"],
  [builtins.FLOAT8, "number"],
  [builtins.NUMERIC, "decimal"],
  [builtins.BOOL, "boolean"],
  [builtins.DATE, "date"],
  [builtins.TIME, "time"],
  [builtins.TIMESTAMP, "datetime"],
  [builtins.TIMESTAMPTZ, "instant"],
  [builtins.BYTEA, "bytes"],
  [builtins.JSON, "json"],
  [builtins.JSONB, "json"],
]);

/** Array types of the server's own, to what is in them. From pg_type; their numbers are fixed. */
const items: ReadonlyMap<number, number> = new Map([
  [1005, builtins.INT2],
  [1007, builtins.INT4],
  [1016, builtins.INT8],
  [1028, builtins.OID],
  [1021, builtins.FLOAT4],
  [1022, builtins.FLOAT8],
  [1231, builtins.NUMERIC],
  [1000, builtins.BOOL],
  [1182, builtins.DATE],
  [1183, builtins.TIME],
  [1115, builtins.TIMESTAMP],
  [1185, builtins.TIMESTAMPTZ],
  [1001, builtins.BYTEA],
  [199, builtins.JSON],
  [3807, builtins.JSONB],
  [1009, builtins.TEXT],
  [1014, builtins.BPCHAR],
  [1015, builtins.VARCHAR],
  [2951, builtins.UUID],
]);

export function postgresKind(oid: number): ValueKind {
  return items.has(oid) ? "list" : (kinds.get(oid) ?? "text");
}

type Parser = (text: string) => unknown;

/** Its types describe another form than it has. */
const arrayParser = types.arrayParser as unknown as { create(source: string, transform: (entry: string | null) => unknown): { parse(): unknown[] } };

function parserOf(oid: number): Parser {
  const item = items.get(oid);
  if (item !== undefined) {
    const parse = parserOf(item);
    return (text) => arrayParser.create(text, (entry) => (entry === null ? null : parse(entry))).parse();
  }
  const kind = postgresKind(oid);
  switch (kind) {
    case "integer":
      return wholeNumber;
    case "number":
      return Number;
    case "boolean":
      return (text) => text === "t";
    case "bytes":
      return (text) => Buffer.from(text.slice(2), "hex");
    case "json":
      return parseLosslessJson;
    case "datetime":
      return (text) => text.replace(/^(\d+-\d\d-\d\d) /, "$1T");
    case "instant":
      // Sessions of ours are in UTC.
      return (text) => text.replace(/^(\d+-\d\d-\d\d) /, "$1T").replace(/\+00$/, "Z");
    case "decimal":
    case "text":
    case "date":
    case "time":
    case "list":
    case "any":
      return (text) => text;
  }
}

/** What `pg` asks for a parser. Everything comes as text: its own parsers would round numbers and move dates. */
export const postgresTypes = { getTypeParser: ((oid: number) => parserOf(oid)) as unknown as typeof types.getTypeParser };
