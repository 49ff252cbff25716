import { localPrincipal } from "@callgate/contract";
import type { ApprovalAnswer, ApprovalQuestion, Policy } from "@callgate/contract";
import { createGuestChecker, createProcessDriver, createUnsafeLocalLauncher } from "@callgate/sandbox-process";
import { createTypeScriptChecker } from "@callgate/check-typescript";
import { testPolicy } from "@callgate/testkit";
import { afterEach, describe, expect, test } from "vitest";
import { approvedVersionText } from "./approved-version.ts";
import { callbackApprover, keepingApprover } from "../approval/approvers.ts";
import { createTestGate } from "./fixtures/test-gate.ts";
import type { TestGate } from "./fixtures/test-gate.ts";
import { reachText } from "./program-reach.ts";

const open: TestGate[] = [];
afterEach(async () => {
  for (const { gate } of open.splice(0)) await gate.close();
});

const program = "const n = eval('20 + 22') as number;\nreturn n;";

/** A gate whose person answers as told, and what that person was asked. */
async function reviewed(answer: (question: ApprovalQuestion) => ApprovalAnswer | Promise<ApprovalAnswer>, options: Parameters<typeof createTestGate>[1] = {}): Promise<TestGate & { readonly asked: ApprovalQuestion[] }> {
  const asked: ApprovalQuestion[] = [];
  const approver = callbackApprover((question) => (asked.push(question), answer(question)));
  let called = 0;
  const made = await createTestGate([{ name: "act", effect: "write", handler: () => (called += 1) }], { approver, ...options });
  open.push(made);
  return { ...made, asked };
}

const approve = (): ApprovalAnswer => ({ kind: "approved", by: "ann" });

