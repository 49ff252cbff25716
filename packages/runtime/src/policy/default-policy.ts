import type { Policy, PolicyDecision, PolicyFacts } from "@callgate/contract";

/** What holds where no rule decides: reads are allowed, everything else asks (DESIGN P0). */
export function defaultDecision({ tool, spec }: Pick<PolicyFacts, "tool" | "spec">): PolicyDecision {
  switch (spec.effect) {
    case "read":
      return { kind: "allow", ruleId: "default:read" };
    case "write":
      return { kind: "ask", ruleId: "default:write", reason: `${tool} may change data, and no rule allows it` };
    case "destructive":
      return { kind: "ask", ruleId: "default:destructive", reason: `${tool} may destroy data for good, and no rule allows it` };
  }
}

/** A program may run unless a rule says otherwise: what it calls is decided call by call. */
export const defaultRunDecision: PolicyDecision = { kind: "allow", ruleId: "default:run" };

/** The policy of a gate without rules. It costs nothing to load: Cedar is loaded where there is something to evaluate. */
export function createDefaultPolicy(): Policy {
  return {
    version: "default",
    decide: defaultDecision,
    decideRun: () => defaultRunDecision,
    visible: () => true,
    mayReach: () => true,
    inspection: {
      mode: "enforce",
      rules: () => [],
      findings: () => [],
      explain: (facts) => {
        const decision = defaultDecision(facts);
        return { decision, visible: true, considered: [], help: decision.kind === "allow" ? [] : [`A rule that allows it: { "allow": "${facts.tool}" }`] };
      },
    },
  };
}
