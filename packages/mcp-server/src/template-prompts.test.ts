import { localPrincipal } from "@callgate/contract";
import { expect, test } from "vitest";
import { createFakeGate } from "./fixtures/fake-gate.ts";
import { createPassThroughRouter } from "./pass-through.ts";

const asker = { principal: localPrincipal, conversation: "c", signal: new AbortController().signal };
const template = { name: "refund", when: "A customer wants money back", tools: ["crm.refund"], inputs: { order_id: "of the invoice" }, skeleton: 'await crm.refund({ id: "{{order_id}}" });', text: "Never twice." };

test("templates are prompts whose arguments are their inputs", async () => {
  const router = createPassThroughRouter(createFakeGate({ templates: [template] }));
  expect(await router.prompts(asker)).toEqual([{ name: "refund", description: "A customer wants money back", arguments: [{ name: "order_id", description: "of the invoice", required: true }] }]);
  const [message] = (await router.prompt("refund", { order_id: "17" }, asker)) ?? [];
  expect(message).toMatchObject({ role: "user", content: { type: "text", text: expect.stringContaining('await crm.refund({ id: "17" });') as string } });
  expect(JSON.stringify(message)).not.toContain("{{");
  await expect(router.prompt("refund", {}, asker)).rejects.toThrow("needs order_id");
  expect(await router.prompt("other", {}, asker)).toBeUndefined();
});

test("a source's prompt of the same name stays there: both are qualified", async () => {
  const source = { listResources: () => Promise.resolve([]), listResourceTemplates: () => Promise.resolve([]), readResource: () => Promise.resolve([]), listPrompts: () => Promise.resolve([{ name: "refund", arguments: [] }]), getPrompt: () => Promise.resolve([]) };
  const router = createPassThroughRouter(createFakeGate({ templates: [template], passThrough: new Map([["shop", source]]) }));
  expect((await router.prompts(asker)).map(({ name }) => name)).toEqual(["templates.refund", "shop.refund"]);
  expect(await router.prompt("templates.refund", { order_id: "1" }, asker)).toHaveLength(1);
});
