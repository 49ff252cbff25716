import { afterEach, describe, expect, test } from "vitest";
import { callbackApprover, keepingApprover } from "../approval/approvers.ts";
import { systemClock } from "../lib/system-clock.ts";
import { createRulesPolicy } from "../policy/rules-policy.ts";
import { memoryJournal } from "./fixtures/memory-journal.ts";
import { createTestGate } from "./fixtures/test-gate.ts";
import type { TestGate, TestTool } from "./fixtures/test-gate.ts";

const open: TestGate[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map(({ gate }) => gate.close()));
});

function world() {
  const journal = memoryJournal(systemClock());
  const done: unknown[] = [];
  const tools: readonly TestTool[] = [
    { name: "read", handler: async (args) => await Promise.resolve(args) },
    { name: "pay", effect: "write", handler: async (args, { idempotencyKey }) => { done.push([args, idempotencyKey]); return await Promise.resolve({ paid: args }); } },
  ];
  const opened = async (options: Parameters<typeof createTestGate>[1] = {}, given = tools) => {
    const t = await createTestGate(given, { approver: keepingApprover(), policy: createRulesPolicy([{ allow: "t.read" }, { ask: "t.pay" }]), defaults: { suspendAfterMs: 20 }, ...options, wrapJournal: () => journal });
    open.push(t);
    return t.gate;
  };
  return { journal, done, tools, opened };
}

const program = `
console.log("before");
text("said once");
const a: any = await tools.t.read({ n: 1 });
const paid: any = await tools.t.pay({ amount: a.n });
console.log("after");
return { paid, at: Date.now() > 0 }`;

describe("runs.resume", () => {
  test("code-mode 3: a question survives the process; answered twice at once from another one, the effect happens once and both get the same", async () => {
    const { journal, done, opened } = world();
    const first = await opened();
    const waiting = await first.run(program);
    expect([waiting.status, waiting.waits?.map(({ kind }) => kind)]).toEqual(["suspended", ["approval"]]);
    expect(done).toEqual([]);
    await first.close();

    const [second, third] = [await opened(), await opened()];
    const [pending] = await second.approvals.list();
    const { approvalId = "" } = pending?.question ?? {};
    expect(await second.approvals.answer(approvalId, { approved: true, by: "ann" })).toEqual({ known: false, approved: true });
    expect(await third.approvals.answer(approvalId, { approved: false, by: "bob" })).toEqual({ known: true, approved: true });
    const [one, two] = await Promise.all([second.runs.resume(waiting.runId), third.runs.resume(waiting.runId)]);
    expect([one.status, two.status]).toEqual(["completed", "completed"]);
    expect(one.value).toMatchObject({ value: { paid: { paid: { amount: 1 } }, at: true } });
    expect(two.value).toEqual(one.value);
    expect(done).toHaveLength(1);
    expect(one.console.map(({ text }) => text)).toEqual(["before", "after"]);
    expect(one.text).toEqual(["said once"]);
    const entries = journal.runs.get(waiting.runId)?.entries ?? [];
    expect(entries.filter(({ kind }) => kind === "text")).toHaveLength(1);
    expect(entries.flatMap((entry) => (entry.kind === "console" ? entry.entries : []))).toHaveLength(2);
    expect(await third.runs.resume(waiting.runId)).toMatchObject({ status: "completed", value: one.value });
  });
});
void callbackApprover;
