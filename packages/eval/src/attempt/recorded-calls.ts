import type { Effect, EffectStatus, Gate, JournalEntry, OutcomeKind } from "@callgate/contract";

/** One call as the journal has it. */
export interface RecordedCall {
  readonly callId: string;
  readonly tool: string;
  readonly effect: Effect;
  /** `lost`: it was begun, and no end of it is on record. */
  readonly outcome: OutcomeKind | "lost";
  readonly effectStatus: EffectStatus;
  /** Code of the error. */
  readonly code?: string;
  /** Whether the tool itself was reached. */
  readonly isPerformed: boolean;
}

/** Runs of one attempt; more than any budget of calls. */
const maxRuns = 100_000;

/** Every call of a gate's journal, oldest run first. Nothing that a model or a program says is among it. */
export async function recordedCalls(gate: Gate, tenant: string): Promise<readonly RecordedCall[]> {
  const runs = await gate.runs.list({ tenant, limit: maxRuns });
  const principal = { ...gate.principal, tenant };
  const shown = await Promise.all(runs.toReversed().map(({ runId }) => gate.runs.show(runId, { principal })));
  return shown.flatMap((run) => (run === undefined ? [] : callsOf(run.run.runId, run.entries)));
}

type EntryOf<Kind extends JournalEntry["kind"]> = Extract<JournalEntry, { kind: Kind }>;

function callsOf(runId: string, entries: readonly JournalEntry[]): readonly RecordedCall[] {
  const issued = entries.filter((entry): entry is EntryOf<"call-issued"> => entry.kind === "call-issued");
  return issued.map(({ seq, tool, effect }): RecordedCall => {
    const ends = entries.filter((entry) => "seq" in entry && entry.seq === seq);
    const end = ends.find((entry): entry is EntryOf<"call-ended"> => entry.kind === "call-ended");
    // A late result and a resolution say what became of an effect that was unknown.
    const later = ends.findLast((entry): entry is EntryOf<"call-late" | "call-resolved"> => entry.kind === "call-late" || entry.kind === "call-resolved");
    const outcome = end?.outcome ?? "lost";
    const effectStatus = later?.effectStatus ?? end?.effectStatus ?? (effect === "read" ? "none" : "unknown");
    const answered = end !== undefined && (end.cached || end.answeredBy !== undefined || end.simulated !== undefined || end.recorded !== undefined);
    return { callId: `${runId}.${seq}`, tool, effect, outcome, effectStatus, ...(end?.error === undefined ? {} : { code: end.error.code }), isPerformed: effectStatus !== "none" || ((end?.attempts ?? 1) > 0 && !answered) };
  });
}
