import { CallgateError } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { exitCodeOfError, exitCodeOfFault, exitCodeOfRun, exitCodes } from "./exit-codes.ts";

describe("exitCodes", () => {
  // Scripts branch on these numbers. If this test is red, the numbers are right and the change is wrong.
  test("are pinned", () => {
    expect(exitCodes).toEqual({ ok: 0, failed: 1, usage: 2, denied: 3, auth: 4, approvalPending: 5, limit: 6, unrecorded: 7, interrupted: 130 });
  });
});

describe("exitCodeOfRun", () => {
  const error = (code: string) => ({ code, message: "", retryable: false });
  test.each([
    [{ status: "completed" }, 0],
    [{ status: "rejected" }, 1],
    [{ status: "failed", error: error("TOOL_FAILED") }, 1],
    [{ status: "failed", error: error("DENIED") }, 3],
    [{ status: "failed", error: error("APPROVAL_UNAVAILABLE") }, 3],
    [{ status: "suspended" }, 5],
    [{ status: "limit" }, 6],
    [{ status: "failed", error: error("TOOL_TIMEOUT") }, 6],
    [{ status: "crashed" }, 1],
    [{ status: "completed", isUnrecorded: true }, 7],
    [{ status: "cancelled" }, 130],
    [{ status: "diverged" }, 1],
  ] as const)("%j is %d", (result, code) => expect(exitCodeOfRun(result)).toBe(code));
});

describe("exitCodeOfError", () => {
  test("a tool's own code is a failure", () => expect(exitCodeOfError({ code: "NOTE_NOT_FOUND" })).toBe(1));
});

describe("exitCodeOfFault", () => {
  test("wrong configuration is a matter of usage", () => {
    expect(exitCodeOfFault(new CallgateError("CONFIG_INVALID", "x"))).toBe(2);
    expect(exitCodeOfFault(new CallgateError("TOOL_DUPLICATE", "x"))).toBe(2);
    expect(exitCodeOfFault(new CallgateError("TOOL_INVALID", "x"))).toBe(2);
    expect(exitCodeOfFault(new CallgateError("JOURNAL_LOCKED", "x"))).toBe(1);
    expect(exitCodeOfFault(new Error("x"))).toBe(1);
  });
});
