import type { DatabaseSync } from "node:sqlite";
import { CallgateError } from "@callgate/contract";
import type { Digest, JournalEntry, RunFinish, RunLease, RunStart } from "@callgate/contract";
import { digestOf } from "../lib/digest.ts";
import { eraseError } from "./entry-codec.ts";
import type { SplitEntry } from "./entry-codec.ts";
import { payloadPlace, sealPayload } from "./payload.ts";
import type { Payload } from "./payload.ts";
import type { RunKey, RunKeys } from "./run-keys.ts";

/** Places of the sealed texts that belong to the run and not to one entry. */
export const programPlace = (runId: string): string => `${runId}\nprogram`;
export const errorPlace = (runId: string): string => `${runId}\nerror`;

/** An entry ready to be written: large values are blobs already. */
export interface PreparedEntry {
  readonly split: SplitEntry;
  readonly payload: Payload | undefined;
  readonly blobs: readonly { readonly digest: Digest; readonly sizeBytes: number }[];
}

/** The statements that write a run. Every method belongs inside a transaction of the write queue. */
export interface RunWriter {
  /** Runs may have changed since they were read: a transaction began, or a key was removed in this one. */
  forget(): void;
  begin(run: RunStart, owner: { readonly ownerId: string; readonly leaseUntilMs: number }): RunLease;
  /** Errors, here and below: RUN_NOT_FOUND; RUN_FENCED where another owner has claimed the run since. */
  scope(lease: RunLease): { readonly tenant: string; readonly key: RunKey };
  append(lease: RunLease, entries: readonly PreparedEntry[]): void;
  finish(lease: RunLease, finish: RunFinish): void;
}

interface RunScope {
  readonly runId: string;
  readonly epoch: number;
  readonly tenant: string;
  readonly userId: string;
  readonly key: RunKey;
  /** Position of its last entry, -1 when there is none. */
  last: number;
}

export function createRunWriter(database: DatabaseSync, keys: RunKeys): RunWriter {
  const insertRun = database.prepare(`
    insert into runs (run_id, tenant, user_id, agent, task, kind, status, lane, started_at_ms, program_digest, replay_of, head, owner, epoch, lease_until_ms)
    values (?, ?, ?, ?, ?, ?, 'running', ?, ?, ?, ?, ?, ?, 1, ?)`);
  const sealProgram = database.prepare("update runs set program_sealed = ? where run_id = ?");
  const selectScope = database.prepare("select tenant, user_id, epoch, (select max(position) from entries where run_id = r.run_id) as last from runs r where run_id = ?");
  const insertEntry = database.prepare("insert into entries (run_id, position, tenant, user_id, kind, at_ms, seq, body, texts, sealed) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const insertBlob = database.prepare("insert or ignore into blob_refs (run_id, digest, tenant, user_id, bytes) values (?, ?, ?, ?, ?)");
  const setProgram = database.prepare("update runs set program_digest = ? where run_id = ?");
  const endRun = database.prepare(`
    update runs set status = ?, ended_at_ms = ?, result_number = ?, finish = ?, error_sealed = ?,
      call_count = (select count(*) from entries where run_id = runs.run_id and kind = 'call-issued')
    where run_id = ? and status in ('running', 'suspended')`);

  // The lock is ours until the commit, so the run that was written last is known.
  let latest: RunScope | undefined;

  function scopeOf(lease: RunLease): RunScope {
    const { runId } = lease;
    if (latest?.runId !== runId) latest = readScope(runId);
    if (latest.epoch !== lease.epoch) throw fenced(lease, latest.epoch);
    return latest;
  }

  function readScope(runId: string): RunScope {
    const row = selectScope.get(runId);
    if (row === undefined) throw new CallgateError("RUN_NOT_FOUND", `No run ${runId} is in the journal: it was never begun, or it was pruned`, { details: { runId } });
    return { runId, epoch: Number(row["epoch"]), tenant: String(row["tenant"]), userId: String(row["user_id"]), last: Number(row["last"] ?? -1), key: keys.find(runId) };
  }

  /** Null once the run was erased, or when its key is not ours: what comes later is not kept in clear either. */
  function seal(key: RunKey, payload: Payload | undefined, place: string): Uint8Array | null {
    return payload === undefined || key.kind !== "box" ? null : sealPayload(key.box, payload, place);
  }

  return {
    forget() {
      latest = undefined;
    },
    begin(run, { ownerId, leaseUntilMs }) {
      const { runId, principal } = run;
      const { tenant, user, agent, task, roles, claims } = principal;
      const head = JSON.stringify({ roles, claims, language: run.language, seed: run.seed, limits: run.limits, driver: run.driver, interfaces: run.interfaces, policyVersion: run.policyVersion, taskId: run.taskId, budgetTokens: run.budgetTokens, onFailure: run.onFailure });
      insertRun.run(runId, tenant, user, agent ?? null, task ?? null, run.kind, run.lane, run.startedAtMs, run.programDigest ?? null, run.replayOf ?? null, head, ownerId, leaseUntilMs);
      const box = keys.create({ runId, tenant, userId: user });
      const { programText } = run;
      if (programText !== undefined) sealProgram.run(seal({ kind: "box", box }, { texts: { programText }, value: undefined }, programPlace(runId)), runId);
      return { runId, epoch: 1 };
    },
    scope: scopeOf,
    append(lease, entries) {
      const { runId } = lease;
      const scope = scopeOf(lease);
      for (const { split, payload, blobs } of entries) {
        scope.last += 1;
        const position = scope.last;
        const { body } = split;
        const sealed = seal(scope.key, payload, payloadPlace(runId, position));
        insertEntry.run(runId, position, scope.tenant, scope.userId, body.kind, body.atMs, indexedNumber(body), JSON.stringify(body), payload?.texts === undefined ? 0 : 1, sealed);
        for (const blob of blobs) insertBlob.run(runId, blob.digest, scope.tenant, scope.userId, blob.sizeBytes);
        const code = body.kind === "checked" ? split.texts?.["code"] : undefined;
        if (code !== undefined) setProgram.run(digestOf(code), runId);
      }
    },
    finish(lease, finish) {
      const { runId } = lease;
      const { key } = scopeOf(lease);
      const { status, endedAtMs, error, tokens, resultNumber } = finish;
      const kept = JSON.stringify({ tokens, ...(error === undefined ? {} : { error: eraseError(error) }) });
      const sealed = seal(key, error === undefined ? undefined : { texts: { error }, value: undefined }, errorPlace(runId));
      const { changes } = endRun.run(status, endedAtMs, resultNumber ?? null, kept, sealed, runId);
      if (changes === 0) throw new CallgateError("ASSERTION", `Run ${runId} has ended before; its end is not written twice`, { details: { runId } });
    },
  };
}

/** Another owner has the run: it was claimed since. */
function fenced({ runId, epoch }: RunLease, current: number): CallgateError {
  return new CallgateError("RUN_FENCED", `Run ${runId} was taken over by another owner (epoch ${current}, ours was ${epoch}). Nothing was written; the run goes on there`, { details: { runId, epoch, current } });
}

function indexedNumber(entry: JournalEntry): number | null {
  if ("seq" in entry) return entry.seq;
  return entry.kind === "result" ? entry.number : null;
}
