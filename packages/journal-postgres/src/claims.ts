import type { ClaimedRun, ClaimOptions } from "@callgate/contract";
import { reasonOf } from "@callgate/runtime/journal-parts";
import type { SqlRow } from "./database.ts";
import { mustOpenRunKey } from "./run-keys.ts";
import type { RunWrites, RunWriteSeams } from "./run-writes.ts";

/** Takes runs that can go on. */
export interface Claims {
  /** Errors: JOURNAL_KEY_LOST of a run that is named. */
  claim(options: ClaimOptions): Promise<(Omit<ClaimedRun, "run"> & { readonly tenant: string }) | undefined>;
  /** A run whose record is damaged: from now on it is taken here only when it is named, so that it keeps nobody from the others. */
  passOver(runId: string): void;
}

const isReadable = (masterId: string): string => `not exists (select 1 from callgate.run_keys k where k.run_id = r.run_id and k.master_id <> ${masterId})`;

// Only a program can go on after its process was lost; whatever was suspended was meant to go on. A row that another is
// about to change is left to it, and one that is sealed under another master key to who can read it. What this process
// drives itself it does not take from itself when its lease is over (it was stopped, or cut off): it renews it, or ends by
// itself. Now is asked for once (a subquery), so that an index finds what is due.
const claimRun = `
with found as materialized (
  select run_id, status from callgate.runs r
  where ($1::text is null or run_id = $1) and ($2::text is null or tenant = $2) and ${isReadable("$7")}
    and ($1::text is not null or run_id <> all ($9::text[]))
    and (status = 'suspended' or owner is distinct from $5 or run_id <> all ($8::text[])) and (
    (status = 'suspended' and ($1::text is not null or due_at_ms <= (select callgate.now_ms($3))))
    or (status = 'running' and kind = 'program' and (lease_until_ms <= callgate.now_ms($3) or owner = any ($4::text[])))
    or (undoing and $1::text is null and (lease_until_ms <= callgate.now_ms($3) or owner = any ($4::text[])))
  )
  order by case when status = 'suspended' then due_at_ms else lease_until_ms end limit 1 for update skip locked
)
update callgate.runs r set status = case when r.undoing then r.status else 'running' end, epoch = epoch + 1, owner = $5, lease_until_ms = callgate.now_ms($3) + $6,
  waits = null, waits_sealed = null, wake_at_ms = null, due_at_ms = null
from found where r.run_id = found.run_id
returning r.run_id, r.tenant, r.epoch, found.status as was`;

// Whether a claim would find a run, and all owners that may have died, in one round trip: what most looks end with.
const lookForRun = `
select callgate.now_ms($2) as now,
  exists (select 1 from callgate.runs r where status = 'suspended' and due_at_ms <= (select callgate.now_ms($2)) and ($1::text is null or tenant = $1) and ${isReadable("$3")})
  or exists (select 1 from callgate.runs r where status = 'running' and kind = 'program' and lease_until_ms <= callgate.now_ms($2) and ($1::text is null or tenant = $1) and ${isReadable("$3")})
  or exists (select 1 from callgate.runs r where undoing and lease_until_ms <= callgate.now_ms($2) and ($1::text is null or tenant = $1) and ${isReadable("$3")}) as is_due,
  (select coalesce(json_agg(o), '[]') from callgate.owners o where owner_id in (
    select owner from callgate.runs where status = 'running' and kind = 'program' and ($1::text is null or tenant = $1) union all select owner from callgate.runs where undoing)) as owners`;

export function createClaims({ database, owners, masterKey, time, held }: RunWriteSeams, writes: RunWrites): Claims {
  /** Owners whose runs may be taken; undefined when there is nothing to take. */
  async function look(tenant: string | undefined): Promise<readonly string[] | undefined> {
    const [row = {}] = await database.read(lookForRun, [tenant ?? null, time.given(), masterKey.id]);
    const dead = owners.deadOf(row["owners"] as readonly SqlRow[], Number(row["now"]));
    return row["is_due"] === true || dead.length > 0 ? dead : undefined;
  }

  const passedOver = new Set<string>();
  return {
    passOver: (runId) => void passedOver.add(runId),
    async claim({ runId, tenant, leaseMs }) {
      if (runId !== undefined) await mustOpenRunKey({ database, masterKey }, runId);
      const dead = runId === undefined ? await look(tenant) : await owners.dead();
      if (dead === undefined) return undefined;
      await owners.register();
      const row = (await database.query("full", claimRun, [runId ?? null, tenant ?? null, time.given(), dead, owners.ownerId, leaseMs, masterKey.id, held(), [...passedOver]]))[0];
      if (row === undefined) return undefined;
      const claimed = String(row["run_id"]);
      writes.forget(claimed);
      return { lease: { runId: claimed, epoch: Number(row["epoch"]) }, tenant: String(row["tenant"]), reason: reasonOf(row["was"]) };
    },
  };
}
