import type { GateEvent, JournalEntry, JsonValue, OutcomeKind, Principal, RunRecord } from "@callgate/contract";

interface OfCall {
  readonly atMs: number;
  readonly runId: string;
  readonly callId: string;
  /** Qualified name. */
  readonly tool: string;
  readonly principal: Principal;
}

/** What alerts look at, whether it was heard of a gate or read in the journal. */
export type Observation = (OfCall & { readonly kind: "asked"; /** Summary: sensitive parts are hashes. */ readonly args: JsonValue }) | (OfCall & { readonly kind: "ended"; readonly outcome: OutcomeKind });

export function observationOf(event: GateEvent): Observation | undefined {
  if (event.kind !== "call-requested" && event.kind !== "call-ended") return undefined;
  const { atMs, runId, callId, tool, principal } = event;
  const of: OfCall = { atMs, runId, callId, tool, principal };
  return event.kind === "call-requested" ? { ...of, kind: "asked", args: event.args } : { ...of, kind: "ended", outcome: event.outcome };
}

/** The same of a run's record. A call that was performed with other arguments than the program's is told as it was issued. */
export function observationsIn({ runId, principal }: Pick<RunRecord, "runId" | "principal">, entries: readonly JournalEntry[]): readonly Observation[] {
  const calls = new Map<number, { readonly callId: string; readonly tool: string }>();
  return entries.flatMap((entry): readonly Observation[] => {
    if (entry.kind === "call-issued") {
      const { seq, callId, tool, atMs, args } = entry;
      calls.set(seq, { callId, tool });
      return [{ kind: "asked", atMs, runId, callId, tool, principal, args: args.summary }];
    }
    const call = entry.kind === "call-ended" ? calls.get(entry.seq) : undefined;
    return call === undefined || entry.kind !== "call-ended" ? [] : [{ kind: "ended", atMs: entry.atMs, runId, ...call, principal, outcome: entry.outcome }];
  });
}
