import type { PolicyDecision } from "@callgate/contract";
import type { Approvals } from "../approval/approvals.ts";
import { sentence } from "../lib/sentence.ts";
import { approve, denied, note, refusedMeanwhile } from "./approve.ts";
import type { Ended, ReadyCall } from "./call.ts";
import type { ParkedCall } from "./call-past.ts";
import { editCall, noteEdit } from "./edit-call.ts";
import { ended } from "./ended.ts";
import { isEnded } from "./is-ended.ts";
import type { PinnedPlan, PlanWord } from "./pinned-plan.ts";

type Ask = Extract<PolicyDecision, { kind: "ask" }>;

/** In a run that is pinned to a plan every write needs the plan's word, also one that policy would let through. */
export function pinned({ request, effect }: ReadyCall, decision: PolicyDecision): PolicyDecision {
  if (request.plan === undefined || effect === "read" || request.undo !== undefined || decision.kind !== "allow") return decision;
  const { ruleId, next } = decision;
  return { kind: "ask", ruleId, reason: "The run is pinned to a plan", isPinned: true, ...(next === undefined ? {} : { next }) };
}

/**
 * Has the plan answer in a person's place, as the person who approved it did: for exactly this operation, once. What the plan
 * holds and could not know is asked about; what it does not hold is refused, and the run ends there.
 */
export async function approveByPlan(call: ReadyCall, decision: Ask, { plan, approvals }: { readonly plan: PinnedPlan; readonly approvals: Approvals }): Promise<Ended | ParkedCall | ReadyCall> {
  const { seams, request, tool, argsDigest, written } = call;
  const word = plan.word({ seq: request.seq, tool: tool.name, definitionDigest: tool.definitionDigest, argsDigest, args: written.value, policyVersion: seams.policy.version });
  switch (word.kind) {
    case "allowed":
      call.state.wasAsked = true;
      note(call, { decision: "allow", ruleId: decision.ruleId, answeredBy: word.by, planItem: word.itemId });
      return call;
    case "edited":
      return await edited(call, decision, word);
    case "dropped":
      note(call, { decision: "deny", ruleId: "plan:dropped", reason: `${word.by} dropped item ${word.itemId} of the plan`, answeredBy: word.by, planItem: word.itemId });
      return ended({ outcome: "denied", code: "PLAN_DROPPED", tool: tool.name, message: `${tool.name} was dropped from the plan of this run by ${word.by}. It did not happen; do not call it again, nor try to reach the same in another way.`, details: { item: word.itemId } });
    case "drift":
      note(call, { decision: "deny", ruleId: "plan:drift", reason: word.reason });
      return ended({ outcome: "denied", code: "PLAN_DRIFT", tool: tool.name, message: `${tool.name} was refused, and the run ends here: ${sentence(word.reason)} It did not happen.` });
    case "asked":
      // That a question is open is on record already.
      if (request.past?.question === undefined) note(call, { decision: "ask", ruleId: decision.ruleId, reason: word.reason, planItem: word.itemId });
      return await approve(call, { ...decision, reason: `${word.reason} ${decision.reason}` }, approvals);
  }
}

async function edited(call: ReadyCall, { ruleId }: Ask, { itemId, by, approvalId, args }: Extract<PlanWord, { kind: "edited" }>): Promise<Ended | ReadyCall> {
  const changed = await editCall(call, args);
  const refusal = isEnded(changed) ? { ruleId, reason: changed.outcome.kind === "ok" ? "" : changed.outcome.error.message } : refusedMeanwhile(changed);
  if (isEnded(changed) || refusal !== undefined) {
    const reason = `With the arguments that ${by} put in place of its own: ${refusal?.reason ?? ""}`;
    note(call, { decision: "deny", ruleId: refusal?.ruleId ?? ruleId, reason, answeredBy: by, planItem: itemId });
    return denied(call, { ruleId: refusal?.ruleId ?? ruleId, reason });
  }
  call.state.wasAsked = true;
  noteEdit(changed, { args, approvalId, by });
  note(call, { decision: "allow", ruleId, answeredBy: by, planItem: itemId });
  return changed;
}
