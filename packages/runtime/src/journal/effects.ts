import type { DatabaseSync } from "node:sqlite";
import { CallgateError } from "@callgate/contract";
import type { Digest, EffectClaim, JournalEntry, RecordedEffect, RunLease } from "@callgate/contract";
import { jsonColumn, textColumn } from "./columns.ts";
import type { Row } from "./columns.ts";
import { bodiesOf } from "./entry-rows.ts";
import { createEntrySelects } from "./entry-selects.ts";
import { givenUpError, notFoundError } from "./fence.ts";
import { asWritten, unlessDamaged } from "./read-entries.ts";
import { settlesWrite } from "./settling.ts";
import type { Settling } from "./settling.ts";
import type { RunWriter } from "./run-writer.ts";
import { settledShape } from "./stored-shapes.ts";

/** The call that has a key, as the journal keeps it; `settled` once its run was pruned: what is left of its record. */
export type EffectHolder = Pick<RecordedEffect, "runId" | "callId" | "seq" | "argsDigest" | "user"> & { readonly settled?: SettledEffect };

/** What became of a write, without any value of it. */
export type SettledEffect = Pick<RecordedEffect, "outcome" | "effectStatus" | "undoing">;

/** A call whose run was pruned. */
export interface PrunedCall {
  readonly tenant: string;
  readonly user: string;
  readonly callId: string;
}

/** A key outlives its run by so long, where nothing else was said: a task of last year is not done again by mistake. */
export const defaultMaxKeyAgeMs = 400 * 24 * 3_600_000;

/** Which call an idempotency key stands for, over all runs of a tenant. A key outlives its run. */
export interface Effects {
  /** Inside a transaction. The holder when the key is another call's and its write may have changed something. */
  reserve(lease: RunLease, claim: EffectClaim): EffectHolder | undefined;
  /** Inside the transaction that removes a run: keeps of its keys that their writes took place, or may have. */
  outlive(runId: string): void;
  /** Inside a transaction: what became of a write that was unknown when its run was pruned. What was known before. */
  settle(of: PrunedCall, effectStatus: "done" | "none"): SettledEffect["effectStatus"] | undefined;
  /** Inside a transaction: forgets keys whose runs were removed before that. */
  forget(beforeMs: number): void;
}

export function createEffects(database: DatabaseSync, { writer, now }: { readonly writer: RunWriter; readonly now: () => number }): Effects {
  const selectStatus = database.prepare("select status from runs where run_id = ?");
  const selectHolder = database.prepare("select user_id, run_id, call_id, seq, args_digest, settled from effects where tenant = ? and idempotency_key = ?");
  const selectOfRun = database.prepare("select user_id, run_id, call_id, seq, args_digest, settled from effects where run_id = ? and pruned_at_ms is null");
  const settle = database.prepare("update effects set settled = ?, pruned_at_ms = ? where run_id = ? and call_id = ? and pruned_at_ms is null");
  const removeOfRun = database.prepare("delete from effects where run_id = ? and call_id = ? and pruned_at_ms is null");
  const selectPruned = database.prepare("select idempotency_key, user_id, run_id, call_id, seq, args_digest, settled from effects where tenant = ? and user_id = ? and call_id = ? and pruned_at_ms is not null");
  const resettle = database.prepare("update effects set settled = ? where tenant = ? and idempotency_key = ?");
  const removeKey = database.prepare("delete from effects where tenant = ? and idempotency_key = ?");
  const removePruned = database.prepare("delete from effects where pruned_at_ms < ?");
  const rows = createEntrySelects(database);
  const put = database.prepare(`
    insert or replace into effects (tenant, idempotency_key, user_id, run_id, call_id, seq, args_digest, reserved_at_ms) values (?, ?, ?, ?, ?, ?, ?, ?)`);

  /** What the record of its run says of the write of this call. */
  function settledBy({ runId, seq }: EffectHolder): SettledEffect {
    writer.flush();
    return settledEffect(asWritten(runId, () => rows.settled(runId, seq).flatMap((row) => bodiesOf(row))), seq);
  }

  return {
    reserve(lease, { tenant, idempotencyKey, seq, callId, argsDigest }) {
      const { runId } = lease;
      const scope = writer.scope(lease);
      if (scope.tenant !== tenant) throw notFoundError(runId);
      if (!idempotencyKey.isWellFormed()) throw new CallgateError("USAGE", "An idempotency key must be well-formed text");
      if (selectStatus.get(runId)?.["status"] === "suspended") throw givenUpError(lease, "suspended");
      const row = selectHolder.get(tenant, idempotencyKey);
      const holder = row === undefined ? undefined : holderOf(row);
      const isOurs = holder?.runId === runId && holder.callId === callId && holder.settled === undefined;
      if (holder !== undefined && !isOurs && (holder.settled ?? settledBy(holder)).effectStatus !== "none") return holder;
      put.run(tenant, idempotencyKey, scope.userId, runId, callId, seq, argsDigest, now());
      return undefined;
    },
    outlive(runId) {
      for (const holder of selectOfRun.all(runId).map(holderOf)) {
        // Of a damaged record nobody knows; its key is kept.
        const settled = unlessDamaged(() => settledBy(holder), { effectStatus: "unknown" } as const);
        if (settled.effectStatus === "none") removeOfRun.run(runId, holder.callId);
        else settle.run(JSON.stringify(settled), now(), runId, holder.callId);
      }
    },
    settle({ tenant, user, callId }, effectStatus) {
      const row = selectPruned.get(tenant, user, callId);
      const settled = row === undefined ? undefined : holderOf(row).settled;
      if (row === undefined || settled?.effectStatus !== "unknown") return settled?.effectStatus;
      // A key whose write changed nothing is free again.
      if (effectStatus === "none") removeKey.run(tenant, textColumn(row, "idempotency_key"));
      else resettle.run(JSON.stringify({ ...settled, effectStatus }), tenant, textColumn(row, "idempotency_key"));
      return "unknown";
    },
    forget: (beforeMs) => void removePruned.run(beforeMs),
  };
}

