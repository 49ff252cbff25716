import { defineTool } from "@callgate/runtime/source";
import { afterEach, describe, expect, test } from "vitest";
import { createAgent } from "./create-agent.ts";
import { agentGate } from "./fixtures/agent-gate.ts";
import type { AgentGate, AgentGateOptions } from "./fixtures/agent-gate.ts";
import { assertAnswered } from "./fixtures/told.ts";
import { scriptedModel } from "./model/scripted-model.ts";
import { messageTokens } from "./model/estimate-tokens.ts";
import type { AgentEvent } from "./agent-event.ts";
import type { SessionState } from "./session/session-state.ts";

const open: AgentGate[] = [];
afterEach(async () => {
  for (const gate of open.splice(0)) await gate.gate.close();
});

const rows = defineTool({ name: "rows", description: "Reads rows.", effect: "read", input: true, handler: (args) => Array.from({ length: 60 }, (_unused, i) => ({ i, note: `note ${i} of ${JSON.stringify(args)}` })) });

async function worldOf(options: AgentGateOptions = {}): Promise<AgentGate> {
  const world = await agentGate({ t: [rows] }, options);
  open.push(world);
  return world;
}

describe("a conversation", () => {
  test("goes on where it was, in another process as well", async () => {
    const { gate } = await worldOf();
    const first = await createAgent({ name: "a", model: scriptedModel([{ calls: [{ tool: "t.rows" }] }, "Sixty."]), gate }).run("how many rows?");
    const state = JSON.parse(JSON.stringify(first.state)) as SessionState;
    const model = scriptedModel(["As I said."]);
    const second = await createAgent({ name: "a", model, gate }).run("are you sure?", { state });
    expect(model.asked[0]?.prompt.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "assistant", "user"]);
    expect(second.state.sessionId).toBe(first.state.sessionId);
    expect(first.state.messages.length).toBe(4);
  });

  test.each([[{}], [{ version: 2 }], ["text"], [undefined]])("that is none (%j) is refused", async (state) => {
    const { gate } = await worldOf();
    await expect(createAgent({ name: "a", model: scriptedModel([]), gate }).run("x", { state: (state ?? null) as never })).rejects.toMatchObject({ code: "USAGE" });
  });

  test("of another agent is refused", async () => {
    const { gate } = await worldOf();
    const { state } = await createAgent({ name: "b", model: scriptedModel(["x"]), gate }).run("x");
    await expect(createAgent({ name: "a", model: scriptedModel([]), gate }).run("x", { state })).rejects.toMatchObject({ code: "USAGE", message: expect.stringContaining('"b"') as string });
  });

  test("stays within its budget: old results become handles and outlines, calls keep their results, and a handle still reads", async () => {
    const { gate } = await worldOf();
    const turns = Array.from({ length: 8 }, (_unused, n) => ({ calls: [{ tool: "t.rows", input: { n } }] }));
    const events: AgentEvent[] = [];
    const result = await createAgent({ name: "a", model: scriptedModel([...turns, "done"]), gate, limits: { historyTokens: 6_000 } }).run("read", { onEvent: (event) => void events.push(event) });
    const compacted = events.filter((event) => event.kind === "history-compacted");
    expect(compacted.length).toBeGreaterThan(0);
    for (const { tokensBefore, tokensAfter } of compacted) expect(tokensAfter).toBeLessThan(tokensBefore);
    expect(messageTokens(result.state.messages)).toBeLessThan(8_000);
    assertAnswered(result.state.messages);
    const [brief] = /result:\/\/[^\s"()]+/.exec(JSON.stringify(result.state.messages)) ?? [];
    expect(await gate.read(brief as `result://${string}`, { path: "/3/note" })).toMatchObject({ kind: "value", value: expect.stringContaining("note 3") as string });
    expect(JSON.stringify(result.state.messages[0])).toContain("read");
  });

  test("that is all old exchanges drops whole ones, and says so to the model", async () => {
    const { gate } = await worldOf();
    const agent = (words: string) => createAgent({ name: "a", model: scriptedModel([words]), gate, limits: { historyTokens: 1_000 } });
    let { state } = await agent("x".repeat(1_500)).run("first");
    for (let n = 0; n < 6; n++) ({ state } = await agent("x".repeat(1_500)).run(`task ${n} ${"y".repeat(500)}`, { state }));
    expect(messageTokens(state.messages)).toBeLessThan(2_500);
    expect(JSON.stringify(state.messages)).toContain("Earlier parts of this conversation are left out");
    expect(JSON.stringify(state.messages[0])).toContain("first");
  });
});

