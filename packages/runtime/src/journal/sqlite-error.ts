import { CallgateError } from "@callgate/contract";

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

/** Turns what SQLite threw into the journal's error. `what` begins the message, e.g. `Cannot append to run r1`. */
export function toJournalError(error: unknown, what: string, path: string): CallgateError {
  if (CallgateError.is(error)) return error;
  const init = { cause: error, details: { path } };
  switch (sqliteCode(error)) {
    case FULL:
      return new CallgateError("JOURNAL_UNAVAILABLE", `${what}: no space is left for ${path}. Nothing of it was written; free some space or run \`callgate runs prune\`, then try again`, init);
    case READONLY:
      return new CallgateError("JOURNAL_UNAVAILABLE", `${what}: ${path} is read-only. Nothing of it was written; make the file and its folder writable, or set another state folder`, init);
    case CANTOPEN:
      return new CallgateError("JOURNAL_UNAVAILABLE", `${what}: ${path} cannot be opened. Check that its folder exists and is writable, or set another state folder`, init);
    case IOERR:
      return new CallgateError("JOURNAL_UNAVAILABLE", `${what}: the disk of ${path} reported an error. Nothing of it was written`, init);
    case CORRUPT:
    case NOTADB:
      return new CallgateError("JOURNAL_CORRUPT", `${what}: ${path} is damaged. The next start keeps it aside and begins a fresh journal`, init);
    case BUSY:
    case LOCKED:
      return new CallgateError("JOURNAL_LOCKED", `${what}: another process holds ${path}. Nothing of it was written`, init);
    default: {
      const why = error instanceof Error ? error.message : String(error);
      return new CallgateError("JOURNAL_UNAVAILABLE", `${what}: ${why}`, init);
    }
  }
}
