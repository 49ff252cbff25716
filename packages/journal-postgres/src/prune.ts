import type { Blobs, Digest, PruneOptions, PruneResult } from "@callgate/contract";
import { heldError, holdCovers, holdOf, notFoundError, oldWindowMs, removedOf, runsToRemove, why } from "@callgate/runtime/journal-parts";
import type { BlobRef, RemovedChunk } from "@callgate/runtime/journal-parts";
import { cutLedger } from "./cut-ledger.ts";
import type { Database, Query } from "./database.ts";
import { outliveRuns } from "./effects.ts";
import type { JournalTime } from "./journal-time.ts";
import type { Lanes } from "./lanes.ts";
import type { Owners } from "./owners.ts";

export interface PruneSeams {
  readonly database: Database;
  readonly blobs: Blobs;
  readonly owners: Owners;
  readonly time: JournalTime;
  readonly lanes: Lanes;
}

/** Runs removed in one transaction. */
const CHUNK_RUNS = 50;

/**
 * Removes ended runs, oldest first: those that ended before `olderThanMs`, then as many as it takes to be below
 * `maxBytes` (rows and blobs). The server gives the space back to itself with its next vacuum. Of the idempotency keys of
 * a removed run it is kept that their writes took place, or may have.
 */
export async function prune(seams: PruneSeams, options: PruneOptions): Promise<PruneResult> {
  const { olderThanMs, maxBytes, keysOlderThanMs } = options;
  const before = await journalBytes(seams.database);
  let runs = 0;
  for (let removed = 1; olderThanMs !== undefined && removed > 0; runs += removed) removed = await removeChunk(seams, { ...why(options, "age"), endedBeforeMs: olderThanMs, lostBeforeMs: olderThanMs, limit: CHUNK_RUNS });
  for (let removed = 1; maxBytes !== undefined && removed > 0; runs += removed) {
    const limit = await runsOverSize(seams.database, maxBytes);
    removed = limit === 0 ? 0 : await removeChunk(seams, { ...why(options, "size"), endedBeforeMs: Number.MAX_SAFE_INTEGER, lostBeforeMs: 0, limit });
  }
  if (keysOlderThanMs !== undefined) {
    await seams.database.query("lazy", "delete from callgate.effects where pruned_at_ms < $1", [keysOlderThanMs]);
    await seams.database.query("lazy", "delete from callgate.taints where at_ms < $1", [keysOlderThanMs]);
    await cutLedger(seams, { beforeMs: keysOlderThanMs, ...why(options, "age") });
  }
  if (olderThanMs !== undefined) {
    await seams.database.query("lazy", "delete from callgate.budget_counts where window_start_ms > 0 and window_start_ms < $1", [Math.floor(olderThanMs - oldWindowMs)]);
    await seams.database.query("lazy", "with expired as (delete from callgate.grants where expires_at_ms < $1 returning grant_id) delete from callgate.grant_uses where grant_id in (select grant_id from expired)", [olderThanMs]);
  }
  // A blob that no run names is left alone for a day: its entry may be on its way.
  if (runs > 0) await seams.database.query("lazy", "delete from callgate.blobs b where put_at < clock_timestamp() - interval '1 day' and not exists (select 1 from callgate.blob_refs r where r.tenant = b.tenant and r.digest = b.digest)");
  return { runs, bytes: Math.max(0, before - (await journalBytes(seams.database))), heldRuns: await heldRuns(seams.database, options) };
}

/** Runs that would have been removed, were they under no hold. */
async function heldRuns(database: Database, { olderThanMs, maxBytes }: PruneOptions): Promise<number> {
  if ((await database.read("select 1 from callgate.holds where released_at_ms is null limit 1")).length === 0) return 0;
  const isTooLarge = maxBytes !== undefined && (await journalBytes(database)) > maxBytes;
  const [row] = await database.read(`select count(*) as n from callgate.runs r where ended_at_ms < $1 and ${isHeld}`, [isTooLarge ? Number.MAX_SAFE_INTEGER : (olderThanMs ?? 0)]);
  return Number(row?.["n"]);
}

const isHeld = `exists (select 1 from callgate.holds h where ${holdCovers})`;

/** Bytes of what is kept, without the server's own overhead. Reads every row's size. */
async function journalBytes(database: Database): Promise<number> {
  const [row] = await database.read(`select
    (select coalesce(sum(octet_length(body) + coalesce(octet_length(sealed), 0) + 60), 0) from callgate.entries)
    + (select coalesce(sum(octet_length(head) + coalesce(octet_length(program_sealed), 0) + 200), 0) from callgate.runs)
    + (select coalesce(sum(bytes), 0) from callgate.blob_refs) as bytes`);
  return Number(row?.["bytes"]);
}