describe("review of a program", () => {
  test("a person is asked before it runs, and sees rule, place, line and program", async () => {
    const { gate, asked, events } = await reviewed(approve);
    expect(await gate.run(program)).toMatchObject({ status: "completed", value: { value: 42 } });
    expect(asked).toMatchObject([{ tool: "program", isReview: true, ruleId: "JS_EVAL", reason: expect.stringMatching(/^JS_EVAL at 1:11: eval and Function run text/), argsSummary: { language: "typescript", findings: [{ rule: "JS_EVAL", line: 1, column: 11, excerpt: "const n = eval('20 + 22') as number;" }], program } }]);
    expect(events.map(({ kind }) => kind).filter((kind) => /approval|checked|ended/.test(kind))).toEqual(["approval-asked", "approval-answered", "run-checked", "run-ended"]);
  });

  test("a denial ends the run as rejected with DENIED, nothing of it happened, and the record says who", async () => {
    const { gate, asked } = await reviewed(() => ({ kind: "denied", by: "ann", reason: "too clever" }));
    const result = await gate.run(`import { t } from "tools";\nawait t.act({});\n${program}`);
    expect(result).toMatchObject({ status: "rejected", calls: [], error: { code: "DENIED", retryable: false, line: 3, message: expect.stringMatching(/JS_EVAL in line 3.*ann refused it: too clever\. Nothing happened\. Do not send it again/), details: { rules: ["JS_EVAL"] } } });
    expect(asked).toHaveLength(1);
    const shown = await gate.runs.show(result.runId);
    expect(shown?.entries.find(({ kind }) => kind === "checked")).toMatchObject({ ok: false, review: { ruleIds: ["JS_EVAL"], approved: false, by: "ann", reason: "too clever" } });
    expect(shown?.entries.some(({ kind }) => kind === "call-issued")).toBe(false);
  });

  test("an approval is on record, and is good for one run of one text", async () => {
    const { gate, asked } = await reviewed(approve);
    const { runId } = await gate.run(program);
    expect((await gate.runs.show(runId))?.entries.find(({ kind }) => kind === "checked")).toMatchObject({ ok: true, review: { approved: true, by: "ann" } });
    await gate.run(program);
    await gate.run(program.replace("20", "21"));
    expect(new Set(asked.map(({ approvalId }) => approvalId)).size).toBe(3);
  });

  test("it does not answer the calls of the program", async () => {
    const { gate, asked } = await reviewed(({ tool }) => (tool === "program" ? approve() : { kind: "denied", by: "ann" }), { policy: testPolicy(() => "ask") });
    const result = await gate.run(`import { t } from "tools";\neval("1");\nawait t.act({});\nreturn 1;`);
    expect(asked.map(({ tool }) => tool)).toEqual(["program", "t.act"]);
    expect(result).toMatchObject({ status: "failed", error: { code: "DENIED", tool: "t.act" } });
  });

  test("where nobody can be asked it is refused, with the setting that would let it run", async () => {
    const nobody = await createTestGate([]);
    open.push(nobody);
    expect(await nobody.gate.run(program)).toMatchObject({ status: "rejected", error: { code: "APPROVAL_UNAVAILABLE", message: expect.stringMatching(/nobody can give one here.*"JS_EVAL": "note"/) } });
    expect(await nobody.gate.approvals.list()).toEqual([]);
  });

  test("a cancel while a person thinks is a cancelled run", async () => {
    const stop = new AbortController();
    const { gate } = await reviewed(() => (stop.abort(), new Promise<ApprovalAnswer>(() => undefined)));
    expect(await gate.run(program, { signal: stop.signal })).toMatchObject({ status: "cancelled", calls: [] });
  });

  test("rules decide: noted and off ask nobody, denied asks nobody and does not run, a check asks nobody", async () => {
    for (const action of ["note", "off"] as const) {
      const { gate, asked } = await reviewed(approve, { scan: { JS_EVAL: action } });
      expect([(await gate.run(program)).status, asked.length]).toEqual(["completed", 0]);
    }
    const { gate, asked } = await reviewed(approve, { scan: { JS_EVAL: "deny" } });
    expect([(await gate.run(program)).status, asked.length]).toEqual(["rejected", 0]);
    const other = await reviewed(approve);
    expect([(await other.gate.check(program)).diagnostics.map(({ code, review }) => [code, review]), other.asked.length]).toEqual([[["JS_EVAL", true]], 0]);
  });

  test.each([
    ["os.system", "import os\nos.system('true')", "PY_OS_SYSTEM"],
    ["shell=True", "import subprocess\nsubprocess.run('true', shell=True)", "PY_SHELL_TRUE"],
    ["__import__", "__import__('os')", "PY_DUNDER_IMPORT"],
  ])("Python: %s is denied by name, whoever would approve it", async (_name, text, rule) => {
    const { gate, asked } = await reviewed(approve, { checkers: [createTypeScriptChecker(), createGuestChecker("python")], drivers: [createProcessDriver({ launcher: createUnsafeLocalLauncher() })] });
    expect(await gate.run(text, { language: "python" })).toMatchObject({ status: "rejected", diagnostics: expect.arrayContaining([expect.objectContaining({ severity: "error", code: rule })]) as unknown });
    expect(asked).toEqual([]);
  });

  test("secrets of the process are not shown to who reviews", async () => {
    const { gate, asked } = await reviewed(approve, { redactor: { record: () => { throw new Error("unused"); }, summary: () => null, whole: () => null, text: (text) => text.replaceAll("hunter2", "[secret]"), output: (text) => text.replaceAll("hunter2", "[secret]") } });
    await gate.run("eval('\"hunter2\"');\nreturn 1;").catch(() => undefined);
    expect(JSON.stringify(asked)).not.toContain("hunter2");
    expect(JSON.stringify(asked)).toContain("[secret]");
  });
});

