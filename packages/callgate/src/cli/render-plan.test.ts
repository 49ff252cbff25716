import { localPrincipal } from "@callgate/contract";
import type { Plan, PlanItem } from "@callgate/contract";
import picocolors from "picocolors";
import { expect, test } from "vitest";
import { planTable, planText } from "./render-plan.ts";

const digest = "sha256:00";
const item: PlanItem = {
  id: "1", tool: "shop.cancel", effect: "destructive", args: { id: "o-17", reason: "The shop closes" }, argsDigest: digest, occurrence: 0,
  decision: { kind: "ask", ruleId: "default:destructive" },
  origins: [{ path: "/id", origins: [{ kind: "result", seq: 0, tool: "shop.list", path: "/0/id", how: "same" }] }, { path: "/reason", origins: [{ kind: "program", how: "same" }] }],
  derivedFrom: [],
};
const planOf = (...items: readonly PlanItem[]): Plan => ({
  form: "callgate-plan-1", planId: "pln_1", madeAtMs: 0, rehearsal: { runId: "run_1", against: "run_0", others: [] }, program: { text: "return 1", language: "typescript", digest },
  principal: localPrincipal, lane: "execute", seed: "00", policyVersion: "1", tools: {}, items, notes: [], digest,
});
const shown = (...items: readonly PlanItem[]): string => planText(planOf(...items), [], picocolors.createColors(false));

test("an edited item says by whom, what of it is theirs, what policy says of it now, and what it stands in the place of", () => {
  const edited: PlanItem = { ...item, decision: { kind: "allow", ruleId: "polite" }, change: { kind: "edited", args: { id: "o-17", reason: "We are sorry" }, digest, by: "bea", paths: ["/reason"] } };
  const text = shown(edited);
  const [now = "", before = ""] = text.split("  in place of the program's own arguments:");
  expect(now).toContain("1 shop.cancel destroys data · edited by bea, allowed");
  for (const part of ['"reason": "We are sorry"', "  /reason is as bea edited it", "  /id is from shop.list (#0) /0/id"]) expect(now).toContain(part);
  expect(now).not.toContain("The shop closes");
  expect(now).not.toContain("the program's own text");
  for (const part of ['"reason": "The shop closes"', "  /reason was from the program's own text", "  policy on the new arguments: allow (rule polite)"]) expect(before).toContain(part);
  expect(planTable(planOf(edited), { outColumns: 200, outColors: picocolors.createColors(false) })).toMatch(/edited by bea, allowed .*We are sorry/);
});

test("what a write costs at most is shown with it", () => {
  expect(shown({ ...item, cost: { tokens: 1_200, microUsd: 25_000 } })).toContain("  costs at most 0.025 USD, 1200 tokens");
});

test("writes within a workflow stand below it, each in full", () => {
  const workflow: PlanItem = { ...item, tool: "workflows.close", inner: [{ ...item, id: "1.1", tool: "shop.mail", effect: "write", args: { text: "closed" }, cost: { tokens: 0, microUsd: 10_000 } }] };
  const text = shown(workflow);
  expect(text).toMatch(/1 workflows\.close destroys data[^]*a workflow: what it writes itself is item 1\.1[^]*1\.1 shop\.mail changes data · needs approval\n[^]*"text": "closed"[^]*costs at most 0\.01 USD/);
  expect(planTable(planOf(workflow), { outColumns: 200, outColors: picocolors.createColors(false) })).toMatch(/1\.1 +shop\.mail/);
});
