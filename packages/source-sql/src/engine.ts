import { ToolError, writeLosslessJson } from "@callgate/contract";
import type { ToolContext } from "@callgate/contract";
import { boundedWork } from "./bounded-work.ts";
import { createCursors, endQuery } from "./cursors.ts";
import type { Cursors, OpenQuery } from "./cursors.ts";
import { createDatabase } from "./database.ts";
import type { Database } from "./database.ts";
import { createEffectLedger } from "./effect-ledger.ts";
import type { EffectLedger } from "./effect-ledger.ts";
import type { Row, RunWrite, SqlDriver, SqlSession, Statement } from "./session.ts";
import { SqlFault } from "./sql-fault.ts";
import type { ResultColumn, Schema, ValueKind } from "./table.ts";
import { toolErrorOf } from "./tool-error.ts";

export interface EngineOptions {
  readonly driver: SqlDriver;
  readonly schemas: readonly string[] | undefined;
  readonly statementTimeoutMs: number;
  readonly maxConnections: number;
  readonly maxPageBytes: number;
  readonly cursorIdleMs: number;
  readonly idempotencyTable: string | undefined;
  readonly onChange: () => void;
}

/** A page of rows that is asked for. */
export interface PageRequest {
  /** Of the tool that asks. */
  readonly tool: string;
  /** Everything but cursor and limit: a cursor goes with the same. */
  readonly asked: unknown;
  readonly statement: () => Statement;
  /** Rows, at least 1. */
  readonly limit: number;
  readonly cursor: string | undefined;
  /** Whether the statement is of the tool's own making. Default false: it is somebody's text. */
  readonly isOwn?: boolean;
  /** Puts a cell into the form its column promises. */
  readonly readCell?: ReadCell;
}

export type ReadCell = (value: unknown, place: number, kind: ValueKind) => unknown;

/** What a paged tool gives (`ToolSpec.paged`). */
export interface Page {
  /** Rows. */
  readonly page: readonly Readonly<Record<string, unknown>>[];
  /** What the next page is asked for with; absent after the last. */
  readonly next?: { readonly cursor: string };
}

/** What the tools of a database are made with. All methods throw `ToolError`. */
export interface Engine {
  readonly database: Database;
  /** As last seen. */
  readonly schema: Schema;
  readSchema(signal: AbortSignal): Promise<Schema>;
  describe(text: string, placeholders: number, signal: AbortSignal): Promise<readonly ResultColumn[]>;
  page(request: PageRequest, context: Pick<ToolContext, "signal" | "principal">): Promise<Page>;
  /** Lets the database look a statement over. Changes nothing. */
  check(text: string, context: ToolContext): Promise<void>;
  /** All of `work` or nothing, and once for a key where there is a table for keys. `keyed` false: it commits by itself, so that neither holds. */
  write<Result>(work: (run: RunWrite) => Promise<Result>, context: ToolContext, how: { readonly tool: string; readonly keyed?: boolean; readonly isOwn?: boolean }): Promise<Result>;
  close(): Promise<void>;
}

const nothingSeen: Schema = { tables: [], defaultSchema: "", rollsBack: true, hasReturning: true, readersBlockWriters: false };

/** What the methods of an engine share. */
interface Parts extends EngineOptions {
  readonly database: Database;
  readonly cursors: Cursors;
  readonly ledger: EffectLedger | undefined;
  schema: Schema;
}

export function createEngine(options: EngineOptions): Engine {
  const database = createDatabase({ driver: options.driver, maxConnections: options.maxConnections, reclaim: () => cursors.dropOldest(), onChange: options.onChange });
  const cursors = createCursors(options.cursorIdleMs, (session) => database.giveBack(session));
  const ledger = options.idempotencyTable === undefined ? undefined : createEffectLedger(options.driver.dialect, options.idempotencyTable);
  const parts: Parts = { ...options, database, cursors, ledger, schema: nothingSeen };
  return {
    database,
    get schema() {
      return parts.schema;
    },
    readSchema: (signal) => withSession(parts, { signal, isWrite: false, rollsBack: true }, async (session) => (parts.schema = await session.schema(options.schemas))),
    describe: (text, placeholders, signal) => withSession(parts, { signal, isWrite: false, rollsBack: true }, (session) => session.describe(text, placeholders)),
    page: (request, context) => readPage(parts, request, context),
    check: (text, { signal }) => withSession(parts, { signal, isWrite: false, rollsBack: true }, (session) => session.check(text)),
    write: async (work, context, { tool, keyed = true, isOwn = false }) => {
      // A file without a write-ahead log takes no writer while somebody reads.
      if (parts.schema.readersBlockWriters) await cursors.dropAll();
      return await withSession(parts, { signal: context.signal, isWrite: true, rollsBack: keyed && parts.schema.rollsBack, isOwn }, async (session) => {
        const isKeyed = keyed && ledger !== undefined;
        if (isKeyed) await ledger.prepare(session, { timeoutMs: options.statementTimeoutMs });
        return await session.transact((run) => (isKeyed ? ledger.once({ run, key: context.idempotencyKey, tool }, () => work(run)) : work(run)), { timeoutMs: options.statementTimeoutMs });
      });
    },
    async close() {
      const closed = database.close();
      await cursors.dropAll();
      await closed;
    },
  };
}

