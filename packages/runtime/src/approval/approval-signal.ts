import type { ApprovalSignal, RunSignal } from "@callgate/contract";

/** What was said to a question: the first answer counts. */
export function answerIn(signals: readonly RunSignal[], approvalId: string): ApprovalSignal | undefined {
  return signals.find((signal): signal is ApprovalSignal => signal.kind === "approval" && signal.approvalId === approvalId);
}
