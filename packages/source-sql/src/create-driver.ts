import { CallgateError } from "@callgate/contract";
import { createMysqlDriver } from "./mysql/mysql-driver.ts";
import { createPostgresDriver } from "./postgres/postgres-driver.ts";
import type { SqlDriver } from "./session.ts";
import { createSqliteDriver } from "./sqlite/sqlite-driver.ts";

/** Where a database is: on a server, or in a file. */
export type SqlPlace =
  /** `postgres://`, `postgresql://`, `mysql://` or `mariadb://`. Its password is in no state, problem or error. */
  | { readonly url: string; readonly file?: never }
  /** A SQLite database of this machine. One that is not there is not made. */
  | { readonly file: string; readonly url?: never };

/** The driver of a place. Errors: `CallgateError` CONFIG_INVALID, without the URL: it may hold a password. */
export function createDriver(place: SqlPlace & { readonly namespace: string; readonly connectTimeoutMs: number; readonly maxPageBytes: number }): SqlDriver {
  const { namespace, connectTimeoutMs, maxPageBytes } = place;
  if (place.file !== undefined) return createSqliteDriver({ file: place.file, maxCellBytes: maxPageBytes });
  const kind = /^(postgres|postgresql|mysql|mariadb):\/\//.exec(place.url)?.[1];
  if (kind === undefined) throw new CallgateError("CONFIG_INVALID", `The database "${namespace}" has a URL of no kind that is known: it begins with postgres:// or mysql://, or is a file`);
  try {
    return kind.startsWith("postgres") ? createPostgresDriver({ url: place.url, connectTimeoutMs }) : createMysqlDriver({ url: place.url, connectTimeoutMs });
  } catch {
    // What is thrown for a URL quotes it.
    throw new CallgateError("CONFIG_INVALID", `The database "${namespace}" has a URL that cannot be read: it is written ${kind}://user:password@host:port/database, with %40 for an @ in the password`);
  }
}
