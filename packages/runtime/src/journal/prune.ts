import type { DatabaseSync } from "node:sqlite";
import type { Blobs, Digest, PruneOptions, PruneResult } from "@callgate/contract";
import { oldWindowMs } from "./budget-counts.ts";
import type { Budgets } from "./budgets.ts";
import { textColumn } from "./columns.ts";
import type { Row } from "./columns.ts";
import type { Effects } from "./effects.ts";
import { cutLedger } from "./cut-ledger.ts";
import type { FileBlobs } from "./file-blobs.ts";
import type { Grants } from "./grants.ts";
import { holdCovers } from "./hold-rows.ts";
import type { Holds } from "./holds.ts";
import type { Ledger } from "./ledger.ts";
import type { Owners } from "./owners.ts";
import { removedOf, runsToRemove, why } from "./retention.ts";
import type { BlobRef, RemovedChunk } from "./retention.ts";
import type { Taints } from "./taints.ts";
import type { WriteQueue } from "./write-queue.ts";

/** Runs removed in one transaction: keeps the lock, and the event loop, for a few milliseconds. */
const CHUNK_RUNS = 20;

/** Pages handed back to the disk in one step. */
const CHUNK_PAGES = 500;

export interface PruneSeams {
  readonly database: DatabaseSync;
  readonly queue: WriteQueue;
  readonly blobs: Blobs;
  readonly owners: Owners;
  readonly effects: Effects;
  readonly budgets: Budgets;
  readonly taints: Taints;
  readonly grants: Grants;
  readonly ledger: Ledger;
  readonly holds: Holds;
}

/**
 * Removes ended runs, oldest first: those that ended before `olderThanMs`, then as many as it takes to
 * be below `maxBytes` (file and blobs together). Running and suspended runs stay, whatever their age, and so does one that
 * is being undone, and one under a legal hold. Of the idempotency keys of a removed run it is kept that their writes took place,
 * or may have; the ledger keeps which runs were removed, when, by whom and why, until it is cut itself.
 */
export async function prune(seams: PruneSeams, options: PruneOptions): Promise<PruneResult> {
  const before = journalBytes(seams.database);
  let runs = 0;
  for (;;) {
    const beforeMs = options.olderThanMs ?? 0;
    const removed = await removeChunk(seams, { ...why(options, "age"), endedBeforeMs: beforeMs, lostBeforeMs: beforeMs, limit: CHUNK_RUNS });
    if (removed === 0) break;
    runs += removed;
  }
  for (;;) {
    const limit = runsOverSize(seams.database, options.maxBytes);
    const removed = limit === 0 ? 0 : await removeChunk(seams, { ...why(options, "size"), endedBeforeMs: Number.MAX_SAFE_INTEGER, lostBeforeMs: 0, limit });
    if (removed === 0) break;
    runs += removed;
  }
  const { keysOlderThanMs, olderThanMs } = options;
  if (olderThanMs !== undefined) {
    await seams.queue.write({ durability: "lazy", what: "Cannot prune the journal" }, () => {
      seams.budgets.forget(olderThanMs - oldWindowMs);
      seams.grants.forget(olderThanMs);
    });
  }
  if (keysOlderThanMs !== undefined) {
    await seams.queue.write({ durability: "lazy", what: "Cannot prune the journal" }, () => {
      seams.effects.forget(keysOlderThanMs);
      seams.taints.forget(keysOlderThanMs);
    });
    await cutLedger(seams, { beforeMs: keysOlderThanMs, ...why(options, "age") });
  }
  if (runs > 0) {
    await shrink(seams);
    await sweepBlobs(seams);
  }
  return { runs, bytes: Math.max(0, before - journalBytes(seams.database)), heldRuns: heldRuns(seams.database, options) };
}

/** Runs that would have been removed, were they under no hold. */
function heldRuns(database: DatabaseSync, { olderThanMs, maxBytes }: PruneOptions): number {
  if (database.prepare("select 1 from holds where released_at_ms is null limit 1").get() === undefined) return 0;
  const isTooLarge = maxBytes !== undefined && journalBytes(database) > maxBytes;
  const before = isTooLarge ? Number.MAX_SAFE_INTEGER : (olderThanMs ?? 0);
  return Number(database.prepare(`select count(*) as n from runs r where ended_at_ms < ? and exists (select 1 from holds h where ${holdCovers})`).get(before)?.["n"]);
}

/** How many runs to remove next to get below `maxBytes`. */
function runsOverSize(database: DatabaseSync, maxBytes: number | undefined): number {
  const bytes = journalBytes(database);
  if (maxBytes === undefined || bytes <= maxBytes) return 0;
  const runs = Number(database.prepare("select count(*) as n from runs").get()?.["n"] ?? 0);
  return runsToRemove({ runs, bytes, maxBytes, mostRuns: CHUNK_RUNS });
}

