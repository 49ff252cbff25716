import type { ClaimedRun, ClaimOptions, RunLease, RunSignal, RunWait, Suspension } from "@callgate/contract";
import { eraseWait, givenUpError, isAnswered, lostError, notFoundError, prepareEntry, reasonOf, sealPayload, signalName, signalPlace, splitSignal, storePayload, textColumn, waitsPlace } from "@callgate/runtime/journal-parts";
import type { SignalName } from "@callgate/runtime/journal-parts";
import type { Query, SqlRow } from "./database.ts";
import { openRunKey } from "./run-keys.ts";
import { appendEntries, appendValues, assertOurs } from "./run-writes.ts";
import type { RunWrites, RunWriteSeams } from "./run-writes.ts";

/** Who drives a run, and what makes a run that stands still go on. */
export interface Leases {
  renew(lease: RunLease, leaseMs: number): Promise<void>;
  /** Says that the owner lives, and keeps what is still its own of these runs: their ids. */
  keepAll(ownerId: string, leases: readonly (RunLease & { readonly leaseMs: number })[]): Promise<ReadonlySet<string>>;
  suspend(lease: RunLease, suspension: Suspension): Promise<void>;
  claim(options: ClaimOptions): Promise<(Omit<ClaimedRun, "run"> & { readonly tenant: string }) | undefined>;
  /** Position of the signal that counts. Errors: RUN_NOT_FOUND. */
  signal(run: { readonly tenant: string; readonly runId: string }, signal: RunSignal): Promise<{ readonly kind: "kept" | "known"; readonly position: number }>;
}

// Only a program can go on after its process was lost; whatever was suspended was meant to go on. A row that another is
// about to change is left to it.
const claimRun = `
with found as materialized (
  select run_id, status from callgate.runs
  where ($1::text is null or run_id = $1) and ($2::text is null or tenant = $2) and (
    (status = 'suspended' and ($1::text is not null or due_at_ms <= callgate.now_ms($3)))
    or (status = 'running' and kind = 'program' and (lease_until_ms <= callgate.now_ms($3) or owner = any ($4::text[])))
    or (undoing and $1::text is null and (lease_until_ms <= callgate.now_ms($3) or owner = any ($4::text[])))
  )
  order by case when status = 'suspended' then due_at_ms else lease_until_ms end limit 1 for update skip locked
)
update callgate.runs r set status = case when r.undoing then r.status else 'running' end, epoch = epoch + 1, owner = $5, lease_until_ms = callgate.now_ms($3) + $6,
  waits = null, waits_sealed = null, wake_at_ms = null, due_at_ms = null
from found where r.run_id = found.run_id
returning r.run_id, r.tenant, r.epoch, found.status as was`;

const renewRun = "update callgate.runs set lease_until_ms = callgate.now_ms($3) + $4 where run_id = $1 and epoch = $2 and (status = 'running' or undoing) returning 1";

const keepRuns = `
with alive as (
  update callgate.owners set heartbeat_at_ms = callgate.now_ms($1) where owner_id = $2
)
update callgate.runs r set lease_until_ms = callgate.now_ms($1) + held.lease_ms
from unnest($3::text[], $4::int[], $5::float8[]) as held (run_id, epoch, lease_ms)
where r.run_id = held.run_id and r.epoch = held.epoch and (r.status = 'running' or r.undoing)
returning r.run_id`;

const suspendRun = `
update callgate.runs set status = 'suspended', owner = null, lease_until_ms = null, waits = $2, waits_sealed = $3, wake_at_ms = $4::float8,
  due_at_ms = case when $5 then callgate.now_ms($6) else $4::float8 end
where run_id = $1`;

