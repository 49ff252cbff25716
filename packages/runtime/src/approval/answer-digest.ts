import type { AnswerSigner, ApprovalQuestion, ApprovalSignal, Digest } from "@callgate/contract";
import { digestOf } from "../lib/digest.ts";

type Answer = Pick<ApprovalSignal, "approved" | "by" | "reason" | "args" | "atMs">;

/**
 * What is signed of an answer: all of it, bound to one operation. Whoever changes a part of either has no signature for it.
 *
 * The parts of the question are those that an approval is held against when it is used, so a signature says nothing about
 * another call, run, tool definition or policy. Its texts are left out: they are erased with their run.
 */
export function answerDigest(question: ApprovalQuestion, { approved, by, reason, args, atMs }: Answer): Digest {
  const { approvalId, principal, runId, callId, tool, definitionDigest, argsDigest, policyVersion, expiresAtMs } = question;
  return digestOf({
    form: "callgate-answer-1",
    question: { approvalId, principal, runId, callId, tool, definitionDigest, argsDigest, policyVersion, expiresAtMs },
    answer: { approved, by, reason: reason ?? null, args: args?.digest ?? null, atMs },
  });
}

/** An answer with the signature of who gives it. */
export function signAnswer(question: ApprovalQuestion, said: Omit<Answer, "by">, signer: AnswerSigner): ApprovalSignal {
  const answer = { ...said, by: signer.by };
  return { kind: "approval", approvalId: question.approvalId, ...answer, signature: signer.sign(answerDigest(question, answer)) };
}
