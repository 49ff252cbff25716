import type pg from "pg";
import type { Meter } from "../meter.ts";
import type { QueryBounds, Row, RowReader, SqlSession, Statement, Written } from "../session.ts";
import { leadingWord } from "../sql-text.ts";
import { SqlFault } from "../sql-fault.ts";
import type { ResultColumn } from "../table.ts";
import { inTransaction } from "../transaction.ts";
import { postgresFault } from "./postgres-fault.ts";
import { createPostgresReader } from "./postgres-reader.ts";
import { readPostgresSchema } from "./postgres-schema.ts";
import { postgresKind, postgresTypes } from "./postgres-values.ts";

export interface PostgresResult {
  readonly columns: readonly ResultColumn[];
  readonly rows: readonly Row[];
  readonly changed: number;
}

/** One statement, whatever its text says: the extended protocol takes no second one. */
export type Send = (text: string, values?: readonly unknown[]) => Promise<PostgresResult>;

export interface PostgresConnection {
  readonly client: pg.Client;
  readonly meter: Meter;
  /** Asks the server, over another connection, to stop what this one does. */
  readonly cancel: (pid: number) => Promise<void>;
}

/** What of a session the answers are read by, and how long a statement may take; until the end of the transaction. */
const settingsSql = `select set_config('statement_timeout', $1, true), set_config('TimeZone', 'UTC', true), set_config('DateStyle', 'ISO, YMD', true),
  set_config('IntervalStyle', 'iso_8601', true), set_config('bytea_output', 'hex', true), set_config('extra_float_digits', '1', true), set_config('lock_timeout', '0', true)`;

const checked = new Set(["SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "WITH", "VALUES"]);

/** What the methods of a session share. */
interface Wire {
  readonly send: Send;
  /** Back to how it was: what a statement set, held or prepared outside of its transaction is gone. Never throws. */
  readonly clean: () => Promise<void>;
  /** After this a snapshot is taken, and from then on nothing makes the transaction a writing one. */
  readonly beginReading: (bounds: QueryBounds) => Promise<void>;
  readonly destroy: () => void;
  readonly isBroken: () => boolean;
}

/** For what we ask ourselves. */
const ownBounds: QueryBounds = { timeoutMs: 30_000 };

/** Over a client that is connected. */
export async function createPostgresSession({ client, meter, cancel }: PostgresConnection): Promise<SqlSession> {
  const wire = createWire(client);
  const { send, clean, beginReading, destroy } = wire;
  const reading = <Result>(work: () => Promise<Result>): Promise<Result> => inTransaction({ begin: () => beginReading(ownBounds), commit: () => Promise.resolve(), end: clean }, work);
  const [own] = (await send("select pg_backend_pid()")).rows;
  const pid = Number(own?.[0]);

  return {
    get isBroken() {
      return wire.isBroken();
    },
    schema: (schemas) => reading(() => readPostgresSchema(async (text, values) => named(await send(text, values)), schemas)),
    query: async (statement, bounds) => {
      try {
        await beginReading(bounds);
        return await openReader(statement, { send, meter, clean, destroy });
      } catch (error) {
        await clean();
        throw error;
      }
    },
    describe: (text, placeholders) =>
      reading(async () => {
        await send(`declare callgate_rows no scroll cursor for ${text}`, Array.from({ length: placeholders }, () => null)).catch(noRows);
        return (await send("fetch 0 from callgate_rows")).columns;
      }),
    check: async (text) => {
      if (checked.has(leadingWord(text))) await reading(() => send(`prepare callgate_check as ${text}`));
    },
    transact: (work, { timeoutMs }) =>
      inTransaction({ begin: () => send("begin"), commit: () => send("commit"), end: clean }, async () => {
        await send(settingsSql, [String(timeoutMs)]);
        return await work((statement) => write(send, statement));
      }),
    cancel: () => cancel(pid),
    destroy,
  };
}

function createWire(client: pg.Client): Wire {
  let isBroken = false;
  client.on("error", () => (isBroken = true));
  client.on("end", () => (isBroken = true));
  const destroy = (): void => {
    isBroken = true;
    client.connection.stream.destroy();
  };
  const send: Send = async (text, values = []) => {
    try {
      // `queryMode` is not in the types of pg yet; without it a statement without values could be several.
      const query = { text, values: [...values], rowMode: "array" as const, types: postgresTypes, queryMode: "extended" };
      const { fields, rows, rowCount } = await client.query<unknown[]>(query);
      return { columns: fields.map(({ name, dataTypeID }) => ({ name, kind: postgresKind(dataTypeID) })), rows, changed: rowCount ?? 0 };
    } catch (error) {
      const fault = postgresFault(error, true);
      if (fault.kind === "lost") isBroken = true;
      throw fault;
    }
  };
  return {
    send,
    destroy,
    isBroken: () => isBroken,
    clean: async () => {
      if (isBroken) return;
      try {
        await send("rollback");
        await send("discard all");
      } catch {
        destroy(); // What it holds goes with the connection.
      }
    },
    beginReading: async ({ timeoutMs }) => {
      await send("begin transaction read only");
      await send(settingsSql, [String(timeoutMs)]);
    },
  };
}

interface ReaderParts {
  readonly send: Send;
  readonly meter: Meter;
  readonly clean: () => Promise<void>;
  readonly destroy: () => void;
}

/** A cursor takes nothing but a query: no COPY, no SET, no WITH that writes. */
async function openReader({ text, values }: Statement, { send, meter, clean, destroy }: ReaderParts): Promise<RowReader> {
  await send(`declare callgate_rows no scroll cursor for ${text}`, values).catch(noRows);
  const { columns } = await send("fetch 0 from callgate_rows");
  return createPostgresReader({ columns, fetch: async (rows) => (await send(`fetch forward ${rows} from callgate_rows`)).rows, meter, clean, destroy });
}

/** What a cursor says of a statement that is no query, in one word. */
function noRows(error: unknown): never {
  if (error instanceof SqlFault && error.kind === "syntax" && /(at or near "(insert|update|delete|merge|copy|set|create|drop|alter|commit|begin|rollback|do|call|truncate|explain|show|grant|vacuum|lock|listen|notify|execute|table)|must not contain data-modifying|SELECT INTO)/i.test(error.message)) {
    throw new SqlFault({ kind: "no_rows", message: error.message, code: error.code, cause: error });
  }
  throw error;
}

async function write(send: Send, { text, values }: Statement): Promise<Written> {
  const { changed, columns, rows } = await send(text, values);
  return { changed, columns, rows };
}

function named({ columns, rows }: PostgresResult): readonly Readonly<Record<string, unknown>>[] {
  return rows.map((row) => Object.fromEntries(columns.map(({ name }, place) => [name, row[place]])));
}
