import type { ApprovalAnswer, ApprovalQuestion, Approver } from "@callgate/contract";

/**
 * Nobody can be asked here: every question is `unavailable`.
 *
 * @param help what to do about it; by default the rule that would allow the call
 */
export function denyingApprover(help: (question: ApprovalQuestion) => string = ruleHelp): Approver {
  return { ask: (question) => Promise.resolve({ kind: "unavailable", help: help(question) }) };
}

const toBeAsked = 'to be asked, run it where a person can answer, or set "approvals": "keep" in the configuration: the question then outlives this process, the run waits, and callgate approvals answers it.';

function ruleHelp({ tool, ruleId, isReview }: ApprovalQuestion): string {
  if (isReview === true) return `To run such programs without it, set "check": { "scan": { "${ruleId}": "note" } } in the configuration; ${toBeAsked}`;
  return `To allow it always, add the rule { "allow": "${tool}" } to the configuration; ${toBeAsked}`;
}

/**
 * Asks a function of the embedding application.
 *
 * It may answer whenever it likes: expiry, cancellation, an answer that is none and a throw are handled by whoever asks,
 * all as a denial. It must not be reachable from a model or a program.
 */
export function callbackApprover(answer: (question: ApprovalQuestion, signal: AbortSignal) => Promise<ApprovalAnswer> | ApprovalAnswer): Approver {
  return { ask: async (question, signal) => await answer(question, signal) };
}

/**
 * Asks nobody at once: questions are kept in the journal until `gate.approvals.answer` (docs/guide/durable.md). The run is
 * suspended meanwhile, so that no process has to wait.
 */
export function keepingApprover(): Approver {
  return { ask: () => Promise.resolve({ kind: "pending" }) };
}
