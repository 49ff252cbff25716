import mysql from "mysql2";
import type { FieldPacket } from "mysql2";
import { parseLosslessJson } from "@callgate/contract";
import { wholeNumber } from "../whole-number.ts";
import type { ResultColumn, ValueKind } from "../table.ts";

const { Types } = mysql;
/** The character set that says that a text is bytes. */
const binaryCharset = 63;

/** What mysql2 says of a column, beyond its types. */
interface MysqlField {
  readonly name: string;
  readonly columnType?: number | undefined;
  readonly characterSet?: number | undefined;
  /** MariaDB says so that a text is JSON. */
  readonly extendedFormat?: string | undefined;
}

export function mysqlColumn(packet: FieldPacket): ResultColumn {
  const field = packet as unknown as MysqlField;
  return { name: field.name, kind: mysqlKind(field) };
}

function mysqlKind({ columnType, characterSet, extendedFormat }: MysqlField): ValueKind {
  if (extendedFormat === "json") return "json";
  switch (columnType) {
    case Types.TINY:
    case Types.SHORT:
    case Types.LONG:
    case Types.INT24:
    case Types.LONGLONG:
    case Types.YEAR:
      return "integer";
    case Types.FLOAT:
    case Types.DOUBLE:
      return "number";
    case Types.DECIMAL:
    case Types.NEWDECIMAL:
      return "decimal";
    case Types.DATE:
    case Types.NEWDATE:
      return "date";
    case Types.TIME:
      return "time";
    case Types.DATETIME:
      return "datetime";
    case Types.TIMESTAMP:
      return "instant";
    case Types.JSON:
      return "json";
    case Types.BIT:
      return "bytes";
    // The driver makes points and lists of numbers of these.
    case Types.GEOMETRY:
    case Types.VECTOR:
    case undefined:
    case Types.NULL:
      return "any";
    default:
      return characterSet === binaryCharset ? "bytes" : "text";
  }
}

/** What the driver gave, in the form of its kind. Whole numbers, decimals, dates and JSON come as text from it. */
export function readMysqlCell(value: unknown, kind: ValueKind): unknown {
  if (typeof value !== "string") return value;
  switch (kind) {
    case "integer":
      return wholeNumber(value);
    case "datetime":
      return value.replace(" ", "T");
    case "instant":
      return `${value.replace(" ", "T")}Z`;
    case "json":
      return parseLosslessJson(value);
    case "number":
    case "decimal":
    case "boolean":
    case "text":
    case "date":
    case "time":
    case "bytes":
    case "list":
    case "any":
      return value;
  }
}

/** The kind of a column by the words of `information_schema`. */
export function mysqlColumnKind(dataType: string, isJson: boolean): ValueKind {
  if (isJson) return "json";
  switch (dataType) {
    case "tinyint":
    case "smallint":
    case "mediumint":
    case "int":
    case "bigint":
    case "year":
      return "integer";
    case "float":
    case "double":
      return "number";
    case "decimal":
      return "decimal";
    case "date":
    case "time":
    case "datetime":
      return dataType;
    case "timestamp":
      return "instant";
    case "json":
      return "json";
    case "binary":
    case "varbinary":
    case "tinyblob":
    case "blob":
    case "mediumblob":
    case "longblob":
    case "bit":
      return "bytes";
    case "char":
    case "varchar":
    case "tinytext":
    case "text":
    case "mediumtext":
    case "longtext":
    case "enum":
    case "set":
    case "uuid":
    case "inet4":
    case "inet6":
      return "text";
    default:
      return "any";
  }
}

/** A value for a placeholder. mysql2 would send whole numbers as doubles, which LIMIT refuses and large keys do not survive. */
export function mysqlParameter(value: unknown): unknown {
  if (typeof value === "number" && Number.isSafeInteger(value)) return mysql.TypedParameter.LONGLONG(value);
  if (typeof value !== "bigint") return value;
  if (value >= -(2n ** 63n) && value < 2n ** 63n) return mysql.TypedParameter.LONGLONG(value);
  return value > 0n && value < 2n ** 64n ? mysql.TypedParameter.LONGLONG.unsigned(value) : value.toString();
}
