import { CallgateError } from "@callgate/contract";
import { runSpan } from "./entry-rows.ts";
import { deleteUnreferenced, takeRefs } from "./prune.ts";
import type { BlobRef, PruneSeams } from "./prune.ts";
import type { RunKeys } from "./run-keys.ts";
import type { RunWriter } from "./run-writer.ts";

/**
 * Deletes the key of a run, its sealed values and its blobs, and makes sure that none of it is left in the file: deleted
 * cells are overwritten (`secure_delete`), and the write-ahead log is emptied.
 *
 * Errors: RUN_NOT_FOUND. While another process reads, the log keeps the key until the next checkpoint.
 */
export async function eraseRun(seams: PruneSeams, { keys, writer }: { readonly keys: RunKeys; readonly writer: RunWriter }, run: { readonly tenant: string; readonly runId: string }): Promise<void> {
  const { database, queue } = seams;
  const { tenant, runId } = run;
  const refs: BlobRef[] = [];
  await queue.write({ durability: "full", what: `Cannot erase run ${runId}` }, () => {
    refs.length = 0; // A batch that failed is tried again.
    const row = database.prepare("select run_no from runs where tenant = ? and run_id = ?").get(tenant, runId);
    if (row === undefined) {
      throw new CallgateError("RUN_NOT_FOUND", `No run ${runId} is in the journal`, { details: { runId } });
    }
    writer.flush();
    keys.remove(runId);
    writer.forget();
    const runNo = Number(row["run_no"]);
    database.prepare("update entries set sealed = null where entry_id between ? and ?").run(runNo * runSpan, runNo * runSpan + runSpan - 1);
    database.prepare("update signals set sealed = null where run_id = ?").run(runId);
    database.prepare("update runs set program_sealed = null, error_sealed = null, waits_sealed = null where run_id = ?").run(runId);
    refs.push(...takeRefs(database, runId));
  });
  await deleteUnreferenced(seams, refs);
  database.exec("pragma wal_checkpoint(truncate)");
}
