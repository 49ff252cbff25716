import type { Socket } from "node:net";
import { promisify } from "node:util";
import type { Connection, FieldPacket, PrepareStatementInfo, ResultSetHeader } from "mysql2";
import { wholeNumber } from "../whole-number.ts";
import { meterOf } from "../meter.ts";
import type { QueryBounds, Row, RunWrite, SqlSession, Statement, Written } from "../session.ts";
import { SqlFault } from "../sql-fault.ts";
import { inTransaction } from "../transaction.ts";
import { mysqlFault } from "./mysql-fault.ts";
import { createMysqlReader } from "./mysql-reader.ts";
import { readMysqlSchema } from "./mysql-schema.ts";
import { mysqlColumn, mysqlParameter, readMysqlCell } from "./mysql-values.ts";

export interface MysqlConnection {
  readonly connection: Connection;
  readonly isMaria: boolean;
  /** Asks the server, over another connection, to stop what this one does. */
  readonly cancel: (threadId: number) => Promise<void>;
}

/** What the methods of a session share. */
interface Wire {
  readonly stream: Socket;
  /** A statement of ours, without values. */
  readonly own: (text: string) => Promise<void>;
  readonly prepare: (text: string) => Promise<PrepareStatementInfo>;
  readonly run: RunWrite;
  /** Zone, character set and time limit of what comes next; a reset has undone them. */
  readonly settle: (bounds: QueryBounds) => Promise<void>;
  /** Back to how it was: transaction, variables, locks. Never throws. */
  readonly clean: () => Promise<void>;
  readonly destroy: () => void;
  readonly isBroken: () => boolean;
}

/** Over a connection that has been made. */
export function createMysqlSession({ connection, isMaria, cancel }: MysqlConnection): SqlSession {
  const wire = createWire(connection, isMaria);
  const meter = meterOf(wire.stream);
  return {
    get isBroken() {
      return wire.isBroken();
    },
    schema: (schemas) =>
      inTransaction({ begin: () => wire.settle(ownBounds), commit: () => Promise.resolve(), end: wire.clean }, () => readMysqlSchema(async (text, values = []) => named(await wire.run({ text, values })), schemas)),
    async query({ text, values }, bounds) {
      try {
        await wire.settle(bounds);
        await wire.own("start transaction read only");
        const statement = await wire.prepare(text);
        const { columns, parameters } = headOf(statement);
        // INTO OUTFILE, CALL, SET, DO and blocks give no columns: the server itself says that it is no query.
        if (columns.length === 0) throw new SqlFault({ kind: "no_rows", message: "the statement gives no rows" });
        checkCount(parameters.length, values.length);
        return await createMysqlReader({ connection, statement, values: values.map(mysqlParameter), meter, clean: wire.clean, destroy: wire.destroy });
      } catch (error) {
        await wire.clean();
        throw error;
      }
    },
    async describe(text) {
      const { columns } = headOf(await wire.prepare(text));
      connection.unprepare(text);
      if (columns.length === 0) throw new SqlFault({ kind: "no_rows", message: "the statement gives no rows" });
      return columns.map(mysqlColumn);
    },
    async check(text) {
      try {
        await wire.prepare(text);
      } catch (error) {
        // There are statements that cannot be prepared.
        if (!(error instanceof SqlFault && error.kind === "no_rows")) throw error;
      } finally {
        await wire.clean();
      }
    },
    transact: (work, bounds) =>
      inTransaction(
        {
          begin: async () => {
            await wire.settle(bounds);
            await wire.own("start transaction");
          },
          commit: () => wire.own("commit"),
          end: wire.clean,
        },
        () => work(wire.run),
      ),
    cancel: () => cancel(connection.threadId),
    destroy: wire.destroy,
  };
}

/** For what we ask ourselves. */
const ownBounds: QueryBounds = { timeoutMs: 30_000 };

/** What mysql2 knows of a prepared statement and does not say in its types. */
function headOf(statement: PrepareStatementInfo): { readonly columns: readonly FieldPacket[]; readonly parameters: readonly unknown[] } {
  return statement as unknown as ReturnType<typeof headOf>;
}

function createWire(connection: Connection, isMaria: boolean): Wire {
  const { stream } = connection as unknown as { readonly stream: Socket };
  let isBroken = false;
  const broken = (): void => void (isBroken = true);
  connection.on("error", broken);
  connection.on("end", broken);
  const asked = async <Result>(ask: () => Promise<Result>): Promise<Result> => {
    try {
      return await ask();
    } catch (error) {
      const fault = mysqlFault(error, true);
      if (fault.kind === "lost") broken();
      throw fault;
    }
  };
  const prepare = (text: string): Promise<PrepareStatementInfo> => asked(() => promisify((done: (error: Error | null, statement: PrepareStatementInfo) => void) => connection.prepare(text, done as Parameters<Connection["prepare"]>[1]))());
  const own = (text: string): Promise<void> => asked(() => promisify((done: (error: Error | null) => void) => void connection.query(text, (error) => done(error)))());
  const run = async ({ text, values }: Statement): Promise<Written> => {
    const statement = await prepare(text);
    checkCount(headOf(statement).parameters.length, values.length);
    return await asked(
      () =>
        new Promise<Written>((resolve, reject) => {
          statement.execute(values.map(mysqlParameter), (error, result, fields) => (error === null ? resolve(writtenOf(result, fields)) : reject(error as Error)));
        }),
    );
  };
  const destroy = (): void => {
    broken();
    stream.destroy();
  };
  return {
    stream,
    own,
    prepare,
    run,
    destroy,
    isBroken: () => isBroken,
    async settle({ timeoutMs }) {
      await own("set names utf8mb4");
      const limit = isMaria ? "max_statement_time" : "max_execution_time";
      await run({ text: `set session time_zone = '+00:00', session ${limit} = ?`, values: [isMaria ? timeoutMs / 1_000 : timeoutMs] });
    },
    async clean() {
      if (isBroken) return;
      try {
        await own("rollback");
        await asked(() => promisify((done: (error: Error | null) => void) => connection.reset(done))());
      } catch {
        destroy(); // What it holds goes with the connection.
      }
    },
  };
}

function checkCount(wanted: number, given: number): void {
  if (wanted !== given) throw new SqlFault({ kind: "parameters", message: `the statement has ${wanted} placeholders, ${given} values were given` });
}

function writtenOf(result: unknown, fields: readonly FieldPacket[] | undefined): Written {
  if (Array.isArray(result)) {
    const columns = (fields ?? []).map(mysqlColumn);
    const rows = (result as unknown[][]).map((row): Row => row.map((cell, place) => readMysqlCell(cell, columns[place]?.kind ?? "any")));
    return { changed: rows.length, columns, rows };
  }
  const { affectedRows, insertId } = result as ResultSetHeader;
  return { changed: affectedRows, columns: [], rows: [], ...(insertId === 0 ? {} : { insertId: wholeNumber(String(insertId)) }) };
}

function named({ columns, rows }: Written): readonly Readonly<Record<string, unknown>>[] {
  return rows.map((row) => Object.fromEntries(columns.map(({ name }, place) => [name, row[place]])));
}
