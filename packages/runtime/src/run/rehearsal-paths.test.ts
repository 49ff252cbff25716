import { BackgroundJob } from "@callgate/contract";
import type { SourceTool } from "@callgate/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { keepingApprover } from "../approval/approvers.ts";
import { createDefaultPolicy } from "../policy/default-policy.ts";
import { plainChecker } from "./fixtures/plain-checker.ts";
import { createTestGate } from "./fixtures/test-gate.ts";
import type { TestGate, TestTool } from "./fixtures/test-gate.ts";

/** What reached code of a tool that may change something, in the order in which it did. */
const reached: string[] = [];
const reach = (name: string) => (): never => {
  reached.push(name);
  throw new Error("reached");
};

/** A write by each way in which calls come to a tool: once, again, later, by somebody else's word. */
const ways: Readonly<Record<string, Partial<SourceTool["tool"]>>> = {
  plain: {},
  destroys: { effect: "destructive" },
  retried: { retry: { retries: 3, minDelayMs: 1 } },
  repeatable: { idempotent: true, reconcile: () => { reached.push("reconcile"); return { kind: "unknown" }; } },
  keyed: { businessKey: () => "one" },
  cached: { cache: { ttlMs: 60_000 } },
  undone: { compensate: reach("compensate") },
  background: { handler: () => { reached.push("background"); return new BackgroundJob("token"); }, poll: reach("poll"), cancelJob: reach("cancelJob") },
  sends: { labels: ["external"] },
};
const tools: readonly TestTool[] = Object.entries(ways).map(([name, given]) => ({ name, effect: "write", timeoutMs: 1_000, handler: reach(name), ...given }));

let t: TestGate;
beforeAll(async () => {
  t = await createTestGate(tools, { checkers: [plainChecker()], policy: createDefaultPolicy(), approver: keepingApprover() });
});
afterAll(() => t.gate.close());

const program = `${Object.keys(ways).map((name) => `await tools.t.${name}({ a: 1 }); await tools.t.${name}({ a: 1 }); tools.t.${name}({ a: "floating" });`).join("\n")}
throw new Error("so that what was done would be undone");`;

test("a rehearsal reaches no code that may change something, whatever the way; nor does what can be done with its record", async () => {
  // Where a person allowed calls ahead: no use of it is taken.
  const grant = await t.gate.grants.add({ tool: "t.*", args: { "/a": { any: true } }, user: "local", maxUses: 100, expiresAtMs: Date.now() + 60_000, by: "ann" });
  const result = await t.gate.run(program, { rehearse: true, taskId: "again", onFailure: "compensate" });
  expect(result).toMatchObject({ status: "failed", error: { message: expect.stringContaining("would be undone") as unknown } });
  expect(result.calls).toHaveLength(Object.keys(ways).length * 3);
  expect(result.calls.every(({ effectStatus, simulated }) => effectStatus === "none" && simulated !== undefined)).toBe(true);
  expect(result.compensation).toBeUndefined();
  const { runId } = result;
  expect((await t.gate.runs.rollback(runId)).compensation).toEqual({ undone: [], remaining: [] });
  expect((await t.gate.runs.resume(runId)).status).toBe("failed");
  expect((await t.gate.runs.replay(runId)).divergence).toBeUndefined();
  expect(await t.journal.claim({ runId, leaseMs: 1_000 })).toBeUndefined();
  expect(await t.gate.jobs.list()).toEqual([]);
  expect(await t.gate.approvals.list()).toEqual([]);
  expect((await t.gate.grants.list()).find(({ grantId }) => grantId === grant.grantId)?.uses).toBe(0);
  expect(reached).toEqual([]);
});

test("the control: for real each of them is reached", async () => {
  for (const name of Object.keys(ways)) await t.gate.run(`await tools.t.${name}({ a: 1 }).catch(() => undefined);`, { suspendAfterMs: 1 });
  expect(reached).toEqual(expect.arrayContaining(Object.keys(ways)));
});
