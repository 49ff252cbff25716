import { localPrincipal } from "@callgate/contract";
import type { AuditRow, AuditRowFilter, Journal, JournalEntry, Policy, RunRecord } from "@callgate/contract";
import { issued, recorded, sampleRun, testPolicy } from "@callgate/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { callbackApprover } from "../approval/approvers.ts";
import { auditRowsOf } from "./audit-rows.ts";
import { createGateAudit } from "./gate-audit.ts";
import { createTestGate } from "./fixtures/test-gate.ts";

const principal = { ...localPrincipal, tenant: "acme" };
const headOnly = { status: "completed", endedAtMs: 1_900_000_000_500, error: undefined, tokens: undefined, resultNumber: undefined, callCount: 1, epoch: 1, waits: [], wakeAtMs: undefined } as const;

function runRecord(runId: string, changes: Partial<RunRecord> = {}): RunRecord {
  return { ...sampleRun(runId), ...headOnly, ...changes };
}

async function listed(rows: AsyncIterable<AuditRow>): Promise<readonly AuditRow[]> {
  const all: AuditRow[] = [];
  for await (const row of rows) all.push(row);
  return all;
}

describe("the audit trail", () => {
  test("tells of each call who, for whom, what, why, by whose answer, and what became of it", async () => {
    const policy: Policy = {
      ...testPolicy(),
      decide: ({ tool }) => (tool === "t.pay" ? { kind: "ask", ruleId: "r-pay", reason: "money" } : tool === "t.drop" ? { kind: "deny", ruleId: "r-drop", reason: "never" } : { kind: "allow", ruleId: "r-read" }),
    };
    const tools = [
      { name: "find", handler: () => ({ mail: "ann@mail.example", id: 7 }) },
      { name: "pay", effect: "write", handler: () => "paid" },
      { name: "drop", effect: "destructive", handler: () => "dropped" },
    ] as const;
    const { gate } = await createTestGate(tools, { policy, approver: callbackApprover(() => Promise.resolve({ kind: "approved", by: "carol" })), defaults: { principal: { ...localPrincipal, user: "ann", agent: "assistant" } } });
    onTestFinished(() => gate.close());
    const { runId } = await gate.run(`import { t } from "tools"; await t.find({}); await t.pay({ to: "bob@mail.example" }); try { await t.drop({}) } catch {} return 1`);
    const rows = await listed(gate.audit.rows());
    expect(rows.map(({ tool, outcome, effectStatus, decision }) => [tool, outcome, effectStatus, decision?.kind, decision?.ruleId])).toEqual([
      ["t.drop", "denied", "none", "deny", "r-drop"],
      ["t.pay", "ok", "done", "allow", "r-pay"],
      ["t.find", "ok", "none", "allow", "r-read"],
    ]);
    const digest = expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string;
    expect(rows[1]).toMatchObject({
      runId,
      kind: "call",
      principal: { tenant: "local", user: "ann", agent: "assistant" },
      programDigest: digest,
      definitionDigest: digest,
      args: { digest, summary: { to: expect.stringMatching(/^\[email hash:/) as string } },
      approval: { approvalId: expect.any(String) as string, by: "carol" },
      result: { digest, summary: "paid" },
      attempts: 1,
      idempotencyKey: expect.any(String) as string,
    });
    expect(rows[2]?.result?.summary).toEqual({ mail: expect.stringMatching(/^\[email hash:/) as string, id: 7 });
    expect(await gate.audit.row(`${runId}.${rows[1]?.callId.split(".")[1] ?? ""}`)).toEqual(rows[1]);
    const count = async (filter: AuditRowFilter): Promise<number> => (await listed(gate.audit.rows(filter))).length;
    expect(await Promise.all([{ tool: "t.*" }, { tool: "t.pay" }, { outcome: "denied" as const }, { decision: "allow" as const }, { user: "ann" }, { user: "bob" }, { agent: "assistant", runId }, { fromMs: Date.now() + 60_000 }, { untilMs: 1 }].map(count))).toEqual([3, 1, 1, 2, 3, 0, 3, 0, 0]);
    await expect(listed(gate.audit.rows({ tool: "a.b.c" }))).rejects.toMatchObject({ code: "USAGE" });
    await expect(listed(gate.audit.rows({ runId: "run_none" }))).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
    await expect(gate.audit.row(`${runId}.99`)).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
    expect(await listed(gate.audit.rows({}, { principal: { ...localPrincipal, tenant: "rival" } }))).toEqual([]);
  });

  test("br-021: another tenant's calls are not there, by whatever id", async () => {
    const { gate } = await createTestGate([{ name: "find", handler: () => 1 }]);
    onTestFinished(() => gate.close());
    await gate.call("t.find", {});
    const [{ runId } = { runId: "" }] = await gate.runs.list();
    const rival = { principal: { ...localPrincipal, tenant: "rival" } };
    for (const id of [`${runId}.0`, `${runId.slice(0, -1)}%.0`, "%.0", `${runId}.program`]) await expect(gate.audit.row(id, rival)).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
    for (const id of [runId, `${runId.slice(0, -1)}_`, "%"]) await expect(listed(gate.audit.rows({ runId: id }, rival))).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
  });

  test("the last word on an effect counts, and a call without an end is open", () => {
    const ended: JournalEntry = { kind: "call-ended", atMs: 5, seq: 0, outcome: "timed_out", effectStatus: "unknown", durationMs: 3, attempts: 1, cached: false, artifacts: [], error: { code: "TOOL_TIMEOUT", message: "late", tool: "crm.update", retryable: false } };
    const entries: readonly JournalEntry[] = [
      issued(0),
      { kind: "call-decided", atMs: 2, seq: 0, decision: "ask", ruleId: "r1" },
      { kind: "call-edited", atMs: 3, seq: 0, approvalId: "a1", by: "carol", args: recorded({ id: 1 }, "edited") },
      { kind: "call-decided", atMs: 4, seq: 0, decision: "allow", ruleId: "r1", answeredBy: "carol" },
      ended,
      { kind: "call-resolved", atMs: 6, seq: 0, effectStatus: "done", how: "person", by: "dora" },
      issued(1),
      { kind: "call-decided", atMs: 7, seq: 1, decision: "ask", ruleId: "r1" },
      issued(2),
      { kind: "call-decided", atMs: 8, seq: 2, decision: "allow", ruleId: "r1" },
    ];
    expect(auditRowsOf(runRecord("r1"), entries)).toMatchObject([
      { outcome: "timed_out", effectStatus: "done", settled: { how: "person", by: "dora" }, performed: { summary: "edited", by: "carol" }, error: { code: "TOOL_TIMEOUT" } },
      { outcome: "open", effectStatus: "none", decision: { kind: "ask" } },
      { outcome: "open", effectStatus: "unknown" },
    ]);
  });

  test("a review of a program is a row", () => {
    const review = { approvalId: "a1", ruleIds: ["PY_EVAL"], approved: false, by: "carol", reason: "no" };
    const checked: JournalEntry = { kind: "checked", atMs: 9, ok: true, diagnostics: [], repairs: [], durationMs: 1, review };
    expect(auditRowsOf(runRecord("r1"), [checked])).toMatchObject([{ callId: "r1.program", kind: "review", tool: "program", decision: { kind: "deny", ruleId: "PY_EVAL" }, approval: { by: "carol" }, outcome: "denied" }]);
  });

  test("reads a page at a time, and loses none of a thousand runs that began in one millisecond", async () => {
    const runs = Array.from({ length: 1_234 }, (_, index) => runRecord(`r${index}`, { startedAtMs: index < 100 ? 5_000 + index : index < 1_000 ? 4_000 : 3_000 - index })).sort((a, b) => b.startedAtMs - a.startedAtMs);
    let read = 0;
    const journal = {
      listRuns: ({ limit = 50, beforeMs = Infinity }: { readonly limit?: number; readonly beforeMs?: number }) => Promise.resolve(runs.filter(({ startedAtMs }) => startedAtMs < beforeMs).slice(0, limit)),
      readEntries: (_tenant: string, runId: string) => {
        read += 1;
        return Promise.resolve([issued(0, { callId: `${runId}.0` })]);
      },
    } as unknown as Journal;
    const audit = createGateAudit(journal, principal);
    const first = audit.rows()[Symbol.asyncIterator]();
    await first.next();
    expect(read).toBe(1);
    expect((await listed(audit.rows())).map(({ runId }) => runId)).toEqual(runs.map(({ runId }) => runId));
  });
});
