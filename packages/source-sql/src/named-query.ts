import type { JsonSchema, SourceProblem, Tool } from "@callgate/contract";
import { defineTool } from "@callgate/runtime/source";
import { pageSchema, rowSchema } from "./column-schema.ts";
import type { StatementToolParts } from "./statement-tools.ts";
import { runWrite, statementOf } from "./statement-tools.ts";
import { commitsByItself, readNames, refusedWord } from "./sql-text.ts";
import { cursorSchema, limitSchema, readErrors, writeErrors } from "./tool-parts.ts";

/** A statement of the user's own with names for its values, which becomes a tool. */
export interface NamedQuery {
  /** One statement; `:name` where the value of a parameter belongs. */
  readonly sql: string;
  /** For the model: what it gives, and when to use it. */
  readonly description: string;
  /** Types of the parameters: a word, or a JSON Schema. All that the statement names, and no others. */
  readonly params?: Readonly<Record<string, "string" | "number" | "integer" | "boolean" | JsonSchema>>;
  /** What it does. Default "read": it then runs where the database refuses writes. */
  readonly effect?: "read" | "write" | "destructive";
}

export type NamedQueryTool = { readonly kind: "tool"; readonly tool: Tool } | { readonly kind: "problem"; readonly problem: SourceProblem };

/** Makes a tool of a named query. The database says which columns it gives; one that it does not understand is a problem of its own. */
export async function namedQueryTool(parts: StatementToolParts, { name, query, signal }: { readonly name: string; readonly query: NamedQuery; readonly signal: AbortSignal }): Promise<NamedQueryTool> {
  const problem = (message: string): NamedQueryTool => ({ kind: "problem", problem: { tool: name, message: `The query "${name}" was left out: ${message}` } });
  const { dialect } = parts.engine.database.driver;
  const { text, names } = readNames(dialect, query.sql);
  const declared = Object.keys(query.params ?? {});
  const missing = names.find((one) => !declared.includes(one));
  const unused = declared.find((one) => !names.includes(one));
  if (missing !== undefined) return problem(`its text has :${missing}, which is not among its params`);
  if (unused !== undefined) return problem(`it has a parameter "${unused}" that its text does not use`);
  const reserved = refusedWord(query.sql);
  if (reserved !== undefined) return problem(`${reserved} cannot be executed here`);
  try {
    return { kind: "tool", tool: query.effect === undefined || query.effect === "read" ? await readingTool(parts, { name, query, signal, text, placeholders: names.length }) : writingTool(parts, name, { ...query, effect: query.effect }) };
  } catch (error) {
    signal.throwIfAborted();
    return problem(error instanceof Error ? error.message : String(error));
  }
}

interface Reading {
  readonly name: string;
  readonly query: NamedQuery;
  readonly signal: AbortSignal;
  readonly text: string;
  readonly placeholders: number;
}

async function readingTool({ engine, timeoutMs, defaultLimit }: StatementToolParts, { name, query, signal, text, placeholders }: Reading): Promise<Tool> {
  // PostgreSQL has one placeholder for a name, the others one for each of its uses.
  const columns = await engine.describe(text, placeholders, signal);
  const { dialect } = engine.database.driver;
  const { properties, required } = parameterSchemas(query);
  // A parameter may itself be called limit or cursor; it is the author's word that counts.
  const own = { ...(properties["limit"] === undefined ? { limit: limitSchema(defaultLimit) } : {}), ...(properties["cursor"] === undefined ? { cursor: cursorSchema } : {}) };
  return defineTool({
    name,
    description: query.description,
    effect: "read",
    tags: ["sql"],
    timeoutMs,
    input: { type: "object", properties: { ...properties, ...own }, required, additionalProperties: false },
    paged: own.cursor !== undefined,
    output: pageSchema(rowSchema(columns)),
    errors: readErrors,
    handler: (args, context) => {
      const params = Object.fromEntries(required.map((one) => [one, args[one]]));
      const limit = own.limit === undefined ? defaultLimit : ((args["limit"] as number | undefined) ?? defaultLimit);
      const cursor = own.cursor === undefined ? undefined : ((args["cursor"] as string | null | undefined) ?? undefined);
      return engine.page({ tool: name, asked: params, statement: () => statementOf(dialect, { sql: query.sql, params }), limit, cursor }, context);
    },
  });
}

function writingTool({ engine, timeoutMs, isIdempotent }: StatementToolParts, name: string, query: NamedQuery & { readonly effect: "write" | "destructive" }): Tool {
  const { dialect } = engine.database.driver;
  const isKeyed = !commitsByItself(dialect, query.sql);
  return defineTool({
    name,
    description: query.description,
    effect: query.effect,
    tags: ["sql"],
    timeoutMs,
    idempotent: isIdempotent && isKeyed,
    input: { type: "object", ...parameterSchemas(query), additionalProperties: false },
    output: { type: "object", properties: { changed: { type: "integer", description: "Rows" }, rows: { type: "array", items: { type: "object", additionalProperties: true }, description: "What RETURNING gave" } }, required: ["changed", "rows"], additionalProperties: false },
    errors: writeErrors,
    precheck: (_args, context) => engine.check(readNames(dialect, query.sql).text, context),
    handler: (args, context) => runWrite(engine, { tool: name, statement: statementOf(dialect, { sql: query.sql, params: args }), isKeyed }, context),
  });
}

function parameterSchemas({ params = {} }: NamedQuery): { readonly properties: Readonly<Record<string, unknown>>; readonly required: readonly string[] } {
  return { properties: Object.fromEntries(Object.entries(params).map(([name, type]) => [name, typeof type === "string" ? { type } : type])), required: Object.keys(params) };
}
