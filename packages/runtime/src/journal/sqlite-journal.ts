import { CallgateError } from "@callgate/contract";
import type { Blobs, Clock, Journal } from "@callgate/contract";
import type { MasterKey } from "../secrets/master-key.ts";
import { createAuditStamps } from "./audit-stamps.ts";
import { createBudgets } from "./budgets.ts";
import type { Budgets } from "./budgets.ts";
import { eraseRun } from "./erase-run.ts";
import { createEffects, defaultMaxKeyAgeMs, recordedEffect } from "./effects.ts";
import { defaultLeaseMs } from "./held-leases.ts";
import { createGrants } from "./grants.ts";
import type { Grants } from "./grants.ts";
import { createHolds } from "./holds.ts";
import { createHousekeeper } from "./housekeeper.ts";
import { createLeases } from "./leases.ts";
import { createLedger } from "./ledger.ts";
import type { Ledger } from "./ledger.ts";
import { openDatabase } from "./open-database.ts";
import { createOwners, needsCheck } from "./owners.ts";
import { journalBytes, prune } from "./prune.ts";
import type { PruneSeams } from "./prune.ts";
import { createEntryReader } from "./read-entries.ts";
import type { EntryReader } from "./read-entries.ts";
import { createRunReader } from "./read-runs.ts";
import { createRunKeys } from "./run-keys.ts";
import { createRecorder } from "./recorder.ts";
import type { Recorder } from "./recorder.ts";
import { createRunWriter } from "./run-writer.ts";
import type { RunWriter } from "./run-writer.ts";
import { createSignals } from "./signals.ts";
import { createSqliteAudit } from "./sqlite-audit.ts";
import { toJournalError } from "./sqlite-error.ts";
import { createUndoClaims } from "./undo-claims.ts";
import { createWriteQueue } from "./write-queue.ts";
import { createTaints } from "./taints.ts";
import type { Taints } from "./taints.ts";
import type { WriteQueue, WriteQueueOptions } from "./write-queue.ts";

export interface JournalLimits {
  /** Size of the file and the blobs of its runs; beyond it the oldest ended runs are removed. Default 512 MiB. */
  readonly maxBytes: number;
  /** Runs that ended longer ago are removed. Default 30 days. */
  readonly maxAgeMs: number;
  /** Idempotency keys outlive their runs by this. Default 400 days. */
  readonly maxKeyAgeMs: number;
  /** How long a write waits for another process before it fails with JOURNAL_LOCKED. Default 5,000. */
  readonly lockWaitMs: number;
  /** Values from this many UTF-16 units of JSON on are blobs. Default 256 KiB. */
  readonly blobBytes: number;
}

export const defaultJournalLimits: JournalLimits = { maxBytes: 512 * 1024 * 1024, maxAgeMs: 30 * 24 * 3_600_000, maxKeyAgeMs: defaultMaxKeyAgeMs, lockWaitMs: 5_000, blobBytes: 256 * 1024 };

export interface SqliteJournalOptions {
  /** A file; its folder is made. `:memory:` keeps everything in this process, for tests. */
  readonly path: string;
  readonly blobs: Blobs;
  readonly masterKey: MasterKey;
  readonly clock: Clock;
  readonly limits?: Partial<JournalLimits>;
}

export interface SqliteJournal extends Journal {
  /** What a person should know about how it was opened: a damaged file that was kept aside. */
  readonly notices: readonly string[];
}

/**
 * Opens the journal kept in one SQLite file (docs/guide/journal.md).
 *
 * Writes asked for in one turn of the event loop share a transaction. A `lazy` one costs about 0.05 ms, a `full` one a
 * disk sync. A write that finds the file locked waits up to `lockWaitMs` without blocking the event loop.
 *
 * Errors: JOURNAL_VERSION, JOURNAL_LOCKED, JOURNAL_UNAVAILABLE. A damaged file is no error: it is kept aside, and
 * `notices` says where.
 */
