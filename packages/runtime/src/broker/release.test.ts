import { encodeValue } from "@callgate/contract";
import type { ApprovalAnswer, ApprovalQuestion, PolicyDecision } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { errorOf, testGate, testTool } from "./fixtures/test-broker.ts";
import type { TestTool } from "./fixtures/test-broker.ts";

const askFor: PolicyDecision = { kind: "ask", ruleId: "look", reason: "Large exports are looked at" };
const canary = "canary-of-the-result";

function asking({ answer = () => ({ kind: "approved", by: "ann" }), decide = () => askFor, ...tool }: TestTool & { readonly answer?: () => ApprovalAnswer; readonly decide?: (result: unknown) => PolicyDecision } = {}) {
  const state = { ran: 0, questions: [] as ApprovalQuestion[], answer, decide };
  const gate = testGate({
    tools: [testTool("crm.export", { effect: "read", sensitive: ["/output/mail"], run: () => { state.ran += 1; return { rows: canary, mail: "ann@ours.example" }; }, ...tool })],
    decideResult: (result) => state.decide(result),
    answer: (question) => { state.questions.push(question); return state.answer(); },
  });
  return { gate, state };
}

describe("a question about a result", () => {
  test("is asked once the call has taken place, with what it gave; released, the program has it", async () => {
    const { gate, state } = asking();
    const { outcome, wire } = await gate.call("crm.export", { from: 1 });
    expect([outcome.kind, outcome.kind === "ok" && outcome.value, wire?.json.includes(canary), state.ran]).toEqual(["ok", { rows: canary, mail: "ann@ours.example" }, true, 1]);
    expect(state.questions).toMatchObject([{ isResult: true, tool: "crm.export", ruleId: "look", argsSummary: { arguments: { from: 1 }, result: { rows: canary, mail: "hash:one" } }, reason: expect.stringMatching(/^The call has taken place; .* Large exports are looked at$/) as string }]);
    expect(gate.entries().map(({ kind }) => kind)).toEqual(["call-issued", "call-decided", "result-held", "approval-asked", "call-ended"]);
    expect(gate.journal.rows.find(({ entry }) => entry.kind === "approval-asked")?.durability).toBe("full");
    expect(gate.entries().at(-1)).toMatchObject({ outcome: "ok", release: { released: true, ruleId: "look", by: "ann", approvalId: state.questions[0]?.approvalId } });
  });

  test.each<["read" | "write", string]>([["read", "none"], ["write", "done"]])("withheld, the program of a %s has a coded error without the value, and its effect stays %s", async (effect, effectStatus) => {
    const { gate, state } = asking({ effect, answer: () => ({ kind: "denied", by: "ann", reason: "too much" }) });
    const performed = await gate.call("crm.export");
    expect(performed).toMatchObject({ outcome: { kind: "denied", effectStatus, error: { code: "RESULT_WITHHELD", retryable: false, details: { ruleId: "look" } } } });
    expect(errorOf(performed).message).toMatch(effect === "read" ? /was called, and its result is withheld: ann refused it: too much\. .*another way\.$/ : /The change itself took effect; do not repeat the call\.$/);
    expect([JSON.stringify(performed).includes(canary), performed.wire, state.ran]).toEqual([false, undefined, 1]);
    expect(gate.entries().at(-1)).toMatchObject({ kind: "call-ended", effectStatus, release: { released: false, by: "ann" } });
    expect(JSON.stringify(gate.entries().at(-1))).not.toContain(canary);
  });

  test.each<[string, ApprovalAnswer, RegExp]>([
    ["who asked", { kind: "approved", by: "local" }, /nobody answers their own question/],
    ["nobody, for nobody can be asked", { kind: "unavailable", help: "Ask at a terminal." }, /nobody can here\. Ask at a terminal\./],
    ["something that is no answer", {} as ApprovalAnswer, /no valid answer/],
  ])("an answer of %s withholds it", async (_who, answer, message) => {
    const performed = await asking({ answer: () => answer }).gate.call("crm.export");
    expect(errorOf(performed)).toMatchObject({ code: "RESULT_WITHHELD", message: expect.stringMatching(message) as string });
  });

  test("policy may withhold without asking, by what is in the result; what fails to decide withholds", async () => {
    const { gate, state } = asking({ decide: (result) => (JSON.stringify(result).includes(canary) ? { kind: "deny", ruleId: "no", reason: "It holds a canary" } : { kind: "allow", ruleId: "yes" }) });
    expect(errorOf(await gate.call("crm.export"))).toMatchObject({ code: "RESULT_WITHHELD", details: { ruleId: "no" } });
    state.decide = () => { throw new Error("broken"); };
    expect(errorOf(await gate.call("crm.export"))).toMatchObject({ details: { ruleId: "policy:fault" } });
    expect([state.questions, gate.entries().filter(({ kind }) => kind === "result-held")]).toEqual([[], []]);
  });

  test("what policies that do not hold would have decided is on record beside what was", async () => {
    const next = { kind: "deny", ruleId: "later" } as const;
    const { gate, state } = asking({ decide: () => ({ kind: "allow", ruleId: "look", unobserved: { ...askFor, kind: "ask" }, next }) });
    const ended = async () => { await gate.call("crm.export"); return gate.entries().at(-1); };
    expect(await ended()).toMatchObject({ outcome: "ok", resultDecided: { unobserved: { kind: "ask", ruleId: "look" }, next } });
    state.decide = () => ({ ...askFor, next });
    expect(await ended()).toMatchObject({ outcome: "ok", release: { released: true, by: "ann" }, resultDecided: { next } });
    state.decide = () => ({ kind: "allow", ruleId: "yes" });
    expect(await ended()).not.toHaveProperty("resultDecided");
  });

  test("a question that could not be written is asked of nobody, and the result stays back", async () => {
    const { gate, state } = asking({ effect: "write" });
    gate.journal.fail = (entries) => entries.some(({ kind }) => kind === "approval-asked");
    const performed = await gate.call("crm.export");
    expect(performed.outcome).toMatchObject({ kind: "denied", effectStatus: "done", error: { code: "RESULT_WITHHELD", details: { ruleId: "look" }, message: expect.stringContaining("The question could not be written to the journal.") as string } });
    expect([state.questions, state.ran]).toEqual([[], 1]);
  });

  test("a call that failed has no result to ask about", async () => {
    const { gate, state } = asking({ run: () => { throw new Error("down"); } });
    expect(errorOf(await gate.call("crm.export")).code).toBe("TOOL_FAILED");
    expect(state.questions).toEqual([]);
  });

  test("what a person withheld in this run is withheld again without asking; another result is asked about", async () => {
    const results = ["a", "a", "b"];
    const { gate, state } = asking({ run: () => results.shift(), answer: () => ({ kind: "denied", by: "ann" }) });
    for (let call = 0; call < 3; call += 1) await gate.call("crm.export");
    expect(state.questions).toHaveLength(2);
  });

  test("kept for later, the result waits on record: whoever goes on has it, and the tool is not called again", async () => {
    const { gate, state } = asking({ effect: "write", answer: () => ({ kind: "pending" }) });
    const parked = await gate.request("crm.export", { from: 1 });
    if (parked.kind !== "parked" || parked.past.question === undefined) throw new Error("not parked");
    const { question } = parked.past;
    const said = { kind: "approval" as const, approvalId: question.approvalId, approved: true, by: "ann", atMs: 1 };
    const go = (more = {}) => gate.call("crm.export", { from: 1 }, { callId: question.callId, past: { ...parked.past, said, ...more } });
    expect(await go()).toMatchObject({ outcome: { kind: "ok", effectStatus: "done", value: { rows: canary } } });
    expect(await go({ said: { ...said, approved: false } })).toMatchObject({ outcome: { kind: "denied", effectStatus: "done", error: { code: "RESULT_WITHHELD" } } });
    const other = { ...parked.past.held, result: { digest: "sha256:other", summary: null, clear: encodeValue("another result") } };
    expect(errorOf(await go({ held: other })).message).toContain("this has changed: the arguments");
    expect(errorOf(await go({ held: { ...parked.past.held, result: { digest: "sha256:x", summary: null } } })).message).toContain("not there any more");
    state.decide = () => ({ kind: "allow", ruleId: "yes" });
    // What asked does not any more; the question stands, and its answer is for what was asked.
    expect(await go()).toMatchObject({ outcome: { kind: "ok", value: { rows: canary } } });
    expect(gate.entries().at(-1)).toMatchObject({ release: { released: true, ruleId: "look", by: "ann", approvalId: question.approvalId } });
    state.decide = () => ({ kind: "deny", ruleId: "no", reason: "Not any more" });
    expect(errorOf(await go())).toMatchObject({ code: "RESULT_WITHHELD", details: { ruleId: "no" } });
    expect(state.ran).toBe(1);
  });

  test("a run that ends meanwhile has what the call did on record, and not its result", async () => {
    const stop = new AbortController();
    const { gate } = asking({ effect: "write", answer: () => { stop.abort(); return new Promise<never>(() => undefined) as unknown as ApprovalAnswer; } });
    expect(await gate.call("crm.export", {}, { signal: stop.signal })).toMatchObject({ outcome: { kind: "cancelled", effectStatus: "done", error: { message: expect.stringContaining("took effect") as string } } });
  });
});