describe("the record of an agent", () => {
  test("holds each turn as a value of a run of its own, redacted, and its calls are runs beside it", async () => {
    const { gate, journal } = await worldOf({ secrets: ["hunter2hunter2"] });
    const result = await createAgent({ name: "clerk", model: scriptedModel([{ text: "the key is hunter2hunter2", calls: [{ tool: "t.rows" }] }, "Sixty."]), gate }).run("how many? mail ines@example.com");
    const shown = await gate.runs.show(result.runId);
    expect(shown?.run).toMatchObject({ kind: "agent", status: "completed", principal: { agent: "clerk" }, conversation: result.state.sessionId });
    const labels = shown?.entries.flatMap((entry) => (entry.kind === "result" ? [entry.label] : []));
    expect(labels).toEqual(["task", "turn 1", "results of turn 1", "turn 2", "end"]);
    const text = JSON.stringify(shown?.entries);
    expect(text).not.toContain("hunter2hunter2");
    expect(text).not.toContain("ines@example.com");
    expect(text).toContain(result.calls[0]?.runIds[0] ?? "no run");
    expect(await gate.read(`result://${result.runId}/2`)).toMatchObject({ kind: "value", value: { text: expect.stringContaining("the key is") as string } });
    expect((await gate.runs.explain(result.runId)).sentences[0]?.text).toContain("let a model work turn by turn");
    await gate.runs.erase(result.runId);
    expect(await gate.read(`result://${result.runId}/2`)).toMatchObject({ kind: "error" });
    await expect(gate.runs.replay(result.runId)).rejects.toMatchObject({ code: "REPLAY_UNAVAILABLE" });
    expect((await journal.listRuns({ tenant: gate.principal.tenant, kind: "agent" })).length).toBe(1);
  });

  test("ends with the task, whatever ends that", async () => {
    const { gate } = await worldOf();
    const stopping = new AbortController();
    stopping.abort();
    const cancelled = await createAgent({ name: "a", model: scriptedModel(["x"]), gate }).run("x", { signal: stopping.signal });
    expect(cancelled.stop).toEqual({ kind: "cancelled" });
    const over = await createAgent({ name: "a", model: scriptedModel([]), gate }).run("x");
    expect(over.stop).toMatchObject({ kind: "failed", error: { message: expect.stringContaining("script of the model is over") as string } });
    expect((await gate.runs.list()).map(({ status, kind }) => [kind, status])).toEqual([["agent", "failed"], ["agent", "cancelled"]]);
  });
});

describe("what an agent is made of", () => {
  test.each([
    [{ name: "two words" }, "two words"],
    [{ model: "gpt-5" }, "a name"],
    [{ model: { specificationVersion: "v2" } }, "v2"],
    [{ gate: {} }, "createCallgate"],
    [{ tools: ["crm"] }, "crm"],
    [{ limits: { turns: 0 } }, "limits.turns"],
    [{ limits: { turn: 3 } }, '"turn"'],
  ])("is looked at before anything happens: %j", async (wrong, said) => {
    const { gate } = await worldOf();
    expect(() => createAgent({ name: "a", model: scriptedModel([]), gate, ...(wrong as object) })).toThrow(said);
  });
});
