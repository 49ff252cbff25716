import type { ApprovalQuestion, Gate, ShownApproval } from "@callgate/contract";
import picocolors from "picocolors";
import { renderQuestion } from "../cli/render-question.ts";
import type { QuestionWebhook } from "./open-question-webhook.ts";

/** Receivers of webhooks are not made for more. What is longer goes as its summary, and it is said. */
const maxValueChars = 64 * 1024;

/**
 * The gate, every question of which is posted to a webhook: by the process that asks, once, after the question is on record.
 * A question that cannot be delivered waits as it would without a webhook. Closing waits for what is being sent.
 */
export function sendQuestions(gate: Gate, webhook: QuestionWebhook, onFault: (fault: unknown) => void): Gate {
  const sending = new Set<Promise<void>>();
  const settled = async (): Promise<void> => void (await Promise.all(sending));
  const stop = gate.onEvent((event) => {
    if (event.kind !== "approval-asked") return;
    const sent: Promise<void> = send(gate, webhook, event.question).catch(onFault).finally(() => sending.delete(sent));
    sending.add(sent);
  });
  const close = async (): Promise<void> => {
    await settled();
    await gate.close();
    stop();
    await settled();
  };
  return Object.defineProperties({}, { ...Object.getOwnPropertyDescriptors(gate), close: { value: close, enumerable: true } }) as Gate;
}

async function send(gate: Gate, { sender, answers }: QuestionWebhook, question: ApprovalQuestion): Promise<void> {
  // The record is what is answered about; where it cannot be read any more, the summary of the question is all there is.
  const shown = await gate.approvals.show(question.approvalId, { principal: question.principal }).catch(() => undefined);
  const answer = answers === undefined ? {} : { answer: { url: answers.url, token: answers.token(question) } };
  await sender.send("approval.asked", { ...questionData(question, shown), ...answer });
}

/** What a person needs to decide, made from the operation; sensitive values are hashes. */
function questionData(question: ApprovalQuestion, shown: ShownApproval | undefined): object {
  const { approvalId, runId, callId, tool, effect, reason, ruleId, from, taint, isReview, isResult, undoes, principal, expiresAtMs, argsSummary } = question;
  const { tenant, user, agent } = principal;
  const full = { arguments: shown?.args, result: shown?.result, program: shown?.program };
  const isShortened = Object.values(full).every((value) => value === undefined) || JSON.stringify(full).length > maxValueChars;
  return {
    approvalId,
    runId,
    callId,
    tool,
    effect,
    asks: { tenant, user, agent },
    reason,
    ruleId,
    from,
    taint,
    isReview,
    isResult,
    undoes,
    expiresAt: new Date(expiresAtMs).toISOString(),
    ...(isShortened ? { summary: argsSummary, isShortened } : full),
    isIntact: shown?.isIntact,
    previous: shown?.previous,
    text: renderQuestion({ question, ...(shown === undefined || isShortened ? {} : { shown }) }, { colors: picocolors.createColors(false) }),
  };
}