export async function createSqliteJournal(options: SqliteJournalOptions): Promise<SqliteJournal> {
  const { path, blobs, masterKey, clock } = options;
  const limits: JournalLimits = { ...defaultJournalLimits, ...options.limits };
  const { database, keptAside } = openDatabase({ path, nowMs: clock.now(), lockWaitMs: limits.lockWaitMs, needsCheck: (opened) => needsCheck(opened, clock) });
  const [owners, now] = [createOwners(database, clock), (): number => clock.now()];
  const [keys, stamps] = [createRunKeys(database, masterKey), createAuditStamps(masterKey)];
  const ledger = createLedger(database, { stamps, now });
  const writer = createRunWriter(database, { keys, stamps, ledger });
  const queue = createWriteQueue({ database, path, lockWaitMs: limits.lockWaitMs, ...lineAfterLine(writer, ledger) });
  const [runs, entries] = [createRunReader(database, { keys, owners }), createEntryReader(database, { keys, blobs })];
  const [signals, effects, budgets, taints, holds, grants] = [createSignals(database, { keys, stamps, ledger, now }), createEffects(database, { writer, now }), createBudgets(database, { writer, now }), createTaints(database), createHolds(database, { ledger, now }), createGrants(database, { writer, ledger, now })];
  const pruneSeams: PruneSeams = { database, queue, blobs, owners, effects, budgets, taints, grants, ledger, holds };
  const held = (): readonly string[] => recorder.held();
  const [leases, undoClaims] = [createLeases(database, { writer, keys, owners, signals, times: clock, held }), createUndoClaims(database, { keys, writer, owners, times: clock, held })];
  const recorder: Recorder = createRecorder({ queue, owners, writer, leases, undoClaims, signals, effects, budgets, grants, keys, runs, blobs, clock, blobBytes: limits.blobBytes });
  const housekeeper = createHousekeeper(() => keepLimits(pruneSeams, limits, clock.now()));
  let isClosed = false;

  /** Guards what touches the file: not after `close`, and SQLite's errors become ours. */
  async function guard<T>(what: string, work: () => Promise<T> | T): Promise<T> {
    if (isClosed) throw new CallgateError("CLOSED", `${what}: the journal was closed`);
    try {
      return await work();
    } catch (error) {
      throw toJournalError(error, what, path);
    }
  }

  /** What was asked to be written before is seen. */
  function read<T>(work: () => Promise<T> | T): Promise<T> {
    return guard("Cannot read the journal", async () => {
      await recorder.queued();
      queue.catchUp();
      return await work();
    });
  }

  return {
    notices: keptAside === undefined ? [] : [`The journal was damaged. It was kept aside as ${keptAside}, and a fresh one was begun; runs recorded before are not listed`],
    begin: (run, begin) =>
      guard(`Cannot begin run ${run.runId}`, async () => {
        const lease = await recorder.begin(run, begin?.leaseMs ?? defaultLeaseMs);
        housekeeper.runBegan();
        return lease;
      }),
    append: (lease, added, durability) => guard(`Cannot append to run ${lease.runId}`, () => recorder.append(lease, added, durability)),
    finish: (lease, finish, durability = "lazy") => guard(`Cannot finish run ${lease.runId}`, () => recorder.finish(lease, finish, durability)),
    ...durable({ recorder, entries, budgets, taints, grants, queue }, { guard, read }),
    readRun: (tenant, runId) => read(() => runs.readRun(tenant, runId)),
    readEntries: (tenant, runId, options) => read(() => entries.readEntries(tenant, runId, options?.clear ?? false)),
    readResult: (tenant, runId, number) => read(() => entries.readResult(tenant, runId, number)),
    listRuns: (filter) => read(() => runs.listRuns(filter)),
    erase: (tenant, runId, { by = "callgate" } = {}) => guard(`Cannot erase run ${runId}`, () => eraseRun(pruneSeams, { keys, writer }, { tenant, runId, by })),
    audit: createSqliteAudit({ database, queue, holds, grants, stamps, now, guard, read }),
    prune: (prunable) => guard("Cannot prune the journal", () => prune(pruneSeams, prunable)),
    async close() {
      if (isClosed) return;
      isClosed = true;
      await housekeeper.idle();
      await recorder.close();
      await queue.idle();
      database.close();
    },
  };
}

/** The ledger tells of what the writer wrote, so it comes after it. */
function lineAfterLine(writer: RunWriter, ledger: Ledger): Pick<WriteQueueOptions, "began" | "ending"> {
  return {
    began() {
      writer.reset();
      ledger.reset();
    },
    ending() {
      writer.flush();
      ledger.flush();
    },
  };
}

interface Access {
  readonly guard: <T>(what: string, work: () => Promise<T> | T) => Promise<T>;
  readonly read: <T>(work: () => Promise<T> | T) => Promise<T>;
}

interface Holders {
  readonly recorder: Recorder;
  readonly budgets: Budgets;
  readonly taints: Taints;
  readonly grants: Grants;
  readonly queue: WriteQueue;
}

