import type { PolicyDecision, SandboxDriver } from "@callgate/contract";
import type { RunRequest } from "./run-request.ts";
import type { RunScope } from "./run-scope.ts";

/** Decides whether a program may run at all, in what is around it. A policy that throws denies. */
export function decideRun({ seams, principal, lane, runId, notices }: RunScope, { language }: RunRequest, driver: SandboxDriver): PolicyDecision {
  try {
    const decision = seams.policy.decideRun({ principal, language, lane, runId, atMs: seams.clock.now(), ...seams.surroundingsOf(driver, language) });
    if (decision.kind === "allow" && decision.unobserved !== undefined) {
      const { kind, ruleId, reason } = decision.unobserved;
      notices.add(`The policy is not enforced: it would have ${kind === "ask" ? "asked about" : "denied"} this run (${ruleId}: ${seams.redactor.text(reason)})`);
    }
    return decision;
  } catch {
    return { kind: "deny", ruleId: "policy:fault", reason: "The policy could not decide, so the run is refused" };
  }
}
