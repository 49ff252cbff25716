import { CallgateError } from "@callgate/contract";
import type { ApprovalRules, ApprovalSignal, Journal, Plan, PlanAnswer, PlanApproval } from "@callgate/contract";
import { signAnswer } from "../approval/answer-digest.ts";
import { createAnswerJudge } from "../approval/answer-judge.ts";
import { answerIn } from "../approval/approval-signal.ts";
import { defaultApprovalExpiryMs } from "../approval/approvals.ts";
import { planQuestion } from "../plan/plan-digest.ts";

export interface PlanApprovalSeams {
  readonly journal: Pick<Journal, "signal" | "readSignals">;
  readonly rules: ApprovalRules;
  readonly nowMs: number;
}

/**
 * Approves a plan: an answer like any other, to the question that the plan is. It is kept with the rehearsal, where people's
 * answers are; a signed one also counts where that record is not. Errors: USAGE, SIGNAL_REFUSED.
 */
export async function approvePlan({ journal, rules, nowMs }: PlanApprovalSeams, plan: Plan, { by, signer, reason }: PlanAnswer): Promise<PlanApproval> {
  const name = signer?.by ?? by;
  if (name === undefined) throw new CallgateError("USAGE", "Say who approves: by, or a signer");
  const expiresAtMs = nowMs + (rules.expiryMs ?? defaultApprovalExpiryMs);
  const question = planQuestion(plan, expiresAtMs);
  const judge = createAnswerJudge(rules);
  const why = judge.needsSignature && signer === undefined ? "this gate takes signed answers only: callgate plan approve asks for the passphrase of an approver" : judge.selfRefusal(question, name);
  const { approvalId, runId, principal } = question;
  if (why !== undefined) {
    await journal.signal(principal.tenant, runId, { kind: "answer-refused", approvalId, approved: true, by: name, why, atMs: nowMs });
    throw new CallgateError("SIGNAL_REFUSED", `Plan ${plan.planId} was not approved: ${why}`, { details: { planId: plan.planId } });
  }
  const said = { approved: true, ...(reason === undefined ? {} : { reason }), atMs: nowMs };
  const answer: ApprovalSignal = signer === undefined ? { kind: "approval", approvalId, by: name, ...said } : signAnswer(question, said, signer);
  // The first answer counts; that it was approved before, by whoever, is as good.
  const receipt = await journal.signal(principal.tenant, runId, answer).catch((fault: unknown) => {
    if (signer === undefined || !CallgateError.is(fault) || fault.code !== "RUN_NOT_FOUND") throw fault;
    return undefined;
  });
  const isFirst = receipt?.kind !== "known" || signer !== undefined || receipt.signal.kind !== "approval";
  return isFirst ? { ...answer, expiresAtMs } : { ...receipt.signal, expiresAtMs: receipt.signal.atMs + (rules.expiryMs ?? defaultApprovalExpiryMs) };
}

/** Why the approval of a plan does not count. Undefined: it does. */
export async function approvalProblem({ journal, rules, nowMs }: PlanApprovalSeams, plan: Plan): Promise<string | undefined> {
  const { approval, principal, rehearsal } = plan;
  if (approval === undefined) return "nobody has approved it as it is; callgate plan approve does";
  const { expiresAtMs, ...answer } = approval;
  const latestMs = answer.atMs + (rules.expiryMs ?? defaultApprovalExpiryMs);
  if (nowMs >= Math.min(expiresAtMs, latestMs)) return `the approval of ${answer.by} has expired`;
  const judge = createAnswerJudge(rules);
  const question = planQuestion(plan, expiresAtMs);
  if (judge.needsSignature) {
    const refusal = judge.refusal(question, answer);
    return refusal === undefined ? undefined : `the approval in the name of ${answer.by} does not count: ${refusal}`;
  }
  // Anybody can write into a file; the record is where people's answers are kept.
  const kept = answerIn(await journal.readSignals(principal.tenant, rehearsal.runId), question.approvalId);
  if (kept?.approved !== true || kept.by !== answer.by || kept.atMs !== answer.atMs) return `the record of rehearsal ${rehearsal.runId} knows no such approval of ${answer.by}`;
  const self = judge.selfRefusal(question, answer.by);
  return self === undefined ? undefined : `the approval of ${answer.by} does not count: ${self}`;
}
