import { existsSync } from "node:fs";
import { basename } from "node:path";
import type { SqlDriver } from "../session.ts";
import { SqlFault } from "../sql-fault.ts";
import { startSqliteSession } from "./sqlite-session.ts";
import type { SqliteSessionOptions } from "./sqlite-session.ts";

/** A database in a file of this machine. One that is not there is not made. */
export function createSqliteDriver(options: SqliteSessionOptions): SqlDriver {
  return {
    dialect: "sqlite",
    label: `SQLite ${basename(options.file)}`,
    secrets: [],
    connect: () => {
      if (!existsSync(options.file)) return Promise.reject(new SqlFault({ kind: "unreachable", message: "there is no such file; check the path" }));
      return startSqliteSession(options);
    },
  };
}
