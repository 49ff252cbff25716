import type { LimitFacts } from "../limits/limit-rules.ts";
import type { RateRefusal } from "../limits/rates.ts";
import type { Ended, ReadyCall } from "./call.ts";
import { ended } from "./ended.ts";

/** What limits may look at of a call. */
export function limitFacts({ request, tool }: ReadyCall): LimitFacts {
  return { principal: request.principal, runId: request.runId, tool: tool.name, namespace: tool.namespace };
}

/**
 * Counts the call in the limits that mean it. Before anybody is asked and before a key is taken, so that what is over a
 * limit uses up neither an answer nor a key. A call that waited for a person was counted when the question went out: the
 * answer is not lost to a limit.
 *
 * What undoes a call, and a read that is made again for a run that goes on, is as often as what it follows; it is not
 * refused. Undefined: the call may go on.
 */
export function limit(call: ReadyCall): Promise<Ended | undefined> | undefined {
  const { seams, request } = call;
  if (seams.limits?.rates === undefined || request.undo !== undefined || request.reread === true || request.past?.question !== undefined) return undefined;
  return takeRate(call);
}

async function takeRate(call: ReadyCall): Promise<Ended | undefined> {
  const refusal = await call.seams.limits?.rates?.take(limitFacts(call));
  return refusal === undefined ? undefined : overRate(call, refusal);
}

/** Whether a further attempt is within the rate limits as well: they would not hold if trying again did not count. */
export async function mayTryAgain(call: ReadyCall): Promise<boolean> {
  const { limits } = call.seams;
  return limits?.rates === undefined || (await limits.rates.take(limitFacts(call))) === undefined;
}

function overRate({ tool: { name }, seams, request, safe }: ReadyCall, refusal: RateRefusal): Ended {
  if (refusal.kind === "unavailable") {
    // Where it is counted is told to people only.
    seams.log?.({ level: "error", message: `Rate limits could not be counted: ${safe.text(refusal.error instanceof Error ? refusal.error.message : String(refusal.error))}`, atMs: seams.clock.now(), runId: request.runId, callId: request.callId, tool: name });
    return ended({ outcome: "failed", code: "LIMIT_UNAVAILABLE", tool: name, message: `${name} was not called: what counts its rate limits cannot be reached. Nothing was changed; try again later.`, retryable: true });
  }
  const { limit: { id, calls, windowSeconds, per = [] }, retryAfterMs } = refusal;
  return ended({
    outcome: "limit_exceeded",
    code: "LIMIT_EXCEEDED",
    tool: name,
    message: `${name} was called too often: ${calls} ${calls === 1 ? "call" : "calls"} in ${windowSeconds} s${per.length === 0 ? "" : ` for each ${per.join(" and ")}`} (rate limit ${id}). Nothing was changed; call again in ${retryAfterMs} ms or later.`,
    retryable: true,
    details: { limit: "rate", bucket: id, limitValue: calls, windowSeconds, retryAfterMs },
  });
}
