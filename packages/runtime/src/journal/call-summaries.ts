import type { CallSummary, EffectStatus, JournalEntry, RunStatus } from "@callgate/contract";

type Entry<Kind extends JournalEntry["kind"]> = Extract<JournalEntry, { kind: Kind }>;

interface OpenCall {
  readonly issued: Entry<"call-issued">;
  decision?: Entry<"call-decided">["decision"];
  ended?: Entry<"call-ended">;
  /** The last that is known of it, whoever said so. */
  effectStatus?: EffectStatus;
}

/**
 * The calls of a run as its entries tell them, in issue order. The view `calls` of the SQLite journal says the same.
 *
 * A result that waits for a person says what the call did, a late result settles the effect, and a resolution does; the last entry counts. A call without a recorded end is left out while the run is
 * running or suspended; afterwards it
 * reads as `failed` with RUN_INTERRUPTED, and its effect is `unknown` unless it was a read or was never let through.
 */
export function callSummaries(entries: readonly JournalEntry[], status: RunStatus): readonly CallSummary[] {
  const calls = new Map<number, OpenCall>();
  for (const entry of entries) {
    if (entry.kind === "call-issued") calls.set(entry.seq, { issued: entry });
    const call = "seq" in entry ? calls.get(entry.seq) : undefined;
    if (call === undefined) continue;
    if (entry.kind === "call-decided") call.decision = entry.decision;
    if (entry.kind === "call-ended") call.ended = entry;
    if (entry.kind === "result-held" || entry.kind === "call-ended" || entry.kind === "call-late" || entry.kind === "call-resolved") call.effectStatus = entry.effectStatus;
  }
  return [...calls.values()].filter((call) => call.ended !== undefined || (status !== "running" && status !== "suspended")).map(summarizeCall);
}

function summarizeCall(call: OpenCall): CallSummary {
  const { callId: id, tool, effect } = call.issued;
  const effectStatus = call.effectStatus ?? effectWithoutEnd(call);
  if (call.ended !== undefined) {
    const { outcome, durationMs, error } = call.ended;
    return { id, tool, effect, outcome, effectStatus, durationMs, ...(error === undefined ? {} : { error }) };
  }
  const happened = { unknown: "it may or may not have happened", done: "it has happened", none: "nothing was changed" }[effectStatus];
  const error = { code: "RUN_INTERRUPTED", message: `The run ended before the end of ${tool} was recorded: ${happened}`, tool, retryable: false };
  return { id, tool, effect, outcome: "failed", effectStatus, durationMs: 0, error };
}

function effectWithoutEnd({ issued, decision }: OpenCall): EffectStatus {
  if (issued.effect === "read") return "none";
  return decision === "ask" || decision === "deny" ? "none" : "unknown";
}
