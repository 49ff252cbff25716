import type { ApprovalAnswer, ApprovalQuestion } from "@callgate/contract";
import { createGuestChecker, createProcessDriver, createUnsafeLocalLauncher } from "@callgate/sandbox-process";
import { createTypeScriptChecker } from "@callgate/check-typescript";
import { afterEach, describe, expect, test } from "vitest";
import { callbackApprover, keepingApprover } from "../approval/approvers.ts";
import { createTestGate } from "./fixtures/test-gate.ts";
import type { TestGate } from "./fixtures/test-gate.ts";

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
    const { gate, asked } = await reviewed(({ tool }) => (tool === "program" ? approve() : { kind: "denied", by: "ann" }), { policy: { version: "1", decide: () => ({ kind: "ask", ruleId: "all", reason: "Everything asks" }), visible: () => true } as never });
    const result = await gate.run(`import { t } from "tools";\neval("1");\nawait t.act({});\nreturn 1;`);
    expect(asked.map(({ tool }) => tool)).toEqual(["program", "t.act"]);
    expect(result).toMatchObject({ status: "failed", error: { code: "DENIED", tool: "t.act" } });
  });

  test("where nobody can be asked it is refused, with the setting that would let it run; a question is never kept for later", async () => {
    const nobody = await createTestGate([]);
    open.push(nobody);
    expect(await nobody.gate.run(program)).toMatchObject({ status: "rejected", error: { code: "APPROVAL_UNAVAILABLE", message: expect.stringMatching(/nobody can give one here.*"JS_EVAL": "note"/) } });
    const kept = await createTestGate([], { approver: keepingApprover() });
    open.push(kept);
    expect(await kept.gate.run(program)).toMatchObject({ status: "rejected", error: { code: "APPROVAL_UNAVAILABLE", message: expect.stringMatching(/not kept for later/) } });
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
    const { gate, asked } = await reviewed(approve, { redactor: { record: () => { throw new Error("unused"); }, summary: () => null, text: (text) => text.replaceAll("hunter2", "[secret]") } });
    await gate.run("eval('\"hunter2\"');\nreturn 1;").catch(() => undefined);
    expect(JSON.stringify(asked)).not.toContain("hunter2");
    expect(JSON.stringify(asked)).toContain("[secret]");
  });
});
