import type { Tool, ToolContext } from "@callgate/contract";
import { ToolError } from "@callgate/contract";
import { defineTool } from "@callgate/runtime/source";
import { inputSchema, pageSchema, rowSchema } from "./column-schema.ts";
import { whereSchema } from "./conditions.ts";
import type { Engine } from "./engine.ts";
import { rowReader } from "./engine.ts";
import { readTableCell } from "./read-table-cell.ts";
import type { Written } from "./session.ts";
import type { Table } from "./table.ts";
import { deleteStatement, insertStatement, selectStatement, updateStatement } from "./table-statements.ts";
import type { FindRequest } from "./table-statements.ts";
import { limitSchema, cursorSchema, readErrors, writeErrors } from "./tool-parts.ts";

export interface TableToolParts {
  readonly engine: Engine;
  readonly table: Table;
  /** In the names of its tools. */
  readonly alias: string;
  readonly timeoutMs: number;
  readonly defaultLimit: number;
  readonly isIdempotent: boolean;
}

type Cells = Readonly<Record<string, unknown>>;

/** `find_x`, and where the table can be written `insert_x`, `update_x` and `delete_x`. */
export function tableTools(parts: TableToolParts, isReadOnly: boolean): readonly Tool[] {
  const { table } = parts;
  return [findTool(parts), ...(isReadOnly || table.kind === "view" ? [] : [insertTool(parts), updateTool(parts), deleteTool(parts)])];
}

function about({ comment }: Table): string {
  return comment === undefined ? "" : ` ${comment.trim().replace(/[.]?$/, ".")}`;
}

function findTool({ engine, table, alias, timeoutMs, defaultLimit }: TableToolParts): Tool {
  const { where, definitions } = whereSchema(table);
  const names = table.columns.map(({ name }) => name);
  return defineTool({
    name: `find_${alias}`,
    description: `Reads rows of ${table.name}, a page at a time.${about(table)}`,
    effect: "read",
    tags: ["sql"],
    timeoutMs,
    input: {
      type: "object",
      properties: {
        where,
        orderBy: { type: "array", items: { type: "object", properties: { column: { type: "string", enum: names }, direction: { type: "string", enum: ["asc", "desc"] } }, required: ["column"], additionalProperties: false } },
        limit: limitSchema(defaultLimit),
        cursor: cursorSchema,
      },
      additionalProperties: false,
      $defs: definitions,
    },
    paged: true,
    output: pageSchema(rowSchema(table.columns)),
    errors: readErrors,
    handler: (args, context) => {
      const { limit = defaultLimit, cursor, ...request } = args as FindRequest & { readonly limit?: number; readonly cursor?: string | null };
      return engine.page(
        {
          tool: `find_${alias}`,
          asked: request,
          statement: () => selectStatement(engine.database.driver.dialect, table, request),
          limit,
          cursor: cursor ?? undefined,
          isOwn: true,
          readCell: (value, place, kind) => readTableCell(value, kind, { column: table.columns[place], table: table.name }),
        },
        context,
      );
    },
  });
}

/** What can be given a value: an own one is the database's for the rest. */
function writable(table: Table): Table["columns"] {
  return table.columns.filter(({ isGenerated }) => !isGenerated);
}

