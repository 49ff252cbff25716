import type { Blobs, JournalEntry, RunLease } from "@callgate/contract";
import { artifactDigests, splitEntry } from "./entry-codec.ts";
import { blobPlace, isBlobSized } from "./payload.ts";
import type { RunKey } from "./run-keys.ts";
import type { PreparedEntry } from "./run-writer.ts";

export interface PrepareSeams {
  readonly blobs: Blobs;
  readonly blobBytes: number;
  /** Tenant and key of a run, once everything written before is there. */
  scope(lease: RunLease): Promise<{ readonly tenant: string; readonly key: RunKey }>;
}

/**
 * Splits entries for the writer. Large values are sealed and put into the blob store first; that is the only case that
 * needs a promise. A blob whose entry is then not written has no reference and goes with the next sweep.
 */
export function prepareEntries(seams: PrepareSeams, lease: RunLease, entries: readonly JournalEntry[]): readonly PreparedEntry[] | Promise<readonly PreparedEntry[]> {
  const prepared = entries.map((entry) => prepareSmall(entry));
  if (!prepared.some(({ split }) => isBlobSized(split.value, seams.blobBytes))) return prepared;
  return storeLarge(seams, lease, prepared);
}

function prepareSmall(entry: JournalEntry): PreparedEntry {
  const split = splitEntry(entry);
  const { texts, value } = split;
  return { split, payload: texts === undefined && value === undefined ? undefined : { texts, value }, blobs: artifactDigests(entry) };
}

async function storeLarge(seams: PrepareSeams, lease: RunLease, prepared: readonly PreparedEntry[]): Promise<readonly PreparedEntry[]> {
  const { runId } = lease;
  const { tenant, key } = await seams.scope(lease);
  const stored: PreparedEntry[] = [];
  for (const entry of prepared) {
    const { texts, value } = entry.split;
    if (!isBlobSized(value, seams.blobBytes)) {
      stored.push(entry);
    } else if (key.kind === "box") {
      const sealed = key.box.seal(value.json, blobPlace(runId));
      const digest = await seams.blobs.put(tenant, sealed);
      stored.push({ ...entry, payload: { texts, value: { tagged: value.tagged, blob: digest } }, blobs: [...entry.blobs, { digest, sizeBytes: sealed.length }] });
    } else {
      stored.push({ ...entry, payload: texts === undefined ? undefined : { texts, value: undefined } });
    }
  }
  return stored;
}
