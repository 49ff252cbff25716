import { decodeValue, encodeValue } from "@callgate/contract";
import type { WireValue } from "@callgate/contract";
import type { Dialect } from "./dialect.ts";
import { placeholder, quoteName } from "./dialect.ts";
import type { QueryBounds, RunWrite, SqlSession } from "./session.ts";
import { SqlFault } from "./sql-fault.ts";

/** Keys of writes that were made, in a table of the database they were made in. */
export interface EffectLedger {
  /** Makes the table where there is none. */
  prepare(session: SqlSession, bounds: QueryBounds): Promise<void>;
  /**
   * Runs `work` unless its key is there, in the transaction of `run`; then what it came to the first time is given. Of two
   * at once the second waits for the first: its key is a row that the first has locked.
   */
  once<Result>(write: { readonly run: RunWrite; readonly key: string; readonly tool: string }, work: () => Promise<Result>): Promise<Result>;
}

/** @param name of the table, with its schema before a dot where it has one */
export function createEffectLedger(dialect: Dialect, name: string): EffectLedger {
  const table = name.split(".").map((part) => quoteName(dialect, part)).join(".");
  const [first, second] = [placeholder(dialect, 1), placeholder(dialect, 2)];
  const text = dialect === "mysql" ? "longtext" : "text";
  const create = `CREATE TABLE IF NOT EXISTS ${table} (call_key varchar(128) NOT NULL PRIMARY KEY, tool varchar(256) NOT NULL, outcome ${text}, made_at timestamp DEFAULT CURRENT_TIMESTAMP)`;
  const insert = dialect === "mysql" ? `INSERT IGNORE INTO ${table} (call_key, tool) VALUES (?, ?)` : `INSERT INTO ${table} (call_key, tool) VALUES (${first}, ${second}) ON CONFLICT DO NOTHING`;
  const find = `SELECT outcome FROM ${table} WHERE call_key = ${first}`;
  const settle = `UPDATE ${table} SET outcome = ${first} WHERE call_key = ${second}`;
  let isThere = false;

  return {
    async prepare(session, bounds) {
      if (isThere) return;
      try {
        await session.describe(`SELECT outcome FROM ${table} WHERE 1 = 0`, 0);
      } catch (error) {
        if (!(error instanceof SqlFault) || error.kind !== "unknown_table") throw error;
        await session.transact((run) => run({ text: create, values: [] }), bounds).catch((cause: unknown) => {
          const why = cause instanceof Error ? cause.message : String(cause);
          throw new SqlFault({ kind: "denied", message: `the table of keys cannot be made (${why}). Make it: ${create}`, cause });
        });
      }
      isThere = true;
    },
    async once({ run, key, tool }, work) {
      const { changed } = await run({ text: insert, values: [key, tool.slice(0, 256)] });
      if (changed === 0) {
        const { rows } = await run({ text: find, values: [key] });
        return decodeValue(JSON.parse(String(rows[0]?.[0])) as WireValue) as Awaited<ReturnType<typeof work>>;
      }
      const result = await work();
      await run({ text: settle, values: [JSON.stringify(encodeValue(result)), key] });
      return result;
    },
  };
}
