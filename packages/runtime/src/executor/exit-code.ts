import { constants } from "node:os";
import type { RunResult } from "@callgate/contract";

/** Exit codes that are no program's own; those of signals are 128 and the signal's number, as in a shell. */
export const blockExitCodes = { ok: 0, failed: 1, timedOut: 124, cancelled: 125, notExecuted: 126, notFound: 127, outOfMemory: 137 } as const;

export interface BlockExit {
  readonly exitCode: number;
  readonly signal?: string;
  readonly timedOut: boolean;
}

/** How a run ended, as those who start programs say it. */
export function exitOf({ status, error }: Pick<RunResult, "status" | "error">): BlockExit {
  const details = error?.details ?? {};
  const signal = typeof details["signal"] === "string" ? details["signal"] : undefined;
  const plain = (exitCode: number): BlockExit => ({ exitCode, ...(signal === undefined ? {} : { signal }), timedOut: false });
  switch (status) {
    case "completed":
      return plain(blockExitCodes.ok);
    case "failed":
      return plain(error?.code === "EXIT_CODE" && typeof details["exitCode"] === "number" ? details["exitCode"] : blockExitCodes.failed);
    case "rejected":
      return plain(blockExitCodes.failed);
    case "limit":
      if (details["limit"] === "wallMs" || details["limit"] === "cpuMs") return { exitCode: blockExitCodes.timedOut, timedOut: true };
      return plain(details["limit"] === "memoryMiB" ? blockExitCodes.outOfMemory : blockExitCodes.failed);
    case "cancelled":
      return plain(blockExitCodes.cancelled);
    case "crashed":
      if (signal !== undefined) return plain(128 + ((constants.signals as Readonly<Record<string, number>>)[signal] ?? 0));
      return plain(details["missingProgram"] === undefined ? blockExitCodes.notExecuted : blockExitCodes.notFound);
    case "suspended":
    case "running":
    case "diverged":
      return plain(blockExitCodes.notExecuted);
  }
}
