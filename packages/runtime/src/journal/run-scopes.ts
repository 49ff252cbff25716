import type { DatabaseSync } from "node:sqlite";
import { CallgateError } from "@callgate/contract";
import type { Digest, RunLease, RunStatus } from "@callgate/contract";
import { stampText } from "./audit-stamps.ts";
import { optionalNumber, optionalText, textColumn } from "./columns.ts";
import { addToRow, isFull, newRow, runSpan } from "./entry-rows.ts";
import type { PreparedEntry } from "./entry-rows.ts";
import { fencedError, notFoundError } from "./fence.ts";
import type { RunScope, RunScopeSeams } from "./run-scope.ts";
import { createRunChains } from "./run-chains.ts";
import { endCells, endColumns } from "./run-stamps.ts";

/**
 * The runs a transaction writes to. Their entries are gathered, and written as few rows when the transaction ends or
 * something is about to read them: a row costs more than what is in it.
 */
export interface RunScopes {
  /** A run that was begun in this transaction. */
  began(run: Pick<RunScope, "runId" | "runNo" | "tenant" | "userId" | "key" | "chain" | "programDigest">): void;
  /** Errors: RUN_NOT_FOUND; RUN_FENCED where another owner has claimed the run since. */
  find(lease: RunLease): RunScope;
  add(scope: RunScope, entry: PreparedEntry): void;
  /** Writes the entries of one run that wait; its row is sealed when the transaction ends. */
  writeRow(scope: RunScope): void;
  /** The run has ended, as its row says. */
  ended(scope: RunScope): void;
  /** Writes what waits. */
  flush(): void;
  /** Nothing waits and nothing is known: a transaction begins. */
  reset(): void;
}

export function createRunScopes(database: DatabaseSync, { keys, stamps, ledger }: RunScopeSeams): RunScopes {
  const select = database.prepare(`select run_no, tenant, user_id, epoch, master_id, wrapped, next_position, chained_from, stamp, program_digest, ${endColumns} from runs where run_id = ?`);
  const selectEnd = database.prepare(`select ${endColumns} from runs where run_no = ?`);
  const { chainOf, writeRow, write } = createRunChains(database, { stamps, ledger });
  // The lock is ours until the commit, so what was read stays true.
  const scopes = new Map<string, RunScope>();

  function read(runId: string): RunScope {
    const row = select.get(runId);
    if (row === undefined) throw notFoundError(runId);
    const runNo = Number(row["run_no"]);
    const [from, stamp] = [optionalNumber(row, "chained_from"), row["stamp"]];
    const chain = from !== undefined && stamp instanceof Uint8Array ? { from, stamp } : undefined;
    const programDigest = optionalText(row, "program_digest") as Digest | undefined;
    return {
      runId, runNo, epoch: Number(row["epoch"]), tenant: textColumn(row, "tenant"), userId: textColumn(row, "user_id"), key: keys.inRow(runId, row), next: Number(row["next_position"]),
      calls: undefined, waiting: undefined, programDigest, chain, end: endCells(row), unsealed: false,
    };
  }

  return {
    began(run) {
      scopes.set(run.runId, { ...run, epoch: 1, next: 0, calls: 0, waiting: undefined, end: null, unsealed: true });
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
      if (scope.waiting !== undefined && isFull(scope.waiting)) writeRow(scope);
      scope.waiting ??= newRow(scope.next, body);
      addToRow(scope.waiting, entry);
      scope.next += 1;
      if (scope.calls !== undefined && body.kind === "call-issued") scope.calls += 1;
    },
    writeRow,
    ended(scope) {
      const row = selectEnd.get(scope.runNo);
      if (row === undefined) throw notFoundError(scope.runId);
      scope.end = endCells(row);
      scope.unsealed = true;
      const { stamp } = chainOf(scope);
      ledger.note(scope.tenant, { kind: "run-ended", runId: scope.runId, status: String(scope.end?.[0]) as RunStatus, entries: scope.next, stamp: stampText(stamp) });
    },
    flush() {
      for (const scope of scopes.values()) write(scope);
    },
    reset: () => scopes.clear(),
  };
}
