import { afterEach, expect, test } from "vitest";
import { createLikeFailures } from "./like-failures.ts";
import { createTestGate } from "./fixtures/test-gate.ts";
import type { TestGate } from "./fixtures/test-gate.ts";

const open: TestGate[] = [];
afterEach(async () => {
  for (const { gate } of open.splice(0)) await gate.close();
});

test("failures of one tool with one code count in a row: a good call or another code begins anew, a cancelled one says nothing", () => {
  const failures = createLikeFailures(3);
  const end = (tool: string, code?: string) => failures.note({ tool, outcome: code === undefined ? "ok" : code === "CANCELLED" ? "cancelled" : "failed", error: code === undefined ? undefined : { code } });
  const told = [end("a", "X"), end("a", "X"), end("b", "X"), end("a"), end("a", "X"), end("a", "Y"), end("a", "X"), end("a", "X"), end("a", "CANCELLED"), end("b", "X"), end("b", "X"), end("a", "X")];
  expect(told.slice(0, 10)).toEqual(Array(10).fill(undefined));
  expect(told.slice(10)).toEqual([{ kind: "failed", tool: "b", code: "X" }, { kind: "failed", tool: "a", code: "X" }]);
});

test("denials count in all, of whatever tool, and no good call takes one back", () => {
  const failures = createLikeFailures(3);
  const end = (tool: string, outcome: "ok" | "denied") => failures.note({ tool, outcome, error: outcome === "ok" ? undefined : { code: "DENIED" } });
  // What a person left out of a plan counts for nothing.
  for (let count = 0; count < 5; count += 1) expect(failures.note({ tool: "a", outcome: "denied", error: { code: "PLAN_DROPPED" } })).toBeUndefined();
  expect([end("a", "denied"), end("a", "ok"), end("b", "denied"), end("b", "ok"), end("c", "denied")]).toEqual([undefined, undefined, undefined, undefined, { kind: "denied" }]);
});

test("a program that goes on failing in the same way is ended with a code that says so, and what it failed with", async () => {
  let calls = 0;
  const made = await createTestGate([{ name: "flaky", handler: () => { calls += 1; throw new Error("down"); } }]);
  open.push(made);
  const result = await made.gate.run("for (;;) { try { await tools.t.flaky({}); } catch {} }", { limits: { likeFailures: 5 } });
  expect(result).toMatchObject({ status: "limit", error: { code: "LIMIT_EXCEEDED", details: { limit: "likeFailures", limitValue: 5 }, message: expect.stringMatching(/t\.flaky failed 5 times in a row with TOOL_FAILED/) as string } });
  expect([calls, result.calls.length]).toEqual([5, 5]);
});
