import type { CallRequest } from "../broker/call.ts";
import type { RunScope } from "./run-scope.ts";

/** What all calls of a run have in common. */
export function callOfRun({ view, principal, runId, lease, lane, taskId, limits, taint, approver, rehearsal, plan, rerun, bounds }: RunScope): Pick<CallRequest, "catalog" | "principal" | "runId" | "lease" | "lane" | "taskId" | "limits" | "taint" | "approver" | "rehearsal" | "plan" | "asksAnyway" | "bounds"> {
  return { catalog: view.catalog, principal, runId, lease, lane, taskId, limits, taint, ...(approver === undefined ? {} : { approver }), ...(rehearsal === undefined ? {} : { rehearsal }), ...(plan === undefined ? {} : { plan }), ...(rerun?.newCalls === "ask" ? { asksAnyway: true } : {}), ...(bounds === undefined ? {} : { bounds }) };
}
