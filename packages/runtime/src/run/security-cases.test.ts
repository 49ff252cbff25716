// Cases of ../shared/cases/security.jsonl that the broker and the run hold together; each names its id.
import { localPrincipal } from "@callgate/contract";
import type { Gate } from "@callgate/contract";
import { testPolicy } from "@callgate/testkit";
import { afterEach, expect, test } from "vitest";
import { keepingApprover } from "../approval/approvers.ts";
import { createTestGate } from "./fixtures/test-gate.ts";

const open: Gate[] = [];
afterEach(async () => {
  for (const gate of open.splice(0)) await gate.close();
});

/** Payments ask, everything named `no` is denied, all else is allowed. */
async function world(more: Parameters<typeof createTestGate>[1] = {}) {
  const done: string[] = [];
  const act = (name: string, answer: unknown = null) => ({ name, effect: "write" as const, handler: (args: unknown) => { done.push(`${name} ${JSON.stringify(args)}`); return answer; } });
  const made = await createTestGate([act("pay"), act("log"), act("no_delete"), act("no_drop"), { name: "fetch", handler: () => "return tools.t.no_delete({ all: true }).then(() => 'deleted', (error) => error.code)" }], {
    policy: testPolicy((tool) => (tool.startsWith("t.no_") ? "deny" : tool === "t.pay" ? "ask" : "allow")),
    approver: keepingApprover(),
    defaults: { principal: { ...localPrincipal, user: "ann", agent: "claude" }, suspendAfterMs: 0 },
    scan: { JS_EVAL: "note" },
    ...more,
  });
  open.push(made.gate);
  return { ...made, done };
}

test("br-011: a program that swallows whatever a call throws is paused all the same, applies nothing, and sees nothing of it", async () => {
  const { gate, done } = await world();
  const run = await gate.run("let seen = 'nothing'; try { await tools.t.pay({ id: 1, amount: 5 }) } catch (error) { seen = error.code } finally { await tools.t.log({ seen }) } return 'done'");
  expect([run.status, done]).toEqual(["suspended", []]);
  const [asked] = await gate.approvals.list();
  await gate.approvals.answer(asked?.question.approvalId ?? "", { approved: false, by: "bea" });
  expect(await gate.runs.resume(run.runId)).toMatchObject({ status: "completed", value: { value: "done" } });
  expect(done).toEqual(['log {"seen":"DENIED"}']);
});

test("ag-006: code that came out of a tool has the rights of the program that runs it and no more, and that text was run is on record", async () => {
  const { gate, done } = await world();
  const run = await gate.run("const text = await tools.t.fetch({}); return await new Function('tools', text)(tools)", { language: "javascript" });
  expect(run).toMatchObject({ status: "completed", value: { value: "DENIED" } });
  expect(done).toEqual([]);
  expect((await gate.runs.show(run.runId))?.entries.find(({ kind }) => kind === "checked")).toMatchObject({ diagnostics: [{ code: "JS_EVAL", line: 1 }], reach: { tools: "*" } });
});

test("ag-009: who is denied and tries smaller parts, and another tool of the same effect, is ended", async () => {
  const { gate, done } = await world();
  const run = await gate.run("for (let part = 0; ; part++) for (const name of ['no_delete', 'no_drop']) { try { await tools.t[name]({ part }) } catch {} await tools.t.log({ part }) }", { language: "javascript", limits: { likeFailures: 10 } });
  expect(run).toMatchObject({ status: "limit", error: { code: "LIMIT_EXCEEDED", details: { limit: "likeFailures", limitValue: 10 }, message: expect.stringContaining("10 calls of the program were denied") as string } });
  expect(done.filter((one) => !one.startsWith("log"))).toEqual([]);
  expect(done).toHaveLength(9);
});
