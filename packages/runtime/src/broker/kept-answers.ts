import type { ApprovalQuestion, ApprovalSignal, Clock, Journal, Principal, RecordedValue, RunSignal } from "@callgate/contract";
import { answerIn } from "../approval/approval-signal.ts";
import type { Answer, KeptAnswers, Said } from "../approval/approvals.ts";

/** How often the journal is asked whether somebody answered elsewhere while a person is asked here. */
const lookEveryMs = 1_000;

/** Whose question it is: a call's, or a run's about its program. */
export interface AskingRun {
  readonly seams: { readonly journal: Pick<Journal, "readSignals" | "signal">; readonly clock: Clock };
  readonly request: { readonly principal: Principal; readonly runId: string };
  readonly safe: { text(value: string): string };
  /** Arguments as they may be written down. Absent: nothing here has any. */
  readonly recordArgs?: (args: unknown) => RecordedValue;
}

/**
 * An answer is kept as a signal to its run, whoever was asked (a terminal, a function of the application, the command line
 * in another process), and the first one counts for all.
 */
export function keptAnswers({ seams, request, safe, recordArgs }: AskingRun): KeptAnswers {
  const { journal, clock } = seams;
  const { principal: { tenant }, runId } = request;

  async function said(approvalId: string): Promise<ApprovalSignal | undefined> {
    const signals = await journal.readSignals(tenant, runId, { clear: true }).catch((): readonly RunSignal[] => []); // The next look tries again.
    return answerIn(signals, approvalId);
  }

  function signalOf({ approvalId }: ApprovalQuestion, answer: Answer): ApprovalSignal {
    const approved = answer.kind === "approved";
    const reason = answer.kind === "denied" ? answer.reason : undefined;
    const args = answer.kind === "approved" && answer.args !== undefined ? recordArgs?.(answer.args) : undefined;
    return { kind: "approval", approvalId, approved, by: answer.by, ...(reason === undefined ? {} : { reason }), ...(args === undefined ? {} : { args }), atMs: clock.now() };
  }

  /** The answer that counts; `said` where it is this one. */
  async function kept(signal: ApprovalSignal, said: Said): Promise<Said> {
    try {
      const receipt = await journal.signal(tenant, runId, signal);
      return receipt.kind === "known" && receipt.signal.kind === "approval" ? { kind: "kept", signal: receipt.signal } : said;
    } catch (error) {
      if (!signal.approved) return said;
      return { kind: "here", answer: { kind: "denied", by: "nobody", reason: `The answer of ${signal.by} could not be written to the journal: ${safe.text(error instanceof Error ? error.message : String(error))}` } };
    }
  }

  return {
    keep: async (question, answer) => await kept(signalOf(question, answer), { kind: "here", answer }),
    keepSigned: async (_question, signal) => await kept(signal, { kind: "kept", signal }),
    elsewhere: ({ approvalId }, signal) =>
      new Promise((resolve) => {
        let timer: { cancel(): void } | undefined;
        const look = async (): Promise<void> => {
          const answer = await said(approvalId);
          if (signal.aborted) return;
          if (answer === undefined) timer = clock.schedule(lookEveryMs, () => void look());
          else resolve(answer);
        };
        timer = clock.schedule(lookEveryMs, () => void look());
        signal.addEventListener("abort", () => timer?.cancel(), { once: true });
      }),
  };
}
