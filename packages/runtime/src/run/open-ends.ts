import type { JournalEntry, RunSignal } from "@callgate/contract";
import type { Approvals } from "../approval/approvals.ts";
import { readRecordedCalls } from "./recorded-calls.ts";
import { settledEntries } from "./settled-entries.ts";
import type { Settled } from "./settled-entries.ts";

export interface OpenEndsOptions {
  readonly atMs: number;
  readonly message: string;
  /** What was said to the run: what a person knows of a write counts. */
  readonly signals: readonly RunSignal[];
  /** Judges what was said of a call: where that does not count, nobody knows still. */
  readonly reviews: Pick<Approvals, "wordRefusal">;
}

/** The ends of calls that a program leaves open when its run ends without its guest. A write that had begun is unknown. What undoes others goes on from where it stopped. */
export function openEnds(entries: readonly JournalEntry[], { atMs, message, signals, reviews }: OpenEndsOptions): readonly JournalEntry[] {
  return [...readRecordedCalls(entries, signals)].flatMap(([seq, { issued, ended, past }]): readonly JournalEntry[] => {
    if (issued === undefined || ended !== undefined || issued.compensates !== undefined) return [];
    const effectStatus = past.held?.effectStatus ?? (issued.effect !== "read" && past.begun ? "unknown" : "none");
    const told = `${message}${effectStatus === "unknown" ? "; whether it took effect is not known" : ""}`;
    const settled = past.said?.kind === "resolution" && reviews.wordRefusal(past.said) === undefined ? settledEntries({ ...unsigned(past.said), seq, atMs }) : [];
    return [{ kind: "call-ended", atMs, seq, outcome: "cancelled", effectStatus, durationMs: 0, attempts: 0, cached: false, error: { code: "CANCELLED", message: told, tool: issued.tool, retryable: false }, artifacts: [] }, ...settled];
  });
}

/** The entry is of another time than what was signed; the signature stays with what was said. */
function unsigned({ happened, output, by }: Extract<RunSignal, { readonly kind: "resolution" }>): Pick<Settled, "happened" | "output" | "by"> {
  return { happened, by, ...(output === undefined ? {} : { output }) };
}
