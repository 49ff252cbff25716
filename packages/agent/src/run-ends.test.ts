import { setTimeout as sleep } from "node:timers/promises";
import { defineTool } from "@callgate/runtime/source";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import type { AgentEvent } from "./agent-event.ts";
import type { AgentOptions } from "./agent-options.ts";
import { createAgent } from "./create-agent.ts";
import { agentGate } from "./fixtures/agent-gate.ts";
import type { AgentGate } from "./fixtures/agent-gate.ts";
import { assertAnswered, resultsIn } from "./fixtures/told.ts";
import { scriptedModel } from "./model/scripted-model.ts";
import type { ScriptedModel, ScriptedTurn } from "./model/scripted-model.ts";

const open: AgentGate[] = [];
afterEach(async () => {
  for (const gate of open.splice(0)) await gate.gate.close();
});

type ToolOf = Parameters<typeof defineTool>[0];
const read = (name: string, handler: ToolOf["handler"], more: Partial<ToolOf> = {}) => defineTool({ name, description: `Does ${name}.`, effect: "read", input: true, ...more, handler });

async function agentWith(model: ScriptedModel, more: Partial<AgentOptions> & { readonly tools_?: readonly ReturnType<typeof defineTool>[] } = {}) {
  const { tools_ = [read("three", () => 3)], ...options } = more;
  const world = await agentGate({ t: tools_ });
  open.push(world);
  const events: AgentEvent[] = [];
  const agent = createAgent({ name: "a", model, gate: world.gate, mode: "tools", ...options });
  return { world, agent, events, run: (task = "do it") => agent.run(task, { onEvent: (event) => void events.push(event) }) };
}

const calling: ScriptedTurn = { calls: [{ tool: "t.three" }] };
const failing = { calls: [{ tool: "t.missing" }] };

describe("budgets end a run with what it has", () => {
  test.each<[string, Partial<AgentOptions>, ScriptedTurn[], object]>([
    ["turns", { limits: { turns: 2 } }, [calling, calling, "so far"], { budget: "turns", limit: 2 }],
    ["toolCalls", { limits: { toolCalls: 3 } }, [{ calls: Array.from({ length: 5 }, () => ({ tool: "t.three" })) }, "so far"], { budget: "toolCalls", limit: 3 }],
    ["tokens", { limits: { tokens: 100 } }, [{ ...calling, usage: { inputTokens: 90, outputTokens: 20 } }], { budget: "tokens", limit: 100 }],
    ["microUsd", { limits: { microUsd: 10 }, price: { inputMicroUsdPerMTok: 1_000_000, outputMicroUsdPerMTok: 2_000_000 } }, [{ ...calling, usage: { inputTokens: 6, outputTokens: 3 } }], { budget: "microUsd", limit: 10 }],
    ["errors", { limits: { errors: 2, repairs: 9 } }, [failing, failing, "so far"], { budget: "errors", limit: 2 }],
  ])("%s", async (_name, options, script, stop) => {
    const { run, events } = await agentWith(scriptedModel(script), options);
    const result = await run();
    expect(result.stop).toEqual({ kind: "budget", ...stop });
    expect(events.slice(-12).map(({ kind }) => kind)).toContain("budget-reached");
    expect(events.at(-1)?.kind).toBe("final");
    expect(result.answer.length).toBeGreaterThan(5);
    assertAnswered(result.state.messages);
  });

  test("calls beyond the budget are answered as not executed, each with its id", async () => {
    const { run } = await agentWith(scriptedModel([{ calls: Array.from({ length: 5 }, () => ({ tool: "t.three" })) }, "x"]), { limits: { toolCalls: 3 } });
    expect((await run()).calls.map(({ status }) => status)).toEqual(["ok", "ok", "ok", "not_executed", "not_executed"]);
  });

  test("wall time ends a model that is silent, and a tool that is under way", async () => {
    const silent = await agentWith(scriptedModel([{ delayMs: 60_000, text: "late" }]), { limits: { wallMs: 150 } });
    expect((await silent.run()).stop).toEqual({ kind: "budget", budget: "wallMs", limit: 150 });
    const slow = await agentWith(scriptedModel([{ calls: [{ tool: "t.slow" }] }]), { limits: { wallMs: 300 }, tools_: [read("slow", async (_args, { signal }) => { await sleep(60_000, undefined, { signal }); })] });
    const result = await slow.run();
    expect(result.stop).toMatchObject({ budget: "wallMs" });
    expect(result.calls).toMatchObject([{ status: "cancelled" }]);
  });
});

