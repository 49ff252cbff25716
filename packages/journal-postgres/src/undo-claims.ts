import type { EndedClaim, RunHolder, RunLease } from "@callgate/contract";
import { endCells, interruptedFinish, notFoundError, optionalText, stampText, undoStanding } from "@callgate/runtime/journal-parts";
import type { Query, SqlRow } from "./database.ts";
import type { Pen } from "./lanes.ts";
import { whyLost } from "./leases.ts";
import { beginChain, chainOf } from "./run-chain.ts";
import { mustOpenRunKey } from "./run-keys.ts";
import type { RunWrites, RunWriteSeams } from "./run-writes.ts";

/** Who undoes what an ended run did. */
export interface UndoClaims {
  /** Errors: RUN_NOT_FOUND, JOURNAL_KEY_LOST. */
  claim(run: { readonly tenant: string; readonly runId: string }, leaseMs: number): Promise<Exclude<EndedClaim, { readonly kind: "claimed" }> | { readonly kind: "claimed"; readonly lease: RunLease }>;
  /** Errors: RUN_NOT_FOUND, RUN_FENCED. */
  release(lease: RunLease): Promise<void>;
}

const lockRun = `
select r.status, r.kind, r.epoch, r.owner, r.undoing::int as undoing, r.lease_until_ms, callgate.now_ms($3) as now from callgate.runs r
where tenant = $1 and run_id = $2 for update of r`;

const takeRun = `
update callgate.runs set undoing = true, owner = $2, lease_until_ms = callgate.now_ms($3) + $4, epoch = epoch + 1,
  ended_at_ms = coalesce(ended_at_ms, callgate.now_ms($3)), finish = coalesce(finish, $5), status = case when status = 'running' then 'crashed' else status end
where run_id = $1 returning *`;

const sealRun = "update callgate.runs set seal = $2 where run_id = $1";

const releaseRun = "update callgate.runs set undoing = false, lease_until_ms = null where run_id = $1 and epoch = $2 and undoing returning 1";

export function createUndoClaims({ database, masterKey, owners, time, stamps, lanes, held }: RunWriteSeams, writes: RunWrites): UndoClaims {
  async function holderOf(query: Query, ownerId: string, untilMs: number): Promise<RunHolder> {
    const [row] = await query("select machine, pid from callgate.owners where owner_id = $1", [ownerId]);
    return { pid: Number(row?.["pid"]), isHere: row?.["machine"] === owners.machine, untilMs };
  }

  /** The run has ended now, for an owner that was lost. */
  async function endChain(query: Query, run: SqlRow, pen: Pen): Promise<void> {
    const [runId, chain, next] = [String(run["run_id"]), chainOf(run), Number(run["next_position"])];
    if (chain === undefined) return;
    const programDigest = optionalText(run, "program_digest") ?? null;
    await query(sealRun, [runId, stamps.seal({ runId, from: chain.from, next, last: chain.stamp, programDigest, end: endCells(run) })]);
    await pen.write(query, String(run["tenant"]), [{ kind: "run-ended", runId, status: "crashed", entries: next, stamp: stampText(chain.stamp) }]);
  }

  return {
    async claim({ tenant, runId }, leaseMs) {
      await mustOpenRunKey({ database, masterKey }, runId);
      const dead = await owners.dead();
      await owners.register();
      return await lanes.write((pen) => database.transact("full", async (query) => {
        const [row] = await query(lockRun, [tenant, runId, time.given()]);
        if (row === undefined) throw notFoundError(runId);
        const leaseLeftMs = Number(row["lease_until_ms"]) - Number(row["now"]);
        const standing = undoStanding(row, { dead, leaseLeftMs, isOurs: row["owner"] === owners.ownerId && held().includes(runId) });
        if (standing === "open") return { kind: "open" };
        if (standing === "held") return { kind: "held", holder: await holderOf(query, String(row["owner"]), Number(row["lease_until_ms"])) };
        await beginChain(query, { runId }, { stamps, pen });
        const [taken = {}] = await query(takeRun, [runId, owners.ownerId, time.given(), leaseMs, interruptedFinish]);
        if (row["status"] === "running") await endChain(query, taken, pen);
        writes.forget(runId);
        return { kind: "claimed", lease: { runId, epoch: Number(taken["epoch"]) } };
      }));
    },
    release: (lease) =>
      writes.after(lease.runId, async () => {
        const { runId, epoch } = lease;
        if ((await database.query("lazy", releaseRun, [runId, epoch])).length > 0) return;
        throw await whyLost(database.read, lease);
      }),
  };
}
