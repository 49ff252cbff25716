// The process of one SQLite connection. SQLite runs where it is called and cannot be interrupted from JavaScript: a query
// without an end would hold up the whole host. A process can be killed, and parses what hostile text there is apart.
import { Worker } from "node:worker_threads";
import { openSqlite } from "./sqlite-database.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";
import { sqliteFault } from "./sqlite-fault.ts";
import type { SqliteAnswer, SqliteRequest } from "./sqlite-messages.ts";

let database: SqliteDatabase | undefined;

function answer(request: SqliteRequest): SqliteAnswer {
  try {
    if (request.ask === "open") database = openSqlite(request.file, request.maxCellBytes);
    return { kind: "answer", value: database?.answer(request) };
  } catch (error) {
    const { kind, message, missing, code } = sqliteFault(error);
    return { kind: "fault", fault: kind, message, ...(missing === undefined ? {} : { name: missing }), ...(code === undefined ? {} : { code }) };
  }
}

// While a query runs nothing here hears that the host is gone; this thread sees it by the parent's number.
const watch = `const parent = process.ppid; setInterval(() => { if (process.ppid !== parent) process.kill(process.pid, "SIGKILL"); }, 500);`;
new Worker(watch, { eval: true }).unref();

process.on("message", (request: SqliteRequest) => void process.send?.(answer(request)));
process.on("disconnect", () => process.exit());
