import { localPrincipal } from "@callgate/contract";
import type { Source } from "@callgate/contract";
import { defineTool, functionSource } from "@callgate/runtime/source";
import { expect, test } from "vitest";
import { createRealGate } from "./fixtures/real-gate.ts";
import { createPassThroughRouter } from "./pass-through.ts";
import { surfaceText } from "@callgate/runtime/surface";
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

/** A server with resources and prompts; `tools` or none. */
function withResources(namespace: string, tools = source(namespace)): Source {
  return {
    ...tools,
    passThrough: {
      listResources: () => Promise.resolve([{ uri: `mem://${namespace}`, name: namespace }, { uri: "mem://same", name: namespace }]),
      listResourceTemplates: () => Promise.resolve([{ uriTemplate: `${namespace}://{id}`, name: namespace }]),
      readResource: (uri) => Promise.resolve([{ uri, content: { kind: "text", text: `${namespace} ${uri}` } }]),
      listPrompts: () => Promise.resolve([{ name: namespace, arguments: [] }, { name: "greet", arguments: [] }]),
      getPrompt: () => Promise.resolve([{ role: "user", content: { type: "text", text: namespace } }]),
    },
  };
}

test("br-001: resources, templates and prompts of a source of which nothing may be called do not exist, in the same words", { timeout: 60_000 }, async () => {
  const bare = functionSource({ namespace: "vault", tools: [] });
  const gate = await createRealGate([withResources("clock"), withResources("payroll"), withResources("vault", bare), withResources("notes", functionSource({ namespace: "notes", tools: [] }))], [{ allow: "*" }, { deny: ["payroll.*", "vault.*"] }]);
  const router = createPassThroughRouter(gate);
  const asker = { principal: localPrincipal, conversation: "c", signal: new AbortController().signal };
  const lists = [await router.resources(asker), await router.templates(asker), await router.prompts(asker)];
  expect(lists[0]?.map((one) => "uri" in one && one.uri)).toEqual(["mem://clock", "callgate://clock/mem%3A%2F%2Fsame", "mem://notes", "callgate://notes/mem%3A%2F%2Fsame"]);
  expect(JSON.stringify(lists)).toContain("clock://{id}");
  expect(JSON.stringify(lists)).not.toMatch(/payroll|vault/);
  const refused = async (uri: string) => await router.read(uri, asker).then(() => "read", (fault: unknown) => String(fault).replaceAll(uri, "URI"));
  const none = await refused("mem://nobody");
  expect(none).toMatch(/not found/i);
  for (const uri of ["mem://payroll", "payroll://7", "callgate://payroll/mem%3A%2F%2Fsame", "mem://vault", "vault://7"]) expect.soft([uri, await refused(uri)]).toEqual([uri, none]);
  for (const name of ["payroll", "payroll.greet", "vault", "nobody"]) expect.soft(await router.prompt(name, {}, asker)).toBeUndefined();
  expect(await router.read("clock://7", asker)).toMatchObject([{ content: { text: "clock clock://7" } }]);
  expect(await router.prompt("clock.greet", {}, asker)).toMatchObject([{ content: { text: "clock" } }]);
  await gate.close();
});
