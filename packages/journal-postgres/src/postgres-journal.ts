import { CallgateError } from "@callgate/contract";
import type { Blobs, Clock, Journal } from "@callgate/contract";
import { assertNames, assertSignalNames, createAuditStamps, createHeldLeases, createHousekeeper, defaultLeaseMs, defaultMaxKeyAgeMs, notFoundError, recordedEffect } from "@callgate/runtime/journal-parts";
import type { HeldLeases, MasterKey } from "@callgate/runtime/journal-parts";
import { readBudgets, reserveBudgets, settleBudgets } from "./budgets.ts";
import { openDatabase } from "./database.ts";
import type { Database } from "./database.ts";
import { reserveEffect, settleEffect } from "./effects.ts";
import { createPostgresGrants } from "./grants.ts";
import { journalTime } from "./journal-time.ts";
import { createClaims } from "./claims.ts";
import type { Claims } from "./claims.ts";
import { createLanes } from "./lanes.ts";
import { createLeases } from "./leases.ts";
import type { Leases } from "./leases.ts";
import { createOwners } from "./owners.ts";
import type { Owners } from "./owners.ts";
import { createPostgresAudit } from "./postgres-audit.ts";
import { createPostgresBlobs } from "./postgres-blobs.ts";
import { eraseRun, prune } from "./prune.ts";
import { createReads } from "./reads.ts";
import type { Reads } from "./reads.ts";
import { createRunWrites } from "./run-writes.ts";
import type { RunWrites, RunWriteSeams } from "./run-writes.ts";
import { createSignals } from "./signals.ts";
import type { Signals } from "./signals.ts";
import { addTaint, readTaint } from "./taints.ts";
import { createUndoClaims } from "./undo-claims.ts";
import type { UndoClaims } from "./undo-claims.ts";

export interface PostgresJournalOptions {
  /** `postgres://user:password@host/database`. Never shown in an error. */
  readonly url: string;
  /** The same on every machine of the journal. */
  readonly masterKey: MasterKey;
  /** For heartbeats. */
  readonly clock: Clock;
  /** The journal's time. Default: the server's, so that the clocks of machines may differ. */
  readonly time?: Clock;
  /** Where large values go. Default: the same database. */
  readonly blobs?: Blobs;
  /** Values from this many UTF-16 units of JSON on are blobs. Default 256 KiB. */
  readonly blobBytes?: number;
  /** Runs that ended longer ago are removed. Default 30 days. */
  readonly maxAgeMs?: number;
  /** Idempotency keys outlive their runs by this. Default 400 days. */
  readonly maxKeyAgeMs?: number;
  /** Connections of this process for each of the two kinds of commit. Default 5. */
  readonly connections?: number;
}

export interface PostgresJournal extends Journal {
  /** Those of the options, or those in the database. */
  readonly blobs: Blobs;
}

interface Parts {
  readonly seams: RunWriteSeams;
  readonly reads: Reads;
  readonly writes: RunWrites;
  readonly leases: Leases;
  readonly claims: Claims;
  readonly signals: Signals;
  readonly undoClaims: UndoClaims;
  readonly held: HeldLeases;
  readonly owners: Owners;
}

/**
 * Opens the journal kept in the schema `callgate` of a PostgreSQL database (14 or later), making or migrating it as
 * needed (docs/guide/journal-postgres.md). Any number of processes on any number of machines may share it.
 *
 * A write is one statement and one round trip; `full` waits for the server's disk, `lazy` does not. A read whose
 * connection was lost is tried once more. A write whose answer was lost is looked up and, when it is not there, tried
 * once more; where that cannot be found out it fails with JOURNAL_UNAVAILABLE, and is not doubled when the same entries
 * are appended again.
 *
 * Errors: JOURNAL_VERSION, JOURNAL_UNAVAILABLE.
 */
export async function createPostgresJournal(options: PostgresJournalOptions): Promise<PostgresJournal> {
  return journalOver(await openDatabase(options), options);
}

