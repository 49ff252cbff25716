import { CallgateError } from "@callgate/contract";
import type { CallgateErrorCode } from "@callgate/contract";

// Primary result codes of SQLite (https://sqlite.org/rescode.html).
const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;

/** The primary result code of an error thrown by `node:sqlite`, or undefined for any other error. */
function sqliteCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === "number" ? code & 0xff : undefined;
}

export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === BUSY || code === LOCKED;
}

export function isCorrupt(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === CORRUPT || code === NOTADB;
}

type Explained = readonly [code: CallgateErrorCode, afterPath: string];

const damaged: Explained = ["JOURNAL_CORRUPT", "is damaged. The next start keeps it aside and begins a fresh journal"];
const held: Explained = ["JOURNAL_LOCKED", "is held by another process. Nothing of it was written"];

/** What a person is told, by primary result code; begins with the path of the journal. */
const explanations: Readonly<Record<number, Explained>> = {
  [FULL]: ["JOURNAL_UNAVAILABLE", "has no space left on its disk. Nothing of it was written; free some space or run `callgate runs prune`, then try again"],
  [READONLY]: ["JOURNAL_UNAVAILABLE", "is read-only. Nothing of it was written; make the file and its folder writable, or set another state folder"],
  [CANTOPEN]: ["JOURNAL_UNAVAILABLE", "cannot be opened. Check that its folder exists and is writable, or set another state folder"],
  [IOERR]: ["JOURNAL_UNAVAILABLE", "is on a disk that reported an error, as a full one does. Nothing of it was written; check its free space, or set another state folder"],
  [CORRUPT]: damaged,
  [NOTADB]: damaged,
  [BUSY]: held,
  [LOCKED]: held,
};

/** Turns what SQLite threw into the journal's error. `what` begins the message, e.g. `Cannot append to run r1`. */
export function toJournalError(error: unknown, what: string, path: string): CallgateError {
  if (CallgateError.is(error)) return error;
  const [code, afterPath] = explanations[sqliteCode(error) ?? -1] ?? ["JOURNAL_UNAVAILABLE", `failed: ${error instanceof Error ? error.message : String(error)}`];
  return new CallgateError(code, `${what}: ${path} ${afterPath}`, { cause: error, details: { path } });
}
