import type { Gate } from "@callgate/contract";
import { localPrincipal } from "@callgate/contract";
import { functionSource, defineTool } from "@callgate/runtime/source";
import { createMcpSource } from "@callgate/source-mcp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRealGate } from "./fixtures/real-gate.ts";
import { surfaceText } from "@callgate/runtime/surface";
import { toolHandlers } from "./tool-handlers.ts";
import type { GateRequest } from "./tool-handlers.ts";

let gate: Gate;
let request: GateRequest;
beforeAll(async () => {
  const clock = functionSource({ namespace: "clock", tools: [defineTool({ name: "now", description: "Says what time it is", input: { type: "object" }, effect: "read", handler: () => 1 })] });
  gate = await createRealGate([clock, createMcpSource({ namespace: "crm", command: "no-such-command-here" })]);
  request = { gate, principal: localPrincipal, conversation: "c", canAsk: false, signal: new AbortController().signal };
});
afterAll(() => gate.close());

const why = "The source crm is down: it could not be started: the command was not found";

test("the surface names what cannot be reached, without the reason, which changes", () => {
  const { descriptions, instructions } = surfaceText(gate, localPrincipal);
  for (const text of [descriptions.search_tools, instructions]) expect(text).toContain("Cannot be reached for now: crm; search_tools says why");
  expect(JSON.stringify({ descriptions, instructions })).not.toContain("no-such-command");
});

test("every tool of the surface says that the source is down, and what works", async () => {
  for (const query of ["time", "customers"]) {
    const found = await toolHandlers.search_tools({ query, limit: 10, detail: "line" }, request);
    expect(found.text).toContain(why);
    expect(found.structured).toMatchObject({ unavailable: [{ namespace: "crm", retryable: true }] });
  }
  expect((await toolHandlers.search_tools({ query: "time", limit: 10, detail: "line", namespace: "clock" }, request)).text).not.toContain("crm");
  const details = await toolHandlers.get_tool_details({ names: ["crm.get"] }, request);
  expect(details).toMatchObject({ isError: true, text: expect.stringContaining(why) });
  const called = await toolHandlers.call_tool({ name: "crm.get", arguments: {} }, request);
  expect(called).toMatchObject({ isError: true, text: expect.stringMatching(/SOURCE_UNAVAILABLE.*What works: clock\./s), structured: { error: { retryable: true } } });
  const ran = await toolHandlers.execute_code({ code: "return await tools.crm.get({})" }, request);
  expect(ran).toMatchObject({ isError: true, text: expect.stringContaining(why) });
});
