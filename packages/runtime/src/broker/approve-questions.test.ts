import { localPrincipal } from "@callgate/contract";
import type { ApprovalAnswer, ApprovalQuestion, ApprovalRules, PolicyDecision, TaintMark } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { readGrantTests } from "../approval/read-grant.ts";
import { ask, deny, errorOf, testGate, testTool } from "./fixtures/test-broker.ts";
import type { TestTool } from "./fixtures/test-broker.ts";

/** A gate that asks about payments; `state.answer` is what a person says. */
function asking({ tool = {}, approvals = {} }: { readonly tool?: TestTool; readonly approvals?: ApprovalRules } = {}) {
  const state = { ran: [] as unknown[], questions: [] as ApprovalQuestion[], answer: { kind: "approved", by: "ann" } as ApprovalAnswer, decide: ask as (args: unknown) => PolicyDecision };
  const pay = testTool("crm.pay", { sensitive: ["/input/card"], run: (args) => state.ran.push(args), ...tool });
  const gate = testGate({ tools: [pay], approvals, decide: (_tool, args) => state.decide(args), answer: (question) => { state.questions.push(question); return state.answer; } });
  const decisions = () => gate.entries().flatMap((entry) => (entry.kind === "call-decided" ? [{ decision: entry.decision, ruleId: entry.ruleId, reason: entry.reason, answeredBy: entry.answeredBy }] : []));
  const answered = () => gate.events.flatMap((event) => (event.kind === "approval-answered" ? [[event.approved, event.by]] : []));
  return { ...gate, pay, state, decisions, answered };
}

const marks: readonly TaintMark[] = [{ label: "untrusted", tool: "mail.read", runId: "run_1", seq: 0, atMs: 0 }];

describe("the question", () => {
  test("names who is meant to answer, what was read before, and the call that it would undo, where there are any", async () => {
    const { call, state } = asking({ tool: { compensate: () => Promise.resolve() } });
    await call("crm.pay");
    for (const absent of ["from", "taint", "undoes"]) expect(state.questions[0]).not.toHaveProperty(absent);
    expect(state.questions[0]?.reason).toBe("Every call asks");
    state.decide = () => ({ kind: "ask", ruleId: "ask-all", reason: "Every call asks", from: "the treasurer" });
    await call("crm.pay", { n: 1 }, { taint: { refresh: () => undefined, add: () => undefined, labels: ["untrusted"], marks } });
    expect(state.questions[1]).toMatchObject({ from: "the treasurer", taint: marks });
    await call("crm.pay", { n: 2 }, { undo: { seq: 7, output: null } });
    expect(state.questions[2]).toMatchObject({ undoes: 7, reason: "This undoes call run_1.7. Every call asks" });
  });

  test("is told of with its answer: whether it was approved, and by whom", async () => {
    const { call, state, answered } = asking();
    await call("crm.pay", { n: 1 });
    state.answer = { kind: "denied", by: "bob" };
    await call("crm.pay", { n: 2 });
    state.answer = { kind: "unavailable", help: "Ask at a terminal." };
    await call("crm.pay", { n: 3 });
    expect(answered()).toEqual([[true, "ann"], [false, "bob"], [false, "nobody"]]);
  });

  test("that nobody can answer denies, which is on record with what would help", async () => {
    const { call, state, decisions } = asking();
    state.answer = { kind: "unavailable", help: "Ask at a terminal." };
    expect(errorOf(await call("crm.pay"))).toMatchObject({ code: "APPROVAL_UNAVAILABLE", message: "crm.pay needs a person's approval and nobody can give it here. It did not happen; do not call it again. Ask at a terminal.", details: { ruleId: "ask-all" } });
    expect(decisions().at(-1)).toEqual({ decision: "deny", ruleId: "ask-all", reason: "Ask at a terminal.", answeredBy: undefined });
  });

  test("ag-005: one too many within a minute is not asked, and its denial says why", async () => {
    const { call, state, decisions } = asking({ approvals: { maxPerMinute: 1 } });
    await call("crm.pay", { n: 1 });
    expect(errorOf(await call("crm.pay", { n: 2 }))).toMatchObject({ code: "DENIED", details: { ruleId: "approvals:rate" } });
    expect([state.questions.length, state.ran.length]).toEqual([1, 1]);
    expect(decisions().at(-1)).toMatchObject({ decision: "deny", ruleId: "approvals:rate", reason: expect.any(String) as string });
  });
});

