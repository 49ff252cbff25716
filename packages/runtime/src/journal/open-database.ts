import { closeSync, existsSync, openSync, readSync, renameSync, rmSync } from "node:fs";
import { basename, dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { CallgateError } from "@callgate/contract";
import { makePrivateFolder } from "../lib/make-private-folder.ts";
import { findLockHolder } from "./lock-holder.ts";
import { takeMark } from "./process-mark.ts";
import { applicationId, migrations } from "./schema.ts";
import { isBusy, isCorrupt, toJournalError } from "./sqlite-error.ts";

export interface OpenOptions {
  /** A file, or `:memory:`. */
  readonly path: string;
  readonly nowMs: number;
  /** How long opening waits for another process. */
  readonly lockWaitMs: number;
  /** True when the owners in the file say that one died and the file was not looked at since. */
  readonly needsCheck: (database: DatabaseSync) => boolean;
}

export interface OpenedDatabase {
  readonly database: DatabaseSync;
  /** Where a damaged journal was kept, when there was one. */
  readonly keptAside: string | undefined;
}

/** How long one statement may wait for a lock, blocking the event loop; longer waits are the queue's, between turns. */
const STATEMENT_WAIT_MS = 15;

/**
 * Opens a journal file, creating or migrating it as needed. A damaged file is moved to `<path>.corrupt-<time>` and a
 * fresh one is begun.
 *
 * Errors: JOURNAL_VERSION for a file of a newer Callgate, JOURNAL_LOCKED, JOURNAL_UNAVAILABLE (read-only, full, or the
 * file belongs to another program).
 */
export function openDatabase(options: OpenOptions): OpenedDatabase {
  const { path } = options;
  try {
    if (path !== ":memory:") createFile(path);
    try {
      return { database: openOnce(options), keptAside: undefined };
    } catch (error) {
      if (!isCorrupt(error)) throw error;
    }
    const keptAside = keepAside(options);
    return { database: openOnce(options), keptAside };
  } catch (error) {
    throw isBusy(error) ? lockedError(options, error) : toJournalError(error, "Cannot open the journal", path);
  }
}

/** Only its owner may read a journal. SQLite gives the files beside it the same mode. */
function createFile(path: string): void {
  try {
    makePrivateFolder(dirname(path));
    closeSync(openSync(path, "a", 0o600));
  } catch (error) {
    if (CallgateError.is(error)) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new CallgateError(
      "JOURNAL_UNAVAILABLE",
      `Cannot open the journal: ${path} cannot be written (${why}). Make the file and its folder writable, or set another state folder`,
      { cause: error, details: { path } },
    );
  }
}

function openOnce(options: OpenOptions): DatabaseSync {
  assertHeader(options.path);
  // A migration that rebuilds a table must not have those that refer to it deleted.
  const database = new DatabaseSync(options.path, { timeout: options.lockWaitMs, enableForeignKeyConstraints: false });
  try {
    assertOurs(database, options.path);
    database.exec("pragma secure_delete = on; pragma fullfsync = on; pragma temp_store = memory");
    migrate(database, options.path);
    database.exec("pragma foreign_keys = on");
    if (options.needsCheck(database)) assertSound(database);
    database.exec(`pragma synchronous = normal; pragma busy_timeout = ${STATEMENT_WAIT_MS}`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** SQLite takes a file shorter than its header for an empty one and would write over it. */
function assertHeader(path: string): void {
  if (path === ":memory:") return;
  const file = openSync(path, "r");
  try {
    const header = Buffer.alloc(16);
    const length = readSync(file, header, 0, 16, 0);
    if (length > 0 && header.toString("latin1", 0, length) !== "SQLite format 3\0") throw corruptError("it is not a database");
  } finally {
    closeSync(file);
  }
}

function assertOurs(database: DatabaseSync, path: string): void {
  const id = pragma(database, "application_id");
  if (id === applicationId) return;
  const isEmpty = database.prepare("select count(*) as n from sqlite_schema").get()?.["n"] === 0;
  if (id !== 0 || !isEmpty) {
    throw new CallgateError("JOURNAL_UNAVAILABLE", `Cannot open the journal: ${path} is a database of another program. Choose another path`, { details: { path } });
  }
}

function migrate(database: DatabaseSync, path: string): void {
  const version = pragma(database, "user_version");
  if (version > migrations.length) {
    throw new CallgateError(
      "JOURNAL_VERSION",
      `Cannot open the journal: ${path} has schema ${version}, this Callgate knows up to ${migrations.length}. Update Callgate, or set another state folder`,
      { details: { path, version, known: migrations.length } },
    );
  }
  if (version === 0) database.exec("pragma auto_vacuum = incremental"); // Only has an effect before the first table.
  database.exec("pragma journal_mode = wal");
  if (version === migrations.length) return;
  database.exec("begin immediate");
  try {
    // Read again: another process may have migrated while we waited.
    for (const migration of migrations.slice(pragma(database, "user_version"))) database.exec(migration);
    database.exec(`pragma application_id = ${applicationId}; pragma user_version = ${migrations.length}; commit`);
  } catch (error) {
    if (database.isTransaction) database.exec("rollback");
    throw error;
  }
}

function assertSound(database: DatabaseSync): void {
  const answer = database.prepare("pragma quick_check(1)").get()?.["quick_check"];
  if (answer !== "ok") throw corruptError(String(answer));
}

/** Looks like SQLite's own, so that one test finds both. */
function corruptError(message: string): Error {
  return Object.assign(new Error(message), { errcode: 11 });
}

function pragma(database: DatabaseSync, name: string): number {
  return Number(database.prepare(`pragma ${name}`).get()?.[name] ?? 0);
}

/**
 * Moves the damaged file and what SQLite keeps beside it. Of several processes that find the damage one moves; the
 * others find its mark, and then a sound file.
 */
function keepAside({ path, nowMs }: OpenOptions): string | undefined {
  const mark = `${path}.moving`;
  if (!takeMark(mark, nowMs)) return undefined; // Opening again either works or says that the file is damaged.
  try {
    const aside = `${path}.corrupt-${new Date(nowMs).toISOString().replaceAll(/[:.]/g, "-")}`;
    for (const suffix of ["", "-wal", "-shm"]) if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
    closeSync(openSync(path, "a", 0o600));
    return basename(aside);
  } finally {
    rmSync(mark, { force: true });
  }
}

function lockedError({ path, lockWaitMs }: OpenOptions, cause: unknown): CallgateError {
  const pid = findLockHolder(path);
  const holder = pid === undefined ? "another process" : `process ${pid}`;
  return new CallgateError("JOURNAL_LOCKED", `Cannot open the journal: ${holder} has kept ${path} locked for ${lockWaitMs} ms. End it if it hangs, then try again`, {
    cause,
    details: { path, ...(pid === undefined ? {} : { pid }) },
  });
}
