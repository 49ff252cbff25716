import type { Digest, PruneOptions } from "@callgate/contract";
import { stampText } from "./audit-stamps.ts";
import { textColumn } from "./columns.ts";
import type { Row } from "./columns.ts";

// What goes and what is kept of it, in every database.

/** Runs that are removed in one transaction. */
export interface RemovedChunk {
  readonly endedBeforeMs: number;
  /** Programs whose process was lost can still go on: they are as old as the last sign of life, and size removes none. */
  readonly lostBeforeMs: number;
  readonly limit: number;
  readonly by: string;
  readonly reason: string;
}

export interface BlobRef {
  readonly tenant: string;
  readonly digest: Digest;
}

/** Who removes, and why: what the ledger keeps of it. */
export function why({ by, reason }: PruneOptions, limit: "age" | "size"): { readonly by: string; readonly reason: string } {
  return { by: by ?? "callgate", reason: reason ?? `retention: ${limit}` };
}

/** A cautious guess from the average size of a run, at least one. */
export function runsToRemove({ runs, bytes, maxBytes, mostRuns }: { readonly runs: number; readonly bytes: number; readonly maxBytes: number; readonly mostRuns: number }): number {
  return Math.max(1, Math.min(mostRuns, Math.floor((runs * (bytes - maxBytes)) / bytes / 2)));
}

/** What the ledger keeps of a run that is removed: its id, how many entries it had, and its last stamp. */
export function removedOf(row: Row): { readonly runId: string; readonly entries: number; readonly stamp: string } {
  const { stamp } = row;
  return { runId: textColumn(row, "run_id"), entries: Number(row["next_position"]), stamp: stamp instanceof Uint8Array ? stampText(stamp) : "" };
}
