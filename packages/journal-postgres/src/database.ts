import { CallgateError } from "@callgate/contract";
import { setImmediate as nextTurn } from "node:timers/promises";
import pg from "pg";
import { isLost, toJournalError } from "./postgres-error.ts";
import { migrations } from "./schema.ts";

export type SqlValue = string | number | boolean | null | Uint8Array | readonly (string | number | boolean | null | Uint8Array)[];
export type SqlRow = Readonly<Record<string, unknown>>;
export type Query = (text: string, values?: readonly SqlValue[]) => Promise<readonly SqlRow[]>;

/** `full` commits when the disk has it; `lazy` may lose the last half second with the server's power. */
export type Sync = "full" | "lazy";

/** A database and the errors of it as ours. */
export interface Database {
  /** One statement, which is its own transaction. */
  readonly query: (sync: Sync, text: string, values?: readonly SqlValue[]) => Promise<readonly SqlRow[]>;
  /** As `query`, and again when its connection was lost: for what may be done twice. */
  readonly read: Query;
  /** All of `work` or nothing. */
  transact<T>(sync: Sync, work: (query: Query) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly url: string;
  /** Connections for each of the two kinds of commit. Default 5. */
  readonly connections?: number;
  /** How long to wait for a free or new connection. Default 10,000. */
  readonly connectTimeoutMs?: number;
}

const defaultConnections = 5;

/** Any number, the same in all versions: who holds it migrates. */
const MIGRATION_LOCK = 0x63676a6c;

export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const pools = { full: createPool(options, "on"), lazy: createPool(options, "off") };
  const database = overPools(pools, options.connections ?? defaultConnections);
  try {
    await migrate(database);
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

function createPool({ url, connections, connectTimeoutMs }: DatabaseOptions, synchronousCommit: "on" | "off"): pg.Pool {
  // Waited for: the connection is handed out when it is set. A failure is that of the connection.
  const setSession = async (client: pg.ClientBase): Promise<void> => {
    // What we write locks the rows it is about; a server that is stricter by default would refuse one of two that write at once.
    await client.query(`set synchronous_commit = ${synchronousCommit}; set default_transaction_isolation = 'read committed'`);
  };
  const pool = new pg.Pool({
    connectionString: url,
    max: connections ?? defaultConnections,
    connectionTimeoutMillis: connectTimeoutMs ?? 10_000,
    onConnect: setSession as (client: pg.ClientBase) => void,
    allowExitOnIdle: true,
    application_name: "callgate",
    types: { getTypeParser: parserFor as typeof pg.types.getTypeParser },
  });
  pool.on("error", () => undefined); // An idle connection was lost; the next statement gets another.
  return pool;
}

const INT8 = 20;

/** Every bigint of ours is a time or a size, far below 2^53. */
function parserFor(oid: number, format?: "text" | "binary"): unknown {
  return oid === INT8 && format !== "binary" ? Number : pg.types.getTypeParser(oid, format as "text");
}

function overPools(pools: Readonly<Record<Sync, pg.Pool>>, connections: number): Database {
  async function query(sync: Sync, text: string, values: readonly SqlValue[] = []): Promise<readonly SqlRow[]> {
    try {
      return (await pools[sync].query(text, [...values])).rows as SqlRow[];
    } catch (error) {
      const told = toJournalError(error);
      // Others of the pool that were cut with it say so in this turn; who tries again must not be given one of them.
      if (isLost(told)) await nextTurn();
      throw told;
    }
  }

  return {
    query,
    async read(text, values) {
      // Every connection of the pool may be lost and not know it yet; after these comes a new one.
      for (let left = connections; ; left -= 1) {
        try {
          return await query("lazy", text, values);
        } catch (error) {
          if (left === 0 || !isLost(error)) throw error;
        }
      }
    },
    async transact(sync, work) {
      let client: pg.PoolClient;
      try {
        client = await pools[sync].connect();
      } catch (error) {
        throw toJournalError(error);
      }
      let broken: Error | undefined;
      const onError = (error: Error): void => void (broken = error);
      client.on("error", onError);
      try {
        await client.query("begin");
        const result = await work(async (text, values = []) => (await client.query(text, [...values])).rows as SqlRow[]);
        await client.query("commit");
        return result;
      } catch (error) {
        await client.query("rollback").catch((failed: unknown) => (broken = failed as Error)); // The connection is gone, and with it the transaction.
        throw toJournalError(error);
      } finally {
        client.removeListener("error", onError);
        client.release(broken);
      }
    },
    async close() {
      await Promise.all([pools.full.end(), pools.lazy.end()]);
    },
  };
}

async function migrate(database: Database): Promise<void> {
  // Looked at first: a user who may only read and write is not asked to make what is there.
  if ((await schemaVersion(database.read)) === migrations.length) return;
  await database.transact("full", async (query) => {
    await query("select pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
    const version = await schemaVersion(query);
    if (version === migrations.length) return;
    if (version === 0) {
      await query("create schema if not exists callgate");
      await query("create table if not exists callgate.schema_version (version integer not null)");
    }
    for (const migration of migrations.slice(version)) await query(migration);
    await query("delete from callgate.schema_version");
    await query("insert into callgate.schema_version values ($1)", [migrations.length]);
  });
}

/** 0 where there is none yet. Errors: JOURNAL_VERSION. */
async function schemaVersion(query: Query): Promise<number> {
  const [there] = await query("select to_regclass('callgate.schema_version') is not null as has");
  if (there?.["has"] !== true) return 0;
  const version = Number((await query("select version from callgate.schema_version"))[0]?.["version"] ?? 0);
  if (version <= migrations.length) return version;
  throw new CallgateError("JOURNAL_VERSION", `Cannot open the journal: the database has schema ${version}, this Callgate knows up to ${migrations.length}. Update Callgate, or use another database`, { details: { version, known: migrations.length } });
}
