import { decodeValue } from "@callgate/contract";
import type { CallOutcome } from "@callgate/contract";
import type { PerformedCall } from "../broker/call.ts";
import type { BookedAnswer } from "./answer-book.ts";
import type { RunScope } from "./run-scope.ts";
import type { ToolCall } from "./tool-call.ts";

/**
 * The end of a call that a recorded run made before. No tool is reached and nobody is asked: what is told is what the
 * caller's own record holds. It is written down as a call that changed nothing.
 */
export function answerFromRecord({ log, seams, rerun, rehearsal }: RunScope, { seq, callId, tool, occurrence }: ToolCall, signal: AbortSignal): Promise<PerformedCall> {
  const answer = rerun?.answerTo(seq);
  const booked = answer?.tool;
  if (rerun === undefined || answer === undefined || booked === undefined) throw new Error(`There is no recorded answer to call ${seq}`);
  const { effect, definitionDigest, args, outcome: kind, error, value, simulated } = booked;
  log.add({ kind: "call-issued", atMs: seams.clock.now(), seq, callId, tool, definitionDigest, effect, args, ...(effect === "read" ? {} : { occurrence }) });
  const common = { kind: "performed" as const, durationMs: 0, effect, argsDigest: args.digest, sensitiveValues: [] };
  // A placeholder stays one, whichever run it is handed to.
  const by = simulated === undefined ? {} : { simulated };
  const note = { atMs: seams.clock.now(), seq, effectStatus: "none" as const, durationMs: 0, attempts: 0, artifacts: [] };
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => {
      const cancelled: CallOutcome = { kind: "cancelled", effectStatus: "none", error: { code: "CANCELLED", message: `The run ended before ${tool} was answered from the record; nothing was called`, tool, retryable: false } };
      log.add({ kind: "call-ended", ...note, outcome: "cancelled", cached: false, error: cancelled.error });
      resolve({ ...common, outcome: cancelled });
    }, { once: true });
    rerun.inTurn(seq, ({ atMs }) => {
      if (signal.aborted) return;
      const recorded = { runId: rerun.runId, effectStatus: booked.effectStatus, durationMs: booked.durationMs };
      log.add({ kind: "call-ended", ...note, outcome: kind, cached: true, ...(value === undefined ? {} : { result: value }), ...(error === undefined ? {} : { error }), ...by, recorded });
      const outcome = outcomeOf(answer);
      rehearsal?.note({ seq, tool }, { outcome, ...by });
      resolve({ ...common, ...by, outcome, recordedThen: { ...recorded, atMs }, ...(answer.result.kind === "value" ? { wire: answer.result.value } : {}) });
    });
  });
}

function outcomeOf({ result, tool }: BookedAnswer): CallOutcome {
  if (result.kind === "value") return { kind: "ok", effectStatus: "none", value: decodeValue(result.value), artifacts: [] };
  const { code = "TOOL_FAILED", message, tool: name = "", retryable = false } = result.error;
  const kind = tool === undefined || tool.outcome === "ok" ? "failed" : tool.outcome;
  return { kind, effectStatus: "none", error: tool?.error ?? { code, message, tool: name, retryable } };
}
