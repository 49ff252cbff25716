import type { EffectClaim, EffectStatus, RunLease } from "@callgate/contract";
import { asWritten, assertPlain, entryOf, givenUpError, holderOf, notFoundError, settledEffect, undoSeqOf, unlessDamaged } from "@callgate/runtime/journal-parts";
import type { EffectHolder } from "@callgate/runtime/journal-parts";
import type { Database, Query } from "./database.ts";
import { assertOurs } from "./run-states.ts";

// The usual case in one statement. The share lock keeps a claim out until the key is on disk.
const takeKey = `
with run as (
  select tenant, user_id from callgate.runs where run_id = $1 and epoch = $2 and tenant = $3 and status <> 'suspended' for share
)
insert into callgate.effects (tenant, idempotency_key, user_id, run_id, call_id, seq, args_digest)
select run.tenant, $4, run.user_id, $1, $5, $6, $7 from run on conflict (tenant, idempotency_key) do nothing returning 1`;

const settling = "select body from callgate.entries where run_id = $1 and seq in ($2, $3) and kind in ('call-issued', 'call-ended', 'call-late', 'call-resolved') order by position";

type Settled = NonNullable<EffectHolder["settled"]>;

/** What the record of its run says of a write, once it is asked. Throws JOURNAL_CORRUPT where it is damaged. */
async function settledBy(query: Query, { runId, seq }: EffectHolder): Promise<() => Settled> {
  const rows = await query(settling, [runId, seq, undoSeqOf(seq)]);
  return () => settledEffect(asWritten(runId, () => rows.map((row) => entryOf(JSON.parse(String(row["body"]))))), seq);
}

/** Takes the key of a write. The holder when it is another call's and its write may have changed something. */
export async function reserveEffect(database: Database, lease: RunLease, claim: EffectClaim): Promise<EffectHolder | undefined> {
  const { runId, epoch } = lease;
  const { tenant, idempotencyKey, seq, callId, argsDigest } = claim;
  assertPlain("Cannot take the key of a write", [idempotencyKey, callId]);
  const values = [runId, epoch, tenant, idempotencyKey, callId, seq, argsDigest];
  // A holder that is pruned between two looks is gone with the next.
  for (;;) {
    if ((await database.query("full", takeKey, values)).length > 0) return undefined;
    const answer = await database.transact("full", (query) => lookCloser(query, lease, claim));
    if (answer !== "gone") return answer === "reserved" ? undefined : answer;
  }
}

async function lookCloser(query: Query, lease: RunLease, { tenant, idempotencyKey, seq, callId, argsDigest }: EffectClaim): Promise<EffectHolder | "reserved" | "gone"> {
  const run = await assertOurs(query, lease, "for share of r");
  if (run["tenant"] !== tenant) throw notFoundError(lease.runId);
  if (run["status"] === "suspended") throw givenUpError(lease, "suspended");
  const [row] = await query("select user_id, run_id, call_id, seq, args_digest, settled from callgate.effects where tenant = $1 and idempotency_key = $2 for update", [tenant, idempotencyKey]);
  if (row === undefined) return "gone";
  const holder = holderOf(row);
  if (holder.runId === lease.runId && holder.callId === callId && holder.settled === undefined) return "reserved";
  const { effectStatus } = holder.settled ?? (await settledBy(query, holder))();
  if (effectStatus !== "none") return holder;
  await query("update callgate.effects set user_id = $3, run_id = $4, call_id = $5, seq = $6, args_digest = $7 where tenant = $1 and idempotency_key = $2", [tenant, idempotencyKey, String(run["user_id"]), lease.runId, callId, seq, argsDigest]);
  return "reserved";
}

/** Says what became of a write that was unknown when its run was pruned. Answers what was known before. */
export async function settleEffect(database: Database, { tenant, user, callId }: { readonly tenant: string; readonly user: string; readonly callId: string }, effectStatus: "done" | "none"): Promise<EffectStatus | undefined> {
  assertPlain("Cannot settle a call", [tenant, user, callId]);
  return await database.transact("full", async (query) => {
    const [row] = await query("select idempotency_key, user_id, run_id, call_id, seq, args_digest, settled from callgate.effects where tenant = $1 and user_id = $2 and call_id = $3 and pruned_at_ms is not null for update", [tenant, user, callId]);
    const settled = row === undefined ? undefined : holderOf(row).settled;
    if (row === undefined || settled?.effectStatus !== "unknown") return settled?.effectStatus;
    const key = [tenant, String(row["idempotency_key"])];
    // A key whose write changed nothing is free again.
    if (effectStatus === "none") await query("delete from callgate.effects where tenant = $1 and idempotency_key = $2", key);
    else await query("update callgate.effects set settled = $3 where tenant = $1 and idempotency_key = $2", [...key, JSON.stringify({ ...settled, effectStatus })]);
    return "unknown";
  });
}

/** Inside the transaction that removes runs: keeps of their keys that their writes took place, or may have. */
export async function outliveRuns(query: Query, runIds: readonly string[], now: number | null): Promise<void> {
  const rows = await query("select user_id, run_id, call_id, seq, args_digest, settled from callgate.effects where run_id = any ($1::text[]) and pruned_at_ms is null", [runIds]);
  for (const holder of rows.map(holderOf)) {
    // Of a damaged record nobody knows; its key is kept.
    const settled = unlessDamaged(await settledBy(query, holder), { effectStatus: "unknown" });
    if (settled.effectStatus === "none") await query("delete from callgate.effects where run_id = $1 and call_id = $2 and pruned_at_ms is null", [holder.runId, holder.callId]);
    else await query("update callgate.effects set settled = $3, pruned_at_ms = callgate.now_ms($4) where run_id = $1 and call_id = $2 and pruned_at_ms is null", [holder.runId, holder.callId, JSON.stringify(settled), now]);
  }
}
