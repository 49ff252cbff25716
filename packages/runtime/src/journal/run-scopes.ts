import type { DatabaseSync } from "node:sqlite";
import { CallgateError } from "@callgate/contract";
import type { Digest, RunLease } from "@callgate/contract";
import { optionalNumber, textColumn } from "./columns.ts";
import { addToRow, isFull, newRow, runSpan, writtenRow } from "./entry-rows.ts";
import type { PreparedEntry, WaitingRow } from "./entry-rows.ts";
import { fencedError, notFoundError } from "./fence.ts";
import type { RunKey, RunKeys } from "./run-keys.ts";

/** What a transaction knows of a run it writes to. */
export interface RunScope {
  readonly runId: string;
  /** The number under which its entries are kept. */
  readonly runNo: number;
  readonly epoch: number;
  readonly tenant: string;
  readonly userId: string;
  readonly key: RunKey;
  /** Position of the next entry. */
  next: number;
  /** How many calls it issued, where that is known without reading: of a run that began in this transaction. */
  calls: number | undefined;
  /** Entries that are not written yet. */
  waiting: WaitingRow | undefined;
  programDigest: Digest | undefined;
}

/**
 * The runs a transaction writes to. Their entries are gathered, and written as few rows when the transaction ends or
 * something is about to read them: a row costs more than what is in it.
 */
export interface RunScopes {
  /** A run that was begun in this transaction. */
  began(run: Pick<RunScope, "runId" | "runNo" | "tenant" | "userId" | "key">): void;
  /** Errors: RUN_NOT_FOUND; RUN_FENCED where another owner has claimed the run since. */
  find(lease: RunLease): RunScope;
  add(scope: RunScope, entry: PreparedEntry): void;
  /** Writes what waits. */
  flush(): void;
  /** Nothing waits and nothing is known: a transaction begins. */
  reset(): void;
}

export function createRunScopes(database: DatabaseSync, keys: RunKeys): RunScopes {
  const select = database.prepare(`
    select run_no, tenant, user_id, epoch, master_id, wrapped,
      (select entry_id + size from entries where entry_id between r.run_no * ${runSpan} and r.run_no * ${runSpan} + ${runSpan - 1} order by entry_id desc limit 1) as next
    from runs r where run_id = ?`);
  const insert = database.prepare("insert into entries (entry_id, tenant, user_id, kind, at_ms, seq, size, calls, body, texts, sealed) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const setProgram = database.prepare("update runs set program_digest = ? where run_no = ?");
  // The lock is ours until the commit, so what was read stays true.
  const scopes = new Map<string, RunScope>();

  function read(runId: string): RunScope {
    const row = select.get(runId);
    if (row === undefined) throw notFoundError(runId);
    const runNo = Number(row["run_no"]);
    const next = (optionalNumber(row, "next") ?? runNo * runSpan) - runNo * runSpan;
    return { runId, runNo, epoch: Number(row["epoch"]), tenant: textColumn(row, "tenant"), userId: textColumn(row, "user_id"), key: keys.inRow(runId, row), next, calls: undefined, waiting: undefined, programDigest: undefined };
  }

  function write(scope: RunScope): void {
    const { runId, runNo, tenant, userId, key, waiting, programDigest } = scope;
    if (waiting !== undefined) {
      const { kind, atMs, seq, size, calls, body, texts, sealed } = writtenRow(runId, waiting, key.kind === "box" ? key.box : undefined);
      insert.run(runNo * runSpan + waiting.position, tenant, userId, kind, atMs, seq, size, calls, body, texts, sealed);
    }
    if (programDigest !== undefined) setProgram.run(programDigest, runNo);
    scope.waiting = undefined;
    scope.programDigest = undefined;
  }

  return {
    began(run) {
      scopes.set(run.runId, { ...run, epoch: 1, next: 0, calls: 0, waiting: undefined, programDigest: undefined });
    },
    find(lease) {
      const { runId, epoch } = lease;
      let scope = scopes.get(runId);
      if (scope === undefined) scopes.set(runId, (scope = read(runId)));
      if (scope.epoch !== epoch) throw fencedError(lease, scope.epoch);
      return scope;
    },
    add(scope, entry) {
      const { body } = entry.split;
      if (scope.next >= runSpan) throw new CallgateError("ASSERTION", `Run ${scope.runId} has as many entries as a run can have`);
      if (scope.waiting !== undefined && isFull(scope.waiting)) write(scope);
      scope.waiting ??= newRow(scope.next, body);
      addToRow(scope.waiting, entry);
      scope.next += 1;
      if (scope.calls !== undefined && body.kind === "call-issued") scope.calls += 1;
    },
    flush() {
      for (const scope of scopes.values()) write(scope);
    },
    reset: () => scopes.clear(),
  };
}
