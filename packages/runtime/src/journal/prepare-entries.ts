import type { Blobs, Digest, JournalEntry, RunLease } from "@callgate/contract";
import { artifactDigests, splitEntry } from "./entry-codec.ts";
import type { SplitEntry } from "./entry-codec.ts";
import type { PreparedEntry } from "./entry-rows.ts";
import { blobPlace, isBlobSized } from "./payload.ts";
import type { Payload } from "./payload.ts";
import type { RunKey } from "./run-keys.ts";

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
  const prepared = entries.map((entry) => prepareEntry(entry));
  if (!prepared.some(({ split }) => isBlobSized(split.value, seams.blobBytes))) return prepared;
  return storeLarge(seams, lease, prepared);
}

/** An entry without large values. */
export function prepareEntry(entry: JournalEntry): PreparedEntry {
  const split = splitEntry(entry);
  const { texts, value } = split;
  return { split, payload: texts === undefined && value === undefined ? undefined : { texts, value }, blobs: artifactDigests(entry) };
}

async function storeLarge(seams: PrepareSeams, lease: RunLease, prepared: readonly PreparedEntry[]): Promise<readonly PreparedEntry[]> {
  const { runId } = lease;
  const { tenant, key } = await seams.scope(lease);
  const stored: PreparedEntry[] = [];
  for (const entry of prepared) {
    const { payload, blob } = await storePayload(seams, { runId, tenant, key }, entry.split);
    stored.push({ ...entry, payload, blobs: blob === undefined ? entry.blobs : [...entry.blobs, blob] });
  }
  return stored;
}

/** What is sealed of an entry or a signal, after a large value of it went into the blob store. */
export async function storePayload(
  seams: Pick<PrepareSeams, "blobs" | "blobBytes">,
  { runId, tenant, key }: { readonly runId: string; readonly tenant: string; readonly key: RunKey },
  { texts, value }: Pick<SplitEntry, "texts" | "value">,
): Promise<{ readonly payload: Payload | undefined; readonly blob?: { readonly digest: Digest; readonly sizeBytes: number } }> {
  if (!isBlobSized(value, seams.blobBytes)) return { payload: texts === undefined && value === undefined ? undefined : { texts, value } };
  if (key.kind !== "box") return { payload: texts === undefined ? undefined : { texts, value: undefined } };
  const sealed = key.box.seal(value.json, blobPlace(runId));
  const digest = await seams.blobs.put(tenant, sealed);
  return { payload: { texts, value: { tagged: value.tagged, blob: digest } }, blob: { digest, sizeBytes: sealed.length } };
}
