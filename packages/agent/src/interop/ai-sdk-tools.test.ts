import { asSchema } from "@ai-sdk/provider-utils";
import { defineTool } from "@callgate/runtime/source";
import { afterEach, expect, test } from "vitest";
import { z } from "zod";
import { agentGate } from "../fixtures/agent-gate.ts";
import type { AgentGate } from "../fixtures/agent-gate.ts";
import { aiSdkTools } from "./ai-sdk-tools.ts";

const open: AgentGate[] = [];
afterEach(async () => {
  for (const gate of open.splice(0)) await gate.gate.close();
});

test("tools of a gate are tools of the AI SDK: their schema is one for it, and each call goes through the gate", async () => {
  const called: unknown[] = [];
  const crm = [
    defineTool({ name: "get_customer", description: "Reads a customer.", effect: "read", input: z.strictObject({ id: z.number() }), handler: ({ id }) => { called.push(id); return { id, name: "Ines" }; } }),
    defineTool({ name: "remove", description: "Removes a customer.", effect: "destructive", input: z.strictObject({ id: z.number() }), handler: () => { called.push("removed"); } }),
  ];
  const world = await agentGate({ crm }, { verdict: (tool) => (tool === "crm.remove" ? "deny" : "allow") });
  open.push(world);
  const tools = aiSdkTools(world.gate);
  expect(Object.keys(tools)).toEqual(["crm__get_customer", "crm__remove"]);
  expect(asSchema(tools["crm__get_customer"]?.inputSchema as Parameters<typeof asSchema>[0]).jsonSchema).toMatchObject({ type: "object", required: ["id"], additionalProperties: false });
  expect(await tools["crm__get_customer"]?.execute({ id: 7 })).toBe('{"id":7,"name":"Ines"}');
  expect(await tools["crm__get_customer"]?.execute({ id: "seven" })).toContain("INVALID_INPUT");
  expect(await tools["crm__remove"]?.execute({ id: 7 })).toContain("DENIED");
  expect(called).toEqual([7]);
  expect(Object.keys(aiSdkTools(world.gate, { tools: ["*.get_*"] }))).toEqual(["crm__get_customer"]);
  expect(() => aiSdkTools(world.gate, { tools: ["crm"] })).toThrow('"crm"');
});
