import type { DatabaseSync } from "node:sqlite";
import { CallgateError } from "@callgate/contract";
import type { Digest, EffectClaim, JournalEntry, RecordedEffect, RunLease } from "@callgate/contract";
import { textColumn } from "./columns.ts";
import type { Row } from "./columns.ts";
import { bodiesOf } from "./entry-rows.ts";
import { createEntrySelects } from "./entry-selects.ts";
import { givenUpError, notFoundError } from "./fence.ts";
import { settles } from "./read-entries.ts";
import type { RunWriter } from "./run-writer.ts";

/** The call that has a key, as the journal keeps it. */
export type EffectHolder = Pick<RecordedEffect, "runId" | "callId" | "seq" | "argsDigest">;

/** Which call an idempotency key stands for, over all runs of a tenant. A key is kept as long as its run is. */
export interface Effects {
  /** Inside a transaction. The holder when the key is another call's and its write may have changed something. */
  reserve(lease: RunLease, claim: EffectClaim): EffectHolder | undefined;
}

export function createEffects(database: DatabaseSync, { writer, now }: { readonly writer: RunWriter; readonly now: () => number }): Effects {
  const selectStatus = database.prepare("select status from runs where run_id = ?");
  const selectHolder = database.prepare("select run_id, call_id, seq, args_digest from effects where tenant = ? and idempotency_key = ?");
  const rows = createEntrySelects(database);
  const put = database.prepare(`
    insert or replace into effects (tenant, idempotency_key, user_id, run_id, call_id, seq, args_digest, reserved_at_ms) values (?, ?, ?, ?, ?, ?, ?, ?)`);

  /** True when it is known that the write of this call changed nothing. */
  function changedNothing({ runId, seq }: EffectHolder): boolean {
    writer.flush();
    const settling = rows.settled(runId, seq).flatMap((row) => bodiesOf(row).filter((body) => settles(body, seq)));
    return settling.at(-1)?.effectStatus === "none";
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
      const isOurs = holder?.runId === runId && holder.callId === callId;
      if (holder !== undefined && !isOurs && !changedNothing(holder)) return holder;
      put.run(tenant, idempotencyKey, scope.userId, runId, callId, seq, argsDigest, now());
      return undefined;
    },
  };
}

function holderOf(row: Row): EffectHolder {
  return { runId: textColumn(row, "run_id"), callId: textColumn(row, "call_id"), seq: Number(row["seq"]), argsDigest: textColumn(row, "args_digest") as Digest };
}

/** What became of the write of a call, from the entries that settle it, in their order. */
export function recordedEffect(holder: EffectHolder, entries: readonly JournalEntry[]): RecordedEffect {
  let effect: RecordedEffect = { ...holder, effectStatus: "unknown", artifacts: [] };
  for (const entry of entries) {
    if (entry.kind === "call-ended") effect = { ...effect, outcome: entry.outcome, artifacts: entry.artifacts };
    if (entry.kind !== "call-ended" && entry.kind !== "call-late" && entry.kind !== "call-resolved") continue;
    const result = entry.kind === "call-resolved" ? undefined : entry.result;
    effect = { ...effect, effectStatus: entry.effectStatus, ...(result === undefined ? {} : { result }) };
  }
  return effect;
}
