import { setTimeout as sleep } from "node:timers/promises";
import type { Source } from "@callgate/contract";
import { CallgateError } from "@callgate/contract";
import { functionSource, defineTool } from "@callgate/runtime/source";
import { afterEach, describe, expect, test } from "vitest";
import type { AgentEvent } from "./agent-event.ts";
import type { AgentOptions } from "./agent-options.ts";
import { createAgent } from "./create-agent.ts";
import { agentGate } from "./fixtures/agent-gate.ts";
import type { AgentGate, AgentGateOptions } from "./fixtures/agent-gate.ts";
import { assertAnswered, resultsIn } from "./fixtures/told.ts";
import { scriptedModel } from "./model/scripted-model.ts";
import type { ScriptedModel } from "./model/scripted-model.ts";
import { handoff } from "./tools/handoff.ts";

const open: AgentGate[] = [];
afterEach(async () => {
  for (const gate of open.splice(0)) await gate.gate.close();
});

type ToolOf = Parameters<typeof defineTool>[0];
const read = (name: string, handler: ToolOf["handler"], more: Partial<ToolOf> = {}) => defineTool({ name, description: `Does ${name}.`, effect: "read", input: true, ...more, handler });

async function worldOf(tools: Readonly<Record<string, readonly ReturnType<typeof defineTool>[]>>, options: AgentGateOptions = {}): Promise<AgentGate> {
  const gate = await agentGate(tools, options);
  open.push(gate);
  return gate;
}

const agentOn = ({ gate }: AgentGate, model: ScriptedModel, more: Partial<AgentOptions> = {}) => createAgent({ name: "a", model, gate, mode: "tools", ...more });

async function eventsOf(agent: ReturnType<typeof createAgent>, task = "do it"): Promise<readonly AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of agent.stream(task)) events.push(event);
  return events;
}

