import { CallgateError } from "@callgate/contract";
import { sealedDigestOf } from "./audit-stamps.ts";
import { runSpan } from "./entry-rows.ts";
import { heldError } from "./hold-rows.ts";
import { deleteUnreferenced, takeRefs } from "./prune.ts";
import type { PruneSeams } from "./prune.ts";
import type { BlobRef } from "./retention.ts";
import type { RunKeys } from "./run-keys.ts";
import type { RunWriter } from "./run-writer.ts";

/**
 * Deletes the key of a run, its sealed values and its blobs, and makes sure that none of it is left in the file: deleted
 * cells are overwritten (`secure_delete`), and the write-ahead log is emptied.
 *
 * Errors: RUN_NOT_FOUND, LEGAL_HOLD. While another process reads, the log keeps the key until the next checkpoint.
 */
export async function eraseRun(seams: PruneSeams, { keys, writer }: { readonly keys: RunKeys; readonly writer: RunWriter }, run: { readonly tenant: string; readonly runId: string; readonly by: string }): Promise<void> {
  const { database, queue, holds, ledger } = seams;
  const { tenant, runId, by } = run;
  const refs: BlobRef[] = [];
  database.function("sealed_digest_of", { deterministic: true }, (sealed) => (sealed instanceof Uint8Array ? sealedDigestOf(sealed) : null));
  await queue.write({ durability: "full", what: `Cannot erase run ${runId}` }, () => {
    refs.length = 0; // A batch that failed is tried again.
    const row = database.prepare("select run_no from runs where tenant = ? and run_id = ?").get(tenant, runId);
    if (row === undefined) {
      throw new CallgateError("RUN_NOT_FOUND", `No run ${runId} is in the journal`, { details: { runId } });
    }
    const hold = holds.on(tenant, runId);
    if (hold !== undefined) throw heldError(runId, hold);
    writer.flush();
    keys.remove(runId);
    writer.forget();
    const runNo = Number(row["run_no"]);
    // What is sealed stays as its digest, so that the chain still verifies.
    database.prepare("update entries set sealed_digest = sealed_digest_of(sealed), sealed = null where entry_id between ? and ? and sealed is not null").run(runNo * runSpan, runNo * runSpan + runSpan - 1);
    database.prepare("update signals set sealed_digest = sealed_digest_of(sealed), sealed = null where run_id = ? and sealed is not null").run(runId);
    database.prepare(`
      update runs set program_sealed_digest = coalesce(sealed_digest_of(program_sealed), program_sealed_digest), error_sealed_digest = coalesce(sealed_digest_of(error_sealed), error_sealed_digest),
        program_sealed = null, error_sealed = null, waits_sealed = null where run_id = ?`).run(runId);
    ledger.note(tenant, { kind: "run-erased", runId, by });
    refs.push(...takeRefs(database, runId));
  });
  await deleteUnreferenced(seams, refs);
  database.exec("pragma wal_checkpoint(truncate)");
}
