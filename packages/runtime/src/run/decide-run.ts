import type { CheckReport, PolicyDecision, SandboxDriver } from "@callgate/contract";
import { reachedEffects } from "./program-reach.ts";
import type { RunRequest } from "./run-request.ts";
import type { RunScope } from "./run-scope.ts";

/** Decides whether a checked program may run at all, in what is around it. A policy that throws denies. */
export async function decideRun(scope: RunScope, { language }: RunRequest, { driver, report }: { readonly driver: SandboxDriver; readonly report: CheckReport }): Promise<PolicyDecision> {
  const { seams, principal, lane, runId, view, notices } = scope;
  try {
    const reach = report.kind === "ok" ? reachedEffects(view, lane, report.reach) : [];
    const decision = seams.policy.decideRun({ principal, language, lane, runId, atMs: seams.clock.now(), ...seams.surroundingsOf(driver, language), reach, newAgent: await isNewAgent(scope) });
    if (decision.kind === "allow" && decision.unobserved !== undefined) {
      const { kind, ruleId, reason } = decision.unobserved;
      notices.add(`The policy is not enforced: it would have ${kind === "ask" ? "asked about" : "denied"} this run (${ruleId}: ${seams.redactor.text(reason)})`);
    }
    return decision;
  } catch {
    return { kind: "deny", ruleId: "policy:fault", reason: "The policy could not decide, so the run is refused" };
  }
}

/** Whether an agent acts that has completed nothing here. In doubt, where the journal cannot be read, it has not. */
async function isNewAgent({ seams: { policy, journal }, principal: { tenant, agent } }: RunScope): Promise<boolean> {
  if (policy.looksAtAgents !== true || agent === undefined) return false;
  try {
    return (await journal.listRuns({ tenant, agent, kind: "program", status: "completed", limit: 1 })).length === 0;
  } catch {
    return true;
  }
}
