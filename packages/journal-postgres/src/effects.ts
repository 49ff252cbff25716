import type { Digest, EffectClaim, EffectStatus, RunLease } from "@callgate/contract";
import { assertPlain, givenUpError, notFoundError } from "@callgate/runtime/journal-parts";
import type { EffectHolder } from "@callgate/runtime/journal-parts";
import type { Database, Query } from "./database.ts";
import { assertOurs } from "./run-writes.ts";

// The usual case in one statement. The share lock keeps a claim out until the key is on disk.
const takeKey = `
with run as (
  select tenant, user_id from callgate.runs where run_id = $1 and epoch = $2 and tenant = $3 and status <> 'suspended' for share
)
insert into callgate.effects (tenant, idempotency_key, user_id, run_id, call_id, seq, args_digest)
select run.tenant, $4, run.user_id, $1, $5, $6, $7 from run on conflict (tenant, idempotency_key) do nothing returning 1`;

const lastSettled = `
select body from callgate.entries where run_id = $1 and seq = $2 and kind in ('call-ended', 'call-late', 'call-resolved') order by position desc limit 1`;

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
  const [row] = await query("select run_id, call_id, seq, args_digest from callgate.effects where tenant = $1 and idempotency_key = $2 for update", [tenant, idempotencyKey]);
  if (row === undefined) return "gone";
  const holder: EffectHolder = { runId: String(row["run_id"]), callId: String(row["call_id"]), seq: Number(row["seq"]), argsDigest: row["args_digest"] as Digest };
  if (holder.runId === lease.runId && holder.callId === callId) return "reserved";
  const [settled] = await query(lastSettled, [holder.runId, holder.seq]);
  const isFree = settled !== undefined && (JSON.parse(String(settled["body"])) as { readonly effectStatus: EffectStatus }).effectStatus === "none";
  if (!isFree) return holder;
  await query("update callgate.effects set user_id = $3, run_id = $4, call_id = $5, seq = $6, args_digest = $7 where tenant = $1 and idempotency_key = $2", [tenant, idempotencyKey, String(run["user_id"]), lease.runId, callId, seq, argsDigest]);
  return "reserved";
}
