import type { PolicyDecision, PolicyFacts } from "@callgate/contract";
import { laneRefusal } from "../policy/lane-rule.ts";
import type { ReadyCall } from "./call.ts";

/**
 * Decides whether the call may happen. The query lane reaches reads only, whatever the rules say; a policy that throws
 * denies.
 */
export function authorise(call: ReadyCall): PolicyDecision {
  const { request, seams, tool, effect } = call;
  const byLane = laneRefusal({ lane: request.lane, tool: tool.name, effect });
  if (byLane !== undefined) return byLane;
  // Bounds have the form that the program was checked against. What an interceptor made of older arguments has none in it, and is outside.
  const outside = request.undo === undefined ? request.bounds?.refuse(tool.name, (tool.older === undefined ? call.written : call.olderArgs)?.value) : undefined;
  if (outside !== undefined) return { kind: "deny", ...outside };
  try {
    const decision = seams.policy.decide(policyFacts(call));
    if (decision.kind !== "allow" || request.asksAnyway !== true) return decision;
    return { kind: "ask", ruleId: "edit:ask", reason: `${tool.name} is new in a changed program: the recorded run has no answer for it` };
  } catch {
    return { kind: "deny", ruleId: "policy:fault", reason: "The policy could not decide, so the call is refused" };
  }
}

/** What a policy may look at of a call. */
export function policyFacts({ request, seams, tool, args }: ReadyCall): PolicyFacts {
  return {
    principal: request.principal,
    tool: tool.name,
    namespace: tool.namespace,
    spec: tool.tool,
    args: args.value,
    lane: request.lane,
    runId: request.runId,
    callsBefore: request.seq,
    taint: request.taint.labels,
    atMs: seams.clock.now(),
  };
}
