import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Gate } from "@callgate/contract";
import { defineTool } from "@callgate/runtime/source";
import { readWorkflows, suggestWorkflows, testWorkflow, writeWorkflow } from "@callgate/runtime/workflow";
import { afterEach, expect, test } from "vitest";
import { z } from "zod";
import { createCallgate } from "../create-callgate.ts";

const users = ["ada", "bea", "cyd", "dot"].map((name, index) => ({ name, id: `user-${1_000 + index}`, orders: [`W-${2_000 + index}`, `W-${3_000 + index}`] }));
const written: unknown[] = [];

/** `find` declares no output: what a draft reads of it is typed by what it answered. */
const tools = [
  defineTool({ name: "find", description: "Finds a user", effect: "read", input: z.object({ email: z.string() }), sensitive: ["/input/email"], handler: ({ email }) => { const user = users.find(({ name }) => email.startsWith(name)); return { user: { id: user?.id ?? "" }, of: 1 }; } }),
  defineTool({ name: "orders", description: "Orders of a user", effect: "read", input: z.object({ user_id: z.string() }), output: z.object({ ids: z.array(z.string()) }), handler: ({ user_id }) => ({ ids: users.find(({ id }) => id === user_id)?.orders ?? [] }) }),
  defineTool({ name: "cancel", description: "Cancels an order", effect: "write", input: z.object({ order: z.string(), reason: z.string() }), output: z.object({ cancelled: z.string() }), handler: (args) => { written.push(args); return { cancelled: args.order }; } }),
  defineTool({ name: "clock", description: "The time", effect: "read", input: z.object({}), output: z.string(), handler: () => "noon" }),
];

const opened: { gate: Gate; root: string }[] = [];
async function open(): Promise<{ readonly gate: Gate; readonly root: string }> {
  const root = mkdtempSync(join(tmpdir(), "callgate-suggest-"));
  const gate = await createCallgate({ stateFolder: join(root, "state"), tools: { shop: tools }, rules: [{ allow: "*" }] as never });
  opened.push({ gate, root });
  await gate.ready();
  return { gate, root };
}
afterEach(async () => {
  for (const { gate, root } of opened.splice(0)) {
    await gate.close();
    rmSync(root, { recursive: true, force: true });
  }
  written.length = 0;
});

/** What an agent does for one customer: with something else in between, and an order that it chose. */
async function serve(gate: Gate, user: (typeof users)[number], choice: number): Promise<void> {
  const taskId = `task-${user.name}`;
  await gate.call("shop.find", { email: `${user.name}@example.com` }, { taskId });
  await gate.call("shop.clock", {}, { taskId });
  await gate.call("shop.orders", { user_id: user.id }, { taskId });
  await gate.call("shop.cancel", { order: user.orders[choice], reason: "no longer needed" }, { taskId });
}

test("a chain of direct calls under other arguments: its inputs, what it would have saved, a draft whose tests pass", async () => {
  const { gate, root } = await open();
  for (const [index, user] of users.entries()) await serve(gate, user, index % 2);
  const { looked, suggestions, draft } = await suggestWorkflows(gate);
  expect(looked).toEqual({ runs: 16, calls: 16 });
  expect(suggestions).toMatchObject([{ name: "find_then_cancel", kind: "chain", tools: ["shop.find", "shop.orders", "shop.cancel"], inputs: ["email", "order"], times: 4, variants: 4, saved: { calls: 8 } }]);
  const [suggestion] = suggestions;
  expect(suggestion?.problem).toBeUndefined();
  expect(suggestion?.saved.tokens).toBeGreaterThan(4 * 10);
  expect(suggestion?.program).toBe(`const find = await tools.shop.find<{ user: { id: string }; of: number }>({ email: inputs.email });
const orders = await tools.shop.orders({ user_id: find.user.id });
const cancel = await tools.shop.cancel({ order: inputs.order, reason: "no longer needed" });
return cancel;
`.replace("{ user: { id: string }; of: number }", /find<(.*)>/.exec(suggestion?.program ?? "")?.[1] ?? ""));

  const folder = join(root, "workflows");
  writeWorkflow(folder, await draft("find_then_cancel"));
  const [workflow] = readWorkflows(folder).workflows;
  if (workflow === undefined) throw new Error("no workflow");
  expect(workflow.manifest).toMatchObject({ version: "0.1.0", effect: "write", input: { required: ["email", "order"] }, tools: { "shop.cancel": { args: { properties: { reason: { const: "no longer needed" } } } } } });
  expect(workflow.recordings).toHaveLength(3);
  expect(JSON.stringify(workflow)).not.toContain("@example.com");
  expect(await testWorkflow(gate, workflow)).toMatchObject([{ passed: true }, { passed: true }, { passed: true }]);
  expect(written).toHaveLength(4);
  // It is there by now.
  expect((await suggestWorkflows(gate, { workflows: [workflow] })).suggestions).toEqual([]);
  await expect(draft("none")).rejects.toMatchObject({ code: "USAGE" });
});

test("a program that was run again with other literals; drafted with a test of each", async () => {
  const { gate } = await open();
  for (const { orders: [order = ""] } of users) await gate.run(`const done = await tools.shop.cancel({ order: "${order}", reason: "no longer needed" });\nreturn done.cancelled.length;`);
  const { suggestions, draft } = await suggestWorkflows(gate);
  expect(suggestions).toMatchObject([{ name: "repeat_cancel", kind: "program", inputs: ["order", "reason"], times: 4, variants: 4, saved: { calls: 0, ms: 0 } }]);
  expect(suggestions[0]?.saved.tokens).toBeGreaterThan(50);
  const made = await draft("repeat_cancel");
  expect(made.program).toContain("order: inputs.order");
  expect(made.recordings).toHaveLength(3);
});

test("a value that is sensitive is never a part of a draft, however often it was the same", async () => {
  const { gate } = await open();
  for (const index of [0, 1, 2]) {
    const taskId = `task-${index}`;
    await gate.call("shop.find", { email: "ada@example.com" }, { taskId });
    await gate.call("shop.orders", { user_id: "user-1000" }, { taskId });
    await gate.call("shop.cancel", { order: `W-900${index}`, reason: "user-1000 asked" }, { taskId });
  }
  const { suggestions } = await suggestWorkflows(gate);
  expect(suggestions.map(({ program }) => program).join()).not.toContain("ada@example.com");
});

test("nothing where nothing is repeated, where the arguments are always the same, or where calls have nothing of each other", async () => {
  const { gate } = await open();
  const [ada] = users;
  if (ada === undefined) throw new Error("no user");
  await serve(gate, ada, 0);
  expect((await suggestWorkflows(gate)).suggestions).toEqual([]);
  for (let time = 0; time < 3; time += 1) await serve(gate, ada, 0);
  for (let time = 0; time < 4; time += 1) {
    await gate.call("shop.clock", {}, { taskId: `alone-${time}` });
    await gate.call("shop.cancel", { order: `W-${7_000 + time}`, reason: "x" }, { taskId: `alone-${time}` });
  }
  const found = await suggestWorkflows(gate);
  expect(found).toMatchObject({ looked: { runs: 24 }, suggestions: [] });
  await expect(suggestWorkflows(gate, { minTimes: 1 })).rejects.toMatchObject({ code: "USAGE" });
});
