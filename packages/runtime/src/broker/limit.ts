import type { BudgetAnswer, BudgetUnit, EffectStatus, Spent } from "@callgate/contract";
import type { CallLimits } from "../limits/call-limits.ts";
import type { LimitFacts } from "../limits/limit-rules.ts";
import type { RateRefusal } from "../limits/rates.ts";
import type { CallScope, Ended, ReadyCall } from "./call.ts";
import { declaredCost } from "./call-cost.ts";
import { ended, withEffect } from "./ended.ts";

/** What limits may look at of a call. */
export function limitFacts({ request, tool }: ReadyCall): LimitFacts {
  return { principal: request.principal, runId: request.runId, tool: tool.name, namespace: tool.namespace };
}

/**
 * Counts the call in the limits that mean it, and reserves what it may use up of budgets. Before anybody is asked and
 * before a key is taken, so that what is over a limit uses up neither an answer nor a key. A call that waited for a person
 * was counted, and reserved for, when the question went out: the answer is not lost to a limit.
 *
 * What undoes a call, and a read that is made again for a run that goes on, is as often as what it follows; it is not
 * refused. Undefined: the call may go on.
 */
export function limit(call: ReadyCall): Promise<Ended | undefined> | undefined {
  const { limits } = call.seams;
  return limits === undefined || isFree(call) ? undefined : takeAll(call, limits);
}

function isFree({ request }: ReadyCall): boolean {
  return request.undo !== undefined || request.reread === true;
}

async function takeAll(call: ReadyCall, limits: CallLimits): Promise<Ended | undefined> {
  const closedForMs = limits.breakers?.retryAfterMs(call.tool.namespace);
  if (closedForMs !== undefined) return circuitOpen(call, { retryAfterMs: closedForMs, doubt: "none", attempts: 0 });
  const wasAsked = call.request.past?.question !== undefined;
  const refusal = wasAsked ? undefined : await limits.rates?.take(limitFacts(call));
  if (refusal !== undefined) return overRate(call, refusal);
  const over = await reserveBudgets(call, { isFirst: true, again: wasAsked });
  if (over === undefined) return undefined;
  if (!wasAsked) await limits.rates?.giveBack(limitFacts(call));
  return overBudget(call, over);
}

interface Attempt {
  readonly isFirst: boolean;
  /** What was reserved before is still for it. */
  readonly again: boolean;
}

type OverBudget = Extract<BudgetAnswer, { kind: "over" }>;

async function reserveBudgets(call: ReadyCall, { isFirst, again }: Attempt): Promise<OverBudget | undefined> {
  const { seams, request, tool } = call;
  const counters = seams.limits?.budgets?.countersOf(limitFacts(call)) ?? [];
  if (counters.length === 0) return undefined;
  const amounts: Spent = { calls: 1, bytes: isFirst ? Buffer.byteLength(request.args.json) : 0, durationMs: 0, ...declaredCost(tool.tool.cost, 1) };
  const answer = await seams.journal.reserveBudgets(request.lease, { tenant: request.principal.tenant, callId: request.callId, amounts, counters, again });
  if (answer.kind === "over") return answer;
  call.state.reserved = true;
  return undefined;
}

/** Whether a further attempt is within the limits as well: they would not hold if trying again did not count. */
export async function mayTryAgain(call: ReadyCall): Promise<boolean> {
  const { limits } = call.seams;
  if (limits?.breakers?.retryAfterMs(call.tool.namespace) !== undefined) return false;
  if (limits === undefined || isFree(call)) return true;
  if ((await limits.rates?.take(limitFacts(call))) !== undefined) return false;
  if ((await reserveBudgets(call, { isFirst: false, again: false })) === undefined) return true;
  await limits.rates?.giveBack(limitFacts(call));
  return false;
}

/** Begins to put what the call used up in the place of what was reserved. Where that cannot be written it stays spent as it was reserved. */
export function settleBudgets(scope: CallScope, spent: () => Spent): void {
  const { seams, request, state } = scope;
  // Held since before: while its work went on outside, or a person was asked.
  const isHeld = request.past?.job !== undefined || request.past?.question !== undefined;
  if (seams.limits?.budgets === undefined || (state.reserved !== true && !isHeld)) return;
  settle(scope, spent(), isHeld).catch(() => undefined); // It never rejects.
}

async function settle(scope: CallScope, spent: Spent, earlier: boolean): Promise<void> {
  const { seams, request } = scope;
  try {
    await seams.journal.settleBudgets(request.lease, { tenant: request.principal.tenant, callId: request.callId, spent, earlier });
  } catch (error) {
    const why = scope.safe.text(error instanceof Error ? error.message : String(error));
    seams.emit({ kind: "journal-degraded", atMs: seams.clock.now(), message: `What ${request.callId} used up of its budgets could not be settled and counts as it was reserved: ${why}` });
  }
}

function overRate({ tool: { name }, seams, request, safe }: ReadyCall, refusal: RateRefusal): Ended {
  if (refusal.kind === "unavailable") {
    // Where it is counted is told to people only.
    seams.log?.({ level: "error", message: `Rate limits could not be counted: ${safe.text(refusal.error instanceof Error ? refusal.error.message : String(refusal.error))}`, atMs: seams.clock.now(), runId: request.runId, principal: request.principal, callId: request.callId, tool: name });
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

/** The source is left alone. `doubt` about an earlier attempt of the call is not lifted by that. */
export function circuitOpen({ tool: { name, namespace }, effect }: ReadyCall, { retryAfterMs, doubt, attempts }: { readonly retryAfterMs: number; readonly doubt: EffectStatus; readonly attempts: number }): Ended {
  const message = withEffect(`${name} was not called: ${namespace} failed several times in a row and is left alone for ${retryAfterMs} ms more; call again then`, effect, doubt);
  return ended({ outcome: "failed", code: "CIRCUIT_OPEN", tool: name, message, effectStatus: doubt, retryable: doubt === "none", details: { source: namespace, retryAfterMs }, attempts });
}

const unitWords: Readonly<Record<BudgetUnit, string>> = { calls: "calls", bytes: "bytes", durationMs: "ms", tokens: "tokens", microUsd: "millionths of a US dollar" };

function overBudget({ tool: { name } }: ReadyCall, { budgetId, unit, limit: limitValue, spent, retryAfterMs }: OverBudget): Ended {
  const then = retryAfterMs === undefined ? "It does not begin anew: do not call again." : `It begins anew in ${retryAfterMs} ms.`;
  return ended({
    outcome: "limit_exceeded",
    code: "LIMIT_EXCEEDED",
    tool: name,
    message: `${name} does not fit into the budget ${budgetId}: ${spent} of ${limitValue} ${unitWords[unit]} are spent or reserved. Nothing was changed. ${then}`,
    retryable: retryAfterMs !== undefined,
    details: { limit: "budget", bucket: budgetId, unit, limitValue, spent, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
  });
}
