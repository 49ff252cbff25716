import { CallgateError } from "@callgate/contract";
import type { Gate } from "@callgate/contract";
import type { AnswersPage, PageAnswer } from "@callgate/mcp-server";
import { Webhook } from "standardwebhooks";
import { z } from "zod";
import type { WebhookAnswers } from "./open-question-webhook.ts";

/** What a service posts once a person has decided. */
const answerBody = z.strictObject({
  token: z.string().max(2_000),
  approved: z.boolean(),
  by: z.string().trim().min(1).max(200),
  reason: z.string().max(500).optional(),
});

/** Longer than a message is accepted, 5 minutes before and after its time: an id that is forgotten comes too late. */
const rememberMs = 11 * 60_000;

/** Who sends what we do not know learns nothing from the answer. */
const unknown: PageAnswer = { status: 401, body: { error: "The message is not signed as it has to be" } };
const noQuestion: PageAnswer = { status: 404, body: { error: "There is no such question" } };

/**
 * Takes answers to questions as Standard Webhooks: signed with the receiver's secret within five minutes, each message once,
 * bound to its question by the token that went with that. The judge of docs/decisions/0031 has the last word.
 */
export function createAnswersPage(gate: Gate, answers: WebhookAnswers, onFault: (fault: unknown) => void): AnswersPage {
  const webhook = new Webhook(answers.secret, { format: "raw" });
  const heardAtMs = new Map<string, number>();

  /** False: this message came before. */
  function isFirst(id: string, nowMs: number): boolean {
    for (const [known, atMs] of heardAtMs) if (nowMs - atMs > rememberMs) heardAtMs.delete(known);
    if (heardAtMs.has(id)) return false;
    heardAtMs.set(id, nowMs);
    return true;
  }

  return {
    async answer(headers, body) {
      try {
        webhook.verify(body, headers, { jsonParse: false });
      } catch {
        return unknown;
      }
      const id = headers["webhook-id"] ?? "";
      if (!isFirst(id, Date.now())) return refusal(409, "This message was taken before");
      try {
        return await take(gate, answers, body);
      } catch (fault) {
        onFault(fault);
        // Nothing was answered: the same message may come again.
        heardAtMs.delete(id);
        return refusal(500, "The answer could not be written down; send it again");
      }
    },
  };
}

async function take(gate: Gate, answers: WebhookAnswers, body: string): Promise<PageAnswer> {
  const read = answerBody.safeParse(parsed(body));
  if (!read.success) return refusal(400, `That is no answer: ${z.prettifyError(read.error)}`);
  const { token, approved, by, reason } = read.data;
  const named = answers.readToken(token);
  const principal = { ...gate.principal, tenant: named?.tenant ?? "" };
  const shown = named === undefined ? undefined : await gate.approvals.show(named.approvalId, { principal });
  if (shown === undefined || !answers.isFor(shown.question, token)) return noQuestion;
  const { approvalId } = shown.question;
  if (approved && !shown.isIntact) return refusal(409, "The record was changed since this was asked, so it cannot be approved");
  try {
    const given = await gate.approvals.answer(approvalId, { approved, signer: answers.signer(by), ...(reason === undefined ? {} : { reason }) }, { principal });
    if (given.known) return refusal(409, `It was answered before: ${given.approved ? "approved" : "denied"}. That counts`);
    return { status: 200, body: { approvalId, approved: given.approved } };
  } catch (fault) {
    if (CallgateError.is(fault) && fault.code === "SIGNAL_REFUSED") return refusal(409, fault.message);
    throw fault;
  }
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function refusal(status: number, error: string): PageAnswer {
  return { status, body: { error } };
}
