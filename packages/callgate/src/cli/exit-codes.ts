import { CallgateError } from "@callgate/contract";
import type { CallError, RunResult } from "@callgate/contract";

/** What the command line ends with. Stable: scripts branch on these. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  denied: 3,
  auth: 4,
  approvalPending: 5,
  limit: 6,
  /** It completed, and that is not on record. */
  unrecorded: 7,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The exit code of a run. */
export function exitCodeOfRun(result: Pick<RunResult, "status" | "error" | "isUnrecorded">): ExitCode {
  switch (result.status) {
    case "completed":
      return result.isUnrecorded === true ? exitCodes.unrecorded : exitCodes.ok;
    case "suspended":
      return exitCodes.approvalPending;
    case "limit":
      return exitCodes.limit;
    case "cancelled":
      return exitCodes.interrupted;
    case "running":
    case "rejected":
    case "failed":
    case "crashed":
    case "diverged":
      return result.error === undefined ? exitCodes.failed : exitCodeOfError(result.error);
  }
}

/** The exit code of a call that did not end `ok`. */
export function exitCodeOfError(error: Pick<CallError, "code">): ExitCode {
  switch (error.code) {
    case "DENIED":
    case "APPROVAL_UNAVAILABLE":
      return exitCodes.denied;
    case "TOOL_TIMEOUT":
    case "LIMIT_EXCEEDED":
      return exitCodes.limit;
    case "CANCELLED":
      return exitCodes.interrupted;
    default:
      return exitCodes.failed;
  }
}

/** What a person mends in the configuration, in a tool file or on the command line. */
const setUpCodes: ReadonlySet<string> = new Set(["USAGE", "CONFIG_INVALID", "MOUNT_REFUSED", "NOT_TRUSTED", "TOOL_INVALID", "TOOL_DUPLICATE"]);

/** The exit code of a fault of the set-up. */
export function exitCodeOfFault(fault: unknown): ExitCode {
  if (CallgateError.is(fault) && fault.code === "NOT_APPROVER") return exitCodes.auth;
  if (CallgateError.is(fault) && fault.code === "PLAN_NOT_APPROVED") return exitCodes.denied;
  return CallgateError.is(fault) && setUpCodes.has(fault.code) ? exitCodes.usage : exitCodes.failed;
}
