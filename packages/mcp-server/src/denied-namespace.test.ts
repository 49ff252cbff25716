import { localPrincipal } from "@callgate/contract";
import { defineTool, functionSource } from "@callgate/runtime/source";
import { expect, test } from "vitest";
import { createRealGate } from "./fixtures/real-gate.ts";
import { surfaceText } from "./surface-text.ts";
import { toolHandlers } from "./tool-handlers.ts";

const source = (namespace: string) => functionSource({ namespace, tools: [defineTool({ name: "now", description: "Says what time it is", input: { type: "object" }, effect: "read", handler: () => 1 })] });

test("br-001: a namespace of which nothing may be called is named by no answer and no description", { timeout: 60_000 }, async () => {
  const gate = await createRealGate([source("clock"), source("payroll")], [{ allow: "*" }, { deny: "payroll.*" }]);
  const request = { gate, principal: localPrincipal, conversation: "c", canAsk: false, signal: new AbortController().signal };
  const answers = [
    await toolHandlers.search_tools({ query: "zzz", limit: 10, detail: "line" }, request),
    await toolHandlers.search_tools({ query: "time", limit: 10, detail: "full" }, request),
    await toolHandlers.search_tools({ query: "zzz", limit: 10, detail: "line", namespace: "clock" }, request),
    await toolHandlers.get_tool_details({ names: ["clock.no", "clok.now"] }, request),
    await toolHandlers.call_tool({ name: "clock.no", arguments: {} }, request),
    await toolHandlers.execute_code({ code: "return await tools.clok.now({})" }, request),
    surfaceText(gate, localPrincipal),
  ];
  expect(JSON.stringify(answers[0])).toContain("Namespaces: clock.");
  expect(JSON.stringify(answers)).not.toContain("payroll");
  await gate.close();
});
