import { CallgateError } from "@callgate/contract";
import type { Blobs, BudgetAnswer, BudgetClaim, BudgetSettlement, ClaimedRun, ClaimOptions, Clock, Durability, EffectClaim, EndedClaim, GrantClaim, GrantUse, Journal, JournalEntry, RunFinish, RunLease, RunSignal, RunStart, Suspension } from "@callgate/contract";
import type { Budgets } from "./budgets.ts";
import type { EffectHolder, Effects } from "./effects.ts";
import { notFoundError } from "./fence.ts";
import type { Grants } from "./grants.ts";
import { createHeldLeases } from "./held-leases.ts";
import type { HeldLeases } from "./held-leases.ts";
import { leaseEnd } from "./lease-end.ts";
import type { Leases } from "./leases.ts";
import type { Owners } from "./owners.ts";
import { assertNames, assertSignalNames } from "./plain-names.ts";
import { prepareEntries, storePayload } from "./prepare-entries.ts";
import type { RunKeys } from "./run-keys.ts";
import { createRunOrder } from "./run-order.ts";
import type { RunReader } from "./read-runs.ts";
import type { RunWriter } from "./run-writer.ts";
import { splitSignal } from "./signal-codec.ts";
import type { Signals } from "./signals.ts";
import type { UndoClaims } from "./undo-claims.ts";
import type { WriteQueue } from "./write-queue.ts";

/** The writing half of a journal. Renews the leases of the runs it began or claimed until they end or are given up. */
export interface Recorder {
  begin(run: RunStart, leaseMs: number): Promise<RunLease>;
  append(lease: RunLease, entries: readonly JournalEntry[], durability: Durability): Promise<void>;
  finish(lease: RunLease, finish: RunFinish, durability: Durability): Promise<void>;
  readonly watch: HeldLeases["watch"];
  readonly letGo: HeldLeases["release"];
  /** Runs this process drives, or undoes. */
  readonly held: HeldLeases["runIds"];
  renew(lease: RunLease, leaseMs: number): Promise<void>;
  suspend(lease: RunLease, suspension: Suspension): Promise<void>;
  claim(options: ClaimOptions): Promise<ClaimedRun | undefined>;
  claimEnded(run: { readonly tenant: string; readonly runId: string }, leaseMs: number): Promise<EndedClaim>;
  release(lease: RunLease): Promise<void>;
  signal(run: { readonly tenant: string; readonly runId: string }, signal: RunSignal): Promise<{ readonly kind: "kept" | "known"; readonly position: number }>;
  reserve(lease: RunLease, claim: EffectClaim): Promise<EffectHolder | undefined>;
  settle: Journal["settleEffect"];
  reserveBudgets(lease: RunLease, claim: BudgetClaim): Promise<BudgetAnswer>;
  settleBudgets(lease: RunLease, settlement: BudgetSettlement): Promise<void>;
  useGrant(lease: RunLease, claim: GrantClaim): Promise<GrantUse>;
  /** Resolves once what is being prepared now is in the queue. Undefined: nothing is. */
  queued(): Promise<void> | undefined;
  /** Waits for what was asked for, then says that this process drives nothing any more. */
  close(): Promise<void>;
}

export interface RecorderSeams {
  readonly queue: WriteQueue;
  readonly owners: Owners;
  readonly writer: RunWriter;
  readonly leases: Leases;
  readonly undoClaims: UndoClaims;
  readonly signals: Signals;
  readonly effects: Effects;
  readonly budgets: Budgets;
  readonly grants: Grants;
  readonly keys: RunKeys;
  readonly runs: RunReader;
  readonly blobs: Blobs;
  readonly clock: Clock;
  readonly blobBytes: number;
}

export function createRecorder(seams: RecorderSeams): Recorder {
  const { queue, owners, writer, leases, clock } = seams;
  const order = createRunOrder();
  const held = createHeldLeases(clock, beat);
  const prepare = { ...seams, scope: (lease: RunLease) => queue.write({ durability: "lazy", what: `Cannot append to run ${lease.runId}` }, () => writer.scope(lease)) };

  function beat(): Promise<void> {
    const lost: RunLease[] = [];
    return queue.write({ durability: "lazy", what: "Cannot say that this process lives" }, () => {
      lost.length = 0; // A batch that failed is tried again.
      owners.beat();
      for (const lease of held.all()) if (!leases.keep(lease, leaseEnd(clock, lease.leaseMs))) lost.push(lease);
    }).then(() => lost.forEach(held.lose));
  }

  /** After every earlier write of the run; a run that is not ours any more is not kept ours. */
  async function write<T>(lease: RunLease, options: { readonly durability: Durability; readonly what: string }, work: () => T): Promise<T> {
    try {
      return await order.after(lease.runId, undefined, () => queue.write(options, work));
    } catch (error) {
      if (CallgateError.is(error) && error.code === "RUN_FENCED") held.lose(lease);
      throw error;
    }
  }

  /** The same for what ends our driving of it: where that cannot be written, the lease comes to its end. */
  async function giveUp(lease: RunLease, options: { readonly durability: Durability; readonly what: string }, work: () => void): Promise<void> {
    await write(lease, options, work).finally(() => held.release(lease));
  }

  return {
    async begin(run, leaseMs) {
      assertNames(run);
      const lease = await queue.write({ durability: "later", what: `Cannot begin run ${run.runId}` }, () => {
        owners.register();
        return writer.begin(run, { ownerId: owners.ownerId, until: leaseEnd(clock, leaseMs) });
      });
      held.hold(lease, leaseMs);
      return lease;
    },
    append(lease, entries, durability) {
      const { runId } = lease;
      return order.after(runId, prepareEntries(prepare, lease, entries), (prepared) =>
        queue.write({ durability, what: `Cannot append to run ${runId}` }, () => writer.append(lease, prepared)),
      );
    },
    finish: (lease, finish, durability) => giveUp(lease, { durability, what: `Cannot finish run ${lease.runId}` }, () => writer.finish(lease, finish)),
    async renew(lease, leaseMs) {
      await write(lease, { durability: "lazy", what: `Cannot renew run ${lease.runId}` }, () => leases.renew(lease, leaseEnd(clock, leaseMs)));
      held.hold(lease, leaseMs);
    },
    suspend: (lease, suspension) => giveUp(lease, { durability: "full", what: `Cannot suspend run ${lease.runId}` }, () => leases.suspend(lease, suspension)),
    release: (lease) => giveUp(lease, { durability: "lazy", what: `Cannot give run ${lease.runId} back` }, () => seams.undoClaims.release(lease)),
    ...outside(seams, held),
    reserve: (lease, claim) => write(lease, { durability: "full", what: `Cannot take the key of a write of run ${lease.runId}` }, () => seams.effects.reserve(lease, claim)),
    ...holding(seams, write),
    queued: () => order.idle(),
    async close() {
      held.stop();
      await order.idle();
      await queue.write({ durability: "lazy", what: "Cannot close the journal" }, owners.leave).catch(() => undefined); // Then its pid tells.
    },
  };
}