/** The journal over a database that is open and has the schema; closes it with itself. */
export function journalOver(database: Database, options: Omit<PostgresJournalOptions, "url">): PostgresJournal {
  const { masterKey, clock } = options;
  const time = journalTime(options.time);
  const owners = createOwners(database, time);
  const blobs = options.blobs ?? createPostgresBlobs(database);
  const stamps = createAuditStamps(masterKey);
  const lanes = createLanes({ database, stamps, owner: owners.ownerId, now: () => (options.time ?? clock).now(), limit: options.connections ?? 5 });
  const seams: RunWriteSeams = { database, owners, masterKey, blobs, time, blobBytes: options.blobBytes ?? 256 * 1024, stamps, lanes, held: () => parts.held.runIds() };
  const writes = createRunWrites(seams);
  const leases = createLeases(seams, writes);
  const parts: Parts = { seams, reads: createReads(seams), writes, leases, claims: createClaims(seams, writes), signals: createSignals(seams), undoClaims: createUndoClaims(seams, writes), owners, held: createHeldLeases(clock, () => beat(parts)) };
  const now = async (): Promise<number> => Number((await database.read("select callgate.now_ms($1) as now", [time.given()]))[0]?.["now"]);
  const housekeeper = createHousekeeper(async () => {
    const nowMs = await now();
    await prune(seams, { olderThanMs: nowMs - (options.maxAgeMs ?? 30 * 24 * 3_600_000), keysOlderThanMs: nowMs - (options.maxKeyAgeMs ?? defaultMaxKeyAgeMs) });
  });
  let isClosed = false;
  const guard = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    if (isClosed) throw new CallgateError("CLOSED", `${what}: the journal was closed`);
    try {
      return await work();
    } catch (error) {
      if (CallgateError.is(error)) throw error;
      throw new CallgateError("JOURNAL_UNAVAILABLE", `${what}: ${error instanceof Error ? error.message : String(error)}. Nothing was written`, { cause: error });
    }
  };
  return {
    blobs,
    ...writing(parts, guard, () => housekeeper.runBegan()),
    ...reading(parts, guard),
    ...holding(parts, guard),
    ...labelling(parts, guard),
    audit: createPostgresAudit(seams, guard),
    grants: createPostgresGrants({ seams, guard, after: (runId, work) => writes.after(runId, work) }),
    erase: (tenant, runId, { by = "callgate" } = {}) =>
      guard("Cannot erase a run", async () => {
        await eraseRun(seams, { tenant, runId, by });
        writes.forget(runId);
      }),
    settleEffect: (of, effectStatus) => guard(`Cannot settle call ${of.callId}`, () => settleEffect(seams.database, of, effectStatus)),
    prune: (prunable) => guard("Cannot prune the journal", () => prune(seams, prunable)),
    async close() {
      if (isClosed) return;
      isClosed = true;
      parts.held.stop();
      await housekeeper.idle();
      await writes.idle();
      await lanes.idle();
      await owners.leave().catch(() => undefined); // Then its pid, or its silence, tells.
      await database.close();
    },
  };
}

async function beat({ owners, held, leases }: Parts): Promise<void> {
  const ours = held.all();
  const kept = await leases.keepAll(owners.ownerId, ours);
  for (const lease of ours) if (!kept.has(lease.runId)) held.lose(lease);
}

type Guard = <T>(what: string, work: () => Promise<T>) => Promise<T>;

function writing(parts: Parts, guard: Guard, runBegan: () => void): Pick<Journal, "begin" | "append" | "finish" | "watch" | "letGo" | "renew" | "suspend" | "claim" | "claimEnded" | "release" | "signal" | "reserveEffect"> {
  const { seams, reads, writes, leases, claims, signals, held } = parts;
  return {
    ...undoing(parts, guard),
    begin: (run, begin) =>
      guard(`Cannot begin run ${run.runId}`, async () => {
        assertNames(run);
        const leaseMs = begin?.leaseMs ?? defaultLeaseMs;
        const lease = await writes.begin(run, leaseMs);
        held.hold(lease, leaseMs);
        runBegan();
        return lease;
      }),
    append: (lease, entries, durability) => guard(`Cannot append to run ${lease.runId}`, () => writes.append(lease, entries, durability)),
    finish: (lease, finish) =>
      guard(`Cannot finish run ${lease.runId}`, async () => {
        await writes.finish(lease, finish).finally(() => held.release(lease));
      }),
    watch: held.watch,
    letGo: held.release,
    renew: (lease, leaseMs) =>
      guard(`Cannot renew run ${lease.runId}`, async () => {
        await leases.renew(lease, leaseMs);
        held.hold(lease, leaseMs);
      }),
    suspend: (lease, suspension) =>
      guard(`Cannot suspend run ${lease.runId}`, async () => {
        await leases.suspend(lease, suspension).finally(() => held.release(lease));
      }),
    claim: (options) =>
      guard("Cannot claim a run", async () => {
        const claimed = await claims.claim(options);
        if (claimed === undefined) return undefined;
        const { lease, reason, tenant } = claimed;
        // Where that fails nobody drives it, and its lease comes to its end.
        const run = await reads.readRun(tenant, lease.runId).catch((fault: unknown) => {
          if (CallgateError.is(fault) && fault.code === "JOURNAL_CORRUPT") claims.passOver(lease.runId);
          throw fault;
        });
        if (run === undefined) return undefined;
        held.hold(lease, options.leaseMs);
        return { lease, run, reason };
      }),
    signal: (tenant, runId, signal) =>
      guard(`Cannot signal run ${runId}`, async () => {
        assertSignalNames(signal);
        const { kind, position } = await signals.signal({ tenant, runId }, signal);
        return { kind, signal: kind === "kept" ? signal : await reads.readSignal(tenant, runId, position) };
      }),
    reserveEffect: (lease, claim) =>
      guard(`Cannot take the key of a write of run ${lease.runId}`, async () => {
        const holder = await writes.after(lease.runId, () => reserveEffect(seams.database, lease, claim));
        return holder === undefined ? { kind: "reserved" } : { kind: "taken", effect: recordedEffect(holder, await reads.readSettled(claim.tenant, holder.runId, holder.seq)) };
      }),
  };
}

