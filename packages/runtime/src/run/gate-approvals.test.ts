import { defaultLimits, localPrincipal } from "@callgate/contract";
import type { ApprovalQuestion } from "@callgate/contract";
import { memoryBlobs, testPolicy } from "@callgate/testkit";
import { expect, onTestFinished, test } from "vitest";
import { createSqliteJournal } from "../journal/sqlite-journal.ts";
import { digestOf } from "../lib/digest.ts";
import { systemClock } from "../lib/system-clock.ts";
import { createMasterKey } from "../secrets/master-key.ts";
import { createRedactor } from "../secrets/redactor.ts";
import { createGateApprovals } from "./gate-approvals.ts";

test("however many runs wait, the oldest question is listed and answered", async () => {
  const principal = localPrincipal;
  const journal = await createSqliteJournal({ path: ":memory:", blobs: memoryBlobs(), masterKey: createMasterKey(new Uint8Array(32).fill(7)), clock: systemClock() });
  onTestFinished(() => journal.close());
  const nowMs = Date.now();
  const questionOf = (runId: string): ApprovalQuestion => ({
    approvalId: `apr_${runId}`, principal, runId, callId: `${runId}.0`, tool: "t.pay", definitionDigest: digestOf("d"), argsDigest: digestOf("a"), argsSummary: {},
    effect: "write", policyVersion: "p1", ruleId: "ask", reason: "writes ask", expiresAtMs: nowMs + 3_600_000,
  });
  const count = 1_005;
  await Promise.all(Array.from({ length: count }, async (_, index) => {
    const runId = `run-${index}`;
    // Several in one millisecond, at the end of a page too.
    const lease = await journal.begin({ runId, kind: "program", principal, startedAtMs: nowMs - 1_000 + Math.floor(index / 3), lane: "execute", language: "typescript", programText: "", programDigest: undefined, seed: "0", limits: defaultLimits, driver: "d", interfaces: {}, policyVersion: "p1" });
    const question = questionOf(runId);
    await journal.append(lease, [
      { kind: "call-issued", atMs: nowMs, seq: 0, callId: question.callId, tool: question.tool, definitionDigest: undefined, effect: "write", args: { digest: digestOf("a"), summary: {} } },
      { kind: "approval-asked", atMs: nowMs + index, seq: 0, question },
    ], "lazy");
    await journal.suspend(lease, { atMs: nowMs, waits: [{ kind: "approval", seq: 0, question }] });
  }));
  const noGrant = (): never => { throw new Error("no grant is given"); };
  const heard: string[] = [];
  const approvals = createGateApprovals({ journal, now: () => nowMs, principal, rules: {}, grants: { prepare: noGrant, keep: noGrant }, emit: () => undefined, policy: testPolicy(), redactor: createRedactor({ secrets: [], key: new Uint8Array(32) }), viewFor: () => { throw new Error("no tool is looked up"); }, heard: (_tenant, runId) => void heard.push(runId) });
  const listed = await approvals.list();
  expect([listed.length, listed[0]?.question.runId]).toEqual([count, "run-0"]);
  expect(await approvals.answer("apr_run-0", { approved: true, by: "ann" })).toEqual({ known: false, approved: true });
  expect(heard).toEqual(["run-0"]);
});
