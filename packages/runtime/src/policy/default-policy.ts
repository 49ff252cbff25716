import type { Policy, PolicyDecision, PolicyFacts } from "@callgate/contract";

/**
 * What asks whatever the rules allow: who has read private data and content of strangers may be doing what those strangers
 * want, so that nothing goes out without a person. Each of the three alone is harmless.
 */
export const outflowRule = {
  id: "default:outflow",
  ask: { label: "external", taint: "private" },
  when: { taint: "untrusted" },
  reason: "Private data and untrusted content have both been read before this call, which sends something out",
} as const;

/** Whether a call could carry private data out of the house after untrusted text was read. */
export function isOutflow({ spec, taint }: Pick<PolicyFacts, "spec" | "taint">): boolean {
  const { ask, when } = outflowRule;
  return spec.labels.includes(ask.label) && taint.includes(ask.taint) && taint.includes(when.taint);
}

/** What holds where no rule decides: reads are allowed, everything else asks (DESIGN P0), and so does what may leak. */
export function defaultDecision({ tool, spec, taint }: Pick<PolicyFacts, "tool" | "spec" | "taint">): PolicyDecision {
  if (isOutflow({ spec, taint })) return { kind: "ask", ruleId: outflowRule.id, reason: outflowRule.reason };
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

/** What a tool answered may be handed on unless a rule says otherwise. */
export const defaultResultDecision: PolicyDecision = { kind: "allow", ruleId: "default:result" };

/** The policy of a gate without rules. It costs nothing to load: Cedar is loaded where there is something to evaluate. */
export function createDefaultPolicy(): Policy {
  return {
    version: "default",
    decide: defaultDecision,
    decideRun: () => defaultRunDecision,
    decideResult: () => defaultResultDecision,
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
