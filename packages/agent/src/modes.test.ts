import { defineTool } from "@callgate/runtime/source";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import type { AgentOptions } from "./agent-options.ts";
import { createAgent } from "./create-agent.ts";
import type { AgentEvent } from "./agent-event.ts";
import { agentGate } from "./fixtures/agent-gate.ts";
import type { AgentGate } from "./fixtures/agent-gate.ts";
import { resultsIn } from "./fixtures/told.ts";
import { scriptedModel } from "./model/scripted-model.ts";
import type { ScriptedModel } from "./model/scripted-model.ts";

const open: AgentGate[] = [];
afterEach(async () => {
  for (const gate of open.splice(0)) await gate.gate.close();
});

const customers = [{ id: 1, name: "Ines", owed: 120 }, { id: 2, name: "Tomas", owed: 0 }];
const written: unknown[] = [];
const crm = [
  defineTool({ name: "list_customers", description: "Lists customers.", effect: "read", input: z.strictObject({}), output: z.array(z.object({ id: z.number(), name: z.string(), owed: z.number() })), handler: () => customers }),
  defineTool({ name: "remind", description: "Sends a reminder.", effect: "write", input: z.strictObject({ id: z.number() }), output: z.object({ sent: z.boolean() }), handler: (args) => { written.push(args); return { sent: true }; } }),
];
const other = [defineTool({ name: "secret_plan", description: "Reads the plan.", effect: "read", input: z.strictObject({}), handler: () => "the plan" })];

async function agentIn(mode: AgentOptions["mode"], model: ScriptedModel, more: Partial<AgentOptions> = {}) {
  const world = await agentGate({ crm, other });
  open.push(world);
  return createAgent({ name: "a", model, gate: world.gate, ...(mode === undefined ? {} : { mode }), ...more });
}

const names = (model: ScriptedModel, turn = 0): readonly string[] => (model.asked[turn]?.tools ?? []).map(({ name }) => name);
const remindAll = 'import { crm } from "tools";\nconst open = (await crm.list_customers({})).filter(({ owed }) => owed > 0);\nfor (const { id } of open) await crm.remind({ id });\nreturn open.length;';

