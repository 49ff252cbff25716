import type { Effect, Lane, PolicyDecision } from "@callgate/contract";

/** The query lane reaches reads only, whatever the rules say. Undefined: the lane has nothing against the call. */
export function laneRefusal({ lane, tool, effect }: { readonly lane: Lane; readonly tool: string; readonly effect: Effect }): Extract<PolicyDecision, { kind: "deny" }> | undefined {
  if (lane !== "query" || effect === "read") return undefined;
  return {
    kind: "deny",
    ruleId: "lane:query",
    reason: `${tool} may change data (effect ${effect}), and this run may only read`,
    help: "Use the execute lane for programs that write",
  };
}
