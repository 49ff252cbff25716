import { ToolError } from "@callgate/contract";
import { acceptedForm } from "./column-schema.ts";
import type { SqlWriter } from "./sql-writer.ts";
import type { Column, Table, ValueKind } from "./table.ts";

type SchemaPart = Readonly<Record<string, unknown>>;

const comparisons = { eq: "=", ne: "<>", gt: ">", gte: ">=", lt: "<", lte: "<=", like: "LIKE" } as const;
type Comparison = keyof typeof comparisons;

/** What can be asked of a column besides being equal. */
function operatorsOf(kind: ValueKind): readonly (Comparison | "in")[] {
  switch (kind) {
    case "text":
      return ["ne", "gt", "gte", "lt", "lte", "in", "like"];
    case "integer":
    case "number":
    case "decimal":
    case "date":
    case "time":
    case "datetime":
    case "instant":
      return ["ne", "gt", "gte", "lt", "lte", "in"];
    case "boolean":
    case "any":
      return ["ne"];
    case "bytes":
    case "json":
    case "list":
      return [];
  }
}

const filterNames: Partial<Readonly<Record<ValueKind, string>>> = { integer: "WholeFilter", number: "NumberFilter", decimal: "DecimalFilter", boolean: "BooleanFilter", text: "TextFilter", any: "AnyFilter" };

function filterName(kind: ValueKind): string {
  return filterNames[kind] ?? "TimeFilter";
}

function filterSchema(kind: ValueKind): SchemaPart {
  const value = acceptedForm(kind);
  const operators = operatorsOf(kind).map((operator) => {
    if (operator === "in") return ["in", { type: "array", items: value, maxItems: 1_000 }];
    if (operator === "ne") return ["ne", value["type"] === undefined ? value : { type: [value["type"], "null"].flat() }];
    return [operator, value];
  });
  return { type: "object", properties: Object.fromEntries(operators), additionalProperties: false, minProperties: 1 };
}

/** The schema of `where` for a table, and the definitions it refers to. */
export function whereSchema(table: Table): { readonly where: SchemaPart; readonly definitions: SchemaPart } {
  const definitions: Record<string, SchemaPart> = {};
  const properties = table.columns.map((column) => {
    const value = column.values === undefined ? acceptedForm(column.kind) : { type: "string", enum: column.values };
    if (operatorsOf(column.kind).length === 0) return [column.name, column.kind === "bytes" ? {} : { type: "null" }];
    const name = filterName(column.kind);
    definitions[name] ??= filterSchema(column.kind);
    // Where anything is a value, an object of operators is one as well.
    return [column.name, value["type"] === undefined ? {} : { anyOf: [value, { type: "null" }, { $ref: `#/$defs/${name}` }] }];
  });
  return { where: { type: "object", properties: Object.fromEntries(properties), additionalProperties: false, description: "All of it must hold: a value, null, or { gte: 1, lt: 10 }" }, definitions };
}

/** `WHERE ...` with a space before it, or nothing. */
export function writeWhere(where: Readonly<Record<string, unknown>>, table: Table, writer: SqlWriter): string {
  const conditions = Object.entries(where).flatMap(([name, asked]) => writeConditions(columnOf(table, name), asked, writer));
  return conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
}

/** The broker has held the arguments against the schema; a handler that is called past it finds the same wall. */
export function columnOf(table: Table, name: string): Column {
  const column = table.columns.find((one) => one.name === name);
  if (column === undefined) throw new ToolError({ code: "UNKNOWN_COLUMN", message: `${table.name} has no column "${name}"`, notApplied: true });
  return column;
}

function writeConditions(column: Column, asked: unknown, writer: SqlWriter): readonly string[] {
  if (asked === null) return [`${writer.name(column.name)} IS NULL`];
  // Left out it would be no condition at all, and a deletion of everything.
  if (asked === undefined) throw new ToolError({ code: "INVALID_PARAMS", message: `The condition on "${column.name}" is undefined; give a value, or null for rows without one`, notApplied: true });
  if (!isFilter(asked, column.kind)) return [`${writer.name(column.name)} = ${writer.value(asked, column.kind)}`];
  return Object.entries(asked).map(([operator, value]) => writeCondition(column, { operator, value }, writer));
}

function isFilter(asked: unknown, kind: ValueKind): asked is Readonly<Record<string, unknown>> {
  if (typeof asked !== "object" || asked === null || Array.isArray(asked) || ArrayBuffer.isView(asked) || asked instanceof Date) return false;
  const keys = Object.keys(asked);
  return keys.length > 0 && keys.every((key) => (operatorsOf(kind) as readonly string[]).includes(key));
}

function writeCondition(column: Column, { operator, value }: { readonly operator: string; readonly value: unknown }, writer: SqlWriter): string {
  const name = writer.name(column.name);
  if (value === undefined) throw new ToolError({ code: "INVALID_PARAMS", message: `"${operator}" of "${column.name}" is undefined`, notApplied: true });
  if (operator === "ne" && value === null) return `${name} IS NOT NULL`;
  if (operator === "in") {
    const values = Array.isArray(value) ? (value as readonly unknown[]) : [];
    return values.length === 0 ? "1 = 0" : `${name} IN (${values.map((item) => writer.value(item, column.kind)).join(", ")})`;
  }
  const comparison = Object.hasOwn(comparisons, operator) ? comparisons[operator as Comparison] : undefined;
  if (comparison === undefined) throw new ToolError({ code: "INVALID_PARAMS", message: `"${operator}" is no comparison`, notApplied: true });
  return `${name} ${comparison} ${writer.value(value, column.kind)}`;
}