// oxlint-disable-next-line max-lines-per-function -- one object of the lease statements; each is a few lines
export function createLeases(seams: RunWriteSeams, writes: RunWrites): Leases {
  const { database, owners, masterKey, time } = seams;

  return {
    async keepAll(ownerId, leases) {
      const values = [leases.map(({ runId }) => runId), leases.map(({ epoch }) => epoch), leases.map(({ leaseMs }) => leaseMs)];
      return new Set((await database.query("lazy", keepRuns, [time.given(), ownerId, ...values])).map((row) => String(row["run_id"])));
    },
    renew: (lease, leaseMs) =>
      writes.after(lease.runId, async () => {
        const { runId, epoch } = lease;
        if ((await database.query("lazy", renewRun, [runId, epoch, time.given(), leaseMs])).length === 0) throw await whyLost(database.read, lease);
      }),
    suspend: (lease, { atMs, waits, wakeAtMs }) =>
      writes.after(lease.runId, async () => {
        const { runId } = lease;
        writes.forget(runId);
        await database.transact("full", async (query) => {
          // The lock first: a signal is then either seen here, or finds the run suspended.
          const row = await assertOurs(query, lease, "for update of r");
          if (row["status"] !== "running") throw givenUpError(lease, String(row["status"]));
          const key = openRunKey(masterKey, runId, row);
          const sealed = key.kind === "box" ? sealPayload(key.box, { texts: { waits }, value: undefined }, waitsPlace(runId)) : null;
          await query(suspendRun, [runId, JSON.stringify(waits.map(eraseWait)), sealed, wakeAtMs ?? null, isAnswered(waits, await saidTo(query, runId)), time.given()]);
          const state = { tenant: String(row["tenant"]), userId: String(row["user_id"]), key, next: Number(row["next_position"]) };
          await query(appendEntries, appendValues(lease, state, [prepareEntry({ kind: "suspended", atMs, waits })]));
        });
      }),
    async claim({ runId, tenant, leaseMs }) {
      const dead = await owners.dead();
      await owners.register();
      const row = (await database.query("full", claimRun, [runId ?? null, tenant ?? null, time.given(), dead, owners.ownerId, leaseMs]))[0];
      if (row === undefined) return undefined;
      const claimed = String(row["run_id"]);
      writes.forget(claimed);
      return { lease: { runId: claimed, epoch: Number(row["epoch"]) }, tenant: String(row["tenant"]), reason: reasonOf(row["was"]) };
    },
    async signal({ tenant, runId }, signal) {
      const [found] = await database.read("select k.master_id, k.wrapped from callgate.runs r left join callgate.run_keys k using (run_id) where r.tenant = $1 and r.run_id = $2", [tenant, runId]);
      if (found === undefined) throw notFoundError(runId);
      const split = splitSignal(signal);
      const stored = await storePayload(seams, { runId, tenant, key: openRunKey(masterKey, runId, found) }, split);
      return await database.transact("full", async (query) => {
        const [run] = await query("select r.user_id, r.status, r.waits, k.master_id, k.wrapped from callgate.runs r left join callgate.run_keys k using (run_id) where r.tenant = $1 and r.run_id = $2 for update of r", [tenant, runId]);
        if (run === undefined) throw notFoundError(runId);
        const said = await saidTo(query, runId);
        const name = signalName(signal);
        const known = name.key === undefined ? undefined : said.find((other) => other.kind === name.kind && other.name === name.name && other.key === name.key);
        const position = known?.position ?? (said.at(-1)?.position ?? -1) + 1;
        if (known === undefined) {
          const key = openRunKey(masterKey, runId, run);
          const sealed = stored.payload === undefined || key.kind !== "box" ? null : sealPayload(key.box, stored.payload, signalPlace(runId, position));
          const userId = String(run["user_id"]);
          await query("insert into callgate.signals values ($1, $2, $3, $4, $5, $6, $7, $8, $9)", [runId, position, tenant, userId, name.kind, name.name, name.key ?? null, JSON.stringify(split.body), sealed]);
          if (stored.blob !== undefined) await query("insert into callgate.blob_refs values ($1, $2, $3, $4, $5) on conflict do nothing", [runId, stored.blob.digest, tenant, userId, stored.blob.sizeBytes]);
          said.push({ ...name, position });
        }
        if (run["status"] === "suspended" && isAnswered(JSON.parse(String(run["waits"])) as RunWait[], said)) {
          await query("update callgate.runs set due_at_ms = least(due_at_ms, callgate.now_ms($2)) where run_id = $1", [runId, time.given()]);
        }
        return { kind: known === undefined ? "kept" : "known", position };
      });
    },
  };
}

async function saidTo(query: Query, runId: string): Promise<(SignalName & { readonly position: number })[]> {
  const rows = await query("select kind, name, key, position from callgate.signals where run_id = $1 order by position", [runId]);
  return rows.map((row: SqlRow) => ({ kind: row["kind"] as RunSignal["kind"], name: String(row["name"]), key: row["key"] === null ? undefined : textColumn(row, "key"), position: Number(row["position"]) }));
}

/** Why a lease is no lease any more. */
export async function whyLost(query: Query, lease: RunLease): Promise<Error> {
  const row = (await query("select epoch, status from callgate.runs where run_id = $1", [lease.runId]))[0];
  return row === undefined ? notFoundError(lease.runId) : lostError(lease, row);
}