describe("repairs", () => {
  test("are told, counted, and forgotten once something works", async () => {
    const { run, events } = await agentWith(scriptedModel([failing, failing, calling, failing, "done"]), { limits: { repairs: 2 } });
    expect((await run()).stop).toEqual({ kind: "answered" });
    expect(events.flatMap((event) => (event.kind === "repair" ? [event.attempt] : []))).toEqual([1, 2, 1]);
  });

  test("end in an escalation with the last code, the errors and the effects; a hint goes on, here or later", async () => {
    const bad = { calls: [{ tool: "execute_code", input: { code: "return nothing_here" } }] };
    const script = [bad, bad, "Now I know."];
    const { run, agent } = await agentWith(scriptedModel(script), { mode: "code", limits: { repairs: 1 } });
    const escalated = await run();
    expect(escalated.stop).toMatchObject({ kind: "escalated", item: { agent: "a", task: "do it", lastCode: expect.stringContaining("nothing_here") as string, errors: [expect.stringContaining("nothing_here"), expect.stringContaining("nothing_here")] } });
    const resumed = await agent.resume(escalated.state, { escalation: { kind: "retry", hint: "use search" } });
    expect(resumed.answer).toBe("Now I know.");
    expect(JSON.stringify(resumed.state.messages)).toContain("A hint: use search");
    const over = await agentWith(scriptedModel(script), { mode: "code", limits: { repairs: 1 }, onEscalation: () => ({ kind: "take_over", answer: "I did it by hand." }) });
    expect(await over.run()).toMatchObject({ answer: "I did it by hand.", stop: { kind: "taken_over" } });
    const aborted = await agentWith(scriptedModel(script), { mode: "code", limits: { repairs: 1 }, onEscalation: () => ({ kind: "abort" }) });
    expect((await aborted.run()).stop.kind).toBe("aborted");
    const hinted = await agentWith(scriptedModel(script), { mode: "code", limits: { repairs: 1 }, onEscalation: () => ({ kind: "retry", hint: "use search" }) });
    expect((await hinted.run()).answer).toBe("Now I know.");
  });

  test("end in the declared safe default where there is one", async () => {
    const { run } = await agentWith(scriptedModel([failing, failing]), { limits: { repairs: 1 }, safeDefault: { status: "unchanged" } });
    expect(await run()).toMatchObject({ output: { status: "unchanged" }, answer: '{"status":"unchanged"}', stop: { kind: "defaulted" } });
  });
});

describe("the model", () => {
  test("is asked again where it fails for a while, and the task fails where it keeps failing", async () => {
    const broken = Object.assign(new Error("overloaded"), { isRetryable: true, statusCode: 529 });
    const mended = await agentWith(scriptedModel([{ error: broken }, "fine"]), { limits: { retryMs: 1 } });
    expect((await mended.run()).answer).toBe("fine");
    expect(mended.events.filter(({ kind }) => kind === "model-retry")).toMatchObject([{ attempt: 1, reason: "HTTP 529: overloaded" }]);
    const down = await agentWith(scriptedModel([calling, { error: broken }, { error: broken }]), { limits: { retryMs: 1, modelRetries: 1 } });
    const result = await down.run();
    expect(result.stop).toMatchObject({ kind: "failed", error: { code: "MODEL_UNAVAILABLE", retryable: true } });
    expect(result.answer).toMatch(/overloaded.*t\.three \(ok\): 3/s);
    assertAnswered(result.state.messages);
  });

  test("is not asked again where the same would be as wrong", async () => {
    const { run } = await agentWith(scriptedModel([{ error: Object.assign(new Error("bad key"), { isRetryable: false, statusCode: 401 }) }, "never"]));
    expect((await run()).stop).toMatchObject({ kind: "failed", error: { retryable: false, message: expect.stringContaining("bad key") as string } });
  });

  test("that refuses, and one that says nothing, end the task as that", async () => {
    expect((await (await agentWith(scriptedModel([{ text: "I cannot help.", finishReason: "content-filter" }]))).run())).toMatchObject({ answer: "I cannot help.", stop: { kind: "failed", error: { code: "MODEL_REFUSED" } } });
    expect((await (await agentWith(scriptedModel(["", "", "Here."]))).run()).answer).toBe("Here.");
  });

  test("counts tokens as the provider says, and says where they are estimated", async () => {
    const said = await (await agentWith(scriptedModel([{ text: "x", usage: { inputTokens: 7, outputTokens: 2 } }]))).run();
    expect(said.usage).toMatchObject({ inputTokens: 7, outputTokens: 2, isEstimated: false });
    expect((await (await agentWith(scriptedModel(["x"]))).run()).usage.isEstimated).toBe(true);
  });
});

