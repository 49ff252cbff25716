import type { Policy, PolicyDecision, Principal } from "@callgate/contract";
import { digestOf } from "../lib/digest.ts";

export interface RolloutOptions {
  /** What holds. */
  readonly current: Policy;
  /** What is to hold. */
  readonly next: Policy;
  /** `shadow`: the next policy decides nothing; where it would have decided otherwise, that is on record. `enforce`: it decides. */
  readonly stage: "shadow" | "enforce";
  /** Of the runs, 0 to 1. A run is in or out as a whole, wherever it goes on. */
  readonly share: number;
  /** Only of these principals. Default: all. */
  readonly isFor?: (principal: Principal) => boolean;
  /** Of share and principals, for the version. */
  readonly describe: string;
}

/**
 * Lets another policy take over step by step: beside the one that holds, for some principals, for a share of the runs, for
 * all. What it decides in the shadow is told and recorded where it differs, and moves nothing.
 *
 * A tool is visible by the current policy, and by the next only once that decides every run of a principal: whether a run is
 * in the share is known when it calls, not when it looks.
 */
export function createRolloutPolicy({ current, next, stage, share, isFor = () => true, describe }: RolloutOptions): Policy {
  const isIn = (principal: Principal, runId: string): boolean => isFor(principal) && (share >= 1 || (runId !== "" && partOf(runId) < share));
  const decidesAll = (principal: Principal): boolean => stage === "enforce" && share >= 1 && isFor(principal);

  function decided<Facts extends { readonly principal: Principal; readonly runId: string }>(facts: Facts, by: (policy: Policy) => (facts: Facts) => PolicyDecision): PolicyDecision {
    if (!isIn(facts.principal, facts.runId)) return by(current)(facts);
    const coming = by(next)(facts);
    if (stage === "enforce") return coming;
    const held = by(current)(facts);
    return coming.kind === held.kind ? held : { ...held, next: { kind: coming.kind, ruleId: coming.ruleId } };
  }

  return {
    version: `rollout:${digestOf([current.version, next.version, stage, share, describe]).slice("sha256:".length, "sha256:".length + 16)}`,
    looksAtAgents: current.looksAtAgents === true || next.looksAtAgents === true,
    decide: (facts) => decided(facts, (policy) => policy.decide.bind(policy)),
    decideRun: (facts) => decided(facts, (policy) => policy.decideRun.bind(policy)),
    decideResult: (facts) => decided(facts, (policy) => policy.decideResult.bind(policy)),
    visible: (principal, tool, spec) => (decidesAll(principal) ? next : current).visible(principal, tool, spec),
    mayReach: (principal, namespace) => (decidesAll(principal) ? next : current).mayReach(principal, namespace),
    inspection: {
      mode: current.inspection.mode,
      rules: () => [...current.inspection.rules(), ...next.inspection.rules().map((rule) => ({ ...rule, place: `next ${rule.place}` }))],
      findings: (tools) => [...current.inspection.findings(tools), ...next.inspection.findings(tools).map((finding) => ({ ...finding, place: `next ${finding.place}` }))],
      explain(facts) {
        if (decidesAll(facts.principal)) return next.inspection.explain(facts);
        const held = current.inspection.explain(facts);
        const coming = isFor(facts.principal) ? next.inspection.explain(facts) : held;
        if (coming.decision.kind === held.decision.kind) return held;
        return { ...held, decision: { ...held.decision, next: { kind: coming.decision.kind, ruleId: coming.decision.ruleId } } };
      },
    },
  };
}

/** Where a run stands between 0 and 1: the same for everybody, and spread evenly whatever ids look like. */
function partOf(runId: string): number {
  return Number.parseInt(digestOf(runId).slice("sha256:".length, "sha256:".length + 8), 16) / 2 ** 32;
}
