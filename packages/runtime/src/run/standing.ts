import type { RunStatus } from "@callgate/contract";

/** How a run stands, as it follows its name in a sentence. */
const standings: Readonly<Record<RunStatus, string>> = {
  running: "is running",
  suspended: "is suspended",
  completed: "has completed",
  rejected: "was refused by the check",
  failed: "has failed",
  limit: "was ended at a limit",
  crashed: "was lost with its process or sandbox",
  cancelled: "was cancelled",
  diverged: "has diverged from its record",
};

export function standingOf(status: RunStatus): string {
  return standings[status];
}
