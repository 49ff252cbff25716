import { closeSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makePrivateFolder } from "@callgate/runtime/journal";

/** Changes with the tables, and with how text is made of files. */
const layout = 1;

const tables = `
  create table documents (
    id integer primary key autoincrement, path text not null unique, bytes integer not null, modified_ms real not null, digest text not null,
    title text not null, chars integer not null, problem text, is_whole integer not null
  ) strict;
  create table passages (id integer primary key, document integer not null, start integer not null, heading text, body text not null) strict;
  create index passages_in_order on passages (document, start);
  create virtual table words using fts5 (title, heading, body, content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2');
`;

export interface OpenedIndex {
  readonly database: DatabaseSync;
  /** Where a damaged index was put. */
  readonly keptAside: string | undefined;
}

/**
 * Opens an index, which its user alone can read; one of another layout is made anew, one that is damaged is put aside.
 * Throws what the file system and SQLite throw.
 *
 * @param path of the file; undefined: it is kept in memory
 */
export function openIndex(path: string | undefined): OpenedIndex {
  if (path === undefined) return { database: openOnce(":memory:"), keptAside: undefined };
  makePrivateFolder(dirname(path));
  // SQLite gives the files beside it the same mode.
  closeSync(openSync(path, "a", 0o600));
  try {
    return { database: openOnce(path), keptAside: undefined };
  } catch (fault) {
    if (!isDamage(fault)) throw fault;
    return { keptAside: putAside(path), database: openFresh(path) };
  }
}

/** Moves a damaged index away; only the last one is kept. */
export function putAside(path: string): string {
  const aside = `${path}.damaged`;
  renameSync(path, aside);
  removeBeside(path);
  return aside;
}

/** Whether SQLite says that the file is not as it wrote it (SQLITE_CORRUPT with its kinds, SQLITE_NOTADB). */
export function isDamage(fault: unknown): boolean {
  const code = typeof fault === "object" && fault !== null && "errcode" in fault ? fault.errcode : undefined;
  return typeof code === "number" && [11, 26].includes(code % 256);
}

function openFresh(path: string): DatabaseSync {
  closeSync(openSync(path, "a", 0o600));
  return openOnce(path);
}

function openOnce(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 5_000, allowExtension: false });
  try {
    database.exec("pragma journal_mode = wal; pragma synchronous = normal; pragma temp_store = memory");
    const version = database.prepare("pragma user_version").get()?.["user_version"];
    if (version === layout) return database;
    // Two processes may find it empty at once.
    database.exec("begin immediate");
    if (database.prepare("pragma user_version").get()?.["user_version"] !== layout) {
      database.exec("drop table if exists words; drop table if exists passages; drop table if exists documents");
      database.exec(tables);
      database.exec(`pragma user_version = ${layout}`);
    }
    database.exec("commit");
    return database;
  } catch (fault) {
    database.close();
    throw fault;
  }
}

function removeBeside(path: string): void {
  for (const end of ["-wal", "-shm"]) rmSync(`${path}${end}`, { force: true });
}
