import type { Policy, PolicyDecision } from "@callgate/contract";

type Verdict = PolicyDecision["kind"];

/** A policy that does as it is told, by the tool's name. What it denies stays visible. @param version differs where the answers do */
export function testPolicy(verdictOf: (tool: string) => Verdict = () => "allow", version = "test"): Policy {
  const decisionOf = (verdict: Verdict): PolicyDecision => (verdict === "allow" ? { kind: "allow", ruleId: "test" } : { kind: verdict, ruleId: "test", reason: "The test says so" });
  return {
    version,
    decide: ({ tool }) => decisionOf(verdictOf(tool)),
    decideRun: () => decisionOf("allow"),
    decideResult: () => decisionOf("allow"),
    visible: () => true,
    mayReach: () => true,
    inspection: { mode: "enforce", rules: () => [{ ruleId: "test", place: "test", verdict: "ask", cedar: "" }], findings: () => [], explain: ({ tool }) => ({ decision: decisionOf(verdictOf(tool)), visible: true, considered: [], help: [] }) },
  };
}
