import type { PolicyDecision } from "@callgate/contract";
import type { Approvals } from "../approval/approvals.ts";
import { operationOf } from "./approve.ts";
import type { ReadyCall } from "./call.ts";

/** Whether a decision refuses the call: it says so, or a person denied it in this run before. */
export function isRefused(call: ReadyCall, decision: PolicyDecision, approvals: Approvals): boolean {
  return decision.kind === "deny" || (decision.kind === "ask" && approvals.deniedBefore(operationOf(call, decision)) !== undefined);
}

/** Tells and notes what was decided. What a person denied in this run is denied again, without asking. */
export function decide(call: ReadyCall, decision: PolicyDecision, approvals: Approvals): PolicyDecision {
  const { seams, request, record, tool } = call;
  const before = decision.kind === "ask" ? approvals.deniedBefore(operationOf(call, decision)) : undefined;
  const final: PolicyDecision = before === undefined ? decision : { kind: "deny", ruleId: decision.ruleId, reason: before };
  const atMs = seams.clock.now();
  // A question that is on record already is not noted again.
  if (final.kind === "ask" && request.past?.question !== undefined) return final;
  const unobserved = final.kind === "allow" ? final.unobserved : undefined;
  const reason = final.kind === "allow" ? unobserved?.reason : final.reason;
  const taint = request.taint.labels;
  const decided = { decision: final.kind, ruleId: final.ruleId, ...(unobserved === undefined ? {} : { unobserved: unobserved.kind }), ...(decision.next === undefined ? {} : { next: decision.next }) };
  record.add({ kind: "call-decided", atMs, seq: request.seq, ...decided, ...(final.kind === "ask" && final.isPinned === true ? { isPinned: true } : {}), ...(reason === undefined ? {} : { reason: call.safe.text(reason) }), ...(taint.length === 0 ? {} : { taint }) });
  seams.emit({ kind: "call-decided", atMs, runId: request.runId, principal: request.principal, callId: request.callId, tool: tool.name, ...decided });
  return final;
}
