import { decodeValue, encodeValue } from "@callgate/contract";
import type { Digest, RecordedEffect, WireValue } from "@callgate/contract";
import type { Ended, ReadyCall } from "./call.ts";
import { ended } from "./ended.ts";
import { reconcile } from "./reconcile.ts";
import { okOutcome, validateOutput } from "./validate-output.ts";

/**
 * Takes the key of a write that may come a second time: its tool names a business key, or its task may be submitted
 * again. It is ours to perform when the call comes back, under the key it then has; else the write is already there, or
 * may be, and this is what came of it.
 *
 * A write that was undone is made again, under another key: it is no longer there, and a service would answer to its key
 * as if it were.
 */
export async function reserve(call: ReadyCall): Promise<ReadyCall | Ended> {
  const { request, seams } = call;
  if (call.effect === "read" || request.undo !== undefined || (!call.keyed && request.taskId === undefined)) return call;
  const { principal, seq, callId, lease } = request;
  const reservation = await seams.journal.reserveEffect(lease, { tenant: principal.tenant, idempotencyKey: call.key.value, seq, callId, argsDigest: call.argsDigest });
  if (reservation.kind === "reserved") return call;
  if (reservation.effect.undoing === "done") return await reserve({ ...call, key: call.key.afterUndoing() });
  return (await settleTaken(call, reservation.effect)) ?? call;
}

async function settleTaken(call: ReadyCall, effect: RecordedEffect): Promise<Ended | undefined> {
  if (effect.undoing !== undefined) return (await isUnderWay(call, effect)) ? beingUndone(call, effect) : undoingUnknown(call, effect);
  if (effect.argsDigest !== call.argsDigest) return mismatch(call);
  if (effect.effectStatus === "done") return firstOutcome(call, effect);
  if (effect.outcome === undefined && (await isUnderWay(call, effect))) return underWay(call, effect);
  return await settleUnknown(call, effect);
}

function underWay({ tool }: ReadyCall, { callId }: RecordedEffect): Ended {
  return ended({ outcome: "failed", code: "EFFECT_ELSEWHERE", tool: tool.name, message: `The same write is under way as call ${callId}. This call did not happen; wait for that one instead of repeating it.`, retryable: true, details: { callId } });
}

function beingUndone({ tool }: ReadyCall, { callId }: RecordedEffect): Ended {
  return ended({ outcome: "failed", code: "EFFECT_ELSEWHERE", tool: tool.name, message: `The same write took place as call ${callId} and is being undone. This call did not happen; try again when that is over.`, retryable: true, details: { callId } });
}

function undoingUnknown({ tool }: ReadyCall, { callId }: RecordedEffect): Ended {
  return ended({
    outcome: "failed",
    code: "EFFECT_UNKNOWN",
    tool: tool.name,
    message: `The same write took place as call ${callId}, and it is not known whether undoing it took effect. This call did not happen. Find out with a read, or submit the work under another task once a person has seen to it.`,
    details: { callId },
  });
}

async function isUnderWay({ seams, request }: ReadyCall, { runId }: RecordedEffect): Promise<boolean> {
  const run = await seams.journal.readRun(request.principal.tenant, runId);
  return run?.status === "running" || run?.status === "suspended";
}

/** The first try may have taken place. Repeating it is safe, or the tool can tell, or a person has to. */
async function settleUnknown(call: ReadyCall, effect: RecordedEffect): Promise<Ended | undefined> {
  if (call.tool.tool.idempotent === true) return undefined;
  const found = await reconcile(call);
  if (found.kind === "goes_on") return underWay(call, effect);
  if (found.kind === "happened") return { ...(await validateOutput(call, { kind: "performed", value: found.output, artifacts: [], attempts: 0 })), cached: true };
  return ended({
    outcome: "failed",
    code: "EFFECT_UNKNOWN",
    tool: call.tool.name,
    message: `The same write was tried before as call ${effect.callId}, and it is not known whether it took effect. This call did not happen. Find out with a read, or let a person settle it: callgate runs resolve ${effect.callId} --happened or --did-not.`,
    details: { callId: effect.callId },
  });
}

function firstOutcome(call: ReadyCall, { callId, user, result, artifacts, asInterface }: RecordedEffect): Ended {
  // A task is its tenant's, so that nobody makes its writes twice; what one user's call was answered is that user's.
  const isOurs = user === call.request.principal.user;
  const wire = !isOurs ? undefined : result?.clear === undefined || asInterface === undefined ? result?.clear : restored(call, asInterface, result.clear);
  if (wire !== undefined) {
    const notice = `${call.tool.name} had already taken place as call ${callId}; its outcome was returned, nothing was done again`;
    return { kind: "ended", outcome: okOutcome(wire, artifacts, "done"), wire, cached: true, attempts: 0, notice };
  }
  return ended({
    outcome: "failed",
    code: "EFFECT_ELSEWHERE",
    tool: call.tool.name,
    message: isOurs ? `This write already took place as call ${callId}, whose answer is not there to be returned. Nothing was done again; do not repeat it.` : "This write already took place for another user of the same task, who was given the answer. Nothing was done again; do not repeat it.",
    effectStatus: "done",
    ...(isOurs ? { details: { callId } } : {}),
  });
}

/** An answer that is on record in the form of an older version, in today's; undefined where this call does not know that form, or there is no way back. */
function restored({ tool: { older } }: ReadyCall, asInterface: Digest, wire: WireValue): WireValue | undefined {
  if (older?.restore === undefined || older.digest !== asInterface) return undefined;
  try {
    return encodeValue(older.restore(decodeValue(wire)));
  } catch {
    return undefined;
  }
}

/** One key, two different writes: refused. */
export function mismatch(call: ReadyCall): Ended {
  return ended({
    outcome: "failed",
    code: "IDEMPOTENCY_MISMATCH",
    tool: call.tool.name,
    message: `${call.tool.name} was already called with this business key and other arguments. This call did not happen; use another key, or the arguments of the first.`,
  });
}