/** How many runs to remove next to get below `maxBytes`. */
async function runsOverSize(database: Database, maxBytes: number): Promise<number> {
  const bytes = await journalBytes(database);
  if (bytes <= maxBytes) return 0;
  const runs = Number((await database.read("select count(*) as n from callgate.runs"))[0]?.["n"]);
  return runsToRemove({ runs, bytes, maxBytes, mostRuns: CHUNK_RUNS });
}

async function removeChunk({ database, blobs, owners, time, lanes }: PruneSeams, { endedBeforeMs, lostBeforeMs, limit, by, reason }: RemovedChunk): Promise<number> {
  const dead = await owners.dead();
  const removed = await lanes.write((pen) => database.transact("lazy", async (query) => {
    const rows = await query(
      `select run_id, tenant, next_position, stamp from callgate.runs r
       where coalesce(ended_at_ms, lease_until_ms, started_at_ms) < case when status = 'running' and kind = 'program' then $4::float8 else $1::float8 end
         and status <> 'suspended' and not undoing and (status <> 'running' or owner = any ($2::text[])) and not ${isHeld}
       order by coalesce(ended_at_ms, lease_until_ms, started_at_ms), ordinal limit $3 for update skip locked`,
      [endedBeforeMs, dead, limit, lostBeforeMs],
    );
    const runIds = rows.map((row) => String(row["run_id"]));
    const refs = await takeRefs(query, runIds);
    await outliveRuns(query, runIds, time.given());
    for (const table of ["budget_reservations", "budget_counts"]) await query(`delete from callgate.${table} where run_id = any ($1::text[])`, [runIds]);
    await query("delete from callgate.runs where run_id = any ($1::text[])", [runIds]);
    await query("delete from callgate.owners where closed_at_ms is not null and owner_id not in (select owner from callgate.runs where owner is not null)");
    for (const [tenant, ofTenant] of Map.groupBy(rows, (row) => String(row["tenant"]))) await pen.write(query, tenant, [{ kind: "runs-removed", runs: ofTenant.map(removedOf), by, reason }]);
    return { runs: runIds.length, refs };
  }));
  await deleteUnreferenced(database, blobs, removed.refs);
  return removed.runs;
}

async function takeRefs(query: Query, runIds: readonly string[]): Promise<readonly BlobRef[]> {
  const rows = await query("delete from callgate.blob_refs where run_id = any ($1::text[]) returning tenant, digest", [runIds]);
  return rows.map((row) => ({ tenant: String(row["tenant"]), digest: row["digest"] as Digest }));
}

async function deleteUnreferenced(database: Database, blobs: Blobs, refs: readonly BlobRef[]): Promise<void> {
  for (const { tenant, digest } of refs) {
    const rows = await database.read("select 1 from callgate.blob_refs where tenant = $1 and digest = $2 limit 1", [tenant, digest]);
    if (rows.length === 0) await blobs.delete(tenant, digest);
  }
}

/**
 * Deletes the key of a run, its sealed values and its blobs. Without the key nothing that the server still holds of them
 * in dead rows, write-ahead log or backups can be opened, except with a key row from the same place.
 */
export async function eraseRun({ database, blobs, lanes }: PruneSeams, { tenant, runId, by }: { readonly tenant: string; readonly runId: string; readonly by: string }): Promise<void> {
  const refs = await lanes.write((pen) => database.transact("full", async (query) => {
    const rows = await query("select 1 from callgate.runs where tenant = $1 and run_id = $2 for update", [tenant, runId]);
    if (rows.length === 0) throw notFoundError(runId);
    const [hold] = await query(`select h.* from callgate.holds h, callgate.runs r where r.run_id = $1 and ${holdCovers} limit 1`, [runId]);
    if (hold !== undefined) throw heldError(runId, holdOf(hold));
    await query("delete from callgate.run_keys where run_id = $1", [runId]);
    // What is sealed stays as its digest, so that the chain still verifies.
    await query("update callgate.entries set sealed_digest = encode(sha256(sealed), 'hex'), sealed = null where run_id = $1 and sealed is not null", [runId]);
    await query("update callgate.signals set sealed_digest = encode(sha256(sealed), 'hex'), sealed = null where run_id = $1 and sealed is not null", [runId]);
    await query(`update callgate.runs set program_sealed_digest = coalesce(encode(sha256(program_sealed), 'hex'), program_sealed_digest), error_sealed_digest = coalesce(encode(sha256(error_sealed), 'hex'), error_sealed_digest),
      program_sealed = null, error_sealed = null, waits_sealed = null where run_id = $1`, [runId]);
    await pen.write(query, tenant, [{ kind: "run-erased", runId, by }]);
    return await takeRefs(query, [runId]);
  }));
  await deleteUnreferenced(database, blobs, refs);
}
