import type { DatabaseSync } from "node:sqlite";
import { CallgateError } from "@callgate/contract";
import type { Digest, JournalEntry, RunFinish, RunStart } from "@callgate/contract";
import { digestOf } from "../lib/digest.ts";
import { eraseError } from "./entry-codec.ts";
import type { SplitEntry } from "./entry-codec.ts";
import { payloadPlace, sealPayload } from "./payload.ts";
import type { Payload } from "./payload.ts";
import type { RunKey, RunKeys } from "./run-keys.ts";

/** Positions of payloads that belong to the run and not to one entry. */
export const programPosition = -1;
export const finishPosition = -2;

/** An entry ready to be written: large values are blobs already. */
export interface PreparedEntry {
  readonly split: SplitEntry;
  readonly payload: Payload | undefined;
  readonly blobs: readonly { readonly digest: Digest; readonly sizeBytes: number }[];
}

/** The statements that write a run. Every method belongs inside a transaction of the write queue. */
export interface RunWriter {
  begin(run: RunStart, ownerId: string): void;
  /** Errors, here and below: RUN_NOT_FOUND. */
  scope(runId: string): { readonly tenant: string; readonly key: RunKey };
  append(runId: string, entries: readonly PreparedEntry[]): void;
  finish(runId: string, finish: RunFinish): void;
}

interface RunScope {
  readonly runId: string;
  readonly tenant: string;
  readonly userId: string;
}

export function createRunWriter(database: DatabaseSync, keys: RunKeys): RunWriter {
  const insertRun = database.prepare(`
    insert into runs (run_id, tenant, user_id, agent, task, kind, status, lane, started_at_ms, program_digest, replay_of, head, owner)
    values (?, ?, ?, ?, ?, ?, 'running', ?, ?, ?, ?, ?, ?)`);
  const selectScope = database.prepare("select tenant, user_id, (select max(position) from entries where run_id = r.run_id) as last from runs r where run_id = ?");
  const insertEntry = database.prepare("insert into entries (run_id, position, tenant, user_id, kind, at_ms, seq, idempotency_key, body) values (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const insertPayload = database.prepare("insert into payloads (run_id, position, tenant, user_id, texts, sealed) values (?, ?, ?, ?, ?, ?)");
  const insertBlob = database.prepare("insert or ignore into blob_refs (run_id, digest, tenant, user_id, bytes) values (?, ?, ?, ?, ?)");
  const setProgram = database.prepare("update runs set program_digest = ? where run_id = ?");
  const endRun = database.prepare("update runs set status = ?, ended_at_ms = ?, result_number = ?, finish = ? where run_id = ? and status in ('running', 'suspended')");

  function scopeOf(runId: string): RunScope & { readonly last: number } {
    const row = selectScope.get(runId);
    if (row === undefined) throw new CallgateError("RUN_NOT_FOUND", `No run ${runId} is in the journal: it was never begun, or it was pruned`, { details: { runId } });
    return { runId, tenant: String(row["tenant"]), userId: String(row["user_id"]), last: Number(row["last"] ?? -1) };
  }

  function writePayload(run: RunScope, position: number, payload: Payload): void {
    const key = keys.find(run.runId);
    if (key.kind !== "box") return; // Erased, or not ours to read: what comes later is not kept in clear either.
    const sealed = sealPayload(key.box, payload, payloadPlace(run.runId, position));
    insertPayload.run(run.runId, position, run.tenant, run.userId, payload.texts === undefined ? 0 : 1, sealed);
  }

  return {
    begin(run, ownerId) {
      const { runId, principal } = run;
      const { tenant, user, agent, task, roles, claims } = principal;
      const head = JSON.stringify({ roles, claims, language: run.language, seed: run.seed, limits: run.limits, driver: run.driver, interfaces: run.interfaces, policyVersion: run.policyVersion });
      insertRun.run(runId, tenant, user, agent ?? null, task ?? null, run.kind, run.lane, run.startedAtMs, run.programDigest ?? null, run.replayOf ?? null, head, ownerId);
      const scope: RunScope = { runId, tenant, userId: user };
      keys.create(scope);
      if (run.programText !== undefined) writePayload(scope, programPosition, { texts: { programText: run.programText }, value: undefined });
    },
    scope(runId) {
      return { tenant: scopeOf(runId).tenant, key: keys.find(runId) };
    },
    append(runId, entries) {
      const scope = scopeOf(runId);
      let position = scope.last;
      for (const { split, payload, blobs } of entries) {
        position += 1;
        const { body } = split;
        const key = body.kind === "call-issued" ? body.idempotencyKey : null;
        insertEntry.run(runId, position, scope.tenant, scope.userId, body.kind, body.atMs, indexedNumber(body), key, JSON.stringify(body));
        if (payload !== undefined) writePayload(scope, position, payload);
        for (const blob of blobs) insertBlob.run(runId, blob.digest, scope.tenant, scope.userId, blob.sizeBytes);
        const code = body.kind === "checked" ? split.texts?.["code"] : undefined;
        if (code !== undefined) setProgram.run(digestOf(code), runId);
      }
    },
    finish(runId, finish) {
      const scope = scopeOf(runId);
      const { status, endedAtMs, error, tokens, resultNumber } = finish;
      const kept = JSON.stringify({ tokens, ...(error === undefined ? {} : { error: eraseError(error) }) });
      const { changes } = endRun.run(status, endedAtMs, resultNumber ?? null, kept, runId);
      if (changes === 0) throw new CallgateError("ASSERTION", `Run ${runId} has ended before; its end is not written twice`, { details: { runId } });
      if (error !== undefined) writePayload(scope, finishPosition, { texts: { error }, value: undefined });
    },
  };
}

function indexedNumber(entry: JournalEntry): number | null {
  if ("seq" in entry) return entry.seq;
  return entry.kind === "result" ? entry.number : null;
}