describe("review of a program that is answered later", () => {
  const text = `import { t } from "tools";\nconst n = eval("20 + 22") as number;\nawait t.act({});\nreturn n;`;

  /** A gate that keeps its questions, and how often its tool was called. */
  async function keeping(options: Parameters<typeof createTestGate>[1] = {}): Promise<TestGate & { readonly calls: () => number }> {
    let called = 0;
    const made = await createTestGate([{ name: "act", effect: "write", handler: () => (called += 1) }], { approver: keepingApprover(), defaults: { principal: { tenant: "local", user: "ann", roles: [], claims: {} }, suspendAfterMs: 0 }, ...options });
    open.push(made);
    return { ...made, calls: () => called };
  }
  const questionOf = async ({ gate }: TestGate): Promise<ApprovalQuestion> => {
    const pending = await gate.approvals.list();
    expect(pending).toHaveLength(1);
    return pending[0]?.question ?? expect.fail("no question");
  };

  test("the run is suspended with the question; approved, it runs exactly once, whoever takes it up and however often", async () => {
    const one = await keeping();
    const first = await one.gate.run(text);
    expect(first).toMatchObject({ status: "suspended", calls: [], waits: [{ kind: "approval", question: { isReview: true, tool: "program" } }], notices: [expect.stringMatching(/^Waits for a person to review the program \(JS_EVAL at 2:11.*callgate approvals approve apr_/), expect.stringContaining(`callgate runs resume ${first.runId}`)] });
    expect(one.calls()).toBe(0);
    const question = await questionOf(one);
    expect(question).toMatchObject({ runId: first.runId, ruleId: "JS_EVAL", argsSummary: { program: text } });
    // Not answered yet: it waits on, with the same question.
    expect(await one.gate.runs.resume(first.runId, { suspendAfterMs: 0 })).toMatchObject({ status: "suspended", waits: [{ question: { approvalId: question.approvalId } }] });
    expect(await one.gate.approvals.answer(question.approvalId, { approved: true, by: "bob" })).toEqual({ known: false, approved: true });
    expect(await one.gate.approvals.answer(question.approvalId, { approved: false, by: "eve" })).toEqual({ known: true, approved: true });
    const both = await Promise.all([one.gate.runs.resume(first.runId), one.gate.runs.resume(first.runId)]);
    for (const result of [...both, await one.gate.runs.resume(first.runId)]) expect(result).toMatchObject({ status: "completed", value: { value: 42 } });
    expect(one.calls()).toBe(1);
    expect((await one.gate.runs.show(first.runId))?.entries.filter(({ kind }) => kind === "checked")).toMatchObject([{ ok: true, review: { approvalId: question.approvalId, approved: true, by: "bob" } }]);
    expect(await one.gate.approvals.list()).toEqual([]);
    expect(one.events.map(({ kind }) => kind).filter((kind) => /approval|checked|suspended|ended/.test(kind))).toEqual(["approval-asked", "run-suspended", "run-suspended", "approval-refused", "approval-answered", "run-checked", "call-ended", "run-ended"]);
  });

  test.each<[string, string, string | RegExp, "query" | "execute"]>([
    ["the tools it names, the most dangerous first", `import { t } from "tools"; await t.look({}); await t.act({}); await t.drop({});`, "t.drop (DESTROYS data), t.act (changes data), t.look (reads)", "execute"],
    ["none", "return 1", "no tool", "execute"],
    ["any, where it chooses them while it runs", program, /^any tool its caller may call, .*: 1 that DESTROYS data, 1 that changes data, 1 that reads$/, "execute"],
    ["reads alone, in the lane of reads", program, /: 1 that reads$/, "query"],
  ])("the question tells what it can call: %s", async (_what, asking, expected, lane) => {
    const made = await createTestGate([{ name: "look", handler: () => 1 }, { name: "act", effect: "write", handler: () => 1 }, { name: "drop", effect: "destructive", handler: () => 1 }], { approver: keepingApprover(), defaults: { suspendAfterMs: 0 }, policy: { ...testPolicy(), decideRun: () => ({ kind: "ask", ruleId: "look", reason: "Programs are looked at" }) } });
    open.push(made);
    await made.gate.run(asking, { lane });
    const question = await questionOf(made);
    expect(reachText(question.argsSummary)).toMatch(expected instanceof RegExp ? expected : new RegExp(`^${expected.replaceAll(/[().]/g, "\\$&")}$`));
  });

  test("denied, it ends as rejected and nothing of it happened", async () => {
    const one = await keeping();
    const { runId } = await one.gate.run(text);
    await one.gate.approvals.answer((await questionOf(one)).approvalId, { approved: false, by: "bob", reason: "too clever" });
    expect(await one.gate.runs.resume(runId)).toMatchObject({ status: "rejected", calls: [], error: { code: "DENIED", message: expect.stringMatching(/bob refused it: too clever/), line: 2 } });
    expect(one.calls()).toBe(0);
    expect((await one.gate.runs.show(runId))?.run.status).toBe("rejected");
  });

  test("an answer that comes while the run still waits here is heard here, and nothing is suspended", async () => {
    const one = await keeping({ defaults: { principal: { tenant: "local", user: "ann", roles: [], claims: {} }, suspendAfterMs: Number.POSITIVE_INFINITY } });
    const asked = Promise.withResolvers<string>();
    one.gate.onEvent((event) => void (event.kind === "approval-asked" && asked.resolve(event.question.approvalId)));
    const running = one.gate.run(text);
    await one.gate.approvals.answer(await asked.promise, { approved: true, by: "bob" });
    expect(await running).toMatchObject({ status: "completed", value: { value: 42 } });
    expect(one.events.some(({ kind }) => kind === "run-suspended")).toBe(false);
  });

  test("cancelled while it waits, it never runs", async () => {
    const one = await keeping();
    const { runId } = await one.gate.run(text);
    expect(await one.gate.runs.cancel(runId)).toMatchObject({ status: "cancelled", calls: [] });
    await expect(one.gate.runs.resume(runId)).resolves.toMatchObject({ status: "cancelled" });
    expect([one.calls(), await one.gate.approvals.list()]).toEqual([0, []]);
  });

  test("the policy changed since: the answer was to another question, and it does not run", async () => {
    const first = await keeping();
    const { runId } = await first.gate.run(text);
    await first.gate.approvals.answer((await questionOf(first)).approvalId, { approved: true, by: "bob" });
    const second = await keeping({ wrapJournal: () => first.journal, policy: testPolicy(undefined, "changed") });
    expect(await second.gate.runs.resume(runId)).toMatchObject({ status: "rejected", error: { code: "DENIED", message: expect.stringContaining("the policy") } });
    expect([first.calls(), second.calls()]).toEqual([0, 0]);
  });

  test("of a question that cannot be written down nobody is told, and the program does not run", async () => {
    const one = await keeping({ wrapJournal: (journal) => ({ ...journal, append: (lease, entries, durability) => (entries.some(({ kind }) => kind === "approval-asked") ? Promise.reject(new Error("the disk is full")) : journal.append(lease, entries, durability)) }) });
    expect(await one.gate.run(text)).toMatchObject({ status: "rejected", error: { code: "APPROVAL_UNAVAILABLE", message: expect.stringContaining("the disk is full") } });
    expect(one.events.some(({ kind }) => kind === "approval-asked")).toBe(false);
  });

  test("a program of a real process waits as well, and runs once", async () => {
    const one = await keeping({ checkers: [createTypeScriptChecker(), createGuestChecker("python")], drivers: [createProcessDriver({ launcher: createUnsafeLocalLauncher() })] });
    const { runId, status } = await one.gate.run("from tools import t\nt.act()\neval('41 + 1')", { language: "python" });
    expect(status).toBe("suspended");
    await one.gate.approvals.answer((await questionOf(one)).approvalId, { approved: true, by: "bob" });
    expect(await one.gate.runs.resume(runId)).toMatchObject({ status: "completed", value: { value: 42 } });
    expect(one.calls()).toBe(1);
  });

  test("a block of a session cannot wait: it is refused with what to do", async () => {
    const one = await keeping({ checkers: [createTypeScriptChecker(), createGuestChecker("python")], drivers: [createProcessDriver({ launcher: createUnsafeLocalLauncher() })] });
    const { sessionId } = one.gate.sessions.open({ language: "python" });
    expect(await one.gate.run("eval('1')", { session: sessionId })).toMatchObject({ status: "rejected", error: { code: "APPROVAL_UNAVAILABLE", message: expect.stringContaining("A block of a session cannot wait") } });
    expect(await one.gate.run("1 + 1", { session: sessionId })).toMatchObject({ status: "completed" });
  });
});

describe("versions of a program under review", () => {
  const text = (amount: number): string => `import { t } from "tools";\nconst n = eval("20 + 22") as number;\nawait t.act({ amount: ${amount} });\nreturn n;`;
  const previousOf = ({ argsSummary }: ApprovalQuestion): unknown => (argsSummary as { readonly previous: unknown }).previous;

  test("who looks sees what differs from the last one that was approved, until that is erased", async () => {
    const { gate, asked } = await reviewed(({ argsSummary }) => (JSON.stringify(argsSummary).includes("amount: 2") ? { kind: "denied", by: "ann" } : approve()));
    const first = await gate.run(text(1));
    await gate.run(text(2));
    await gate.run("const n = eval('1') as number;\nreturn [n, n + 1, n + 2, 'something else'].join();");
    await gate.run(text(3));
    expect(asked.map(previousOf)).toEqual([null, { runId: first.runId, by: "ann", startedAtMs: expect.any(Number) as number }, null, { runId: first.runId, by: "ann", startedAtMs: expect.any(Number) as number }]);
    const shown = await gate.approvals.show(asked[3]?.approvalId ?? "");
    expect(shown?.previous).toMatchObject({ runId: first.runId, by: "ann", diff: { addedLines: 1, removedLines: 1, text: expect.stringContaining("-await t.act({ amount: 1 });\n+await t.act({ amount: 3 });") as string } });
    expect(approvedVersionText(shown?.question ?? expect.fail(), shown?.previous)).toMatch(new RegExp(`^ann approved ${first.runId} of .* UTC; since then 1 line came and 1 line went$`));
    await gate.runs.erase(first.runId);
    const later = await gate.approvals.show(asked[3]?.approvalId ?? "");
    expect(later?.previous?.diff).toBeUndefined();
    expect(approvedVersionText(later?.question ?? expect.fail(), later?.previous)).toContain("cannot be told");
    expect(approvedVersionText(asked[0] ?? expect.fail(), undefined)).toContain("no version of it was approved");
  });

  test("of the same text not a line differs, and another user's approved program is no version of it", async () => {
    const { gate, asked } = await reviewed(approve);
    await gate.run(text(1), { principal: { ...localPrincipal, user: "bea" } });
    await gate.run(text(1));
    await gate.run(text(1));
    expect(asked.map((question) => previousOf(question) !== null)).toEqual([false, false, true]);
    const shown = await gate.approvals.show(asked[2]?.approvalId ?? "");
    expect(shown?.previous?.diff).toEqual({ text: "", addedLines: 0, removedLines: 0 });
  });
});

describe("what a policy knows of a program", () => {
  const claude = { ...localPrincipal, agent: "claude" };

  test("what the tools may do that it reaches, and whether its agent has completed anything yet, which is looked up only for a policy that looks at it", async () => {
    const seen: [readonly string[], boolean][] = [];
    const policy = (looksAtAgents: boolean): Policy => ({ ...testPolicy(), looksAtAgents, decideRun: ({ reach, newAgent }) => { seen.push([reach, newAgent]); return { kind: "allow", ruleId: "test" }; } });
    const tools = [{ name: "look", handler: () => 1 }, { name: "drop", effect: "destructive" as const, handler: () => 1 }];
    const made = await createTestGate(tools, { policy: policy(true), scan: { JS_EVAL: "off" } });
    open.push(made);
    const { gate } = made;
    await gate.run("throw new Error('no')", { principal: claude });
    await gate.call("t.look", {}, { principal: claude });
    await gate.run(`import { t } from "tools"; await t.look({}); await t.drop({});`, { principal: claude });
    await gate.run(`import { t } from "tools"; await t.look({});`, { principal: claude });
    await gate.run("eval('1')", { principal: { ...claude, agent: "other" }, lane: "query" });
    await gate.run("return 1", { principal: { ...claude, tenant: "rival" } });
    await gate.run("return 1");
    expect(seen).toEqual([[[], true], [["destructive", "read"], true], [["read"], false], [["read"], true], [[], true], [[], false]]);
    seen.length = 0;
    const other = await createTestGate(tools, { policy: policy(false), wrapJournal: (journal) => ({ ...journal, listRuns: () => expect.fail("looked up") }) });
    open.push(other);
    await other.gate.run("return 1", { principal: claude });
    expect(seen).toEqual([[[], false]]);
  });

  test("where the journal cannot be read, an agent counts as new", async () => {
    let isNew: boolean | undefined;
    const made = await createTestGate([], { policy: { ...testPolicy(), looksAtAgents: true, decideRun: ({ newAgent }) => { isNew = newAgent; return { kind: "allow", ruleId: "test" }; } }, wrapJournal: (journal) => ({ ...journal, listRuns: () => Promise.reject(new Error("the disk is gone")) }) });
    open.push(made);
    await made.gate.run("return 1", { principal: claude });
    expect(isNew).toBe(true);
  });
});