describe("agent-and-executor: loop and events", () => {
  test("agent-and-executor 14: a turn with a call is request, execution, and then the final message", async () => {
    const world = await worldOf({ t: [read("echo", (args) => args)] });
    const events = await eventsOf(agentOn(world, scriptedModel([{ text: "Looking.", calls: [{ tool: "t.echo", input: { a: 1 }, callId: "c1" }] }, "It is 1."])));
    expect(events.map(({ kind }) => kind)).toEqual(["model-start", "model-delta", "model-end", "tool-call-request", "tool-call-execution", "model-start", "model-delta", "model-delta", "model-delta", "model-end", "final"]);
    expect(events.map(({ turn }) => turn)).toEqual([1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2]);
    expect(events[3]).toMatchObject({ calls: [{ callId: "c1", tool: "t.echo", input: { a: 1 } }] });
    expect(events[4]).toMatchObject({ results: [{ callId: "c1", tool: "t.echo", status: "ok", effectStatus: "none", text: '{"a":1}', runIds: [expect.stringMatching(/^run_/)] }] });
    expect(events.at(-1)).toMatchObject({ result: { answer: "It is 1.", stop: { kind: "answered" }, agent: "a", model: "scripted/script" } });
  });

  test.each([[8, 3], [1, 1]])("agent-and-executor 15: with %i at once three calls have %i under way, and results in the order of the requests", async (concurrentCalls, most) => {
    let [now, peak] = [0, 0];
    const world = await worldOf({ t: [read("wait", async (args) => {
      peak = Math.max(peak, (now += 1));
      await sleep((args as { ms: number }).ms);
      now -= 1;
      return args;
    })] });
    const model = scriptedModel([{ calls: [30, 10, 20].map((ms) => ({ tool: "t.wait", input: { ms } })) }, "done"]);
    await agentOn(world, model, { limits: { concurrentCalls } }).run("wait");
    expect(peak).toBe(most);
    expect(resultsIn(model.asked[1]).map(({ text }) => text)).toEqual(['{"ms":30}', '{"ms":10}', '{"ms":20}']);
  });

  test("agent-and-executor 16: one turn and no closing question ends in a summary; an answer in text ends the loop before", async () => {
    const world = await worldOf({ t: [read("three", () => 3)] });
    const model = scriptedModel([{ calls: [{ tool: "t.three" }] }]);
    const result = await agentOn(world, model, { limits: { turns: 1 }, closing: "summary" }).run("count");
    expect(result.stop).toEqual({ kind: "budget", budget: "turns", limit: 1 });
    expect(result.answer).toContain("t.three (ok): 3");
    expect(model.asked.length).toBe(1);
    const early = await agentOn(world, scriptedModel(["No need."]), { limits: { turns: 5 } }).run("count");
    expect(early).toMatchObject({ answer: "No need.", usage: { turns: 1 } });
  });

  test("agent-and-executor 17: the summary of two turns holds the results of both", async () => {
    const world = await worldOf({ t: [read("echo", (args) => args)] });
    const model = scriptedModel([{ calls: [{ tool: "t.echo", input: { n: 1 } }] }, { calls: [{ tool: "t.echo", input: { n: 2 } }] }]);
    const { answer } = await agentOn(world, model, { limits: { turns: 2 }, closing: "summary" }).run("count");
    expect(answer).toContain('{"n":1}');
    expect(answer).toContain('{"n":2}');
  });

  test("agent-and-executor 18: braces in the line of a summary, and in a result, are text", async () => {
    const world = await worldOf({ t: [read("three", () => ({ "{tool}": 3 }))] });
    const { answer } = await agentOn(world, scriptedModel([{ calls: [{ tool: "t.three" }] }]), { limits: { turns: 1 }, closing: "summary", summaryLine: '{"r": {result}}' }).run("count");
    expect(answer).toContain('{"r": {"{tool}":3}}');
  });

  test.each([
    ["a call (19)", { calls: [{ tool: "t.three" }] }],
    ["nothing (20)", ""],
  ])("agent-and-executor 19, 20: where the closing turn gives %s the answer is made of what is known, and no call is without a result", async (_name, closing) => {
    const world = await worldOf({ t: [read("three", () => 3)] });
    const model = scriptedModel([{ calls: [{ tool: "t.three" }] }, closing]);
    const result = await agentOn(world, model, { limits: { turns: 1 } }).run("count");
    expect(model.asked[1]?.toolChoice).toEqual({ type: "none" });
    expect(result.stop).toMatchObject({ kind: "budget" });
    expect(result.answer).toMatch(/budget of 1 turns.*t\.three \(ok\): 3/s);
    assertAnswered(result.state.messages);
  });

  test("a closing turn with words is the answer, and the conversation goes on from it", async () => {
    const world = await worldOf({ t: [read("three", () => 3)] });
    const result = await agentOn(world, scriptedModel([{ calls: [{ tool: "t.three" }] }, "Three so far."]), { limits: { turns: 1 } }).run("count");
    expect(result.answer).toBe("Three so far.");
    const model = scriptedModel(["Four."]);
    expect((await agentOn(world, model).run("and one more?", { state: result.state })).answer).toBe("Four.");
    expect(model.asked[0]?.prompt.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "user", "assistant", "user"]);
  });

  test("agent-and-executor 21: an abort while a tool sleeps ends the stream, cancels that call, and keeps its sibling's result", async () => {
    let wasAborted = false;
    const world = await worldOf({ t: [read("sleep", async (_args, { signal }) => {
      signal.addEventListener("abort", () => { wasAborted = true; });
      await sleep(30_000, undefined, { signal });
    }), read("quick", () => "here")] });
    const stopping = new AbortController();
    const startedMs = performance.now();
    let abortedMs = 0;
    const result = await agentOn(world, scriptedModel([{ calls: [{ tool: "t.sleep" }, { tool: "t.quick" }] }])).run("wait", {
      signal: stopping.signal,
      onEvent: ({ kind }) => {
        if (kind === "tool-call-request") setTimeout(() => { abortedMs = performance.now(); stopping.abort(); }, 100);
      },
    });
    expect(result.stop).toEqual({ kind: "cancelled" });
    expect(result.calls.map(({ tool, status }) => [tool, status])).toEqual([["t.sleep", "cancelled"], ["t.quick", "ok"]]);
    expect(wasAborted).toBe(true);
    // 250 ms of grace; the rest is for a busy machine.
    expect(performance.now() - abortedMs).toBeLessThan(5_000);
    expect(performance.now() - startedMs).toBeLessThan(20_000);
    assertAnswered(result.state.messages);
  });

  test("agent-and-executor 22: a source that cannot list its tools is told, and the others work", async () => {
    const broken: Source = { ...functionSource({ namespace: "broken", tools: [] }), list: () => Promise.reject(new CallgateError("SOURCE_FAILED", "It is on fire")) };
    const world = await worldOf({ t: [read("three", () => 3)] }, { sources: [broken] });
    const model = scriptedModel([{ calls: [{ tool: "t.three" }, { tool: "broken.any" }] }, "done"]);
    const result = await agentOn(world, model).run("do");
    expect(result.calls.map(({ status }) => status)).toEqual(["ok", "invalid"]);
    expect(world.gate.problems.join("\n")).toContain("on fire");
  });

  describe("agent-and-executor 23: handoff", () => {
    test("a handoff and a call of one turn both happen, and the other agent reads what came of the call", async () => {
      const world = await worldOf({ t: [read("three", () => 3)] });
      const second = scriptedModel(["I am the other one."]);
      const billing = createAgent({ name: "billing", description: "Knows invoices.", model: second, gate: world.gate, instructions: "You do billing." });
      const first = scriptedModel([{ calls: [{ tool: "handoff_to_billing", input: { context: "angry" }, callId: "h" }, { tool: "t.three", callId: "c" }] }]);
      const agent = agentOn(world, first, { handoffs: [billing] });
      const events = await eventsOf(agent);
      expect(events.filter(({ kind }) => kind === "handoff")).toMatchObject([{ to: "billing", context: "angry" }]);
      expect(resultsIn(second.asked[0])).toMatchObject([{ callId: "h", isError: false }, { callId: "c", text: "3" }]);
      expect(JSON.stringify(second.asked[0]?.prompt[0])).toContain("You do billing.");
      expect(events.at(-1)).toMatchObject({ kind: "final", agent: "billing", result: { agent: "billing", answer: "I am the other one." } });
      const described = first.asked[0]?.tools?.find(({ name }) => name === "handoff_to_billing");
      expect(described).toMatchObject({ description: expect.stringContaining("Knows invoices.") as string });
    });

    test("of two handoffs the first counts, and the other is told and noted", async () => {
      const world = await worldOf({});
      const one = createAgent({ name: "one", model: scriptedModel(["one here"]), gate: world.gate });
      const two = createAgent({ name: "two", model: scriptedModel(["two here"]), gate: world.gate });
      const result = await agentOn(world, scriptedModel([{ calls: [{ tool: "handoff_to_two" }, { tool: "handoff_to_one" }] }]), { handoffs: [one, two] }).run("help");
      expect(result).toMatchObject({ answer: "two here", agent: "two", notices: [expect.stringContaining("A second handoff, to one, was ignored")] });
      expect(result.calls.map(({ status }) => status)).toEqual(["ok", "not_executed"]);
    });

    test("arguments of a handoff that are a list are an error, and nothing hangs", async () => {
      const world = await worldOf({});
      const other = createAgent({ name: "other", model: scriptedModel([]), gate: world.gate });
      const result = await agentOn(world, scriptedModel([{ calls: [{ tool: "handoff_to_other", input: [1] }] }, "I stay."]), { handoffs: [other] }).run("help");
      expect(result).toMatchObject({ answer: "I stay.", agent: "a", calls: [{ status: "invalid" }] });
    });

    test("a handler of the host's own hands over; the same words from another kind of source are data", async () => {
      const words = () => handoff("other", { reason: "not mine" });
      const foreign: Source = { ...functionSource({ namespace: "foreign", tools: [read("forward", words)] }), kind: "mcp" };
      const world = await worldOf({ own: [read("forward", words)] }, { sources: [foreign] });
      const other = () => createAgent({ name: "other", model: scriptedModel(["other here"]), gate: world.gate });
      expect((await agentOn(world, scriptedModel([{ calls: [{ tool: "foreign.forward" }] }, "still me"]), { handoffs: [other()] }).run("x")).agent).toBe("a");
      expect((await agentOn(world, scriptedModel([{ calls: [{ tool: "own.forward" }] }]), { handoffs: [other()] }).run("x")).agent).toBe("other");
    });
  });

  test("agent-and-executor 24: progress of a tool is three events and one result; where it then throws, one event and an error", async () => {
    const world = await worldOf({ t: [
      read("stream", (_args, context) => { for (const item of ["one", "two", "three"]) context.progress(item); return "done"; }),
      read("breaks", (_args, context) => { context.progress("one"); throw new Error("broke"); }),
    ] });
    const events = await eventsOf(agentOn(world, scriptedModel([{ calls: [{ tool: "t.stream" }] }, { calls: [{ tool: "t.breaks" }] }, "ok"])));
    const told = events.flatMap((event) => (event.kind === "tool-call-progress" ? [event.message] : event.kind === "tool-call-execution" ? event.results.map(({ status }) => status) : []));
    expect(told).toEqual(["one", "two", "three", "ok", "one", "failed"]);
  });

  test("agent-and-executor 26: two tools whose names a provider could not tell apart have two names", async () => {
    const world = await worldOf({ a: [read("b__c", () => 1)], a__b: [read("c", () => 2)] });
    const model = scriptedModel(["ok"]);
    await agentOn(world, model).run("x");
    const names = (model.asked[0]?.tools ?? []).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  });

  test("agent-and-executor 27: who stops iterating cancels the tool under way, and all of it has ended by then", async () => {
    let ended = "";
    const world = await worldOf({ t: [read("sleep", async (_args, { signal }) => {
      await sleep(30_000, undefined, { signal }).catch(() => { ended = "aborted"; });
    })] });
    const stream = agentOn(world, scriptedModel([{ calls: [{ tool: "t.sleep" }] }])).stream("x");
    for await (const event of stream) if (event.kind === "tool-call-request") break;
    expect((await stream.result).stop).toEqual({ kind: "cancelled" });
    await expect.poll(() => ended).toBe("aborted");
    expect(world.events.at(-1)).toMatchObject({ kind: "run-ended" });
  });
});
