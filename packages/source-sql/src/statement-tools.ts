import type { Tool, ToolErrorSpec } from "@callgate/contract";
import { ToolError } from "@callgate/contract";
import { defineTool } from "@callgate/runtime/source";
import { bindValue } from "./bind-value.ts";
import { pageSchema } from "./column-schema.ts";
import { describeTables } from "./describe-tables.ts";
import type { Dialect } from "./dialect.ts";
import { placeholderExample } from "./dialect.ts";
import type { Engine } from "./engine.ts";
import { rowReader } from "./engine.ts";
import type { Statement } from "./session.ts";
import { commitsByItself, readNames, refusedWord } from "./sql-text.ts";
import { cursorSchema, limitSchema, readErrors, writeErrors } from "./tool-parts.ts";

export interface StatementToolParts {
  readonly engine: Engine;
  readonly timeoutMs: number;
  readonly defaultLimit: number;
  readonly isIdempotent: boolean;
}

const languages: Readonly<Record<Dialect, string>> = { sqlite: "SQLite", postgres: "PostgreSQL", mysql: "MySQL or MariaDB" };

const anyRow = { type: "object", additionalProperties: true };

function inputOf(dialect: Dialect, more: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return {
    type: "object",
    properties: {
      sql: { type: "string", minLength: 1, maxLength: 100_000, description: `One statement of ${languages[dialect]}` },
      params: {
        anyOf: [{ type: "array", items: {}, maxItems: 10_000 }, { type: "object", additionalProperties: true }],
        description: `Values: a list for ${placeholderExample(dialect)}, or an object for :name. Never put values into the text`,
      },
      ...more,
    },
    required: ["sql"],
    additionalProperties: false,
  };
}

const sqlErrors: readonly ToolErrorSpec[] = [
  { code: "UNKNOWN_TABLE", description: "No such table; the nearest is named" },
  { code: "UNKNOWN_COLUMN", description: "No such column; the nearest is named" },
  { code: "SQL_INVALID", description: "The statement is not understood" },
];

interface SqlArguments {
  readonly sql: string;
  readonly params?: readonly unknown[] | Readonly<Record<string, unknown>>;
}

/** Anything that reads. Its effect is `read` because the database proves it; where it does not, it counts as a write. */
export function queryTool({ engine, timeoutMs, defaultLimit }: StatementToolParts): Tool {
  const { driver: { dialect } } = engine.database;
  const { unproven } = engine.schema;
  return defineTool({
    name: "query",
    description: `Runs one SELECT in a transaction that cannot write, and gives its rows a page at a time. ${describeTables(engine.schema)}`,
    whenToUse: "Joins, sums, groups; for rows of one table the find tools are checked against its columns before they run",
    effect: unproven === undefined ? "read" : "write",
    tags: ["sql"],
    timeoutMs,
    input: inputOf(dialect, { limit: limitSchema(defaultLimit), cursor: cursorSchema }),
    paged: true,
    output: pageSchema(anyRow),
    errors: [...sqlErrors, { code: "READ_ONLY", description: "The statement would write" }, ...readErrors],
    handler: (args, context) => {
      const { limit = defaultLimit, cursor, ...asked } = args as unknown as SqlArguments & { readonly limit?: number; readonly cursor?: string | null };
      return engine.page({ tool: "query", asked, statement: () => statementOf(dialect, asked), limit, cursor: cursor ?? undefined }, context);
    },
  });
}

/** One statement that may change anything the user of the database may change. */
export function executeTool({ engine, timeoutMs, isIdempotent }: StatementToolParts): Tool {
  const { driver: { dialect } } = engine.database;
  return defineTool({
    name: "execute",
    description: "Runs one statement that changes data or tables, as a transaction of its own.",
    whenToUse: "Changes that the insert, update and delete tools of the tables cannot say",
    effect: "destructive",
    tags: ["sql"],
    timeoutMs,
    idempotent: isIdempotent && dialect !== "mysql",
    input: inputOf(dialect, {}),
    output: { type: "object", properties: { changed: { type: "integer", description: "Rows" }, rows: { type: "array", items: anyRow, description: "What RETURNING gave" } }, required: ["changed", "rows"], additionalProperties: false },
    errors: [...sqlErrors, ...writeErrors],
    precheck: (args, context) => {
      const { sql } = args as unknown as SqlArguments;
      refuseReserved(sql);
      return engine.check(readNames(dialect, sql).text, context);
    },
    handler: (args, context) => {
      const asked = args as unknown as SqlArguments;
      refuseReserved(asked.sql);
      return runWrite(engine, { tool: "execute", statement: statementOf(dialect, asked), isKeyed: !commitsByItself(dialect, asked.sql) }, context);
    },
  });
}

/** Runs one statement that writes, and gives what it came to. */
export async function runWrite(engine: Engine, { tool, statement, isKeyed }: { readonly tool: string; readonly statement: Statement; readonly isKeyed: boolean }, context: Parameters<Engine["write"]>[1]): Promise<{ readonly changed: number; readonly rows: readonly unknown[] }> {
  return await engine.write(
    async (run) => {
      const { changed, columns, rows } = await run(statement);
      return { changed, rows: rows.map(rowReader(columns)) };
    },
    context,
    { tool, keyed: isKeyed },
  );
}

function refuseReserved(sql: string): void {
  const word = refusedWord(sql);
  if (word === undefined) return;
  throw new ToolError({ code: "SQL_INVALID", message: `${word} cannot be executed here: each call is a transaction of its own, on a connection that others use after it`, notApplied: true });
}

/** Text and values as the driver takes them. Errors: `ToolError` INVALID_PARAMS. */
export function statementOf(dialect: Dialect, { sql, params = [] }: SqlArguments): Statement {
  if (isList(params)) return { text: sql, values: params.map((value) => bindValue(dialect, value)) };
  const { text, names } = readNames(dialect, sql);
  const unused = Object.keys(params).filter((name) => !names.includes(name));
  const missing = names.filter((name) => !Object.hasOwn(params, name));
  if (unused.length > 0 || missing.length > 0) {
    const [wrong] = missing.length > 0 ? missing : unused;
    throw new ToolError({ code: "INVALID_PARAMS", message: missing.length > 0 ? `The statement has :${wrong}, and params have no value of that name` : `params have "${wrong}", and the statement has no :${wrong}`, notApplied: true });
  }
  return { text, values: names.map((name) => bindValue(dialect, params[name])) };
}

function isList(params: NonNullable<SqlArguments["params"]>): params is readonly unknown[] {
  return Array.isArray(params);
}
