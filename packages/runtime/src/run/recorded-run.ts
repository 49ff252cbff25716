import { CallgateError } from "@callgate/contract";
import type { CallError, CallSummary, DeliveredCall, Digest, GuestCompletion, JournalEntry, RecordedValue, RunRecord } from "@callgate/contract";
import { guestErrorOf } from "./guest-error.ts";
import { readRecordedCalls } from "./recorded-calls.ts";
import type { RecordedCall } from "./recorded-calls.ts";

type Entry<Kind extends JournalEntry["kind"]> = Extract<JournalEntry, { kind: Kind }>;

/** A completion as it was delivered, in its order. */
export interface RecordedCompletion {
  readonly seq: number;
  readonly atMs: number;
  readonly call: DeliveredCall;
  readonly result: GuestCompletion["result"];
}

/** All that a replay needs of a recorded run. */
export interface RecordedRun {
  readonly run: RunRecord;
  readonly checked: Entry<"checked"> & { readonly code: string };
  readonly completions: readonly RecordedCompletion[];
  /** Tool calls that were issued, by seq, with or without a completion. */
  readonly issued: ReadonlyMap<number, { readonly tool: string; readonly argsDigest: Digest | undefined; readonly args?: RecordedValue }>;
  /** Of the value, when it returned. */
  readonly valueDigest: Digest | undefined;
  readonly calls: readonly CallSummary[];
}

/**
 * Reads a run's entries (with their clear values) as a script of completions.
 *
 * Errors: `CallgateError` REPLAY_UNAVAILABLE naming the first value that is missing, or why there is nothing to replay.
 */
export function readRecordedRun(run: RunRecord, entries: readonly JournalEntry[]): RecordedRun {
  const checked = entries.find((entry) => entry.kind === "checked");
  if (run.kind === "agent") throw unavailable(run, "it holds turns of a model; what that called are runs of their own");
  if (run.kind === "call") throw unavailable(run, "it is a direct call; there is no program to execute");
  if (checked === undefined) throw unavailable(run, "its check was never recorded");
  if (!checked.ok) throw unavailable(run, "its program was rejected by the check and never ran");
  const { code } = checked;
  if (code === undefined) throw unavailable(run, "the text of its program is not kept any more (erased)");
  const ended = new Map(entries.flatMap((entry) => (entry.kind === "call-ended" ? [[entry.seq, entry] as const] : [])));
  const delivered = entries.filter((entry) => entry.kind === "delivered").sort((a, b) => a.ord - b.ord);
  const kept = entries.find((entry) => entry.kind === "result" && entry.number === run.resultNumber);
  return {
    run,
    checked: { ...checked, code },
    completions: delivered.map((entry) => ({ seq: entry.seq, atMs: entry.atMs, call: entry.call, result: resultOf(run, entry, ended.get(entry.seq)) })),
    issued: issuedCalls(entries),
    valueDigest: kept?.kind === "result" ? kept.value.digest : undefined,
    calls: summaries(entries),
  };
}

export function unavailable({ runId }: RunRecord, why: string): CallgateError {
  return new CallgateError("REPLAY_UNAVAILABLE", `Run ${runId} cannot be replayed: ${why}`, { details: { runId } });
}

function resultOf(run: RunRecord, { seq, call, answer }: Entry<"delivered">, ended: Entry<"call-ended"> | undefined): GuestCompletion["result"] {
  if (call.kind === "timer") return { kind: "value", value: answer?.clear ?? undefinedWire };
  if (call.kind === "builtin") {
    if (answer?.clear === undefined) throw unavailable(run, `the answer of call ${seq} (${call.name}) is not kept any more`);
    return JSON.parse(answer.clear.json) as GuestCompletion["result"];
  }
  if (ended === undefined) throw unavailable(run, `the end of call ${seq} (${call.tool}) was never recorded`);
  return resultOfEnded(run, ended, call.tool);
}

/** What a program is told of a call by its record. */
export function resultOfEnded(run: RunRecord, ended: Entry<"call-ended">, tool: string): GuestCompletion["result"] {
  if (ended.outcome !== "ok") return { kind: "error", error: guestErrorOf(errorOf(run, ended, tool)) };
  if (ended.result?.clear === undefined && ended.reread === true) throw unavailable(run, `the result of call ${ended.seq} (${tool}) was not kept, for it is large and its tool can be read again (reread)`);
  if (ended.result?.clear === undefined) throw unavailable(run, `the result of call ${ended.seq} (${tool}) is not kept any more`);
  return { kind: "value", value: ended.result.clear };
}

const undefinedWire = { json: '{"$cg":"undefined"}', tagged: true };

function errorOf(run: RunRecord, { seq, error }: Entry<"call-ended">, tool: string): CallError {
  if (error === undefined) throw unavailable(run, `the error of call ${seq} (${tool}) is not kept any more`);
  return error;
}

function issuedCalls(entries: readonly JournalEntry[]): RecordedRun["issued"] {
  const issued = new Map<number, { tool: string; argsDigest: Digest | undefined; args?: RecordedValue }>();
  for (const entry of entries) {
    if (entry.kind === "call-issued" && entry.compensates === undefined) issued.set(entry.seq, { tool: entry.tool, argsDigest: entry.args.digest, args: entry.args });
    else if (entry.kind === "call-refused") issued.set(entry.seq, { tool: entry.tool, argsDigest: undefined });
  }
  return issued;
}

/** In issue order: a read is written down when it ends. */
export function summaries(entries: readonly JournalEntry[]): CallSummary[] {
  const calls = [...readRecordedCalls(entries, [])].sort(([a], [b]) => a - b);
  return calls.flatMap(([seq, call]): CallSummary[] => {
    if (call.issued?.compensates !== undefined) return [];
    if (call.issued !== undefined) return [summaryOf(call.issued, call)];
    const refused = call.refused ? entries.find((entry) => entry.kind === "call-refused" && entry.seq === seq) : undefined;
    return refused?.kind === "call-refused" ? [{ id: String(seq), tool: refused.tool, effect: "write", outcome: "cancelled", effectStatus: "none", durationMs: 0 }] : [];
  });
}

function summaryOf({ callId, tool, effect }: Entry<"call-issued">, { ended, effectStatus, past }: RecordedCall): CallSummary {
  if (ended === undefined) return { id: callId, tool, effect, outcome: "cancelled", effectStatus: effect !== "read" && past.begun ? "unknown" : "none", durationMs: 0 };
  return { id: callId, tool, effect, outcome: ended.outcome, effectStatus: effectStatus ?? ended.effectStatus, durationMs: ended.durationMs, ...(ended.simulated === undefined ? {} : { simulated: ended.simulated }), ...(ended.recorded === undefined ? {} : { recorded: ended.recorded }), ...(ended.cost === undefined ? {} : { cost: ended.cost }), ...(ended.error === undefined ? {} : { error: ended.error }) };
}