interface Use {
  readonly signal: AbortSignal;
  readonly isWrite: boolean;
  /** What fails leaves nothing behind. */
  readonly rollsBack: boolean;
  /** The statement is of a tool's own making, for a table as it was seen. Default false: it is somebody's text. */
  readonly isOwn?: boolean;
}

/** Takes a connection for one piece of work, under the deadline of statements. */
async function withSession<Result>(parts: Parts, use: Use, work: (session: SqlSession) => Promise<Result>): Promise<Result> {
  try {
    const session = await parts.database.take(use.signal);
    try {
      const result = await boundedWork(session, { signal: use.signal, timeoutMs: parts.statementTimeoutMs }, () => work(session));
      parts.database.found("answering");
      return result;
    } finally {
      parts.database.giveBack(session);
    }
  } catch (error) {
    throw told(parts, error, use);
  }
}

function told(parts: Parts, error: unknown, { isWrite, rollsBack, isOwn = false }: Omit<Use, "signal">): unknown {
  const { dialect, label, secrets } = parts.driver;
  // A table or column that a tool was made for and that is gone: the tools are made anew.
  if (isOwn && error instanceof SqlFault && error.kind.startsWith("unknown_")) parts.onChange();
  if (error instanceof SqlFault && error.kind === "lost") parts.database.found("lost");
  return toolErrorOf(error, { dialect, label, secrets, tables: parts.schema.tables, isWrite, rollsBack });
}

async function readPage(parts: Parts, request: PageRequest, context: Pick<ToolContext, "signal" | "principal">): Promise<Page> {
  const { signal, principal } = context;
  const same = { request: `${request.tool} ${writeLosslessJson(request.asked)}`, owner: JSON.stringify([principal.tenant, principal.user]) };
  try {
    const begun = request.cursor === undefined ? { session: await parts.database.take(signal), ...same } : parts.cursors.take(request.cursor, same);
    const page = await boundedWork(begun.session, { signal, timeoutMs: parts.statementTimeoutMs }, () => nextPage(parts, begun, request));
    parts.database.found("answering");
    return page;
  } catch (error) {
    throw told(parts, error, { isWrite: false, rollsBack: true, isOwn: request.isOwn ?? false });
  }
}

type Begun = Omit<OpenQuery, "reader" | "ahead"> & Partial<OpenQuery>;

/** The rows of one page, and one more, so that a cursor is given only where there is something behind it. */
async function nextPage(parts: Parts, begun: Begun, request: PageRequest): Promise<Page> {
  const { session } = begun;
  let { reader } = begun;
  try {
    reader ??= await session.query(request.statement(), { timeoutMs: parts.statementTimeoutMs });
    const ahead = begun.ahead ?? [];
    const wanted = request.limit + 1 - ahead.length;
    const { rows, done } = wanted <= 0 ? { rows: [], done: false } : await reader.read(wanted, parts.maxPageBytes);
    const all = [...ahead, ...rows];
    const page = all.slice(0, request.limit);
    const left = all.slice(request.limit);
    const readRow = rowReader(reader.columns, request.readCell);
    const records = page.map(readRow);
    if (done && left.length === 0) {
      await endQuery({ session, reader }, parts.database.giveBack);
      return { page: records };
    }
    return { page: records, next: { cursor: parts.cursors.keep({ ...begun, reader, ahead: left }) } };
  } catch (error) {
    if (reader === undefined) parts.database.giveBack(session);
    else await endQuery({ session, reader }, parts.database.giveBack);
    throw error;
  }
}

/** Rows as records. Errors: `ToolError` for two columns of one name, of which a record would lose one. */
export function rowReader(columns: readonly ResultColumn[], readCell: ReadCell = (value) => value): (row: Row) => Readonly<Record<string, unknown>> {
  const names = columns.map(({ name }) => name);
  const twice = names.find((name, place) => names.indexOf(name) !== place);
  if (twice !== undefined) throw new ToolError({ code: "SQL_INVALID", message: `Two columns of the result are called "${twice}", and a row can hold only one of them: give one another name (AS)`, notApplied: true });
  // Defines properties, so that a column called __proto__ is one like any other.
  return (row) => Object.fromEntries(columns.map(({ name, kind }, place) => [name, readCell(row[place], place, kind)]));
}
