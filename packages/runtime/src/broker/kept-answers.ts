import type { Clock, Journal, Principal, RunSignal } from "@callgate/contract";
import { answerOf } from "../approval/approvals.ts";
import type { KeptAnswers } from "../approval/approvals.ts";

/** How often the journal is asked whether somebody answered elsewhere while a person is asked here. */
const lookEveryMs = 1_000;

/** Whose question it is: a call's, or a run's about its program. */
export interface AskingRun {
  readonly seams: { readonly journal: Pick<Journal, "readSignals" | "signal">; readonly clock: Clock };
  readonly request: { readonly principal: Principal; readonly runId: string };
  readonly safe: { text(value: string): string };
}

/**
 * An answer is kept as a signal to its run, whoever was asked (a terminal, a function of the application, the command line
 * in another process), and the first one counts for all.
 */
export function keptAnswers({ seams, request, safe }: AskingRun): KeptAnswers {
  const { journal, clock } = seams;
  const { principal: { tenant }, runId } = request;

  async function said(approvalId: string): Promise<Extract<RunSignal, { kind: "approval" }> | undefined> {
    const signals = await journal.readSignals(tenant, runId, { clear: true }).catch((): readonly RunSignal[] => []); // The next look tries again.
    return signals.find((signal): signal is Extract<RunSignal, { kind: "approval" }> => signal.kind === "approval" && signal.approvalId === approvalId);
  }

  return {
    async keep({ approvalId }, answer) {
      const reason = answer.kind === "denied" ? answer.reason : undefined;
      try {
        const { signal } = await journal.signal(tenant, runId, { kind: "approval", approvalId, approved: answer.kind === "approved", by: answer.by, atMs: clock.now(), ...(reason === undefined ? {} : { reason }) });
        return signal.kind === "approval" ? answerOf(signal) : answer;
      } catch (error) {
        if (answer.kind === "denied") return answer;
        return { kind: "denied", by: "nobody", reason: `The answer of ${answer.by} could not be written to the journal: ${safe.text(error instanceof Error ? error.message : String(error))}` };
      }
    },
    elsewhere: ({ approvalId }, signal) =>
      new Promise((resolve) => {
        let timer: { cancel(): void } | undefined;
        const look = async (): Promise<void> => {
          const answer = await said(approvalId);
          if (signal.aborted) return;
          if (answer === undefined) timer = clock.schedule(lookEveryMs, () => void look());
          else resolve(answerOf(answer));
        };
        timer = clock.schedule(lookEveryMs, () => void look());
        signal.addEventListener("abort", () => timer?.cancel(), { once: true });
      }),
  };
}