function insertTool({ engine, table, alias, timeoutMs, isIdempotent }: TableToolParts): Tool {
  const columns = writable(table);
  const keys = table.columns.filter(({ name }) => table.key.includes(name));
  const row = {
    type: "object",
    properties: Object.fromEntries(columns.map((column) => [column.name, inputSchema(column)])),
    required: columns.filter(({ nullable, hasDefault }) => !nullable && !hasDefault).map(({ name }) => name),
    additionalProperties: false,
  };
  return defineTool({
    name: `insert_${alias}`,
    description: `Adds rows to ${table.name}: all of them or none.${about(table)}`,
    effect: "write",
    tags: ["sql"],
    timeoutMs,
    idempotent: isIdempotent,
    input: { type: "object", properties: { rows: { type: "array", items: row, minItems: 1, maxItems: 1_000 } }, required: ["rows"], additionalProperties: false },
    output: {
      type: "object",
      properties: { changed: { type: "integer" }, keys: { type: "array", items: { type: "object", properties: rowSchema(keys)["properties"], additionalProperties: false }, description: "Primary keys of the new rows, in their order, as far as the database says them" } },
      required: ["changed", "keys"],
      additionalProperties: false,
    },
    errors: writeErrors,
    handler: (args, context) => {
      const { rows } = args as { readonly rows: readonly Cells[] };
      return engine.write(
        async (run) => {
          const added: Cells[] = [];
          for (const cells of rows) added.push(keyOf(await run(insertStatement(engine.database.driver.dialect, table, { row: cells, hasReturning: engine.schema.hasReturning })), table, cells));
          return { changed: rows.length, keys: added };
        },
        context,
        { tool: `insert_${alias}`, isOwn: true },
      );
    },
  });
}

/** From what the statement gave back; else what was given, and a number that the database counted up. */
function keyOf({ columns, rows, insertId }: Written, table: Table, cells: Cells): Cells {
  const [row] = rows;
  if (row !== undefined) return rowReader(columns)(row);
  return Object.fromEntries(table.key.flatMap((name) => (cells[name] !== undefined && cells[name] !== null ? [[name, cells[name]]] : insertId === undefined ? [] : [[name, insertId]])));
}

function updateTool({ engine, table, alias, timeoutMs, isIdempotent }: TableToolParts): Tool {
  const { where, definitions } = whereSchema(table);
  return defineTool({
    name: `update_${alias}`,
    description: `Changes the rows of ${table.name} that a condition finds.${about(table)}`,
    effect: "write",
    tags: ["sql"],
    timeoutMs,
    idempotent: isIdempotent,
    input: {
      type: "object",
      properties: { where: { ...where, minProperties: 1 }, set: { type: "object", properties: Object.fromEntries(writable(table).map((column) => [column.name, inputSchema(column)])), additionalProperties: false, minProperties: 1 } },
      required: ["where", "set"],
      additionalProperties: false,
      $defs: definitions,
    },
    output: changedSchema,
    errors: writeErrors,
    handler: (args, context) => {
      const { where: condition, set } = args as { readonly where: Cells; readonly set: Cells };
      refuseEmpty(condition, "where");
      refuseEmpty(set, "set");
      const statement = updateStatement(engine.database.driver.dialect, table, { set, where: condition });
      return engine.write(async (run) => ({ changed: (await run(statement)).changed }), context, { tool: `update_${alias}`, isOwn: true });
    },
  });
}

function deleteTool({ engine, table, alias, timeoutMs, isIdempotent }: TableToolParts): Tool {
  const { where, definitions } = whereSchema(table);
  return defineTool({
    name: `delete_${alias}`,
    description: `Removes the rows of ${table.name} that a condition finds.${about(table)}`,
    effect: "destructive",
    tags: ["sql"],
    timeoutMs,
    idempotent: isIdempotent,
    input: { type: "object", properties: { where: { ...where, minProperties: 1 } }, required: ["where"], additionalProperties: false, $defs: definitions },
    output: changedSchema,
    errors: writeErrors,
    handler: (args: Cells, context: ToolContext) => {
      const { where: condition } = args as { readonly where: Cells };
      refuseEmpty(condition, "where");
      const statement = deleteStatement(engine.database.driver.dialect, table, condition);
      return engine.write(async (run) => ({ changed: (await run(statement)).changed }), context, { tool: `delete_${alias}`, isOwn: true });
    },
  });
}

const changedSchema = { type: "object", properties: { changed: { type: "integer", description: "Rows" } }, required: ["changed"], additionalProperties: false };

/** The schema says so too; here it is the last wall before every row of a table. */
function refuseEmpty(cells: Cells, what: string): void {
  if (Object.values(cells).every((value) => value === undefined)) throw new ToolError({ code: "INVALID_PARAMS", message: `"${what}" is empty; name at least one column`, notApplied: true });
}
