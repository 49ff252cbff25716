import type { RunSignal } from "@callgate/contract";

/** An answer as the journal keeps it. */
export type ApprovalSignal = Extract<RunSignal, { kind: "approval" }>;

/** What was said to a question: the first answer counts. */
export function answerIn(signals: readonly RunSignal[], approvalId: string): ApprovalSignal | undefined {
  return signals.find((signal): signal is ApprovalSignal => signal.kind === "approval" && signal.approvalId === approvalId);
}
