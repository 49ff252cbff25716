import { describe, expect, test } from "vitest";
import { exitOf } from "./exit-code.ts";

const error = (code: string, details = {}) => ({ code, message: "", retryable: false, details });

describe("exitOf", () => {
  test.each([
    ["completed", undefined, { exitCode: 0, timedOut: false }],
    ["failed", error("EXIT_CODE", { exitCode: 3 }), { exitCode: 3, timedOut: false }],
    ["failed", error("EXIT_CODE", { exitCode: 139, signal: "SIGSEGV" }), { exitCode: 139, signal: "SIGSEGV", timedOut: false }],
    ["failed", error("EXIT_CODE"), { exitCode: 1, timedOut: false }],
    ["failed", error("PROGRAM_THREW"), { exitCode: 1, timedOut: false }],
    ["rejected", undefined, { exitCode: 1, timedOut: false }],
    ["limit", error("LIMIT_EXCEEDED", { limit: "wallMs" }), { exitCode: 124, timedOut: true }],
    ["limit", error("LIMIT_EXCEEDED", { limit: "cpuMs" }), { exitCode: 124, timedOut: true }],
    ["limit", error("LIMIT_EXCEEDED", { limit: "memoryMiB" }), { exitCode: 137, timedOut: false }],
    ["limit", error("LIMIT_EXCEEDED", { limit: "calls" }), { exitCode: 1, timedOut: false }],
    ["cancelled", error("CANCELLED"), { exitCode: 125, timedOut: false }],
    ["crashed", error("SANDBOX_CRASHED", { signal: "SIGKILL" }), { exitCode: 137, signal: "SIGKILL", timedOut: false }],
    ["crashed", error("SANDBOX_CRASHED", { missingProgram: "pwsh" }), { exitCode: 127, timedOut: false }],
    ["crashed", error("SANDBOX_CRASHED"), { exitCode: 126, timedOut: false }],
  ] as const)("%s %j", (status, told, expected) => {
    expect(exitOf({ status, ...(told === undefined ? {} : { error: told }) })).toEqual(expected);
  });
});
