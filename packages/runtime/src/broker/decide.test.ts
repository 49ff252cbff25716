import type { PolicyDecision } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { allow, ask, errorOf, testGate, testTool } from "./fixtures/test-broker.ts";

/** A gate whose policy says what `state.decide` says, where a person refuses, and an interceptor counts what it was shown. */
function refusing() {
  const state = { decide: ask as () => PolicyDecision, shown: 0, asked: 0 };
  const gate = testGate({
    tools: [testTool("crm.pay")],
    decide: () => state.decide(),
    answer: () => { state.asked += 1; return { kind: "denied", by: "bob", reason: "no" }; },
    interceptors: [{ name: "look", before: () => void (state.shown += 1) }],
  });
  const decisions = () => gate.entries().flatMap((entry) => (entry.kind === "call-decided" ? [[entry.seq, entry.decision, entry.ruleId, entry.reason]] : []));
  return { ...gate, state, decisions };
}

describe("what is decided", () => {
  test("a call that a person denied before in this run reaches no interceptor and asks nobody", async () => {
    const { call, state, decisions } = refusing();
    await call("crm.pay", { amount: 1 });
    expect([state.shown, state.asked]).toEqual([1, 1]);
    expect(errorOf(await call("crm.pay", { amount: 1 })).message).toContain("bob already refused it in this run: no");
    expect([state.shown, state.asked]).toEqual([1, 1]);
    expect(decisions().at(-1)).toEqual([2, "deny", "ask-all", "bob already refused it in this run: no"]);
    // Other arguments are another question.
    await call("crm.pay", { amount: 2 });
    expect([state.shown, state.asked]).toEqual([2, 2]);
  });

  test("what the policy allows by now is not denied because a person denied it when it asked", async () => {
    const { call, state } = refusing();
    await call("crm.pay", { amount: 1 });
    state.decide = allow;
    expect((await call("crm.pay", { amount: 1 })).outcome.kind).toBe("ok");
    // It goes the whole way, like any call that is allowed.
    expect([state.shown, state.asked]).toEqual([2, 1]);
  });

  test("is on record and told with what policies that do not hold would have decided", async () => {
    const { call, state, entries, events } = refusing();
    const next = { kind: "deny", ruleId: "later" } as const;
    state.decide = () => ({ kind: "allow", ruleId: "open", unobserved: { kind: "ask", ruleId: "open", reason: "Payments are looked at" }, next });
    await call("crm.pay");
    const [entry, event] = [entries().find(({ kind }) => kind === "call-decided"), events.find(({ kind }) => kind === "call-decided")];
    for (const told of [entry, event]) expect(told).toMatchObject({ decision: "allow", ruleId: "open", unobserved: "ask", next });
    expect(entry).toMatchObject({ reason: "Payments are looked at" });
    state.decide = allow;
    await call("crm.pay");
    const plain = entries().findLast(({ kind }) => kind === "call-decided");
    for (const absent of ["unobserved", "next", "reason"]) expect(plain).not.toHaveProperty(absent);
  });

  test("is on record with the labels that had reached the run, where there were any", async () => {
    const gate = testGate({ tools: [testTool("crm.pay")], decide: allow });
    await gate.call("crm.pay", {}, { taint: { refresh: () => undefined, add: () => undefined, labels: ["private", "untrusted"], marks: [] } });
    await gate.call("crm.pay");
    const [labelled, plain] = gate.entries().filter(({ kind }) => kind === "call-decided");
    expect(labelled).toMatchObject({ taint: ["private", "untrusted"] });
    expect(plain).not.toHaveProperty("taint");
  });

  test("a question that is on record already is not noted again when its run goes on, and what was decided otherwise meanwhile is", async () => {
    let answer: "pending" | "denied" = "pending";
    const gate = testGate({ tools: [testTool("crm.pay")], decide: () => (answer === "pending" ? ask() : state.decide()), answer: () => (answer === "pending" ? { kind: "pending" } : { kind: "denied", by: "bob" }) });
    const state = { decide: ask as () => PolicyDecision };
    const parked = await gate.request("crm.pay", {}, { callId: "c1", seq: 1 });
    if (parked.kind !== "parked") return expect.fail("not parked");
    answer = "denied";
    await gate.request("crm.pay", {}, { callId: "c1", seq: 1, past: parked.past });
    expect(gate.entries().flatMap((entry) => (entry.kind === "call-decided" ? [entry.decision] : []))).toEqual(["ask", "deny"]);
    state.decide = allow;
    await gate.request("crm.pay", {}, { callId: "c2", seq: 2, past: parked.past });
    expect(gate.entries().flatMap((entry) => (entry.kind === "call-decided" && entry.seq === 2 ? [entry.decision, entry.ruleId] : []))).toEqual(["allow", "allow-all"]);
  });
});
