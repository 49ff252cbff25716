import { CallgateError, ToolError } from "@callgate/contract";
import type { Source, SourceListing, SourceProblem, SourceState, SourceTool, Tool } from "@callgate/contract";
import { qualified } from "./describe-tables.ts";
import { defaults } from "./sql-defaults.ts";
import { createDriver } from "./create-driver.ts";
import type { SqlPlace } from "./create-driver.ts";
import { createEngine } from "./engine.ts";
import type { Engine } from "./engine.ts";
import { namedQueryTool } from "./named-query.ts";
import type { NamedQuery } from "./named-query.ts";
import { executeTool, queryTool } from "./statement-tools.ts";
import type { StatementToolParts } from "./statement-tools.ts";
import { tableTools } from "./table-tools.ts";

/** A database that becomes a source of tools. */
export type SqlSourceOptions = SqlPlace & {
  /** Module name for its tools, before the naming rule. */
  readonly namespace: string;
  /** One line on what is behind it. Default: what it is and how many tables it has. */
  readonly purpose?: string;
  /** No tool writes. Default false: there are `insert_`, `update_` and `delete_` tools of tables, and `execute`. */
  readonly readOnly?: boolean;
  /** Schemas (databases of MySQL) whose tables become tools. Default: those of the user's search path, the database of the URL. */
  readonly schemas?: readonly string[];
  /** Statements of your own as tools, by name. */
  readonly queries?: Readonly<Record<string, NamedQuery>>;
  /**
   * A table that keeps the idempotency keys of writes, made where it is not there. With it a write that is repeated under its
   * key is one effect, whatever was lost in between. Default: none.
   */
  readonly idempotencyTable?: string;
  /** A statement is stopped on the server after this. Default 30,000. */
  readonly statementTimeoutMs?: number;
  /** Default 10,000. */
  readonly connectTimeoutMs?: number;
  /** Connections at once. Default 5; 3 for SQLite, where each is a process. */
  readonly maxConnections?: number;
  /** Rows of a page where a call does not say. Default 1,000. */
  readonly pageRows?: number;
  /** A page ends at the first row that would make it larger; a row that alone is larger is an error. Default 8 MiB. */
  readonly maxPageBytes?: number;
  /** How long a cursor waits for the next page before its connection is taken away. Default 60,000. */
  readonly cursorIdleMs?: number;
};

/** Beside connecting and the statement itself: until a server that is told to stop has stopped. */
const marginMs = 5_000;

/**
 * Makes a database a source of tools: `find_x` for every table and view, with its columns as types; `query` for any SELECT, in
 * a transaction that the database keeps from writing; and unless `readOnly` the tools that write. Nothing is connected before
 * the first use; a connection that is lost is made again at the next.
 *
 * Errors: `CallgateError` CONFIG_INVALID for a URL of no known kind.
 */
export function createSqlSource(options: SqlSourceOptions): Source {
  const given = { ...defaults, ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) } as typeof defaults & SqlSourceOptions;
  const { namespace } = given;
  const driver = createDriver(given);
  let listener: () => void = () => undefined;
  const engine = createEngine({
    driver,
    schemas: given.schemas,
    statementTimeoutMs: given.statementTimeoutMs,
    maxConnections: given.maxConnections ?? (driver.dialect === "sqlite" ? 3 : 5),
    maxPageBytes: given.maxPageBytes,
    cursorIdleMs: given.cursorIdleMs,
    idempotencyTable: given.readOnly === true ? undefined : given.idempotencyTable,
    onChange: () => listener(),
  });
  const parts: StatementToolParts = { engine, timeoutMs: given.connectTimeoutMs + given.statementTimeoutMs + marginMs, defaultLimit: given.pageRows, isIdempotent: given.idempotencyTable !== undefined };
  let byName: ReadonlyMap<string, Tool> = new Map();

  const list = async (signal: AbortSignal): Promise<SourceListing> => {
    try {
      await engine.readSchema(signal);
      const { tools, problems } = await makeTools(given, parts, signal);
      byName = new Map(tools.map((tool) => [tool.name, tool]));
      return { tools: tools.map((tool): SourceTool => ({ tool, claimed: false })), problems };
    } catch (error) {
      signal.throwIfAborted();
      throw listingFailed(error, namespace, engine);
    }
  };

  return {
    namespace,
    kind: "sql",
    get purpose() {
      return given.purpose ?? purposeOf(engine);
    },
    get state(): SourceState {
      return engine.database.state;
    },
    list,
    async call(name, args, context) {
      if (byName.size === 0) await list(context.signal).catch((error: unknown) => { throw unavailable(error); });
      const tool = byName.get(name);
      if (tool === undefined) throw new ToolError({ code: "TOOL_NOT_FOUND", message: `No tool "${name}" in "${namespace}"`, notApplied: true });
      return await tool.handler(args, context);
    },
    onChange: (fire) => {
      listener = fire;
    },
    close: () => engine.close(),
  };
}

function purposeOf({ database, schema }: Engine): string {
  const count = schema.tables.length;
  return count === 0 ? database.driver.label : `${database.driver.label}: ${count} ${count === 1 ? "table" : "tables"}`;
}

async function makeTools(options: SqlSourceOptions, parts: StatementToolParts, signal: AbortSignal): Promise<{ readonly tools: readonly Tool[]; readonly problems: readonly SourceProblem[] }> {
  const { engine } = parts;
  const { tables, defaultSchema, unproven } = engine.schema;
  const isReadOnly = options.readOnly ?? false;
  // The keys of writes are nobody's data.
  const shown = tables.filter((table) => qualified(table, defaultSchema) !== options.idempotencyTable);
  const ofTables = shown.flatMap((table) => tableTools({ ...parts, table, alias: qualified(table, defaultSchema) }, isReadOnly));
  const own = [...ofTables, queryTool(parts), ...(isReadOnly ? [] : [executeTool(parts)])];
  const problems: SourceProblem[] = unproven === undefined ? [] : [{ tool: "query", message: `counts as a write: the database does not prove for its user that a query only reads, for ${unproven}. Use a user with fewer rights, or say { "effects": { "query": "read" } }` }];
  const named: Tool[] = [];
  for (const [name, query] of Object.entries(options.queries ?? {})) {
    const made = isReadOnly && (query.effect ?? "read") !== "read" ? ({ kind: "problem", problem: { tool: name, message: `The query "${name}" was left out: it writes, and the source is readOnly` } } as const) : await namedQueryTool(parts, { name, query, signal });
    if (made.kind === "problem") problems.push(made.problem);
    else if (own.some((tool) => tool.name === name)) problems.push({ tool: name, message: `The query "${name}" was left out: a tool of that name is there already; give it another` });
    else named.push(made.tool);
  }
  return { tools: [...own, ...named], problems };
}

function listingFailed(error: unknown, namespace: string, { database }: Engine): CallgateError {
  const { state } = database;
  const brief = state.kind === "down" ? (state.brief ?? state.reason) : "it could not say which tables it has";
  const reason = state.kind === "down" ? state.reason : error instanceof Error ? error.message : String(error);
  return new CallgateError("SOURCE_FAILED", `The database "${namespace}" could not be opened: ${reason}`, { cause: error, details: { namespace, brief } });
}

function unavailable(error: unknown): unknown {
  if (!CallgateError.is(error)) return error;
  const brief = error.details["brief"];
  return new ToolError({ code: "SOURCE_UNAVAILABLE", message: `The database cannot be used: ${typeof brief === "string" ? brief : "it could not be reached"}. The call did not reach it`, retryable: true, notApplied: true, cause: error });
}
