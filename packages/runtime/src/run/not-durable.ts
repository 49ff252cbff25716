import { CallgateError } from "@callgate/contract";
import type { Gate } from "@callgate/contract";

type DurableRuns = Pick<Gate["runs"], "resume" | "signal" | "resolve" | "complete" | "cancel" | "rollback">;

/** What a gate answers that runs everything in one go: no run of it is ever suspended, so none can go on. */
export function notDurable(): { readonly runs: DurableRuns; readonly approvals: Gate["approvals"]; readonly work: Gate["work"] } {
  const cannotGoOn = (runId: string): Promise<never> => Promise.reject(new CallgateError("RUN_NOT_RESUMABLE", `Run ${runId} cannot go on: this gate suspends no run and takes none over`, { details: { runId } }));
  const refused = (id: string): Promise<never> => Promise.reject(new CallgateError("SIGNAL_REFUSED", `Nothing waits for ${id}: this gate suspends no run`));
  return {
    runs: { resume: cannotGoOn, cancel: cannotGoOn, rollback: cannotGoOn, signal: refused, resolve: refused, complete: refused },
    approvals: { list: () => Promise.resolve([]), answer: refused },
    work() {
      throw new CallgateError("USAGE", "This gate suspends no run and takes none over, so there is nothing to work off");
    },
  };
}