describe("modes", () => {
  test("tools: each tool is a function of the model", async () => {
    const model = scriptedModel([{ calls: [{ tool: "crm.list_customers" }] }, "Two."]);
    await (await agentIn("tools", model)).run("how many?");
    expect(names(model)).toEqual(["crm__list_customers", "crm__remind", "other__secret_plan", "read_result"]);
    expect(resultsIn(model.asked[1])[0]?.text).toContain("Ines");
  });

  test("code: a small catalog is shown inline, a program is checked before it runs, and what it wrote is told", async () => {
    written.length = 0;
    const events: AgentEvent[] = [];
    const model = scriptedModel([{ calls: [{ tool: "execute_code", input: { code: "return await tools.crm.everything_there_is({})" }, callId: "bad" }] }, { calls: [{ tool: "execute_code", input: { code: remindAll }, callId: "good" }] }, "Reminded one."]);
    const result = await (await agentIn("code", model)).run("remind", { onEvent: (event) => void events.push(event) });
    expect(names(model)).toEqual(["execute_code", "read_result"]);
    expect(JSON.stringify(model.asked[0]?.tools)).toContain("list_customers");
    expect(result.calls).toMatchObject([{ status: "invalid", effectStatus: "none", text: expect.stringContaining("everything_there_is") as string }, { status: "ok", effectStatus: "done" }]);
    expect(result.effects.done).toEqual([expect.stringMatching(/^crm\.remind \(run_/)]);
    expect(written).toEqual([{ id: 1 }]);
    expect(events.filter(({ kind }) => kind.startsWith("code")).map(({ kind }) => kind)).toEqual(["code-generation", "code-execution", "code-generation", "code-execution"]);
    expect(events.filter(({ kind }) => kind === "code-execution")).toMatchObject([{ callId: "bad", status: "rejected" }, { callId: "good", status: "completed", effectStatus: "done" }]);
  });

  test("code: with patterns only those tools exist, in search, details and programs", async () => {
    const code = 'import { other } from "tools";\nreturn await other.secret_plan({});';
    const model = scriptedModel([{ calls: [{ tool: "execute_code", input: { code } }] }, "no"]);
    const result = await (await agentIn("code", model, { tools: ["crm.*"] })).run("x");
    expect(JSON.stringify(model.asked[0])).not.toContain("secret_plan");
    expect(result.calls[0]?.status).not.toBe("ok");
    expect(result.calls[0]?.text).not.toContain("the plan");
  });

  test("select: the model picks by name, then sees only what it picked, to call and to write programs with", async () => {
    written.length = 0;
    const model = scriptedModel([{ calls: [{ tool: "select_tools", input: { names: ["crm.list_customers", "crm.remnd"] } }] }, { calls: [{ tool: "select_tools", input: { names: ["crm.list_customers", "crm.remind"] } }] }, { calls: [{ tool: "crm.remind", input: { id: 2 } }] }, "Reminded."]);
    const result = await (await agentIn("select", model)).run("remind");
    expect(names(model)).toEqual(["select_tools"]);
    expect(model.asked[0]?.toolChoice).toEqual({ type: "tool", toolName: "select_tools" });
    expect(resultsIn(model.asked[1])[0]?.text).toContain("Nearest: crm.remind");
    expect(names(model, 2)).toEqual(["select_tools", "crm__list_customers", "crm__remind", "execute_code", "read_result"]);
    expect(JSON.stringify(model.asked[2]?.tools?.slice(1))).not.toContain("secret_plan");
    expect(written).toEqual([{ id: 2 }]);
    expect(result.state.selected).toEqual(["crm.list_customers", "crm.remind"]);
  });

  test("auto: functions for a small catalog, programs for a large one", async () => {
    const small = scriptedModel(["x"]);
    await (await agentIn("auto", small)).run("x");
    expect(names(small)).toContain("crm__remind");
    const many = Array.from({ length: 150 }, (_unused, index) => defineTool({ name: `tool_${index}`, description: "One of many.", effect: "read", input: z.strictObject({ first: z.string(), second: z.number() }), handler: () => index }));
    const world = await agentGate({ many });
    open.push(world);
    const large = scriptedModel(["x"]);
    await createAgent({ name: "a", model: large, gate: world.gate }).run("x");
    expect(names(large)).toEqual(["search_tools", "get_tool_details", "execute_code", "read_result"]);
  });

  test("blocks: fenced code of the answer is run, its output is the next message, and a text without code is the answer", async () => {
    written.length = 0;
    const model = scriptedModel([`I will look:\n\n\`\`\`ts\n${remindAll}\n\`\`\`\n\nand print:\n\n\`\`\`ts\nconsole.log("hello")\n\`\`\``, "One reminder."]);
    const result = await (await agentIn("blocks", model)).run("remind");
    expect(model.asked[0]?.tools).toBeUndefined();
    const last = JSON.stringify(model.asked[1]?.prompt.at(-1));
    expect(last).toMatch(/Block 1 \(typescript\).*value:\\n1.*Block 2.*hello/);
    expect(result).toMatchObject({ answer: "One reminder.", stop: { kind: "answered" } });
    expect(written).toEqual([{ id: 1 }]);
  });

  test("blocks: after one that fails the next is not run, and one that nothing closes is not run at all", async () => {
    written.length = 0;
    const model = scriptedModel(["```ts\nthrow new Error('no')\n```\n```ts\nawait tools.crm.remind({ id: 1 })\n```", "```ts\nawait tools.crm.remind({ id: 1 })", "ok"]);
    const result = await (await agentIn("blocks", model)).run("remind");
    expect(JSON.stringify(model.asked[1]?.prompt.at(-1))).toContain("One block was not run");
    expect(JSON.stringify(model.asked[2]?.prompt.at(-1))).toContain("never closed");
    expect(result.answer).toBe("ok");
    expect(written).toEqual([]);
  });

  test("lane query: what writes is not shown, and a program cannot reach it", async () => {
    written.length = 0;
    const model = scriptedModel([{ calls: [{ tool: "execute_code", input: { code: remindAll } }] }, "no"]);
    const result = await (await agentIn("code", model, { lane: "query" })).run("remind");
    expect(result.calls[0]?.status).not.toBe("ok");
    expect(written).toEqual([]);
    const direct = scriptedModel(["x"]);
    await (await agentIn("tools", direct, { lane: "query" })).run("x");
    expect(names(direct)).not.toContain("crm__remind");
  });

  test("parts of the prompt that never change come first and stay as they are over the turns", async () => {
    const model = scriptedModel([{ calls: [{ tool: "crm.list_customers" }] }, "Two."]);
    await (await agentIn("tools", model, { instructions: "Be brief." })).run("how many?");
    const [first, second] = model.asked;
    expect(second?.prompt.slice(0, first?.prompt.length)).toEqual(first?.prompt);
    expect(second?.tools).toEqual(first?.tools);
    expect(JSON.stringify(first?.prompt[0])).toContain("Be brief.");
  });
});
