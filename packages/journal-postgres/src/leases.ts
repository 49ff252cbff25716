import type { RunLease, Suspension } from "@callgate/contract";
import { eraseWait, givenUpError, isAnswered, lostError, notFoundError, prepareEntry, sealPayload, waitsPlace } from "@callgate/runtime/journal-parts";
import { appendEntries, appendValues } from "./append-entries.ts";
import type { Query } from "./database.ts";
import { beginChain } from "./run-chain.ts";
import { assertOurs, stateOf } from "./run-states.ts";
import type { RunWrites, RunWriteSeams } from "./run-writes.ts";
import { saidTo } from "./signals.ts";

/** Who drives a run. */
export interface Leases {
  renew(lease: RunLease, leaseMs: number): Promise<void>;
  /** Says that the owner lives, and keeps what is still its own of these runs: their ids. */
  keepAll(ownerId: string, leases: readonly (RunLease & { readonly leaseMs: number })[]): Promise<ReadonlySet<string>>;
  suspend(lease: RunLease, suspension: Suspension): Promise<void>;
}

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

export function createLeases(seams: RunWriteSeams, writes: RunWrites): Leases {
  const { database, masterKey, time, stamps, lanes } = seams;

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
    suspend: (lease, { atMs, waits, wakeAtMs, reason }) =>
      writes.after(lease.runId, async () => {
        const { runId } = lease;
        writes.forget(runId);
        await lanes.write((pen) => database.transact("full", async (query) => {
          // The lock first: a signal is then either seen here, or finds the run suspended.
          const row = await assertOurs(query, lease, "for update of r");
          if (row["status"] !== "running") throw givenUpError(lease, String(row["status"]));
          if (row["stamp"] === null) await beginChain(query, lease, { stamps, pen });
          const state = stateOf(masterKey, runId, row["stamp"] === null ? await assertOurs(query, lease) : row);
          const { key, chain } = state;
          if (chain === undefined) throw notFoundError(runId);
          const sealed = key.kind === "box" ? sealPayload(key.box, { texts: { waits }, value: undefined }, waitsPlace(runId)) : null;
          await query(suspendRun, [runId, JSON.stringify(waits.map(eraseWait)), sealed, wakeAtMs ?? null, isAnswered(waits, await saidTo(query, runId)), time.given()]);
          await query(appendEntries, appendValues(lease, { ...state, chain }, { stamps, entries: [prepareEntry({ kind: "suspended", atMs, waits, ...(reason === undefined ? {} : { reason }) })] }).values);
        }));
      }),
  };
}

/** Why a lease is no lease any more. */
export async function whyLost(query: Query, lease: RunLease): Promise<Error> {
  const row = (await query("select epoch, status from callgate.runs where run_id = $1", [lease.runId]))[0];
  return row === undefined ? notFoundError(lease.runId) : lostError(lease, row);
}
