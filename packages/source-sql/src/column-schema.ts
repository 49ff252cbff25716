import { pagedOutput } from "@callgate/contract";
import type { JsonSchema } from "@callgate/contract";
import type { Column, ResultColumn, ValueKind } from "./table.ts";

type SchemaPart = Readonly<Record<string, unknown>>;

const descriptions: Partial<Readonly<Record<ValueKind, string>>> = {
  decimal: 'all digits, as text: "12.30"',
  date: "2030-01-31",
  time: "14:05:00",
  datetime: "2030-01-31T14:05:00, without a zone",
  instant: "2030-01-31T14:05:00Z",
  bytes: "Uint8Array",
};

function formOf(kind: ValueKind): SchemaPart {
  switch (kind) {
    case "integer":
    case "number":
    case "boolean":
      return { type: kind };
    case "text":
    case "decimal":
    case "date":
    case "time":
    case "datetime":
    case "instant":
      return { type: "string" };
    case "list":
      return { type: "array", items: {} };
    case "bytes":
    case "json":
    case "any":
      return {};
  }
}

function orNull(part: SchemaPart): SchemaPart {
  if (part["enum"] !== undefined) return { anyOf: [part, { type: "null" }] };
  return part["type"] === undefined ? part : { ...part, type: [part["type"], "null"].flat() };
}

/** What a program reads from a column. */
function outputSchema(column: ResultColumn | Column): SchemaPart {
  const values = "values" in column ? column.values : undefined;
  const part = values === undefined ? formOf(column.kind) : { type: "string", enum: values };
  const description = describeColumn(column);
  const isNullable = !("nullable" in column) || column.nullable;
  return { ...(isNullable ? orNull(part) : part), ...(description === "" ? {} : { description }) };
}

/** What a program may write into a column: more than it reads, where nothing is lost by it. */
export function inputSchema(column: Column): SchemaPart {
  const part = column.values === undefined ? acceptedForm(column.kind) : { type: "string", enum: column.values };
  const description = describeColumn(column);
  return { ...(column.nullable ? orNull(part) : part), ...(description === "" ? {} : { description }) };
}

export function acceptedForm(kind: ValueKind): SchemaPart {
  if (kind === "decimal") return { type: ["string", "number"] };
  return formOf(kind);
}

function describeColumn(column: ResultColumn | Column): string {
  const comment = "comment" in column ? column.comment : undefined;
  const isPlain = column.kind === "text" || column.kind === "integer" || column.kind === "boolean";
  const type = "type" in column && !isPlain ? column.type : "";
  return [comment ?? "", [type, descriptions[column.kind] ?? ""].filter((text) => text !== "").join(": ")].filter((text) => text !== "").join("; ");
}

/** Rows of these columns, nothing else. */
export function rowSchema(columns: readonly (ResultColumn | Column)[]): SchemaPart {
  return {
    type: "object",
    properties: Object.fromEntries(columns.map((column) => [column.name, outputSchema(column)])),
    required: columns.map(({ name }) => name),
    additionalProperties: false,
  };
}

/** One page of rows, and what the next is asked for with. */
export function pageSchema(row: SchemaPart): JsonSchema {
  return pagedOutput({ type: "array", items: row });
}
