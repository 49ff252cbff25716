import type { JournalEntry, RunRecord } from "@callgate/contract";

/**
 * How long a run stood still without a process, in milliseconds of the journal's clock: suspended, or lost and not yet taken
 * over. The rest of the time from its start to its end it was worked on, or its process waited along with it.
 *
 * @param untilMs how far to count in a run that has not ended; default: to its last entry
 */
export function waitedMs({ startedAtMs, endedAtMs }: Pick<RunRecord, "startedAtMs" | "endedAtMs">, entries: readonly JournalEntry[], untilMs?: number): number {
  const lastMs = endedAtMs ?? untilMs ?? entries.at(-1)?.atMs ?? startedAtMs;
  let [waited, beforeMs] = [0, startedAtMs];
  let suspendedAtMs: number | undefined;
  for (const { kind, atMs } of entries) {
    // Undoing that is asked for after the end is no part of it.
    if (atMs > lastMs) break;
    if (kind === "resumed") {
      waited += Math.max(0, atMs - (suspendedAtMs ?? beforeMs));
      suspendedAtMs = undefined;
    } else if (kind === "suspended") suspendedAtMs ??= atMs;
    beforeMs = atMs;
  }
  return suspendedAtMs === undefined ? waited : waited + Math.max(0, lastMs - suspendedAtMs);
}
