import type { JournalEntry } from "@callgate/contract";
import { readRecordedCalls } from "./recorded-calls.ts";

/** The ends of calls that a program leaves open when its run ends without its guest. A write that had begun is unknown. What undoes others goes on from where it stopped. */
export function openEnds(entries: readonly JournalEntry[], { atMs, message }: { readonly atMs: number; readonly message: string }): readonly JournalEntry[] {
  return [...readRecordedCalls(entries, [])].flatMap(([seq, { issued, ended, past }]): JournalEntry[] => {
    if (issued === undefined || ended !== undefined || issued.compensates !== undefined) return [];
    const effectStatus = issued.effect !== "read" && past.begun ? "unknown" : "none";
    const told = `${message}${effectStatus === "unknown" ? "; whether it took effect is not known" : ""}`;
    return [{ kind: "call-ended", atMs, seq, outcome: "cancelled", effectStatus, durationMs: 0, attempts: 0, cached: false, error: { code: "CANCELLED", message: told, tool: issued.tool, retryable: false }, artifacts: [] }];
  });
}
