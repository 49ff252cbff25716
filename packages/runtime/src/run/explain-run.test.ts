import { localPrincipal, ToolError } from "@callgate/contract";
import type { JournalEntry, Policy, RunRecord } from "@callgate/contract";
import { issued, recorded, sampleRun, testPolicy } from "@callgate/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { callbackApprover } from "../approval/approvers.ts";
import { explainRun } from "./explain-run.ts";
import { createTestGate } from "./fixtures/test-gate.ts";

const headOnly = { status: "completed", endedAtMs: 1_900_000_004_000, error: undefined, tokens: undefined, resultNumber: undefined, callCount: 2, epoch: 1, waits: [], wakeAtMs: undefined } as const;

function texts(run: RunRecord, entries: readonly JournalEntry[]): readonly string[] {
  return explainRun(run, entries).sentences.map(({ text }) => text);
}

describe("explainRun", () => {
  test("tells what was asked, read, written, why, by whose approval, refused, undone and in doubt", async () => {
    const policy: Policy = {
      ...testPolicy(),
      decide: ({ tool }) => (tool === "t.pay" ? { kind: "ask", ruleId: "r-pay", reason: "money" } : tool === "t.drop" ? { kind: "deny", ruleId: "r-drop", reason: "never" } : { kind: "allow", ruleId: "r-rest" }),
    };
    const { gate } = await createTestGate(
      [
        { name: "find", handler: () => ({ id: 7 }) },
        { name: "pay", effect: "write", handler: () => "paid", compensate: () => undefined },
        { name: "drop", effect: "destructive", handler: () => "dropped" },
        { name: "mail", effect: "write", handler: () => { throw new ToolError({ code: "GONE", message: "the connection was lost" }); } },
      ],
      { policy, approver: callbackApprover(() => ({ kind: "approved", by: "carol" })), defaults: { principal: { ...localPrincipal, user: "ann", agent: "assistant" } } },
    );
    onTestFinished(() => gate.close());
    const { runId } = await gate.run(`import { t } from "tools"; await t.find({}); await t.find({}); await t.pay({ to: "bob@mail.example" }); try { await t.drop({}) } catch {} await t.mail({}); return 1`);
    const { sentences } = await gate.runs.explain(runId);
    const parts = (part: string): readonly string[] => sentences.filter((one) => one.part === part).map(({ text }) => text);
    expect(parts("asked")[0]).toMatch(/^On \d{4}-\d\d-\d\d \d\d:\d\d UTC assistant, on behalf of ann, ran a TypeScript program \(sha256:/);
    expect(parts("checked")[0]).toContain("t.find");
    expect(parts("read")).toEqual(["It read with t.find 2 times."]);
    expect(parts("wrote")[0]).toMatch(/^Call \d+: it called t\.pay with \{"to":"\[email hash:[0-9a-f]{16}\]"\}\. Rule r-pay asks a person, and carol allowed it \(question [^)]+\)\. The change took place\. The answer was "paid"\.$/);
    expect(parts("wrote")[1]).toContain("It ended failed (GONE: the connection was lost");
    expect(parts("wrote")[1]).toContain("Whether anything was changed is not known.");
    expect(parts("refused")).toEqual([expect.stringMatching(/^Call \d+: it wanted to call t\.drop with \{\}, and was not allowed to: rule r-drop refuses it \(never\)\. Nothing was changed\.$/)]);
    expect(parts("undone")).toEqual([expect.stringMatching(/^Call \d+: what t\.pay did in call \d+ was undone\.$/)]);
    expect(parts("doubt")).toEqual([expect.stringMatching(/^In doubt: whether t\.mail \(call \d+\) took effect\. Who knows can say so: callgate runs resolve /)]);
    expect(parts("ended")[0]).toMatch(/^It ended with an error after .*, with \d+ calls\. It says: GONE: the connection was lost/);
    expect(await gate.runs.explain(runId)).toEqual({ runId, sentences });
    await expect(gate.runs.explain("run_none")).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
    await expect(gate.runs.explain(runId, { principal: { ...localPrincipal, tenant: "rival" } })).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
  });

  test("tells of a lost process, and of what became of the calls it had under way", () => {
    const told = texts({ ...sampleRun("r1"), ...headOnly }, [
      issued(0, { callId: "r1.0" }),
      issued(1, { callId: "r1.1" }),
      { kind: "resumed", atMs: 4, epoch: 2, reason: "due", changes: [] },
      { kind: "resumed", atMs: 5, epoch: 3, reason: "taken_over", changes: [] },
      { kind: "call-resolved", atMs: 6, seq: 0, effectStatus: "done", how: "reconciled" },
      { kind: "call-resolved", atMs: 7, seq: 1, effectStatus: "none", how: "repeated" },
    ]);
    expect(told).toContain("Its process was lost once, and another one took it over from its record.");
    expect(told.filter((text) => text.includes("was not known then"))).toEqual([
      expect.stringMatching(/^Call 0: .* asked afterwards, the tool said that it had\.$/),
      expect.stringMatching(/^Call 1: .* it was performed again, which its tool declares harmless\.$/),
    ]);
  });

  test("tells of an edit, of a late word, of a grant, and of a policy that is not enforced", () => {
    const ended = (seq: number, effectStatus: "done" | "unknown"): JournalEntry => ({ kind: "call-ended", atMs: 5, seq, outcome: effectStatus === "done" ? "ok" : "timed_out", effectStatus, durationMs: 3, attempts: 1, cached: false, artifacts: [] });
    const told = texts({ ...sampleRun("r1"), ...headOnly }, [
      issued(0),
      { kind: "call-edited", atMs: 3, seq: 0, approvalId: "a1", by: "carol", args: recorded({ id: 1 }, { id: 1 }) },
      { kind: "call-decided", atMs: 4, seq: 0, decision: "allow", ruleId: "r1", answeredBy: "carol", grantId: "grant_1" },
      ended(0, "unknown"),
      { kind: "call-resolved", atMs: 6, seq: 0, effectStatus: "done", how: "person", by: "dora" },
      issued(1),
      { kind: "call-decided", atMs: 4, seq: 1, decision: "allow", ruleId: "r2", unobserved: "deny" },
      ended(1, "done"),
    ]);
    expect(told).toEqual([
      'On 2030-03-17 17:46 UTC assistant, on behalf of alice, ran a TypeScript program, as part of the task "task-1".',
      'Call c0: it called crm.update with "summary". carol changed this to {"id":1}. Rule r1 asks a person, and carol had allowed such calls ahead (grant grant_1). It ended timed out. The change took place. dora said so later.',
      'Call c1: it called crm.update with "summary". It was let through because the policy is not enforced; rule r2 would have refused it. The change took place.',
      "It ended as it was meant to after 4 s, with 2 calls.",
    ]);
  });

  test("a run under way and one that never began say so", () => {
    expect(texts({ ...sampleRun("r1"), ...headOnly, status: "running", callCount: 0 }, []).at(-1)).toBe("It is still running; so far it made no calls.");
    const rejected: JournalEntry = { kind: "checked", atMs: 1, ok: false, diagnostics: [{ severity: "error", code: "TS1", message: "no", line: 1, column: 1 }], repairs: [], durationMs: 1 };
    expect(texts({ ...sampleRun("r1"), ...headOnly, status: "rejected", callCount: 0 }, [rejected])[1]).toBe("The program was refused before anything of it ran: the check found 1 fault.");
  });
});
