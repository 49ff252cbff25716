import { defineTool } from "@callgate/runtime/source";
import { Agent, Runner, Usage } from "@openai/agents";
import type { Model, ModelRequest, ModelResponse } from "@openai/agents";
import { afterEach, expect, test } from "vitest";
import { z } from "zod";
import { agentGate } from "../fixtures/agent-gate.ts";
import type { AgentGate } from "../fixtures/agent-gate.ts";
import { langchainTools } from "./langchain-tools.ts";
import { openaiAgentsTools } from "./openai-agents-tools.ts";

const open: AgentGate[] = [];
afterEach(async () => {
  for (const gate of open.splice(0)) await gate.gate.close();
});

async function crmGate(): Promise<{ readonly world: AgentGate; readonly called: unknown[] }> {
  const called: unknown[] = [];
  const crm = [
    defineTool({ name: "get_customer", description: "Reads a customer.", effect: "read", input: z.strictObject({ id: z.number() }), handler: ({ id }) => { called.push(id); return { id, name: "Ines" }; } }),
    defineTool({ name: "remove", description: "Removes a customer.", effect: "destructive", input: z.strictObject({ id: z.number() }), handler: () => { called.push("removed"); } }),
  ];
  const world = await agentGate({ crm }, { verdict: (tool) => (tool === "crm.remove" ? "deny" : "allow") });
  open.push(world);
  return { world, called };
}

/** A model of the OpenAI Agents SDK that says what it is told to. */
function saying(turns: readonly ModelResponse["output"][]): Model & { readonly asked: ModelRequest[] } {
  const asked: ModelRequest[] = [];
  return {
    asked,
    getResponse: (request) => {
      const output = turns[asked.push(request) - 1] ?? [];
      return Promise.resolve({ usage: new Usage(), output });
    },
    getStreamedResponse: () => {
      throw new Error("not streamed in this test");
    },
  };
}

const functionCall = (callId: string, name: string, args: string): ModelResponse["output"][number] => ({ type: "function_call", callId, name, arguments: args, status: "completed" });

test("tools of a gate are tools of the OpenAI Agents SDK: its own runner calls them, and each call goes through the gate", async () => {
  const { world, called } = await crmGate();
  const model = saying([
    [functionCall("1", "crm__get_customer", '{"id":7}'), functionCall("2", "crm__get_customer", '{"id":"seven"}'), functionCall("3", "crm__remove", '{"id":7}'), functionCall("4", "crm__get_customer", "{broken")],
    [{ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "Done." }] }],
  ]);
  const result = await new Runner({ tracingDisabled: true }).run(new Agent({ name: "clerk", model, tools: await openaiAgentsTools(world.gate) }), "Look up 7");
  expect(result.finalOutput).toBe("Done.");
  expect(model.asked[0]?.tools).toMatchObject([{ type: "function", name: "crm__get_customer", strict: false, parameters: { type: "object", required: ["id"], additionalProperties: false } }, { name: "crm__remove" }]);
  const answers = ((model.asked[1]?.input ?? []) as readonly { readonly type?: string; readonly output?: unknown }[]).filter(({ type }) => type === "function_call_result").map(({ output }) => JSON.stringify(output));
  expect(answers).toEqual([expect.stringContaining("Ines"), expect.stringContaining("INVALID_INPUT"), expect.stringContaining("DENIED"), expect.stringMatching(/error|invalid/i)]);
  expect(called).toEqual([7]);
});

test("tools of a gate are tools of LangChain: a call, a refusal, and what LangChain itself refuses", async () => {
  const { world, called } = await crmGate();
  const tools = await langchainTools(world.gate);
  expect(tools.map(({ name }) => name)).toEqual(["crm__get_customer", "crm__remove"]);
  expect(tools[0]?.schema).toMatchObject({ type: "object", required: ["id"] });
  expect(await tools[0]?.invoke({ id: 7 })).toBe('{"id":7,"name":"Ines"}');
  expect(await tools[0]?.invoke({ type: "tool_call", id: "call_1", name: "crm__get_customer", args: { id: 8 } })).toMatchObject({ tool_call_id: "call_1", content: '{"id":8,"name":"Ines"}' });
  expect(await tools[1]?.invoke({ id: 7 })).toContain("DENIED");
  await expect(tools[0]?.invoke({ id: "seven" })).rejects.toThrow("did not match expected schema");
  expect(called).toEqual([7, 8]);
  expect((await langchainTools(world.gate, { tools: ["*.get_*"] })).map(({ name }) => name)).toEqual(["crm__get_customer"]);
  await expect(langchainTools(world.gate, { tools: ["crm"] })).rejects.toThrow('"crm"');
});
