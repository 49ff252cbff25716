import type { DatabaseSync } from "node:sqlite";
import { CallgateError } from "@callgate/contract";
import type { Digest, RunFinish, RunLease, RunStart } from "@callgate/contract";
import { digestOf } from "../lib/digest.ts";
import type { SplitEntry } from "./entry-codec.ts";
import { fencedError, givenUpError, notFoundError } from "./fence.ts";
import { payloadPlace, sealPayload } from "./payload.ts";
import type { Payload } from "./payload.ts";
import type { RunKey, RunKeys } from "./run-keys.ts";
import { errorPlace, finishOf, headOf, indexedNumber, programPlace } from "./run-record.ts";

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
  scope(lease: RunLease): { readonly tenant: string; readonly userId: string; readonly key: RunKey };
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

/** Finds whose a run is, under which key and where its entries end. */
function createRunScopes(database: DatabaseSync, keys: RunKeys): { find(lease: RunLease): RunScope; forget(): void } {
  const select = database.prepare("select tenant, user_id, epoch, (select max(position) from entries where run_id = r.run_id) as last from runs r where run_id = ?");
  // The lock is ours until the commit, so the run that was written last is known.
  let latest: RunScope | undefined;

  function read(runId: string): RunScope {
    const row = select.get(runId);
    if (row === undefined) throw notFoundError(runId);
    return { runId, epoch: Number(row["epoch"]), tenant: String(row["tenant"]), userId: String(row["user_id"]), last: Number(row["last"] ?? -1), key: keys.find(runId) };
  }

  return {
    find(lease) {
      const scope = latest?.runId === lease.runId ? latest : read(lease.runId);
      latest = scope;
      if (scope.epoch !== lease.epoch) throw fencedError(lease, scope.epoch);
      return scope;
    },
    forget() {
      latest = undefined;
    },
  };
}

export function createRunWriter(database: DatabaseSync, keys: RunKeys): RunWriter {
  const scopes = createRunScopes(database, keys);
  const insertRun = database.prepare(`
    insert into runs (run_id, tenant, user_id, agent, task, kind, status, lane, started_at_ms, program_digest, replay_of, head, owner, epoch, lease_until_ms)
    values (?, ?, ?, ?, ?, ?, 'running', ?, ?, ?, ?, ?, ?, 1, ?)`);
  const sealProgram = database.prepare("update runs set program_sealed = ? where run_id = ?");
  const insertEntry = database.prepare("insert into entries (run_id, position, tenant, user_id, kind, at_ms, seq, body, texts, sealed) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const insertBlob = database.prepare("insert or ignore into blob_refs (run_id, digest, tenant, user_id, bytes) values (?, ?, ?, ?, ?)");
  const setProgram = database.prepare("update runs set program_digest = ? where run_id = ?");
  const selectStatus = database.prepare("select status from runs where run_id = ?");
  const endRun = database.prepare(`
    update runs set status = ?, ended_at_ms = ?, result_number = ?, finish = ?, error_sealed = ?,
      call_count = (select count(distinct seq) from entries where run_id = runs.run_id and kind = 'call-issued')
    where run_id = ? and status = 'running'`);

  /** Null once the run was erased, or when its key is not ours: what comes later is not kept in clear either. */
  function seal(key: RunKey, payload: Payload | undefined, place: string): Uint8Array | null {
    return payload === undefined || key.kind !== "box" ? null : sealPayload(key.box, payload, place);
  }

  return {
    forget: () => scopes.forget(),
    begin(run, { ownerId, leaseUntilMs }) {
      const { runId, principal } = run;
      const { tenant, user, agent, task } = principal;
      insertRun.run(runId, tenant, user, agent ?? null, task ?? null, run.kind, run.lane, run.startedAtMs, run.programDigest ?? null, run.replayOf ?? null, headOf(run), ownerId, leaseUntilMs);
      const box = keys.create({ runId, tenant, userId: user });
      const { programText } = run;
      if (programText !== undefined) sealProgram.run(seal({ kind: "box", box }, { texts: { programText }, value: undefined }, programPlace(runId)), runId);
      return { runId, epoch: 1 };
    },
    scope: (lease) => scopes.find(lease),
    append(lease, entries) {
      const { runId } = lease;
      const scope = scopes.find(lease);
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
      const { key } = scopes.find(lease);
      const { status, endedAtMs, error, resultNumber } = finish;
      const sealed = seal(key, error === undefined ? undefined : { texts: { error }, value: undefined }, errorPlace(runId));
      const { changes } = endRun.run(status, endedAtMs, resultNumber ?? null, finishOf(finish), sealed, runId);
      if (changes === 0 && selectStatus.get(runId)?.["status"] === "suspended") throw givenUpError(lease, "suspended");
      if (changes === 0) throw new CallgateError("ASSERTION", `Run ${runId} has ended before; its end is not written twice`, { details: { runId } });
    },
  };
}