/** Ended runs, taken to undo what they did and given back. */
function undoing({ reads, undoClaims, held }: Parts, guard: Guard): Pick<Journal, "claimEnded" | "release"> {
  return {
    claimEnded: (tenant, runId, { leaseMs }) =>
      guard(`Cannot claim run ${runId}`, async () => {
        const claim = await undoClaims.claim({ tenant, runId }, leaseMs);
        if (claim.kind !== "claimed") return claim;
        const run = await reads.readRun(tenant, runId);
        if (run === undefined) throw notFoundError(runId);
        held.hold(claim.lease, leaseMs);
        return { ...claim, run };
      }),
    release: (lease) =>
      guard(`Cannot give run ${lease.runId} back`, async () => {
        await undoClaims.release(lease).finally(() => held.release(lease));
      }),
  };
}

/** What budgets hold. */
function holding({ seams, writes }: Parts, guard: Guard): Pick<Journal, "reserveBudgets" | "settleBudgets" | "readBudgets"> {
  const settling = new Set<Promise<unknown>>();
  const settled = async (): Promise<void> => void (await Promise.allSettled(settling));

  function settle(...[lease, settlement]: Parameters<Journal["settleBudgets"]>): Promise<void> {
    const done = guard(`Cannot settle the budgets of run ${lease.runId}`, () => writes.after(lease.runId, () => settleBudgets(seams, lease, settlement)));
    const held = done.catch(() => undefined).finally(() => settling.delete(held));
    settling.add(held);
    return done;
  }

  return {
    settleBudgets: settle,
    reserveBudgets: (lease, claim) => guard(`Cannot take from the budgets of run ${lease.runId}`, async () => {
      await settled();
      return await writes.after(lease.runId, () => reserveBudgets(seams, lease, claim));
    }),
    readBudgets: (tenant) => guard("Cannot read the journal", async () => {
      await settled();
      return await readBudgets(seams, tenant);
    }),
  };
}

/** Labels that reached runs and what goes on beyond them. */
function labelling({ seams }: Parts, guard: Guard): Pick<Journal, "addTaint" | "readTaint"> {
  return {
    addTaint: (tenant, scopes, marks) => guard("Cannot keep labels", () => addTaint(seams, tenant, { scopes, marks })),
    readTaint: (tenant, scopes) => guard("Cannot read the journal", () => readTaint(seams, tenant, scopes)),
  };
}

/** What was asked to be written to a run before is seen by a read of it. */
function reading({ reads, writes }: Parts, guard: Guard): Pick<Journal, "readRun" | "readEntries" | "readResult" | "listRuns" | "readSignals"> {
  const what = "Cannot read the journal";
  const afterWrites = <T>(runId: string, work: () => Promise<T>): Promise<T> => guard(what, () => writes.after(runId, work));
  return {
    readRun: (tenant, runId) => afterWrites(runId, () => reads.readRun(tenant, runId)),
    readEntries: (tenant, runId, options) => afterWrites(runId, () => reads.readEntries(tenant, runId, options?.clear ?? false)),
    readResult: (tenant, runId, number) => afterWrites(runId, () => reads.readResult(tenant, runId, number)),
    readSignals: (tenant, runId, options) => afterWrites(runId, () => reads.readSignals(tenant, runId, options?.clear ?? false)),
    listRuns: (filter) =>
      guard(what, async () => {
        await writes.idle();
        return await reads.listRuns(filter);
      }),
  };
}