/** Who drives a run, what is said to it, and which writes were taken up. */
function durable(
  { entries, ...holders }: Holders & { readonly entries: EntryReader },
  { guard, read }: Access,
): ReturnType<typeof holding> & ReturnType<typeof labelling> & Pick<Journal, "grants" | "watch" | "letGo" | "renew" | "suspend" | "claim" | "claimEnded" | "release" | "signal" | "readSignals" | "reserveEffect" | "settleEffect"> {
  const { recorder } = holders;
  return {
    ...holding(holders, { guard, read }),
    ...labelling(holders, { guard, read }),
    grants: standing(holders, { guard, read }),
    watch: recorder.watch,
    letGo: recorder.letGo,
    renew: (lease, leaseMs) => guard(`Cannot renew run ${lease.runId}`, () => recorder.renew(lease, leaseMs)),
    suspend: (lease, suspension) => guard(`Cannot suspend run ${lease.runId}`, () => recorder.suspend(lease, suspension)),
    claim: (claim) => guard("Cannot claim a run", () => recorder.claim(claim)),
    claimEnded: (tenant, runId, { leaseMs }) => guard(`Cannot claim run ${runId}`, () => recorder.claimEnded({ tenant, runId }, leaseMs)),
    release: (lease) => guard(`Cannot give run ${lease.runId} back`, () => recorder.release(lease)),
    signal: (tenant, runId, signal) =>
      guard(`Cannot signal run ${runId}`, async () => {
        const { kind, position } = await recorder.signal({ tenant, runId }, signal);
        return { kind, signal: kind === "kept" ? signal : await entries.readSignal(tenant, runId, position) };
      }),
    readSignals: (tenant, runId, options) => read(() => entries.readSignals(tenant, runId, options?.clear ?? false)),
    settleEffect: (of, effectStatus) => guard(`Cannot settle call ${of.callId}`, () => recorder.settle(of, effectStatus)),
    reserveEffect: (lease, claim) =>
      guard(`Cannot take the key of a write of run ${lease.runId}`, async () => {
        const holder = await recorder.reserve(lease, claim);
        return holder === undefined ? { kind: "reserved" } : { kind: "taken", effect: recordedEffect(holder, await entries.readSettled(claim.tenant, holder.runId, holder.seq)) };
      }),
  };
}

/** What budgets hold. */
function holding({ recorder, budgets }: Pick<Holders, "recorder" | "budgets">, { guard, read }: Access): Pick<Journal, "reserveBudgets" | "settleBudgets" | "readBudgets"> {
  return {
    reserveBudgets: (lease, claim) => guard(`Cannot take from the budgets of run ${lease.runId}`, () => recorder.reserveBudgets(lease, claim)),
    settleBudgets: (lease, settlement) => guard(`Cannot settle the budgets of run ${lease.runId}`, () => recorder.settleBudgets(lease, settlement)),
    readBudgets: (tenant) => read(() => budgets.read(tenant)),
  };
}

/** Labels that reached runs and what goes on beyond them. */
function labelling({ queue, taints }: Pick<Holders, "queue" | "taints">, { guard, read }: Access): Pick<Journal, "addTaint" | "readTaint"> {
  return {
    addTaint: (tenant, scopes, marks) => guard("Cannot keep labels", () => queue.write({ durability: "lazy", what: "Cannot keep labels" }, () => taints.add(tenant, scopes, marks))),
    readTaint: (tenant, scopes) => read(() => taints.read(tenant, scopes)),
  };
}

/** What people allow ahead of the question. */
function standing({ recorder, grants, queue }: Pick<Holders, "recorder" | "grants" | "queue">, { guard, read }: Access): Journal["grants"] {
  return {
    give: (grant) => guard("Cannot keep a grant", () => queue.write({ durability: "full", what: "Cannot keep a grant" }, () => grants.give(grant))),
    revoke: (of) => guard("Cannot revoke a grant", () => queue.write({ durability: "full", what: "Cannot revoke a grant" }, () => grants.revoke(of))),
    list: (tenant) => read(() => grants.list(tenant)),
    use: (lease, claim) => guard(`Cannot use a grant for run ${lease.runId}`, () => recorder.useGrant(lease, claim)),
  };
}

async function keepLimits(seams: PruneSeams, limits: JournalLimits, nowMs: number): Promise<void> {
  const isTooLarge = journalBytes(seams.database) > limits.maxBytes;
  // A tenth below the cap, so that not every look prunes.
  await prune(seams, { olderThanMs: nowMs - limits.maxAgeMs, keysOlderThanMs: nowMs - limits.maxKeyAgeMs, ...(isTooLarge ? { maxBytes: limits.maxBytes * 0.9 } : {}) });
}
