import { ToolError } from "@callgate/contract";
import type { Effect } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { createRehearsal } from "./rehearsal.ts";
import { ask, deny, errorOf, testGate, testTool } from "./fixtures/test-broker.ts";
import type { TestGateInit, TestTool } from "./fixtures/test-broker.ts";

const program = 'await t.pay({ amount: 1, to: "ann" })';

function rehearsed(tool: TestTool, init: Partial<TestGateInit> = {}, isVaried = false) {
  let ran = 0;
  const gate = testGate({ tools: [testTool("t.pay", { ...tool, run: () => ((ran += 1), { id: "real" }) }), testTool("t.get", { effect: "read", run: () => ((ran += 1), { id: "live-one" }) })], ...init });
  const rehearsal = createRehearsal({ program, variant: { kind: isVaried ? "other" : "plain" } });
  const call = (name = "t.pay", args: unknown = { amount: 1, to: "ann" }) => gate.call(name, args, { rehearsal });
  return { gate, call, ran: () => ran };
}

const valueOf = (performed: Awaited<ReturnType<ReturnType<typeof rehearsed>["call"]>>): unknown => {
  if (performed.outcome.kind !== "ok") throw new Error(performed.outcome.error.message);
  return performed.outcome.value;
};
const output = { type: "object", required: ["id"], properties: { id: { type: "string" }, ok: { type: "boolean" } } } as const;

describe("a write in a rehearsal", () => {
  test.each<[Effect, "allow" | "ask"]>([["write", "allow"], ["destructive", "allow"], ["write", "ask"], ["destructive", "ask"]])("%s that policy would %s: decided, recorded, answered, not made, nobody asked", async (effect, decision) => {
    const world = rehearsed({ effect, output }, decision === "ask" ? { decide: ask, answer: () => { throw new Error("nobody is to be asked"); } } : {});
    const performed = await world.call();
    expect(performed).toMatchObject({ simulated: "schema", outcome: { kind: "ok", effectStatus: "none" } });
    expect(world.ran()).toBe(0);
    expect(world.gate.entries()).toMatchObject([{ kind: "call-issued" }, { kind: "call-decided", decision }, { kind: "call-ended", outcome: "ok", effectStatus: "none", simulated: "schema", attempts: 0 }]);
    expect(world.gate.eventKinds()).toEqual(["call-requested", "call-decided", "call-ended"]);
    expect(world.gate.journal.keys.size).toBe(0);
  });

  test("is answered by the tool's own simulate, an example, the schema, or a text that stands for anything", async () => {
    const examples = [{ input: { amount: 9 }, output: { id: "ex-9" } }, { input: { amount: 1, to: "ann" }, output: { id: "ex-1" } }];
    expect(await rehearsed({ simulate: (args) => ({ id: "sim", args }), examples, output }).call().then(valueOf)).toEqual({ id: "sim", args: { amount: 1, to: "ann" } });
    expect(await rehearsed({ examples, output }).call().then(valueOf)).toEqual({ id: "ex-1" });
    expect(await rehearsed({ examples: examples.slice(0, 1), output }).call().then(valueOf)).toEqual({ id: "ex-9" });
    expect(await rehearsed({ output }).call().then(valueOf)).toEqual({ id: "0001-0001-placeholder", ok: true });
    expect(await rehearsed({}).call().then(valueOf)).toBe("0001-0001-placeholder");
    // What the tool itself would not take for an answer is none: its author's word on the output counts as well.
    const picky = rehearsed({ examples, output, badOutput: () => "never good" });
    expect(await picky.call()).toMatchObject({ simulated: "opaque", outcome: { kind: "ok", value: "0001-0002-placeholder" } });
  });

  test("fails as the tool's simulate says it would", async () => {
    const world = rehearsed({ simulate: () => { throw new ToolError({ code: "NO_MONEY", message: "Not enough money" }); } });
    const performed = await world.call();
    expect(errorOf(performed)).toMatchObject({ code: "NO_MONEY", message: "Not enough money. Nothing was changed." });
    expect(performed.outcome.effectStatus).toBe("none");
    const wrong = await rehearsed({ simulate: () => ({ id: 1 }), output, badOutput: () => "must be text" }).call();
    expect(errorOf(wrong)).toMatchObject({ code: "INVALID_OUTPUT" });
  });

  test("passes what comes before: input, policy, precheck", async () => {
    expect(errorOf(await rehearsed({ badInput: () => "must be a number" }).call())).toMatchObject({ code: "INVALID_INPUT" });
    expect(errorOf(await rehearsed({}, { decide: deny }).call())).toMatchObject({ code: "DENIED" });
    expect(errorOf(await rehearsed({ precheck: () => { throw new ToolError({ code: "NO_RECORD", message: "No such record" }); } }).call())).toMatchObject({ code: "NO_RECORD" });
  });

  test("the varied rehearsal is answered something else of the same form", async () => {
    expect(await rehearsed({ output }, {}, true).call().then(valueOf)).toEqual({ id: "0001-0001-placeholder-other", ok: false });
    expect(await rehearsed({ simulate: () => ({ id: "sim", ok: true }) }, {}, true).call().then(valueOf)).toEqual({ id: "0001-0001-placeholder-other", ok: false });
    expect(await rehearsed({}, {}, true).call().then(valueOf)).toBe("0001-0001-placeholder-other");
  });

  test("is told to interceptors as a rehearsal; what they make of it is rehearsed, and their answer counts", async () => {
    const seen: boolean[] = [];
    const world = rehearsed({ output }, { interceptors: [{ name: "look", before: (call) => { seen.push(call.isRehearsal); return { kind: "transform", args: { amount: 2, to: "ann" } }; } }] });
    expect(await world.call()).toMatchObject({ simulated: "schema" });
    expect(seen).toEqual([true]);
    expect(world.ran()).toBe(0);
  });

  test("never reaches its tool, whatever is said of an earlier stretch of the call", async () => {
    const world = rehearsed({ idempotent: true });
    const rehearsal = createRehearsal({ program, variant: { kind: "plain" } });
    const performed = await world.gate.call("t.pay", {}, { rehearsal, past: { issued: true, begun: true, resolved: 0 } });
    expect(errorOf(performed).code).toBe("INTERNAL");
    expect(world.ran()).toBe(0);
  });
});

describe("a read in a rehearsal", () => {
  test("is live", async () => {
    const world = rehearsed({ output });
    expect(await world.call("t.get", { id: "c-1" }).then(valueOf)).toEqual({ id: "live-one" });
    expect(world.ran()).toBe(1);
  });

  test("about something that only a placeholder names is answered by a placeholder: nothing real is asked about that", async () => {
    const world = rehearsed({ output });
    const paid = await world.call().then(valueOf);
    expect(await world.call("t.get", { url: `/payments/${(paid as { id: string }).id}` })).toMatchObject({ simulated: "opaque" });
    expect(world.ran()).toBe(0);
  });

  test("about what a placeholder and the program both say is live", async () => {
    const world = rehearsed({ simulate: () => ({ id: "sim-1", to: "ann" }) });
    await world.call();
    expect(await world.call("t.get", { who: "ann" })).not.toHaveProperty("simulated");
    expect(await world.call("t.get", { who: "sim-1" })).toHaveProperty("simulated");
  });
});