describe("a question that is on record", () => {
  test("leaves the call parked on it, and is the same question for whoever goes on: not asked twice, not counted twice, and no grant stands in for it", async () => {
    const { request, state, entries, eventKinds, journal, clock, pay } = asking({ approvals: { maxPerMinute: 1 } });
    state.answer = { kind: "pending" };
    const agent = { ...localPrincipal, user: "ann", agent: "claude" };
    const parked = await request("crm.pay", { n: 1 }, { callId: "c1", seq: 4, principal: agent });
    if (parked.kind !== "parked") return expect.fail("not parked");
    const [question] = state.questions;
    expect(parked).toEqual({ kind: "parked", wait: { kind: "approval", seq: 4, question }, past: { issued: true, begun: false, resolved: 0, question } });
    await journal.grants.give({ grantId: "grt_1", tenant: agent.tenant, tool: "crm.pay", args: readGrantTests({ "/n": 1 }), user: "ann", agent: "claude", definitions: { "crm.pay": pay.definitionDigest }, maxUses: 1, expiresAtMs: clock.now() + 1_000, by: "ann", givenAtMs: clock.now() });
    const still = await request("crm.pay", { n: 1 }, { callId: "c1", seq: 4, principal: agent, past: { ...parked.past, resolved: 3 } });
    expect(still).toMatchObject({ kind: "parked", past: { resolved: 3 } });
    state.answer = { kind: "approved", by: "bob" };
    expect(await request("crm.pay", { n: 1 }, { callId: "c1", seq: 4, principal: agent, past: parked.past })).toMatchObject({ outcome: { kind: "ok" } });
    expect(state.questions.map(({ approvalId }) => approvalId)).toEqual(Array(3).fill(question?.approvalId));
    expect([entries(), eventKinds().map((kind) => ({ kind }))].map((told) => told.filter(({ kind }) => kind === "approval-asked").length)).toEqual([1, 1]);
    expect((await journal.grants.list(agent.tenant))[0]?.uses).toBe(0);
  });
});

describe("other arguments that a person gave", () => {
  const bounded: TestTool = { badInput: (value) => ((value as { amount: number }).amount > 10 ? "is too much" : undefined) };

  test("are kept with the answer and on record as changed by whom, without what is sensitive, and performed", async () => {
    const { call, state, entries, journal, decisions } = asking({ tool: bounded });
    state.answer = { kind: "approved", by: "ann", args: { amount: 3, card: "4111" } };
    expect((await call("crm.pay", { amount: 5, card: "4111" })).outcome.kind).toBe("ok");
    expect(state.ran).toEqual([{ amount: 3, card: "4111" }]);
    expect(journal.said).toMatchObject([{ approved: true, by: "ann", args: { summary: { amount: 3, card: "hash:one" } } }]);
    expect(entries().find(({ kind }) => kind === "call-edited")).toMatchObject({ by: "ann", approvalId: state.questions[0]?.approvalId, args: { summary: { amount: 3, card: "hash:one" } } });
    expect(decisions().at(-1)).toMatchObject({ decision: "allow", answeredBy: "ann" });
  });

  test("that do not fit the tool, or that policy denies, deny the call, and it is said whose they were", async () => {
    const { call, state, decisions, entries } = asking({ tool: bounded });
    state.answer = { kind: "approved", by: "ann", args: { amount: 99 } };
    expect(errorOf(await call("crm.pay", { amount: 5 })).message).toMatch(/^crm\.pay was refused: The arguments that ann put in place of its own do not hold: .*is too much/);
    expect(decisions().at(-1)).toMatchObject({ decision: "deny", ruleId: "ask-all", answeredBy: "ann" });
    state.answer = { kind: "approved", by: "ann", args: { amount: 4 } };
    state.decide = (args) => ((args as { amount: number }).amount === 4 ? deny() : ask());
    expect(errorOf(await call("crm.pay", { amount: 6 }))).toMatchObject({ details: { ruleId: "deny-all" }, message: expect.stringContaining("With the arguments that ann put in place of its own: No call is allowed") as string });
    expect(decisions().at(-1)).toMatchObject({ decision: "deny", ruleId: "deny-all", answeredBy: "ann" });
    expect([state.ran, entries().some(({ kind }) => kind === "call-edited")]).toEqual([[], false]);
  });
});
