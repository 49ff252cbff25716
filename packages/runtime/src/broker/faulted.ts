import type { CallScope, Ended, Known } from "./call.ts";
import { ended, withEffect } from "./ended.ts";
import { readThrown } from "./thrown.ts";

/** A fault of ours: the caller gets an id, the log gets the rest. */
export function faulted(scope: CallScope, known: Known, fault: unknown): Ended {
  const { seams, request, state } = scope;
  const faultId = seams.newId("flt");
  const { message, details } = readThrown(fault, [], scope.safe);
  seams.log?.({ level: "error", message: `Fault ${faultId}: ${message}`, ...(details === undefined ? {} : { fields: details }), atMs: seams.clock.now(), runId: request.runId, callId: request.callId, tool: known.tool });
  const effectStatus = known.effect !== "read" && (state.attempts > 0 || request.past?.begun === true) ? "unknown" : "none";
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
