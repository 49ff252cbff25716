import type { ApprovalAnswer, ApprovalQuestion } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { note } from "./approve.ts";
import type { ReadyCall } from "./call.ts";
import { allow, ask, deny, errorOf, testCatalog, testGate, testTool } from "./fixtures/test-broker.ts";
import type { TestTool } from "./fixtures/test-broker.ts";

function asking(tool: TestTool = {}, answer: (question: ApprovalQuestion) => Promise<ApprovalAnswer> | ApprovalAnswer = () => ({ kind: "approved", by: "ann" })) {
  const state = { ran: 0, questions: [] as ApprovalQuestion[], decide: ask };
  const pay = testTool("crm.pay", { sensitive: ["/input/card"], run: () => (state.ran += 1), ...tool });
  const gate = testGate({ tools: [pay], decide: () => state.decide(), answer: (question) => { state.questions.push(question); return answer(question); } });
  return { gate, state, pay };
}

describe("approve", () => {
  test("shows a person exactly the operation, sensitive values hidden", async () => {
    const { gate, state } = asking();
    await gate.call("crm.pay", { card: "4111", amount: 5 });
    expect(state.questions).toMatchObject([{ tool: "crm.pay", runId: "run_1", callId: "call_1", effect: "write", argsSummary: { card: "hash:one", amount: 5 }, policyVersion: "rules:1", ruleId: "ask-all", reason: "Every call asks" }]);
    expect(state.questions[0]?.expiresAtMs).toBe(gate.clock.now() + 7 * 24 * 3600 * 1000);
  });

  test("code-mode 4: a person may take ten minutes: the tool's deadline and the call's duration do not count them", async () => {
    const { promise, resolve } = Promise.withResolvers<ApprovalAnswer>();
    const { gate, state } = asking({ timeoutMs: 1000 }, () => promise);
    const performing = gate.call("crm.pay");
    await gate.clock.advance(600_000);
    expect(state.ran).toBe(0);
    resolve({ kind: "approved", by: "ann" });
    const { outcome, durationMs } = await performing;
    expect([outcome.kind, durationMs, state.ran]).toEqual(["ok", 0, 1]);
  });

  test("journals the question before it goes out, and who answered before the effect", async () => {
    const rowsWhenAsked: unknown[] = [];
    const setup = asking({}, () => { rowsWhenAsked.push(...setup.gate.entries().map(({ kind }) => kind)); return { kind: "approved", by: "ann" }; });
    await setup.gate.call("crm.pay");
    expect(rowsWhenAsked).toEqual(["call-issued", "call-decided", "approval-asked"]);
    expect(setup.gate.journal.rows.map(({ entry, durability }) => [entry.kind, durability, entry.kind === "call-decided" ? [entry.decision, entry.answeredBy] : undefined])).toEqual([
      ["call-issued", "full", undefined],
      ["call-decided", "full", ["ask", undefined]],
      ["approval-asked", "full", undefined],
      ["call-decided", "full", ["allow", "ann"]],
      ["call-ended", "lazy", undefined],
    ]);
  });

  test("keeps an answer as the signal that every other way of answering keeps, a denial with its reason", async () => {
    for (const answer of [{ kind: "approved", by: "ann" }, { kind: "denied", by: "ann", reason: "too much" }] as const) {
      const { gate, state } = asking({}, () => answer);
      await gate.call("crm.pay");
      expect(gate.journal.said).toEqual([{ kind: "approval", approvalId: state.questions[0]?.approvalId, approved: answer.kind === "approved", by: "ann", atMs: gate.clock.now(), ...(answer.kind === "denied" ? { reason: "too much" } : {}) }]);
    }
  });

  test("says and records who refused it; of an answer that does not count, why, and names nobody", async () => {
    const told = "It did not happen; do not call it again, nor try to reach the same in another way.";
    for (const [by, reason, message] of [["ann", "too much", `crm.pay was refused: ann refused it: too much. ${told}`], ["local", undefined, `crm.pay was refused: An answer in the name of local does not count: local asked for it, and nobody answers their own question. ${told}`]] as const) {
      const { gate } = asking({}, () => ({ kind: "denied", by, ...(reason === undefined ? {} : { reason }) }));
      expect(errorOf(await gate.call("crm.pay")).message).toBe(message);
      const [asked, refused] = gate.entries().filter(({ kind }) => kind === "call-decided");
      expect(asked).toStrictEqual({ kind: "call-decided", atMs: gate.clock.now(), seq: 1, decision: "ask", ruleId: "ask-all", reason: "Every call asks" });
      expect(refused).toStrictEqual({ kind: "call-decided", atMs: gate.clock.now(), seq: 1, decision: "deny", ruleId: "ask-all", reason: reason ?? "An answer in the name of local does not count: local asked for it, and nobody answers their own question", ...(by === "ann" ? { answeredBy: "ann" } : {}) });
    }
  });

  test("records an allowed call with who allowed it, and nothing that was not said", async () => {
    const { gate } = asking();
    await gate.call("crm.pay");
    expect(gate.entries().findLast(({ kind }) => kind === "call-decided")).toStrictEqual({ kind: "call-decided", atMs: gate.clock.now(), seq: 1, decision: "allow", ruleId: "ask-all", answeredBy: "ann" });
  });

  test("keeps what a read came to that a person allowed, also where its tool says that it can be made again", async () => {
    const { gate } = asking({ effect: "read", reread: true, run: () => "x".repeat(40_000) });
    await gate.call("crm.pay");
    const ended = gate.entries().find(({ kind }) => kind === "call-ended");
    expect(ended).toMatchObject({ outcome: "ok", result: { clear: { json: expect.stringContaining("xxx") as string } } });
    expect(ended).not.toHaveProperty("reread");
  });

  test("goes by the answer that was kept first, wherever it was given", async () => {
    const { gate, state } = asking({}, (question) => {
      gate.journal.said.push({ kind: "approval", approvalId: question.approvalId, approved: false, by: "bob", reason: "not today", atMs: 1 });
      return { kind: "approved", by: "ann" };
    });
    expect(errorOf(await gate.call("crm.pay"))).toMatchObject({ code: "DENIED", message: expect.stringContaining("bob refused it: not today") as string });
    expect(state.ran).toBe(0);
    expect(gate.journal.said).toHaveLength(1);
  });

  test("takes an answer given elsewhere while somebody is asked here, and stops asking", async () => {
    let stopped = false;
    const questions: ApprovalQuestion[] = [];
    const pay = testTool("crm.pay", { run: () => 1 });
    const gate = testGate({ tools: [pay], decide: ask, answer: (question, signal) => new Promise((_resolve, reject) => {
      questions.push(question);
      signal.addEventListener("abort", () => { stopped = true; reject(new Error("the terminal was closed")); });
    }) });
    const calling = gate.call("crm.pay");
    await gate.clock.advance(2_000);
    expect([questions.length, stopped]).toEqual([1, false]);
    gate.journal.said.push({ kind: "approval", approvalId: questions[0]?.approvalId ?? "", approved: true, by: "bob", atMs: 1 });
    await gate.clock.advance(1_000);
    expect((await calling).outcome.kind).toBe("ok");
    expect([stopped, gate.clock.pendingTimers]).toEqual([true, 0]);
    expect(gate.entries()).toContainEqual(expect.objectContaining({ kind: "call-decided", decision: "allow", answeredBy: "bob" }));
  });

  test("an approval that cannot be kept is none", async () => {
    const { gate, state } = asking({}, () => { gate.journal.fail = () => true; return { kind: "approved", by: "ann" }; });
    expect(errorOf(await gate.call("crm.pay"))).toMatchObject({ code: "DENIED", message: expect.stringContaining("The answer of ann could not be written to the journal: disk full") as string });
    expect(state.ran).toBe(0);
  });

  test("asks nobody about a write that cannot be journalled", async () => {
    const { gate, state } = asking();
    gate.journal.fail = () => true;
    expect(errorOf(await gate.call("crm.pay")).code).toBe("INTERNAL");
    expect([state.questions.length, state.ran]).toEqual([0, 0]);
  });

  test("asks nobody about a call whose precheck fails", async () => {
    const { gate, state } = asking({ precheck: () => { throw new Error("no such record"); } });
    expect(errorOf(await gate.call("crm.pay"))).toMatchObject({ code: "TOOL_FAILED", message: "no such record. Nothing was changed." });
    expect(state.questions).toHaveLength(0);
  });

  test("denies again without asking what a person denied in this run; other arguments and other runs ask", async () => {
    const { gate, state } = asking({}, () => ({ kind: "denied", by: "ann", reason: "too much" }));
    await gate.call("crm.pay", { amount: 5 });
    const again = await gate.call("crm.pay", { amount: 5 });
    expect(again.outcome).toMatchObject({ kind: "denied", error: { code: "DENIED" } });
    expect(errorOf(again).message).toContain("ann already refused it in this run: too much");
    expect(gate.events.filter(({ kind }) => kind === "call-decided")).toMatchObject([{ decision: "ask" }, { decision: "deny" }]);
    expect(state.questions).toHaveLength(1);
    await gate.call("crm.pay", { amount: 6 });
    await gate.call("crm.pay", { amount: 5 }, { runId: "run_2" });
    expect(state.questions).toHaveLength(3);
    expect(state.ran).toBe(0);
  });

  test.each<[string, (setup: ReturnType<typeof asking>) => void, string, string]>([
    ["the policy was replaced", ({ gate }) => { gate.policy.version = "rules:2"; }, "Since it was approved, this has changed: the policy", "ask-all"],
    ["policy denies it by now", ({ state }) => { state.decide = deny as never; }, "No call is allowed", "deny-all"],
    ["the caller lost the right to the tool", ({ gate }) => { gate.policy.visible = () => false; }, "The caller lost the right to this tool meanwhile", "visibility"],
  ])("refuses an approved call when meanwhile %s", async (_name, change, reason, ruleId) => {
    const setup: ReturnType<typeof asking> = asking({}, () => { change(setup); return { kind: "approved", by: "ann" }; });
    const performed = await setup.gate.call("crm.pay");
    expect([performed.outcome.kind, setup.state.ran]).toEqual(["denied", 0]);
    expect(errorOf(performed).message).toContain(reason);
    expect(errorOf(performed).details).toEqual({ ruleId });
    expect(setup.gate.entries()).toMatchObject([{}, { decision: "ask" }, { kind: "approval-asked" }, { decision: "deny", answeredBy: "ann" }, { outcome: "denied" }]);
  });

  test("mcp-001: refuses an approved call when the tool's definition has changed, or is gone", async () => {
    for (const after of [[testTool("crm.pay", { version: "2" })], []]) {
      const setup = asking({}, () => { catalog = testCatalog(after); return { kind: "approved", by: "ann" }; });
      let catalog = testCatalog([setup.pay]);
      const live = { resolve: (name: string) => catalog.resolve(name), nearest: () => [] };
      const performed = await setup.gate.call("crm.pay", {}, { catalog: live });
      expect([performed.outcome.kind, setup.state.ran]).toEqual(["denied", 0]);
      expect(errorOf(performed).message).toContain("the tool's definition");
    }
  });

  test("performs an approved call although policy would allow it by now", async () => {
    const setup = asking({}, () => { setup.state.decide = allow as never; return { kind: "approved", by: "ann" }; });
    expect((await setup.gate.call("crm.pay")).outcome.kind).toBe("ok");
  });

  test("agent 29: one who cancels while a person thinks gets `cancelled`; the question is closed and nothing ran", async () => {
    const { gate, state } = asking({}, () => new Promise(() => undefined));
    const abort = new AbortController();
    const performing = gate.call("crm.pay", {}, { signal: abort.signal });
    await gate.clock.advance(5);
    abort.abort();
    expect((await performing).outcome).toMatchObject({ kind: "cancelled", effectStatus: "none" });
    expect(gate.eventKinds()).toEqual(["call-requested", "call-decided", "approval-asked", "approval-answered", "call-ended"]);
    expect([state.ran, gate.clock.pendingTimers]).toEqual([0, 0]);
  });

  test("tells where nobody can answer what would help", async () => {
    const { gate } = asking({}, () => ({ kind: "unavailable", help: 'Add { "allow": "crm.pay" }.' }));
    expect(errorOf(await gate.call("crm.pay"))).toEqual({
      code: "APPROVAL_UNAVAILABLE", tool: "crm.pay", retryable: false, details: { ruleId: "ask-all" },
      message: 'crm.pay needs a person\'s approval and nobody can give it here. It did not happen; do not call it again. Add { "allow": "crm.pay" }.',
    });
  });
});

test("what is noted of a decision is what was said of it: the item of a plan stands there where there is one", () => {
  const added: unknown[] = [];
  const call = { record: { add: (entry: unknown) => added.push(entry) }, seams: { clock: { now: () => 5 } }, request: { seq: 3 }, safe: { text: (text: string) => text } } as unknown as ReadyCall;
  note(call, { decision: "allow", ruleId: "plan" });
  note(call, { decision: "deny", ruleId: "plan", reason: "another", answeredBy: "ann", planItem: "item-1" });
  expect(added).toStrictEqual([
    { kind: "call-decided", atMs: 5, seq: 3, decision: "allow", ruleId: "plan" },
    { kind: "call-decided", atMs: 5, seq: 3, decision: "deny", ruleId: "plan", reason: "another", answeredBy: "ann", planItem: "item-1" },
  ]);
});