type WriteOfRun = <T>(lease: RunLease, options: { readonly durability: Durability; readonly what: string }, work: () => T) => Promise<T>;

/** What budgets and grants hold for calls. */
function holding({ budgets, grants }: RecorderSeams, write: WriteOfRun): Pick<Recorder, "reserveBudgets" | "settleBudgets" | "useGrant"> {
  return {
    reserveBudgets: (lease, claim) => write(lease, { durability: "lazy", what: `Cannot take from the budgets of run ${lease.runId}` }, () => budgets.reserve(lease, claim)),
    // With the next reservation, or whatever is written next: a call costs one transaction, not two.
    settleBudgets: (lease, settlement) => write(lease, { durability: "later", what: `Cannot settle the budgets of run ${lease.runId}` }, () => budgets.settle(lease, settlement)),
    useGrant: (lease, claim) => write(lease, { durability: "full", what: `Cannot use a grant for run ${lease.runId}` }, () => grants.use(lease, claim)),
  };
}

/** In one transaction, so that what is read of the run is what was claimed. */
function claimNow({ leases, runs }: RecorderSeams, options: ClaimOptions): ClaimedRun | undefined {
  const claimed = leases.claim(options);
  if (claimed === undefined) return undefined;
  const { lease, reason, tenant } = claimed;
  try {
    const run = runs.readRun(tenant, lease.runId);
    return run === undefined ? undefined : { lease, run, reason };
  } catch (fault) {
    if (CallgateError.is(fault) && fault.code === "JOURNAL_CORRUPT") leases.passOver(lease.runId);
    throw fault;
  }
}

function claimEndedNow({ undoClaims, runs }: RecorderSeams, run: { readonly tenant: string; readonly runId: string }, leaseMs: number): EndedClaim {
  const claim = undoClaims.claim(run, leaseMs);
  if (claim.kind !== "claimed") return claim;
  const claimed = runs.readRun(run.tenant, run.runId);
  if (claimed === undefined) throw notFoundError(run.runId);
  return { ...claim, run: claimed };
}

/** What is not done under a lease: taking a run, having it, telling one something, and what became of a write of one that is gone. */
function outside(seams: RecorderSeams, held: HeldLeases): Pick<Recorder, "watch" | "letGo" | "held" | "claim" | "claimEnded" | "signal" | "settle"> {
  const { queue, leases } = seams;
  return {
    watch: held.watch,
    letGo: held.release,
    held: held.runIds,
    settle: (of, effectStatus) => queue.write({ durability: "full", what: `Cannot settle call ${of.callId}` }, () => seams.effects.settle(of, effectStatus)),
    async claim(options) {
      queue.catchUp();
      if (!leases.canClaim(options)) return undefined; // The usual answer, without taking the lock.
      const claimed = await queue.write({ durability: "lazy", what: "Cannot claim a run" }, () => claimNow(seams, options));
      if (claimed !== undefined) held.hold(claimed.lease, options.leaseMs);
      return claimed;
    },
    async claimEnded(run, leaseMs) {
      const claim = await queue.write({ durability: "lazy", what: `Cannot claim run ${run.runId}` }, () => claimEndedNow(seams, run, leaseMs));
      if (claim.kind === "claimed") held.hold(claim.lease, leaseMs);
      return claim;
    },
    async signal(run, signal) {
      assertSignalNames(signal);
      if (seams.runs.readRun(run.tenant, run.runId) === undefined) throw notFoundError(run.runId);
      seams.keys.mustOpen(run.runId);
      const split = splitSignal(signal);
      const key = seams.keys.find(run.runId);
      const stored = await storePayload(seams, { ...run, key }, split);
      return await queue.write({ durability: "full", what: `Cannot signal run ${run.runId}` }, () => seams.signals.signal(run, { split, ...stored }));
    },
  };
}
