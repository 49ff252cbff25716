import type { CallScope, Ended, Known } from "./call.ts";
import { ended, withEffect } from "./ended.ts";
import { journalRefusal } from "./journal-refusal.ts";
import { readThrown } from "./thrown.ts";

/** What broke a call that is not its tool: the journal, which is said, or a fault of ours, of which the caller gets an id and the log the rest. */
export function faulted(scope: CallScope, known: Known, fault: unknown): Ended {
  const { seams, request, state } = scope;
  const faultId = seams.newId("flt");
  const { message, details } = readThrown(fault, [], scope.safe);
  seams.log?.({ level: "error", message: `Fault ${faultId}: ${message}`, ...(details === undefined ? {} : { fields: details }), atMs: seams.clock.now(), runId: request.runId, principal: request.principal, callId: request.callId, tool: known.tool });
  const effectStatus = known.effect !== "read" && (state.attempts > 0 || request.past?.begun === true) ? "unknown" : "none";
  const refusal = journalRefusal(fault);
  if (refusal !== undefined) {
    const { code, why, toDo, retryable } = refusal;
    return ended({ outcome: "failed", code, tool: known.tool, message: `${withEffect(`The call of ${known.tool} could not go on, because ${why}.`, known.effect, effectStatus)} ${toDo}`, effectStatus, retryable: retryable && effectStatus === "none", attempts: state.attempts });
  }
  return ended({
    outcome: "failed",
    code: "INTERNAL",
    tool: known.tool,
    message: withEffect(`Callgate itself failed in the middle of this call (${faultId})`, known.effect, effectStatus),
    effectStatus,
    details: { faultId },
    attempts: state.attempts,
  });
}
