import type { Artifact, CallCost, CallError, CallOutcome, CallSummary, Effect, EffectStatus, OutcomeKind, RecordedThen, SimulatedBy } from "@callgate/contract";
import type { PerformedCall } from "../broker/call.ts";
import type { CallPast } from "../broker/call-past.ts";
import { digestOf } from "../lib/digest.ts";
import type { RecordedCall } from "./recorded-calls.ts";

/** A tool call of a run and how it stands. */
export interface ToolCall {
  readonly seq: number;
  readonly callId: string;
  readonly tool: string;
  readonly effect: Effect;
  /** Nothing of it is made. */
  readonly isRehearsed?: true;
  /** How many equal writes came before it; part of its idempotency key. */
  readonly occurrence: number;
  /** `parked`: it can go on only when something happens outside. */
  state: "queued" | "open" | "parked" | "ended" | "refused";
  /** What is known of it from before, while it has not ended. */
  past?: CallPast;
  /** Once it has ended. Values are not kept: a run of a thousand large results would hold them all. */
  end?: CallEnd;
}

interface CallEnd {
  readonly outcome: OutcomeKind;
  readonly effectStatus: EffectStatus;
  readonly effect: Effect;
  readonly durationMs: number;
  readonly error?: CallError;
  readonly cost?: CallCost;
  readonly simulated?: SimulatedBy;
  readonly recorded?: RecordedThen;
  readonly artifacts: readonly Artifact[];
}

/** What is kept of how a call ended. */
export function endOf({ outcome, effect, durationMs, cost, simulated, recordedThen }: PerformedCall): CallEnd {
  const ended = { outcome: outcome.kind, effectStatus: outcome.effectStatus, effect, durationMs, ...(cost === undefined ? {} : { cost }), ...(simulated === undefined ? {} : { simulated }), ...(recordedThen === undefined ? {} : { recorded: thenOf(recordedThen) }) };
  return outcome.kind === "ok" ? { ...ended, artifacts: outcome.artifacts } : { ...ended, artifacts: [], error: outcome.error };
}

function thenOf({ runId, effectStatus, durationMs }: RecordedThen): RecordedThen {
  return { runId, effectStatus, durationMs };
}

/** The same of a call that ended in an earlier stretch of the run. */
export function recordedEndOf({ ended, effectStatus }: RecordedCall, effect: Effect): CallEnd | undefined {
  if (ended === undefined) return undefined;
  const { outcome, durationMs, error, artifacts, cost, simulated, recorded } = ended;
  return { outcome, effectStatus: effectStatus ?? ended.effectStatus, effect, durationMs, artifacts, ...(cost === undefined ? {} : { cost }), ...(simulated === undefined ? {} : { simulated }), ...(recorded === undefined ? {} : { recorded }), ...(error === undefined ? {} : { error }) };
}

/** The broker was closed or broke its own promise. Nothing is known of a write that had begun. */
export function faulted(call: ToolCall, fault: unknown): PerformedCall {
  const error: CallError = { code: "INTERNAL", message: `${call.tool} could not be carried through: ${fault instanceof Error ? fault.message : "a fault of the gate"}`, tool: call.tool, retryable: false };
  const outcome: CallOutcome = { kind: "failed", effectStatus: call.effect === "read" || call.isRehearsed === true ? "none" : "unknown", error };
  return { kind: "performed", outcome, durationMs: 0, effect: call.effect, argsDigest: digestOf("unreadable"), sensitiveValues: [] };
}

/** A call as the result of the run tells it. */
export function summaryOf({ callId, tool, effect, state, end, past, isRehearsed }: ToolCall): CallSummary {
  if (end !== undefined) {
    const { artifacts: _artifacts, ...told } = end;
    return { id: callId, tool, ...told };
  }
  const begun = state === "open" || past?.begun === true;
  const message = begun ? "The run ended while the call was under way, and the tool did not stop" : "The run had ended before the call could begin; it did not happen";
  return { id: callId, tool, effect, outcome: "cancelled", effectStatus: begun && effect !== "read" && isRehearsed !== true ? "unknown" : "none", durationMs: 0, error: { code: "CANCELLED", message, tool, retryable: false } };
}
