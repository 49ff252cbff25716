import { defineTool } from "@callgate/runtime/source";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { createAgent } from "./create-agent.ts";
import { agentGate } from "./fixtures/agent-gate.ts";
import type { AgentGate, AgentGateOptions } from "./fixtures/agent-gate.ts";
import { resultsIn } from "./fixtures/told.ts";
import { scriptedModel } from "./model/scripted-model.ts";
import type { ScriptedTurn } from "./model/scripted-model.ts";

const open: AgentGate[] = [];
afterEach(async () => {
  for (const gate of open.splice(0)) await gate.gate.close();
});

type ToolOf = Parameters<typeof defineTool>[0];
const read = (name: string, handler: ToolOf["handler"], more: Partial<ToolOf> = {}) => defineTool({ name, description: `Does ${name}.`, effect: "read", input: true, ...more, handler });

/** Calls one tool with what a model wrote, and gives what the model reads in the next turn. */
async function callOnce(tool: ReturnType<typeof defineTool>, input: NonNullable<Extract<ScriptedTurn, { calls?: unknown }>["calls"]>[number]["input"], options: AgentGateOptions = {}) {
  const gate = await agentGate({ t: [tool] }, options);
  open.push(gate);
  const model = scriptedModel([{ calls: [{ tool: `t.${tool.name}`, ...(input === undefined ? {} : { input }) }] }, "done"]);
  const result = await createAgent({ name: "a", model, gate: gate.gate, mode: "tools" }).run("do it");
  const [told] = resultsIn(model.asked[1]);
  return { result, told, model };
}

