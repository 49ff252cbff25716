import { localPrincipal } from "@callgate/contract";
import type { Policy, PolicyFacts } from "@callgate/contract";
import { testPolicy } from "@callgate/testkit";
import { describe, expect, test } from "vitest";
import { createRolloutPolicy } from "./rollout-policy.ts";
import type { RolloutOptions } from "./rollout-policy.ts";

const facts = (runId: string, roles: readonly string[] = []): PolicyFacts => ({
  principal: { ...localPrincipal, roles }, runId, tool: "crm.pay", namespace: "crm", args: {}, lane: "execute", callsBefore: 0, taint: [], atMs: 0,
  spec: { name: "pay", description: "", input: true, effect: "write", tags: [], permissions: [], labels: [], version: "1", timeoutMs: 1, examples: [], errors: [] },
});
const hides: Policy = { ...testPolicy(() => "deny", "next"), visible: () => false, mayReach: () => false };
const rollout = (more: Partial<RolloutOptions> = {}): Policy => createRolloutPolicy({ current: testPolicy(() => "allow", "current"), next: hides, stage: "enforce", share: 1, describe: JSON.stringify(more.share), ...more });
const runs = Array.from({ length: 2_000 }, (_, n) => `run_${n}`);

describe("a policy that takes over step by step", () => {
  test("in the shadow it moves nothing; where it would have decided otherwise, that goes with the decision", () => {
    const policy = rollout({ stage: "shadow" });
    for (const decision of [policy.decide(facts("r")), policy.decideRun({ ...facts("r"), language: "python", launcher: "l", mounts: [], network: [], packages: [], reach: [], newAgent: false })]) expect(decision.kind).toBe("allow");
    expect(policy.decide(facts("r"))).toEqual({ kind: "allow", ruleId: "test", next: { kind: "deny", ruleId: "test" } });
    expect(rollout({ stage: "shadow", next: testPolicy(() => "allow", "next") }).decide(facts("r"))).toEqual({ kind: "allow", ruleId: "test" });
    expect(policy.visible(localPrincipal, "crm.pay", facts("r").spec)).toBe(true);
    expect(policy.inspection.explain(facts("")).decision).toMatchObject({ kind: "allow", next: { kind: "deny" } });
  });

  test("of a share of the runs it decides all, and of the others nothing, each time the same", () => {
    const [policy, again] = [rollout({ share: 0.2 }), rollout({ share: 0.2 })];
    const denied = runs.filter((run) => policy.decide(facts(run)).kind === "deny");
    expect(denied.length).toBeGreaterThan(300);
    expect(denied.length).toBeLessThan(500);
    expect(runs.filter((run) => again.decide(facts(run)).kind === "deny")).toEqual(denied);
    // Whoever was in stays in as the share grows.
    const wider = rollout({ share: 0.5 });
    expect(denied.every((run) => wider.decide(facts(run)).kind === "deny")).toBe(true);
    expect(policy.visible(localPrincipal, "crm.pay", facts("r").spec)).toBe(true);
    // What is asked about no run is in only once all are.
    expect([rollout({ share: 0.999_999 }).decide(facts("")).kind, rollout({ share: 1 }).decide(facts("")).kind]).toEqual(["allow", "deny"]);
    expect(runs.some((run) => rollout({ share: 0 }).decide(facts(run)).kind === "deny")).toBe(false);
  });

  test("of some principals it decides, and tools it hides are hidden from them", () => {
    const policy = rollout({ isFor: ({ roles }) => roles.includes("pilot") });
    expect([policy.decide(facts("r", ["pilot"])).kind, policy.decide(facts("r")).kind]).toEqual(["deny", "allow"]);
    const seen = (roles: readonly string[]) => [policy.visible({ ...localPrincipal, roles }, "crm.pay", facts("r").spec), policy.mayReach({ ...localPrincipal, roles }, "crm")];
    expect([seen(["pilot"]), seen([])]).toEqual([[false, false], [true, true]]);
  });

  test("its version is another with each step", () => {
    const versions = [rollout(), rollout({ stage: "shadow" }), rollout({ share: 0.5 }), rollout({ next: testPolicy(() => "deny", "other") })].map(({ version }) => version);
    expect(new Set(versions).size).toBe(4);
    expect(versions.every((version) => /^rollout:[0-9a-f]{16}$/.test(version))).toBe(true);
    expect(rollout().version).toBe(versions[0]);
  });

  test("it decides about results as about calls, and shows the rules and findings of both, those of the next one as such", () => {
    const next: Policy = { ...hides, decideResult: () => ({ kind: "deny", ruleId: "next", reason: "no" }), inspection: { ...hides.inspection, rules: () => [{ ruleId: "n", place: "rules[0]", verdict: "ask", cedar: "" }], findings: () => [{ severity: "error", ruleId: "n", place: "rules[0]", message: "wrong" }] } };
    const [shadow, enforced] = [rollout({ next, stage: "shadow" }), rollout({ next })];
    expect(shadow.decideResult({ ...facts("r"), result: 1 })).toEqual({ kind: "allow", ruleId: "test", next: { kind: "deny", ruleId: "next" } });
    expect(enforced.decideResult({ ...facts("r"), result: 1 })).toMatchObject({ kind: "deny", ruleId: "next" });
    expect(shadow.inspection.rules().map(({ ruleId, place }) => [ruleId, place])).toEqual([["test", "test"], ["n", "next rules[0]"]]);
    expect(shadow.inspection.findings([])).toEqual([{ severity: "error", ruleId: "n", place: "next rules[0]", message: "wrong" }]);
  });

  test("it explains as it decides: by the next policy once that decides all, and without it where both say the same", () => {
    const explained = (more: Partial<RolloutOptions>) => rollout(more).inspection.explain(facts("")).decision;
    expect(explained({})).toMatchObject({ kind: "deny" });
    expect(explained({})).not.toHaveProperty("next");
    expect(explained({ stage: "shadow", next: testPolicy(() => "allow", "next") })).toEqual({ kind: "allow", ruleId: "test" });
  });

  test("agents are looked up where one of the two looks at them", () => {
    const looks: Policy = { ...testPolicy(), looksAtAgents: true };
    expect([rollout(), rollout({ next: looks }), rollout({ current: looks })].map(({ looksAtAgents }) => looksAtAgents)).toEqual([false, true, true]);
  });
});