/** Bytes in use: pages of the file that hold something, and the blobs runs refer to. */
export function journalBytes(database: DatabaseSync): number {
  const row = database
    .prepare(
      `select (select page_count from pragma_page_count) - (select freelist_count from pragma_freelist_count) as pages,
        (select page_size from pragma_page_size) as size, (select coalesce(sum(bytes), 0) from blob_refs) as blobs`,
    )
    .get();
  return Number(row?.["pages"]) * Number(row?.["size"]) + Number(row?.["blobs"]);
}

/** Deletes the blobs a run referred to and no other run does. Call it once the run's references are gone. */
export async function deleteUnreferenced(seams: Pick<PruneSeams, "database" | "blobs">, refs: readonly BlobRef[]): Promise<void> {
  const find = seams.database.prepare("select 1 from blob_refs where tenant = ? and digest = ? limit 1");
  for (const { tenant, digest } of refs) if (find.get(tenant, digest) === undefined) await seams.blobs.delete(tenant, digest);
}

/** References of one run, read inside the transaction that removes them. */
export function takeRefs(database: DatabaseSync, runId: string): readonly BlobRef[] {
  const rows = database.prepare("delete from blob_refs where run_id = ? returning tenant, digest").all(runId);
  return rows.map((row) => ({ tenant: String(row["tenant"]), digest: row["digest"] as Digest }));
}

async function removeChunk(seams: PruneSeams, { endedBeforeMs, lostBeforeMs, limit, by, reason }: RemovedChunk): Promise<number> {
  const { database, queue, owners, effects, budgets, ledger } = seams;
  // Two parts, each along an index: this is asked every so many runs, and most often finds none.
  const select = database.prepare(
    `select run_id, tenant, next_position, stamp, ended_at_ms as at_ms from runs r where ended_at_ms < :before and undoing = 0 and ${isFree}
     union all
     select run_id, tenant, next_position, stamp, coalesce(lease_until_ms, started_at_ms) from runs r
     where status = 'running' and owner in (select value from json_each(:dead)) and coalesce(lease_until_ms, started_at_ms) < iif(kind = 'program', :lostBefore, :before) and ${isFree}
     order by at_ms limit :limit`,
  );
  const find = (): readonly Row[] => select.all({ before: endedBeforeMs, lostBefore: lostBeforeMs, dead: JSON.stringify(owners.dead()), limit });
  if (find().length === 0) return 0; // The usual answer, without taking the lock.
  const remove = database.prepare("delete from runs where run_id = ?");
  const refs: BlobRef[] = [];
  const removed = await queue.write({ durability: "lazy", what: "Cannot prune the journal" }, () => {
    refs.length = 0; // A batch that failed is tried again.
    const runs = find();
    for (const row of runs) {
      const runId = textColumn(row, "run_id");
      refs.push(...takeRefs(database, runId));
      effects.outlive(runId);
      budgets.removeRun(runId);
      remove.run(runId);
    }
    for (const [tenant, ofTenant] of Map.groupBy(runs, (row) => textColumn(row, "tenant"))) ledger.note(tenant, { kind: "runs-removed", runs: ofTenant.map(removedOf), by, reason });
    database.exec("delete from owners where closed_at_ms is not null and owner_id not in (select owner from runs where owner is not null)");
    return runs.length;
  });
  await deleteUnreferenced(seams, refs);
  return removed;
}

const isFree = `not exists (select 1 from holds h where ${holdCovers})`;

/** A blob that no run names is left alone for a day: its entry may be on its way. */
const ORPHAN_AGE_MS = 24 * 3_600_000;

/** Removes blobs that no run names. A store of blobs that cannot be looked through is left as it is. */
async function sweepBlobs({ database, blobs }: PruneSeams): Promise<void> {
  if (!("sweep" in blobs)) return;
  const rows = database.prepare("select distinct tenant, digest from blob_refs").all();
  const kept = rows.map((row) => ({ tenant: textColumn(row, "tenant"), digest: textColumn(row, "digest") as Digest }));
  await (blobs as FileBlobs).sweep(kept, ORPHAN_AGE_MS);
}

/** Hands free pages back to the disk, a step at a time. */
async function shrink({ database, queue }: PruneSeams): Promise<void> {
  const free = (): number => Number(database.prepare("pragma freelist_count").get()?.["freelist_count"] ?? 0);
  let left = free();
  while (left > 0) {
    await queue.write({ durability: "lazy", what: "Cannot shrink the journal" }, () => database.exec(`pragma incremental_vacuum(${CHUNK_PAGES})`));
    const now = free();
    if (now >= left) break;
    left = now;
  }
  database.exec("pragma wal_checkpoint(truncate)");
}
