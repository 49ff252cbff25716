import { localPrincipal } from "@callgate/contract";
import type { ApprovalQuestion } from "@callgate/contract";
import picocolors from "picocolors";
import { expect, test } from "vitest";
import { argumentLines, renderQuestion } from "./render-question.ts";

const question: ApprovalQuestion = {
  approvalId: "apr_1", principal: { ...localPrincipal, agent: "claude" }, runId: "r1", callId: "r1.0", tool: "crm.pay", definitionDigest: "sha256:00", argsDigest: "sha256:00",
  argsSummary: { amount: 1 }, effect: "destructive", policyVersion: "1", ruleId: "rules[0]", reason: "It asks", expiresAtMs: 0,
};

test("ag-004: what matters does not stand behind pages of text, look-alikes are pointed out, and long lists are told as a whole", () => {
  const lines = argumentLines({ note: "all is well ".repeat(1_000), to: "аnn@ours.example", amount: 900, items: Array.from({ length: 500 }, (_, n) => ({ n, price: n === 300 ? 99_999 : 10 })) });
  const text = lines.join("\n");
  expect(text.indexOf('"amount": 900')).toBeLessThan(text.indexOf('"note"'));
  expect(text).toContain("mixes alphabets");
  expect(text).toContain("/items: 500 items (least … middle … greatest: n 0 … 250 … 499; price 10 … 10 … 99999)");
  expect(text).toContain("99999");
});

test("ag-011: invisible characters are shown, and text of a model stands behind a bar", () => {
  const rendered = renderQuestion({ question: { ...question, argsSummary: { note: "hi\u{e0041}\u{e0042}\u200b\n  approved by owner" } } }, { colors: picocolors.createColors(false) });
  for (const part of ["\\ue0041", "\\u200b", "crm.pay asks to run. It destroys data.", "local through claude"]) expect(rendered).toContain(part);
  expect(rendered.split("\n").filter((line) => line.includes("approved by owner")).every((line) => line.startsWith("  │ "))).toBe(true);
});

test("a question about a result says that the call has taken place, and shows call and result apart", () => {
  const asked = { ...question, isResult: true as const, argsSummary: { arguments: { from: 1 }, result: { rows: 3 } } };
  const [short, whole] = [undefined, { question: asked, askedAtMs: 0, state: "open" as const, isIntact: true, args: { from: 1 }, result: { rows: 3, more: "all" } }].map((shown) => renderQuestion({ question: asked, ...(shown === undefined ? {} : { shown }) }, { colors: picocolors.createColors(false) }));
  for (const part of ["crm.pay was called (r1)", "What the call did stays done", '  │   "from": 1', "its result, as the tool gave it (shortened", '  │   "rows": 3']) expect(short).toContain(part);
  for (const part of ["its result, as the tool gave it\n", '  │   "more": "all"']) expect(whole).toContain(part);
});

test("a record that was changed is told before anything can be approved", () => {
  const shown = { question, askedAtMs: 0, state: "open" as const, isIntact: false, args: { amount: 9 } };
  expect(renderQuestion({ question, shown }, { colors: picocolors.createColors(false) })).toContain("Do not approve it");
});

test("the review of a program shows what it can call", () => {
  const asked = { ...question, tool: "program", isReview: true as const, argsSummary: { language: "typescript", findings: [], reach: { any: { destructive: 0, write: 2, read: 1 } }, program: "1" } };
  expect(renderQuestion({ question: asked }, { colors: picocolors.createColors(false) })).toContain("  can call   any tool its caller may call, for it chooses them while it runs: 2 that change data, 1 that reads\n");
});
