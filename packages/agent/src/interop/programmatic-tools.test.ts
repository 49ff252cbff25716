import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { JsonObject } from "@callgate/contract";
import { defineTool } from "@callgate/runtime/source";
import { afterEach, expect, test } from "vitest";
import { z } from "zod";
import { agentGate } from "../fixtures/agent-gate.ts";
import type { AgentGate } from "../fixtures/agent-gate.ts";
import { createCassette } from "../model/cassette.ts";
import { anthropicProgrammaticTools, openaiProgrammaticTools } from "./programmatic-tools.ts";

// The exchanges of these files were written by hand from the formats that the providers document; nobody recorded them from a
// provider. A request that differs from what is written there in any place gets no answer.
const cassetteFile = (name: string): string => fileURLToPath(new URL(`../fixtures/cassettes/${name}.json`, import.meta.url));

const open: AgentGate[] = [];
afterEach(async () => {
  for (const gate of open.splice(0)) await gate.gate.close();
});

async function stockGate(): Promise<AgentGate> {
  const stock = [
    defineTool({ name: "get_units", description: "Units of an article in store.", effect: "read", input: z.strictObject({ sku: z.string() }), output: z.strictObject({ sku: z.string(), units: z.number() }), handler: ({ sku }) => ({ sku, units: sku === "A" ? 42 : 3 }) }),
    defineTool({ name: "order", description: "Orders more of an article.", effect: "write", input: z.strictObject({ sku: z.string() }), handler: ({ sku }) => `ordered ${sku}` }),
  ];
  const world = await agentGate({ stock }, { verdict: (tool) => (tool === "stock.order" ? "deny" : "allow") });
  open.push(world);
  return world;
}

async function post(fetch: ReturnType<typeof createCassette>["fetch"], url: string, body: JsonObject): Promise<unknown> {
  return await (await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) })).json();
}

test("Anthropic: calls of a program in its container are made by the gate and answered alone; what was refused is an error of the program", async () => {
  const { gate, events } = await stockGate();
  const { tools, answer } = anthropicProgrammaticTools(gate);
  expect(tools).toMatchObject([{ type: "code_execution_20260120", name: "code_execution" }, { name: "stock__get_units", allowed_callers: ["code_execution_20260120"], input_schema: { type: "object", required: ["sku"] } }, { name: "stock__order" }]);
  const cassette = createCassette({ file: cassetteFile("anthropic-programmatic") });
  const messages: unknown[] = [{ role: "user", content: "Which of A and B is short?" }];
  let response = await post(cassette.fetch, "https://api.anthropic.com/v1/messages", { model: "claude-sonnet-4-5", max_tokens: 1024, tools, messages } as JsonObject);
  for (let next = await answer(response); next !== undefined; next = await answer(response)) {
    messages.push(...next.messages);
    response = await post(cassette.fetch, "https://api.anthropic.com/v1/messages", { model: "claude-sonnet-4-5", max_tokens: 1024, ...(next.container === undefined ? {} : { container: next.container }), tools, messages } as JsonObject);
  }
  expect(response).toMatchObject({ stop_reason: "end_turn", content: [{ type: "code_execution_tool_result" }, { type: "text", text: "B is short; ordering was refused." }] });
  expect(cassette.left).toBe(0);
  expect(events.flatMap((event) => (event.kind === "call-ended" ? [`${event.tool} ${event.outcome}`] : []))).toEqual(["stock.get_units ok", "stock.get_units ok", "stock.order denied"]);
});

test("OpenAI: a program's calls are answered with their caller, and its fingerprint goes back as it came", async () => {
  const { gate, events } = await stockGate();
  const { tools, answer } = openaiProgrammaticTools(gate, { tools: ["*.get_*"] });
  expect(tools).toMatchObject([{ type: "programmatic_tool_calling" }, { type: "function", name: "stock__get_units", allowed_callers: ["programmatic"], strict: false }]);
  const cassette = createCassette({ file: cassetteFile("openai-programmatic") });
  const input: unknown[] = [{ role: "user", content: "How many of A are there?" }];
  let response = await post(cassette.fetch, "https://api.openai.com/v1/responses", { model: "gpt-5", store: false, tools, input } as JsonObject);
  for (let next = await answer(response); next !== undefined; next = await answer(response)) {
    input.push(...next);
    response = await post(cassette.fetch, "https://api.openai.com/v1/responses", { model: "gpt-5", store: false, tools, input } as JsonObject);
  }
  expect(response).toMatchObject({ output: [{ type: "program_output", result: "42" }, { type: "message" }] });
  expect(cassette.left).toBe(0);
  expect(events.flatMap((event) => (event.kind === "call-ended" ? [event.tool] : []))).toEqual(["stock.get_units"]);
});

test("what is no tool, no JSON or too large is told to the program; both callers where it is said", async () => {
  const { gate } = await stockGate();
  const { tools, answer } = openaiProgrammaticTools(gate, { callers: "both", budgetTokens: 100 });
  expect(tools[1]).toMatchObject({ allowed_callers: ["programmatic", "direct"] });
  const call = (name: string, text: string): object => ({ output: [{ type: "function_call", call_id: "c", name, arguments: text, caller: { type: "program", caller_id: "p" } }] });
  expect(await answer(call("stock__gone", "{}"))).toMatchObject([{}, { type: "function_call_output", call_id: "c", caller: { type: "program", caller_id: "p" }, output: expect.stringContaining("TOOL_NOT_FOUND") as string }]);
  expect(await answer(call("stock__get_units", "{"))).toMatchObject([{}, { output: expect.stringContaining("INVALID_INPUT") as string }]);
  await expect(answer({ outputs: [] })).rejects.toThrow("output");
  expect(JSON.parse(readFileSync(cassetteFile("openai-programmatic"), "utf8"))).toMatchObject({ version: 1 });
});
