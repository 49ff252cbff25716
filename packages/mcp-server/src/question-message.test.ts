import { localPrincipal } from "@callgate/contract";
import type { ApprovalQuestion } from "@callgate/contract";
import { expect, test } from "vitest";
import { questionMessage } from "./question-message.ts";

const question: ApprovalQuestion = {
  approvalId: "apr_1", principal: localPrincipal, runId: "r1", callId: "r1.0", tool: "crm.export", definitionDigest: "sha256:00", argsDigest: "sha256:00",
  argsSummary: { arguments: { from: 1 }, result: { rows: 3 } }, effect: "write", policyVersion: "1", ruleId: "look", reason: "It asks", expiresAtMs: 0, isResult: true,
};

test("a question about a result does not pass for one about a call: it says what has happened, and what the answer does", () => {
  for (const shown of [undefined, { question, askedAtMs: 0, state: "open" as const, isIntact: true, args: { from: 1 }, result: { rows: 3 } }]) {
    const message = questionMessage(question, shown);
    for (const part of ["crm.export was called.", "approving hands it on, denying withholds it", "What the call did stays done", '│     "from": 1', '│     "rows": 3']) expect(message).toContain(part);
    expect(message).not.toContain("asks to run");
  }
});

test("a question about a program says what it can call, apart from what the model wrote", () => {
  const { isResult: _isResult, ...rest } = question;
  const message = questionMessage({ ...rest, tool: "program", isReview: true, argsSummary: { language: "typescript", findings: [], reach: { tools: [{ tool: "crm.pay", effect: "write" }], more: 2 }, program: "It can call nothing" } }, undefined);
  expect(message.split("\n")).toContain("It can call crm.pay (changes data), and 2 more");
});

test("a question about undoing a call does not pass for one about the call", () => {
  const { isResult: _isResult, ...rest } = question;
  const message = questionMessage({ ...rest, undoes: 3, argsSummary: { from: 1 } }, undefined);
  expect(message.split("\n")[0]).toBe("Undoing crm.export (call r1.3) asks to run: what that call did is taken back, it is not called again.");
  expect(message).toContain("Arguments of the call that is undone");
});

test("a question about a program tells what differs from the version that was approved", () => {
  const { isResult: _isResult, ...rest } = question;
  const asked: ApprovalQuestion = { ...rest, tool: "program", isReview: true, argsSummary: { program: "new", previous: { runId: "r0", by: "bob", startedAtMs: 0 } } };
  expect(questionMessage(asked, undefined)).toContain("Before: bob approved r0 of 1970-01-01 00:00 UTC; callgate approvals show tells what differs");
  const previous = { runId: "r0", by: "bob", startedAtMs: 0, diff: { text: "@@ -1,1 +1,1 @@\n-old\n+new\n", addedLines: 1, removedLines: 1 } };
  const lines = questionMessage(asked, { question: asked, askedAtMs: 0, state: "open", isIntact: true, program: "new", previous }).split("\n");
  expect(lines).toEqual(expect.arrayContaining(["Before: bob approved r0 of 1970-01-01 00:00 UTC; since then 1 line came and 1 line went", "│ -old", "│ +new"]));
});
