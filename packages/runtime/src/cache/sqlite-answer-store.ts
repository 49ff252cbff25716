import { closeSync, openSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { AnswerStore, Clock } from "@callgate/contract";
import { makePrivateFolder } from "../lib/make-private-folder.ts";

export interface SqliteAnswerStoreOptions {
  /** A file of its own, for it may be deleted at any time. */
  readonly path: string;
  readonly clock: Clock;
  /** What is used least recently goes above it. Default 64 MiB. */
  readonly maxBytes?: number;
}

/** Of an older or newer form: made anew, for it holds nothing that is not asked for again. */
const version = 1;

const schema = `
create table if not exists answers (
  name text primary key,
  expires_at_ms integer not null,
  used_at_ms integer not null,
  bytes integer not null,
  sealed blob not null
) strict, without rowid;
create index if not exists answers_by_use on answers (used_at_ms);
pragma user_version = ${version};`;

/** Between two looks at the size. */
const putsBetweenLooks = 64;

/** Answers in one file, for the processes of one machine. A damaged file is replaced by an empty one. */
export function createSqliteAnswerStore({ path, clock, maxBytes = 64 * 1024 * 1024 }: SqliteAnswerStoreOptions): AnswerStore {
  const database = open(path);
  const find = database.prepare("select sealed from answers where name = ? and expires_at_ms > ?");
  const touch = database.prepare("update answers set used_at_ms = ?1 where name = ?2 and used_at_ms < ?1 - 60000");
  const insert = database.prepare("insert or replace into answers (name, expires_at_ms, used_at_ms, bytes, sealed) values (?, ?, ?, ?, ?)");
  const removeOver = database.prepare("delete from answers where expires_at_ms <= ?");
  const size = database.prepare("select coalesce(sum(bytes), 0) as bytes from answers");
  const removeOldest = database.prepare("delete from answers where name in (select name from answers order by used_at_ms limit ?)");
  const count = database.prepare("select count(*) as n from answers");
  let puts = 0;

  function makeRoom(): void {
    removeOver.run(clock.now());
    const bytes = Number(size.get()?.["bytes"]);
    if (bytes <= maxBytes) return;
    // A tenth more than is needed, so that not every look removes.
    const share = Math.min(1, (bytes - maxBytes * 0.9) / bytes);
    removeOldest.run(Math.ceil(Number(count.get()?.["n"]) * share));
  }

  return {
    get(name) {
      const row = find.get(name, clock.now());
      if (row !== undefined) touch.run(clock.now(), name);
      return Promise.resolve(row === undefined ? undefined : (row["sealed"] as Uint8Array));
    },
    put(name, sealed, ttlMs) {
      if (sealed.length > maxBytes / 8) return Promise.resolve();
      insert.run(name, Math.ceil(clock.now() + ttlMs), clock.now(), sealed.length, sealed);
      puts += 1;
      if (puts % putsBetweenLooks === 0 || sealed.length * putsBetweenLooks > maxBytes) makeRoom();
      return Promise.resolve();
    },
    close() {
      if (database.isOpen) database.close();
      return Promise.resolve();
    },
  };
}

function open(path: string): DatabaseSync {
  makePrivateFolder(dirname(path));
  try {
    return openOnce(path);
  } catch {
    for (const file of [path, `${path}-wal`, `${path}-shm`]) rmSync(file, { force: true });
    return openOnce(path);
  }
}

function openOnce(path: string): DatabaseSync {
  closeSync(openSync(path, "a", 0o600));
  const database = new DatabaseSync(path, { timeout: 200 });
  try {
    // Nothing in it must outlive the power.
    database.exec("pragma journal_mode = wal; pragma synchronous = off");
    const found = Number(database.prepare("pragma user_version").get()?.["user_version"]);
    if (found !== 0 && found !== version) database.exec("drop table if exists answers");
    database.exec(schema);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
