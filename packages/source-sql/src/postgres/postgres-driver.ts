import pg from "pg";
import { meterOf } from "../meter.ts";
import type { SqlDriver } from "../session.ts";
import { postgresFault } from "./postgres-fault.ts";
import { createPostgresSession } from "./postgres-session.ts";

export interface ServerOptions {
  readonly url: string;
  readonly connectTimeoutMs: number;
}

/** A database of a PostgreSQL server. The URL is the one of `psql`: `postgres://user:password@host:5432/database?sslmode=verify-full`. */
export function createPostgresDriver({ url, connectTimeoutMs }: ServerOptions): SqlDriver {
  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: connectTimeoutMs,
      fallback_application_name: "callgate",
      keepAlive: true,
    });
    // Told by the statement under way, or by the next; without a listener it would end the process.
    client.on("error", () => undefined);
    try {
      await client.connect();
      return client;
    } catch (error) {
      client.connection.stream.destroy();
      throw postgresFault(error, false);
    }
  };
  const cancel = async (pid: number): Promise<void> => {
    const other = await connect();
    try {
      await other.query("select pg_cancel_backend($1)", [pid]);
    } finally {
      await other.end().catch(() => undefined);
    }
  };
  const { host, database, password } = new pg.Client({ connectionString: url });
  return {
    dialect: "postgres",
    label: `PostgreSQL "${database ?? ""}" on ${host}`,
    secrets: typeof password === "string" && password !== "" ? [password] : [],
    connect: async () => {
      const client = await connect();
      return await createPostgresSession({ client, meter: meterOf(client.connection.stream), cancel });
    },
  };
}
