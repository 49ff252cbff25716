import type { RunRecord, RunStatus } from "@callgate/contract";

/** How a run stands, as it follows its name in a sentence. */
const standings: Readonly<Record<RunStatus, string>> = {
  running: "is running",
  suspended: "is suspended",
  completed: "has completed",
  rejected: "was refused by the check",
  failed: "has failed",
  limit: "was ended at a limit",
  crashed: "ended with its process or sandbox",
  cancelled: "was cancelled",
  diverged: "has diverged from its record",
};

export function standingOf({ status, isLost }: Pick<RunRecord, "status" | "isLost">): string {
  return isLost === true ? "has lost its process" : standings[status];
}

/** Whether it has not ended: somebody drives it, it waits, or it can be taken over. */
export function isOpen({ status, isLost }: Pick<RunRecord, "status" | "isLost">): boolean {
  return status === "running" || status === "suspended" || isLost === true;
}
