import type { Approver } from "@callgate/contract";

/** Asks like another, until `leave` aborts: what nobody has answered by then stays open, and can be answered elsewhere. */
export function leavingApprover(approver: Approver, leave: AbortSignal): Approver {
  return {
    async ask(question, signal) {
      if (leave.aborted) return { kind: "pending" };
      try {
        return await approver.ask(question, AbortSignal.any([signal, leave]));
      } catch (fault) {
        if (leave.aborted && !signal.aborted) return { kind: "pending" };
        throw fault;
      }
    },
  };
}