describe("structured output", () => {
  const output = z.object({ total: z.number() });

  test("ends the task through final_answer, after a repair where it does not match", async () => {
    const model = scriptedModel([{ calls: [{ tool: "final_answer", input: { total: "three" } }] }, { calls: [{ tool: "t.three" }, { tool: "final_answer", input: { total: 3 } }] }]);
    const { run } = await agentWith(model, { output });
    const result = await run();
    expect(result).toMatchObject({ output: { total: 3 }, stop: { kind: "answered" } });
    expect(resultsIn(model.asked[1])[0]?.text).toContain("/total");
    assertAnswered(result.state.messages);
  });

  test("is taken from JSON in text as well, and asked for where text is none", async () => {
    const { run } = await agentWith(scriptedModel(["It is three.", '```json\n{"total": 3}\n```']), { output });
    expect((await run()).output).toEqual({ total: 3 });
  });

  test("that is no object is wrapped for the model and comes back bare", async () => {
    const { run } = await agentWith(scriptedModel([{ calls: [{ tool: "final_answer", input: { answer: ["a"] } }] }]), { output: z.array(z.string()) });
    expect((await run()).output).toEqual(["a"]);
  });
});

describe("ask_user", () => {
  const ask = { calls: [{ tool: "ask_user", input: { question: "Which month?", schema: { enum: ["May", "June"] } }, callId: "q" }, { tool: "t.three", callId: "c" }] };

  test("suspends, and goes on with the answer once that is what was asked for", async () => {
    const model = scriptedModel([ask, "May it is."]);
    const { run, agent } = await agentWith(model, { askUser: "suspend" });
    const asked = await run();
    expect(asked.stop).toMatchObject({ kind: "suspended", waits: [{ kind: "question", callId: "q", question: { question: "Which month?" } }] });
    const state = JSON.parse(JSON.stringify(asked.state)) as typeof asked.state;
    await expect(agent.resume(state, { answers: { q: "Monday" } })).rejects.toMatchObject({ code: "USAGE" });
    await expect(agent.resume(state, { answers: { other: 1 } })).rejects.toMatchObject({ code: "USAGE" });
    expect((await agent.resume(state)).stop.kind).toBe("suspended");
    const result = await agent.resume(state, { answers: { q: "May" } });
    expect(result.answer).toBe("May it is.");
    expect(resultsIn(model.asked[1])).toMatchObject([{ callId: "q", text: "The user answered: May" }, { callId: "c", text: "3" }]);
  });

  test("is answered by a callback, and a callback that throws is no answer", async () => {
    const { run, events } = await agentWith(scriptedModel([ask, "ok"]), { askUser: () => "June" });
    await run();
    expect(events.filter(({ kind }) => kind.startsWith("question"))).toMatchObject([{ kind: "question-asked" }, { kind: "question-answered", answer: "June" }]);
    const broken = await agentWith(scriptedModel([ask, "ok"]), { askUser: () => { throw new Error("no terminal"); } });
    expect((await broken.run()).calls[0]).toMatchObject({ status: "not_executed", text: expect.stringContaining("no terminal") as string });
  });

  test("is not offered where nobody would answer", async () => {
    const model = scriptedModel(["x"]);
    await (await agentWith(model)).run();
    expect(model.asked[0]?.tools?.map(({ name }) => name)).not.toContain("ask_user");
  });
});
