import type { DatabaseSync } from "node:sqlite";
import { CallgateError } from "@callgate/contract";
import type { RunFinish, RunLease, RunStart } from "@callgate/contract";
import { digestOf } from "../lib/digest.ts";
import type { PreparedEntry } from "./entry-rows.ts";
import { runSpan } from "./entry-rows.ts";
import { givenUpError } from "./fence.ts";
import type { LeaseEnd } from "./lease-end.ts";
import { sealPayload } from "./payload.ts";
import type { Payload } from "./payload.ts";
import type { RunKey } from "./run-keys.ts";
import { errorPlace, finishOf, headOf, programPlace } from "./run-record.ts";
import { createRunScopes } from "./run-scopes.ts";
import type { RunScope, RunScopeSeams } from "./run-scope.ts";
import { startedOrigin } from "./run-stamps.ts";

/** The statements that write a run. Every method belongs inside a transaction of the write queue. */
export interface RunWriter {
  /** A transaction began: what was gathered in the last one was written, or is not to be. */
  reset(): void;
  /** Writes what was gathered: the transaction ends, or something is about to read entries or change runs. */
  flush(): void;
  /** The same, and reads anew what it knows of runs: one was claimed, or lost its key. */
  forget(): void;
  begin(run: RunStart, owner: { readonly ownerId: string; readonly until: LeaseEnd }): RunLease;
  /** Errors, here and below: RUN_NOT_FOUND; RUN_FENCED where another owner has claimed the run since. */
  scope(lease: RunLease): Pick<RunScope, "tenant" | "userId" | "key">;
  append(lease: RunLease, entries: readonly PreparedEntry[]): void;
  finish(lease: RunLease, finish: RunFinish): void;
  /** The row of the run was ended for an owner that was lost. */
  ended(lease: RunLease): void;
}

export function createRunWriter(database: DatabaseSync, seams: RunScopeSeams): RunWriter {
  const [{ keys, stamps, ledger }, scopes] = [seams, createRunScopes(database, seams)];
  const insertRun = database.prepare(`
    insert into runs (run_id, tenant, user_id, agent, task, kind, status, lane, started_at_ms, program_digest, replay_of, head, owner, epoch, lease_until_ms, lease_until_monotonic_ms, master_id, wrapped, program_sealed)
    values (?, ?, ?, ?, ?, ?, 'running', ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?)`);
  const insertBlob = database.prepare("insert or ignore into blob_refs (run_id, digest, tenant, user_id, bytes) values (?, ?, ?, ?, ?)");
  const selectStatus = database.prepare("select status from runs where run_no = ?");
  const countCalls = database.prepare("select coalesce(sum(calls), 0) as calls from entries where entry_id between ? and ?");
  const endRun = database.prepare("update runs set status = ?, ended_at_ms = ?, result_number = ?, finish = ?, error_sealed = ?, call_count = ? where run_no = ? and status = 'running'");

  /** Null once the run was erased, or when its key is not ours: what comes later is not kept in clear either. */
  function seal(key: RunKey, payload: Payload | undefined, place: string): Uint8Array | null {
    return payload === undefined || key.kind !== "box" ? null : sealPayload(key.box, payload, place);
  }

  const callsOf = ({ runNo, calls }: RunScope): number => calls ?? Number(countCalls.get(runNo * runSpan, runNo * runSpan + runSpan - 1)?.["calls"]);

  return {
    reset: () => scopes.reset(),
    flush: () => scopes.flush(),
    forget() {
      scopes.flush();
      scopes.reset();
    },
    begin(run, { ownerId, until }) {
      const { runId, principal, programText } = run;
      const { tenant, user, agent, task } = principal;
      const { box, masterId, wrapped } = keys.create(runId);
      const key: RunKey = { kind: "box", box };
      const program = programText === undefined ? null : seal(key, { texts: { programText }, value: undefined }, programPlace(runId));
      const head = headOf(run);
      const { lastInsertRowid } = insertRun.run(runId, tenant, user, agent ?? null, task ?? null, run.kind, run.lane, run.startedAtMs, run.programDigest ?? null, run.replayOf ?? null, head, ownerId, until.wallMs, until.monotonicMs, masterId, wrapped, program);
      const stamp = stamps.origin(startedOrigin(run, head, program));
      ledger.note(tenant, { kind: "run-began", runId, user, from: 0 });
      scopes.began({ runId, runNo: Number(lastInsertRowid), tenant, userId: user, key, programDigest: run.programDigest, chain: { from: 0, stamp } });
      return { runId, epoch: 1 };
    },
    scope: (lease) => scopes.find(lease),
    ended: (lease) => scopes.ended(scopes.find(lease)),
    append(lease, entries) {
      const scope = scopes.find(lease);
      for (const entry of entries) {
        scopes.add(scope, entry);
        const { split, blobs } = entry;
        for (const blob of blobs) insertBlob.run(lease.runId, blob.digest, scope.tenant, scope.userId, blob.sizeBytes);
        const code = split.body.kind === "checked" ? split.texts?.["code"] : undefined;
        if (code === undefined) continue;
        scope.programDigest = digestOf(code);
        scope.unsealed = true;
      }
    },
    finish(lease, finish) {
      const { runId } = lease;
      const scope = scopes.find(lease);
      scopes.writeRow(scope);
      const { status, endedAtMs, error, resultNumber } = finish;
      const sealed = seal(scope.key, error === undefined ? undefined : { texts: { error }, value: undefined }, errorPlace(runId));
      const { changes } = endRun.run(status, endedAtMs, resultNumber ?? null, finishOf(finish), sealed, callsOf(scope), scope.runNo);
      if (changes === 0 && selectStatus.get(scope.runNo)?.["status"] === "suspended") throw givenUpError(lease, "suspended");
      if (changes === 0) throw new CallgateError("ASSERTION", `Run ${runId} has ended before; its end is not written twice`, { details: { runId } });
      scopes.ended(scope);
    },
  };
}
