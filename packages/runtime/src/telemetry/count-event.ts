import { callErrorCodes } from "@callgate/contract";
import type { GateEvent, Principal } from "@callgate/contract";
import { otherName } from "./bounded-names.ts";
import type { Observe } from "./metric-definitions.ts";

/** How the names in events become labels. */
export interface LabelNames {
  /** What a caller wrote may be anything: only tools that exist are named. */
  tool(name: string, principal: Principal): { readonly source: string; readonly tool: string };
  principal(principal: Principal): { readonly tenant: string; readonly user: string };
  rule(ruleId: string): string;
}

type CallEnded = Extract<GateEvent, { kind: "call-ended" }>;

/** What one event adds to the metrics of its gate. */
export function countEvent(event: GateEvent, observe: Observe, names: LabelNames): void {
  switch (event.kind) {
    case "call-ended":
      return countEnd(event, observe, names);
    case "call-started":
      if (event.attempt > 1) observe("callgate_retries_total", names.tool(event.tool, event.principal), 1);
      return;
    case "call-decided":
      return observe("callgate_decisions_total", { decision: event.decision, rule: names.rule(event.ruleId) }, 1);
    case "approval-asked":
      // The review of a program is about no tool.
      return observe("callgate_approvals_asked_total", event.question.isReview === true ? { source: "", tool: "program" } : names.tool(event.tool, event.principal), 1);
    case "approval-answered":
      return observe("callgate_approvals_answered_total", { answer: event.approved ? "approved" : "denied" }, 1);
    case "approval-refused":
      return observe("callgate_approvals_answered_total", { answer: "refused" }, 1);
    case "grant-used":
      return observe("callgate_grants_used_total", names.tool(event.tool, event.principal), 1);
    case "run-checked":
      return observe("callgate_checks_total", { result: event.ok ? "ok" : "rejected" }, 1);
    case "run-ended":
      observe("callgate_runs_total", { status: event.status }, 1);
      return observe("callgate_run_duration_seconds", {}, event.durationMs / 1000);
    case "run-started":
    case "run-progressed":
    case "run-printed":
    case "run-connected":
    case "run-suspended":
    case "run-resumed":
    case "run-fenced":
    case "call-requested":
    case "call-intercepted":
    case "call-progressed":
    case "call-waiting":
    case "call-resolved":
    case "call-late":
    case "source-changed":
    case "circuit-changed":
    case "catalog-changed":
    case "journal-degraded":
      return;
  }
}

function countEnd({ tool: name, principal, outcome, effectStatus, durationMs, error }: CallEnded, observe: Observe, names: LabelNames): void {
  const tool = names.tool(name, principal);
  observe("callgate_calls_total", { ...tool, outcome }, 1);
  observe("callgate_call_duration_seconds", tool, durationMs / 1000);
  observe("callgate_principal_calls_total", { ...names.principal(principal), outcome }, 1);
  if (effectStatus === "unknown") observe("callgate_unknown_effects_total", tool, 1);
  if (outcome === "denied") observe("callgate_denials_total", { ...tool, code: codeOf(error?.code) }, 1);
  if (outcome === "limit_exceeded" || error?.code === "CIRCUIT_OPEN") observe("callgate_limit_violations_total", { ...tool, code: codeOf(error?.code) }, 1);
  if (outcome === "invalid_input" || outcome === "invalid_output") observe("callgate_validation_failures_total", { ...tool, side: outcome === "invalid_input" ? "input" : "output" }, 1);
}

/** A tool may fail with a word of its own, which may be anything. */
function codeOf(code: string | undefined): string {
  return code !== undefined && Object.hasOwn(callErrorCodes, code) ? code : otherName;
}
