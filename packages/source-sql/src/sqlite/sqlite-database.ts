import { DatabaseSync } from "node:sqlite";
import type { StatementSync } from "node:sqlite";
import { rowBytes } from "../cell-bytes.ts";
import type { Row, Statement, Written } from "../session.ts";
import { SqlFault } from "../sql-fault.ts";
import { countQuestionMarks, isEmptyRest, leadingWord } from "../sql-text.ts";
import type { ResultColumn } from "../table.ts";
import type { SqliteAnswers, SqliteRequest } from "./sqlite-messages.ts";
import { readSqliteSchema } from "./sqlite-schema.ts";
import { readSqliteCell, sqliteKind, sqliteParameter } from "./sqlite-values.ts";

/** How long a writer waits for another process. */
const busyMs = 5_000;

/** One database file, in the process that is its own. */
export interface SqliteDatabase {
  answer<Ask extends SqliteRequest["ask"]>(request: Extract<SqliteRequest, { ask: Ask }>): SqliteAnswers[Ask];
}

interface OpenQuery {
  readonly rows: Iterator<Readonly<Record<string, unknown>>>;
  readonly columns: readonly ResultColumn[];
  /** Read, and over the bound of the page before. */
  ahead: Row | undefined;
}

export function openSqlite(file: string, maxCellBytes: number): SqliteDatabase {
  // A file that is not there is not made.
  const reader = openHandle(file, { readOnly: true, maxCellBytes });
  let writer: DatabaseSync | undefined;
  let open: OpenQuery | undefined;
  const writing = (): DatabaseSync => (writer ??= openHandle(file, { readOnly: false, maxCellBytes }));
  const own = (sql: string): undefined => {
    writing().exec(sql);
    return undefined;
  };
  const closeQuery = (): undefined => {
    open?.rows.return?.();
    open = undefined;
    if (reader.isTransaction) reader.exec("rollback");
    return undefined;
  };

  const answers: { readonly [Ask in SqliteRequest["ask"]]: (request: Extract<SqliteRequest, { ask: Ask }>) => SqliteAnswers[Ask] } = {
    open: () => undefined,
    schema: () => readSqliteSchema(reader),
    query({ statement }) {
      closeQuery();
      const prepared = prepareQuery(reader, statement.text);
      checkCount(statement);
      reader.exec("begin");
      open = { rows: prepared.iterate(...statement.values.map(sqliteParameter)) as Iterator<Readonly<Record<string, unknown>>>, columns: columnsOf(prepared), ahead: undefined };
      return open.columns;
    },
    read: ({ maxRows, maxBytes }) => {
      if (open === undefined) throw new SqlFault({ kind: "other", message: "no query is open" });
      return readRows(open, { maxRows, maxBytes });
    },
    "close-query": closeQuery,
    describe: ({ text }) => columnsOf(prepareQuery(reader, text)),
    check: ({ text }) => {
      prepareOne(writing(), text);
      return undefined;
    },
    begin: () => own("begin immediate"),
    run: ({ statement }) => run(writing(), statement),
    commit: () => own("commit"),
    rollback: () => {
      if (writer?.isTransaction === true) writer.exec("rollback");
      return undefined;
    },
  };
  return { answer: (request) => (answers[request.ask] as (given: typeof request) => SqliteAnswers[(typeof request)["ask"]])(request) as never };
}

function openHandle(file: string, { readOnly, maxCellBytes }: { readonly readOnly: boolean; readonly maxCellBytes: number }): DatabaseSync {
  // Older versions of Node know no limits, nor that the database is on the defensive; there a row is measured when it is read.
  const database = new DatabaseSync(file, { readOnly, allowExtension: false, timeout: busyMs, defensive: true, limits: { length: maxCellBytes, attach: 0, sqlLength: 1_000_000 } });
  // `readOnly` alone would let a file be made that a journal left to be rolled back.
  database.exec(readOnly ? "pragma query_only = on; pragma trusted_schema = off" : "pragma trusted_schema = off");
  return database;
}

/** What gives rows and only reads begins with one of these; PRAGMA and ATTACH would change the connection. */
const queries = new Set(["SELECT", "WITH", "VALUES", "EXPLAIN"]);

function prepareQuery(database: DatabaseSync, text: string): StatementSync {
  const statement = prepareOne(database, text);
  if (!queries.has(leadingWord(text)) || statement.columns().length === 0) throw new SqlFault({ kind: "no_rows", message: "the statement is no query" });
  return statement;
}

/** SQLite takes the first statement of a text and leaves the rest without a word. */
function prepareOne(database: DatabaseSync, text: string): StatementSync {
  const statement = database.prepare(text);
  if (!isEmptyRest(text.slice(statement.sourceSQL.length))) throw new SqlFault({ kind: "several_statements", message: "there is more than one statement" });
  statement.setReadBigInts(true);
  return statement;
}

/** Values that are missing would be null without a word. */
function checkCount({ text, values }: Statement): void {
  const wanted = countQuestionMarks(text);
  if (wanted !== undefined && wanted !== values.length) throw new SqlFault({ kind: "parameters", message: `the statement has ${wanted} placeholders, ${values.length} values were given` });
}

function columnsOf(statement: StatementSync): readonly ResultColumn[] {
  return statement.columns().map(({ name, column, type }) => ({ name, kind: column === null ? "any" : sqliteKind(type ?? "") }));
}

function readRows(open: OpenQuery, { maxRows, maxBytes }: { readonly maxRows: number; readonly maxBytes: number }): SqliteAnswers["read"] {
  const rows: Row[] = [];
  let bytes = 0;
  while (rows.length < maxRows && (bytes < maxBytes || rows.length === 0)) {
    const row = open.ahead ?? nextRow(open);
    open.ahead = undefined;
    if (row === undefined) return { rows, done: true };
    const more = rowBytes(row);
    if (more > maxBytes) throw new SqlFault({ kind: "too_large", message: `a row is larger than ${maxBytes} bytes` });
    if (bytes + more > maxBytes && rows.length > 0) {
      open.ahead = row;
      break;
    }
    bytes += more;
    rows.push(row);
  }
  return { rows, done: false };
}

function nextRow({ rows, columns }: OpenQuery): Row | undefined {
  const next = rows.next();
  return next.done === true ? undefined : columns.map(({ name, kind }) => readSqliteCell(next.value[name], kind));
}

function run(database: DatabaseSync, { text, values }: Statement): Written {
  const statement = prepareOne(database, text);
  checkCount({ text, values });
  const columns = columnsOf(statement);
  const parameters = values.map(sqliteParameter);
  if (columns.length === 0) {
    const { changes, lastInsertRowid } = statement.run(...parameters);
    return { changed: Number(changes), columns: [], rows: [], insertId: readSqliteCell(BigInt(lastInsertRowid)) as number | bigint };
  }
  const rows = (statement.all(...parameters) as Readonly<Record<string, unknown>>[]).map((row): Row => columns.map(({ name, kind }) => readSqliteCell(row[name], kind)));
  return { changed: rows.length, columns, rows };
}
