import { readFileSync } from "node:fs";
import mysql from "mysql2";
import type { Connection, ConnectionOptions, SslOptions } from "mysql2";
import type { SqlDriver } from "../session.ts";
import { SqlFault } from "../sql-fault.ts";
import { mysqlFault } from "./mysql-fault.ts";
import { createMysqlSession } from "./mysql-session.ts";

export interface ServerOptions {
  readonly url: string;
  readonly connectTimeoutMs: number;
}

/**
 * A database of a MySQL or MariaDB server: `mysql://user:password@host:3306/database?sslmode=verify-full`, with `socketPath`
 * for a socket and `sslrootcert` for the file of an authority. Nothing else of a URL is an option of the driver.
 */
export function createMysqlDriver({ url, connectTimeoutMs }: ServerOptions): SqlDriver {
  const target = optionsOf(url);
  const connect = async (): Promise<Connection> => {
    const connection = mysql.createConnection({ ...target, ...exact, connectTimeout: connectTimeoutMs });
    // Told by the statement under way, or by the next; without a listener it would end the process.
    connection.on("error", () => undefined);
    try {
      await new Promise<void>((resolve, reject) => connection.connect((error) => (error === null ? resolve() : reject(error as Error))));
      return connection;
    } catch (error) {
      connection.destroy();
      throw mysqlFault(error, false);
    }
  };
  const cancel = async (threadId: number): Promise<void> => {
    const other = await connect();
    try {
      // KILL takes no placeholder. The number is the server's own.
      await new Promise<void>((resolve, reject) => other.query(`kill query ${Math.trunc(threadId)}`, (error) => (error === null ? resolve() : reject(error as Error))));
    } catch (error) {
      throw mysqlFault(error, true);
    } finally {
      other.destroy();
    }
  };
  return {
    dialect: "mysql",
    label: `MySQL "${target.database ?? ""}" on ${target.socketPath ?? target.host ?? "localhost"}`,
    secrets: target.password === undefined || target.password === "" ? [] : [target.password],
    connect: async () => {
      const connection = await connect();
      return createMysqlSession({ connection, isMaria: await isMaria(connection), cancel });
    },
  };
}

/** One statement at a time, no file of ours for the server, no code made of names, and nothing rounded. */
const exact: ConnectionOptions = {
  multipleStatements: false,
  rowsAsArray: true,
  disableEval: true,
  supportBigNumbers: true,
  bigNumberStrings: true,
  decimalNumbers: false,
  dateStrings: true,
  jsonStrings: true,
  charset: "utf8mb4",
  enableKeepAlive: true,
};

function optionsOf(url: string): ConnectionOptions {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  const socketPath = searchParams.get("socketPath");
  const ssl = tlsOf(searchParams);
  return {
    ...(socketPath === null ? { host: hostname.replace(/^\[|\]$/g, ""), port: port === "" ? 3306 : Number(port) } : { socketPath }),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: decodeURIComponent(pathname.slice(1)),
    ...(ssl === undefined ? {} : { ssl }),
  };
}

/** The words of libpq, so that one URL is written like the other. */
function tlsOf(parameters: URLSearchParams): SslOptions | undefined {
  const mode = parameters.get("sslmode") ?? "disable";
  const root = parameters.get("sslrootcert");
  const ca = root === null ? {} : { ca: readFileSync(root) };
  switch (mode) {
    case "disable":
      return undefined;
    case "require":
      return { ...ca, rejectUnauthorized: root !== null };
    case "verify-ca":
      return { ...ca, rejectUnauthorized: true };
    case "verify-full":
      return { ...ca, rejectUnauthorized: true, verifyIdentity: true };
    default:
      throw new SqlFault({ kind: "other", message: "sslmode of the URL is none of disable, require, verify-ca, verify-full" });
  }
}

/** The two part in the name of a time limit, and in what an INSERT gives back. */
async function isMaria(connection: Connection): Promise<boolean> {
  const version = await new Promise<unknown>((resolve, reject) => connection.query("select version()", (error, rows) => (error === null ? resolve(rows) : reject(mysqlFault(error, false)))));
  return /mariadb/i.test(String(version));
}
