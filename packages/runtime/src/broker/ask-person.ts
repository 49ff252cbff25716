import type { ApprovalQuestion } from "@callgate/contract";
import type { Approvals, KeptAnswers, Verdict } from "../approval/approvals.ts";
import type { ReadyCall } from "./call.ts";

/** Whose call an event is about. */
export function scopedOf({ request, tool }: ReadyCall) {
  return { runId: request.runId, principal: request.principal, callId: request.callId, tool: tool.name };
}

/** Puts a question that is on record to a person. The time they take is none of the call's, and an answer that does not count is told. */
export async function askPerson(call: ReadyCall, question: ApprovalQuestion, { approvals, kept }: { readonly approvals: Approvals; readonly kept: KeptAnswers }): Promise<Verdict> {
  const { seams, request, state, stop } = call;
  const said = request.past?.said;
  const started = seams.clock.monotonic();
  const verdict = await approvals.ask(question, { signal: stop.signal, kept, ...(said?.kind === "approval" ? { answer: said } : {}), ...(request.approver === undefined ? {} : { approver: request.approver }) });
  state.personMs += seams.clock.monotonic() - started;
  if (verdict.kind === "denied" && verdict.refused !== undefined) seams.emit({ kind: "approval-refused", atMs: seams.clock.now(), ...scopedOf(call), approvalId: verdict.approvalId, ...verdict.refused });
  return verdict;
}

/** Who gave the answer. */
export function byWhom(verdict: Verdict): string {
  return verdict.kind === "approved" || verdict.kind === "denied" ? verdict.by : "nobody";
}