/** A row of `effects`, in every database. */
export function holderOf(row: Row): EffectHolder {
  return {
    runId: textColumn(row, "run_id"),
    callId: textColumn(row, "call_id"),
    user: textColumn(row, "user_id"),
    seq: Number(row["seq"]),
    argsDigest: textColumn(row, "args_digest") as Digest,
    ...(row["settled"] === null ? {} : { settled: jsonColumn<SettledEffect>(row, "settled", settledShape) }),
  };
}

/** What became of the write of the call of that number, from the entries that settle it and its undoing, in their order. */
export function settledEffect(entries: readonly JournalEntry[], seq: number): SettledEffect {
  let settled: SettledEffect = { effectStatus: "unknown" };
  for (const entry of entries) {
    if (!settlesWrite(entry, seq)) continue;
    if (entry.seq !== seq) settled = withUndoing(settled, entry);
    else if (entry.kind === "call-ended") settled = { ...settled, outcome: entry.outcome, effectStatus: entry.effectStatus };
    else if (entry.kind !== "call-issued") settled = { ...settled, effectStatus: entry.effectStatus };
  }
  return settled;
}

/** Undoing that was begun is in doubt until it ends; where it changed nothing the write stands as before. */
function withUndoing({ undoing: _before, ...settled }: SettledEffect, entry: Settling): SettledEffect {
  const status = entry.kind === "call-issued" ? "unknown" : entry.effectStatus;
  return status === "none" ? settled : { ...settled, undoing: status };
}

/** What became of the write of a call: its run was pruned, or these entries settle it, in their order. */
export function recordedEffect({ settled, ...holder }: EffectHolder, entries: readonly JournalEntry[]): RecordedEffect {
  if (settled !== undefined) return { ...holder, ...settled, artifacts: [] };
  let effect: RecordedEffect = { ...holder, ...settledEffect(entries, holder.seq), artifacts: [] };
  for (const entry of entries) {
    if (!("seq" in entry) || entry.seq !== holder.seq) continue;
    if (entry.kind === "call-ended") effect = { ...effect, artifacts: entry.artifacts, ...(entry.asInterface === undefined ? {} : { asInterface: entry.asInterface }) };
    const result = entry.kind === "call-ended" || entry.kind === "call-late" ? entry.result : undefined;
    if (result !== undefined) effect = { ...effect, result };
  }
  return effect;
}