describe("agent-and-executor: tools and schemas, as a model meets them", () => {
  test("agent-and-executor 1: a schema reaches the model with its required fields and descriptions, and closed", async () => {
    const tool = defineTool({ name: "add", description: "Adds.", effect: "read", input: z.strictObject({ arg: z.string(), other: z.number().int().describe("int arg"), opt: z.number().int().default(5) }), handler: ({ opt }) => opt });
    const { model, told } = await callOnce(tool, { arg: "x", other: 1 });
    const [given] = model.asked[0]?.tools ?? [];
    expect(given).toMatchObject({ type: "function", name: "t__add", description: expect.stringContaining("Adds.") as string, inputSchema: { type: "object", required: ["arg", "other"], additionalProperties: false, properties: { other: { description: "int arg" } } } });
    expect(told).toMatchObject({ text: "5", isError: false });
  });

  test("agent-and-executor 2: a strict agent refuses a tool with an optional parameter when it is made, by the name of the parameter", async () => {
    const tool = (name: string, input: z.ZodType) => defineTool({ name, description: `Does ${name}.`, effect: "read", input: input as z.ZodObject, handler: () => 1 });
    const fits = tool("fits", z.strictObject({ a: z.string(), b: z.nullable(z.number()) }));
    const strictOn = async (tools: readonly ReturnType<typeof tool>[], patterns?: readonly string[]) => {
      const gate = await agentGate({ t: tools });
      open.push(gate);
      const model = scriptedModel(["done"]);
      return { model, agent: createAgent({ name: "a", model, gate: gate.gate, mode: "tools", strict: true, ...(patterns === undefined ? {} : { tools: patterns }) }) };
    };
    await expect(strictOn([fits, tool("opt", z.strictObject({ arg: z.string(), opt: z.number().optional() }))])).rejects.toMatchObject({ code: "USAGE", message: expect.stringMatching(/^Agent "a" is strict, and t\.opt cannot be: the parameter "opt" is optional/) as string });
    await expect(strictOn([tool("deep", z.strictObject({ list: z.array(z.strictObject({ x: z.string().optional() })) }))])).rejects.toMatchObject({ message: expect.stringContaining('the parameter "list.x" is optional') as string });
    await expect(strictOn([tool("wide", z.looseObject({ a: z.string() }))])).rejects.toMatchObject({ message: expect.stringContaining("set additionalProperties to false") as string });
    // What the agent does not have is none of its tools.
    const { agent, model } = await strictOn([fits, tool("opt", z.strictObject({ opt: z.number().optional() }))], ["t.fits"]);
    await agent.run("do it");
    expect(model.asked[0]?.tools).toMatchObject([{ name: "t__fits", strict: true }, { name: "read_result" }]);
  });

  test("agent-and-executor 3: a nested schema is whole for the model, and a recursive one keeps its local definitions", async () => {
    const node: z.ZodType = z.strictObject({ name: z.string(), get children() { return z.array(node).optional(); } });
    const { model, told } = await callOnce(defineTool({ name: "walk", description: "Walks.", effect: "read", input: z.strictObject({ root: z.strictObject({ a: z.strictObject({ b: z.string() }) }), tree: node }), handler: ({ root }) => root.a.b }), { root: { a: { b: "deep" } }, tree: { name: "r", children: [{ name: "c" }] } });
    const schema = (model.asked[0]?.tools?.[0] as { readonly inputSchema: { readonly properties: { readonly root: unknown } } } | undefined)?.inputSchema;
    expect(JSON.stringify(schema?.properties.root)).toContain('"b"');
    expect(JSON.stringify(schema?.properties.root)).not.toContain("$ref");
    expect(JSON.stringify(schema)).toContain("$ref");
    expect(told?.text).toBe("deep");
  });

  test.each([
    [{ result: "test" }, '{"result":"test"}'],
    [5, "5"],
    [{ a: 1, b: true, c: null }, '{"a":1,"b":true,"c":null}'],
    [null, "null"],
    [undefined, "(no value)"],
  ])("agent-and-executor 4: the model reads %j as %s", async (value, text) => {
    const { told } = await callOnce(read("give", () => value), {});
    expect(told).toMatchObject({ text, isError: false });
  });

  test.each(["", "   ", "null"])("agent-and-executor 5: arguments written as %j are none: the tool runs with {}", async (input) => {
    const { told } = await callOnce(read("echo", (args) => args), input);
    expect(told).toMatchObject({ text: "{}", isError: false });
  });

  test("agent-and-executor 6: arguments that are no JSON are told with tool and position, and nothing is called", async () => {
    let called = 0;
    const { told, result } = await callOnce(read("echo", () => (called += 1)), "{bad json");
    expect(called).toBe(0);
    expect(told?.isError).toBe(true);
    expect(told?.text).toMatch(/t\.echo was not called.*at character 2/s);
    expect(result.calls).toMatchObject([{ status: "invalid", effectStatus: "none" }]);
    expect(result.stop).toEqual({ kind: "answered" });
  });

  test("agent-and-executor 7: a tool that is not there is told with the nearest names", async () => {
    const gate = await agentGate({ crm: [read("get_customer", () => 1)] });
    open.push(gate);
    const model = scriptedModel([{ calls: [{ tool: "crm__get_custmer" }] }, "done"]);
    await createAgent({ name: "a", model, gate: gate.gate, mode: "tools" }).run("do it");
    expect(resultsIn(model.asked[1])).toMatchObject([{ isError: true, text: expect.stringMatching(/no tool "crm__get_custmer".*Nearest: crm__get_customer/) as string }]);
  });

  test("agent-and-executor 8: an argument too many is an error that names it", async () => {
    const { told } = await callOnce(defineTool({ name: "one", description: "One.", effect: "read", input: z.strictObject({ a: z.number() }), handler: () => 1 }), { a: 1, extra: 2 });
    expect(told).toMatchObject({ isError: true, text: expect.stringContaining("extra") as string });
  });

  test("agent-and-executor 9: a null that the schema allows is passed as null, and no default takes its place", async () => {
    const { told } = await callOnce(defineTool({ name: "one", description: "One.", effect: "read", input: z.strictObject({ a: z.nullable(z.number()).default(5) }), handler: ({ a }) => ({ a }) }), { a: null });
    expect(told?.text).toBe('{"a":null}');
  });

  test("agent-and-executor 10: what a tool throws is told without its stack, and the task goes on", async () => {
    const { told, result } = await callOnce(read("fail", () => { throw new Error("kaput"); }), {});
    expect(told).toMatchObject({ isError: true, text: expect.stringContaining("kaput") as string });
    expect(told?.text).not.toContain("at ");
    expect(result).toMatchObject({ answer: "done", stop: { kind: "answered" } });
  });

  test.each([[5], [undefined]])("agent-and-executor 11: throwing %j is an error like any other", async (thrown) => {
    const { told, result } = await callOnce(read("fail", () => Promise.reject(thrown)), {});
    expect(told?.isError).toBe(true);
    expect(result.stop.kind).toBe("answered");
  });

  test("agent-and-executor 12: a tool that is over its time is told so, its signal aborts, and its late result is nobody's", async () => {
    let aborted = false;
    const { told, result, model } = await callOnce(read("slow", async (_args, { signal }) => {
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => { aborted = true; resolve(); }));
      return "too late";
    }, { timeoutMs: 50 }), {});
    expect(told).toMatchObject({ isError: true, text: expect.stringContaining("50 ms") as string });
    expect(aborted).toBe(true);
    expect(JSON.stringify(model.asked)).not.toContain("too late");
    expect(result.answer).toBe("done");
  });

  test.each([
    ["circular", () => { const a: { self?: unknown } = {}; a.self = a; return a; }],
    ["a big integer", () => 12345678901234567890n],
    ["huge", () => Array.from({ length: 20_000 }, (_unused, i) => ({ i, text: "x".repeat(50) }))],
  ])("agent-and-executor 13: a result that is %s never ends the task", async (_name, handler) => {
    const { told, result } = await callOnce(read("give", handler), {});
    expect(told?.text.length).toBeGreaterThan(0);
    expect(told?.text.length).toBeLessThan(20_000);
    expect(result.stop.kind).toBe("answered");
  });

  test("agent-and-executor 71: a picture reaches the model as a picture, never as text", async () => {
    const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 1, 2, 3, 4]);
    const { model } = await callOnce(read("draw", async (_args, context) => { await context.attach({ name: "plot.png", mimeType: "image/png", bytes: png }); return "drawn"; }), {});
    const part = model.asked[1]?.prompt.flatMap((message) => (message.role === "tool" ? message.content : []))[0];
    expect(part).toMatchObject({ output: { type: "content", value: [{ type: "text" }, { type: "file", mediaType: "image/png", data: { type: "data", data: Buffer.from(png).toString("base64") } }] } });
    const texts = JSON.stringify(part, (key, value: unknown) => (key === "data" ? undefined : value));
    expect(texts).not.toContain(Buffer.from(png).toString("base64"));
  });

  test("agent-and-executor 75: `$defs` and `anyOf` at the root of a schema reach the model as they are", async () => {
    const input = { type: "object", $defs: { id: { type: "integer" } }, anyOf: [{ properties: { id: { $ref: "#/$defs/id" } }, required: ["id"] }, { properties: { name: { type: "string" } }, required: ["name"] }] } as const;
    const { model, told } = await callOnce(defineTool({ name: "find", description: "Finds.", effect: "read", input, handler: (args) => args }), { id: 7 });
    expect(model.asked[0]?.tools?.[0]).toMatchObject({ inputSchema: input });
    expect(told?.text).toBe('{"id":7}');
  });
});
