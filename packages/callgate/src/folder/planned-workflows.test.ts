import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Gate, Plan, RunResult } from "@callgate/contract";
import { makeWorkflow, writeWorkflow } from "@callgate/runtime/workflow";
import { defineTool } from "@callgate/runtime/source";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { createCallgate } from "../create-callgate.ts";

const made: string[] = [];
const asked: string[] = [];
let orders: Record<string, string> = {};
const first = { "o-1": "open", "o-2": "open" } as const;

const shop = [
  defineTool({ name: "get", description: "Reads an order", effect: "read", input: z.object({ id: z.string() }), output: z.object({ status: z.string() }), handler: ({ id }) => ({ status: orders[id] ?? "none" }) }),
  defineTool({ name: "cancel", description: "Cancels an order", effect: "write", cost: { microUsdPerCall: 10_000 }, input: z.object({ id: z.string() }), output: z.object({ refund: z.string() }), handler: ({ id }) => { made.push(`cancel ${id}`); orders[id] = "cancelled"; return { refund: `r-${id}` }; } }),
  defineTool({ name: "mail", description: "Writes a mail", effect: "write", input: z.object({ to: z.string(), text: z.string() }), output: z.object({ sent: z.boolean() }), handler: ({ to, text }) => { made.push(`mail ${to}: ${text}`); return { sent: true }; } }),
];
const close = `const order = await tools.shop.get({ id: "o-1" });
if (order.status === "open") await tools.shop.cancel({ id: "o-1" });
await tools.shop.mail({ to: "desk", text: "closed" });
return { was: order.status };
`;
const program = 'const { was } = await tools.workflows.close_order({ id: "o-2" }); await tools.shop.mail({ to: "ann", text: "done" }); return was;';

describe("a workflow in a plan", () => {
  const root = mkdtempSync(join(tmpdir(), "callgate-planned-workflows-"));
  let gate: Gate;
  beforeAll(async () => {
    orders = { ...first };
    const open = () => createCallgate({ stateFolder: join(root, "state"), tools: { shop }, rules: [{ allow: "shop.get" }], workflowsFolder: join(root, "workflows"), approver: { ask: ({ tool }) => { asked.push(tool); return Promise.resolve({ kind: "approved", by: "ann" }); } } });
    const saving = await open();
    const { runId } = await saving.run(close);
    writeWorkflow(join(root, "workflows"), await makeWorkflow(saving, { runId, name: "close_order", version: "1.0.0", description: "Closes an order", fixed: ["to", "text"] }));
    await saving.close();
    gate = await open();
    await gate.ready();
  });
  afterEach(() => {
    orders = { ...first };
    made.length = 0;
    asked.length = 0;
  });
  afterAll(async () => {
    await gate.close();
    rmSync(root, { recursive: true, force: true });
  });
  const rehearsed = async (text = program): Promise<Plan> => {
    const { plan, ...result } = await gate.run(text, { rehearse: true });
    if (plan === undefined) throw new Error(JSON.stringify(result));
    return plan;
  };
  const apply = async (plan: Plan): Promise<RunResult> => await gate.apply(await gate.plans.approve(plan, { by: "bea" }));

  test("shows the writes within it, with arguments, decision and cost; nothing of them happens before it is approved, and nobody is asked then", async () => {
    orders = { ...first };
    made.length = 0;
    asked.length = 0;
    const plan = await rehearsed();
    expect(made).toEqual([]);
    expect(plan.items).toMatchObject([
      { id: "1", tool: "workflows.close_order", args: { id: "o-2" }, inner: [
        { id: "1.1", tool: "shop.cancel", args: { id: "o-2" }, decision: { kind: "ask" }, cost: { microUsd: 10_000, tokens: 0 } },
        { id: "1.2", tool: "shop.mail", args: { to: "desk", text: "closed" }, decision: { kind: "ask" } },
      ] },
      { id: "2", tool: "shop.mail", args: { to: "ann", text: "done" } },
    ]);
    expect(plan.items[0]?.inner?.some(({ isConditional, varies }) => isConditional === true || varies !== undefined)).toBe(false);
    expect(Object.keys(plan.tools)).toContain("shop.cancel");
    const result = await apply(plan);
    expect(result).toMatchObject({ status: "completed", value: { value: "open" }, planProgress: { items: [{ became: "done" }, { became: "done" }] } });
    expect(made).toEqual(["cancel o-2", "mail desk: closed", "mail ann: done"]);
    expect(asked).toEqual([]);
  });

  test("a write within it that its plan does not have does not happen, nor does anything after it, in what called it either", async () => {
    orders = { "o-1": "open", "o-2": "sent" };
    const plan = await rehearsed(program.replace("const { was }", "let was = ''; try { ({ was }").replace('"o-2" });', '"o-2" })); } catch { was = "caught"; }'));
    expect(plan.items[0]?.inner?.map(({ tool }) => tool)).toEqual(["shop.mail"]);
    orders["o-2"] = "open";
    const result = await apply(plan);
    expect(result).toMatchObject({ status: "diverged", error: { code: "PLAN_DRIFT", message: expect.stringContaining("shop.cancel") as string } });
    expect(made).toEqual([]);
    expect(result.planProgress?.items.map(({ became }) => became)).toEqual(["failed", "not_reached"]);
    const [nested] = await gate.runs.ofCall(`${result.runId}.0`);
    expect(nested).toMatchObject({ status: "diverged", planId: `${plan.planId}.1` });
  });

  test("is dropped as a whole; its own writes are neither edited nor dropped alone", async () => {
    const plan = await rehearsed();
    expect(() => gate.plans.drop(plan, "1.1")).toThrow(/within the workflow workflows\.close_order \(item 1\)/);
    await expect(gate.plans.edit(plan, { itemId: "1", args: { id: "o-1" } })).rejects.toMatchObject({ code: "PLAN_INVALID", message: expect.stringContaining("were rehearsed with the arguments that it has") as string });
    const result = await apply(gate.plans.drop(plan, "1"));
    expect(result).toMatchObject({ status: "failed", error: { code: "PLAN_DROPPED" } });
    expect(made).toEqual([]);
  });

  test("what its inputs have from a placeholder is asked about within it, and nothing real is asked about such a thing", async () => {
    const plan = await rehearsed('const { refund } = await tools.shop.cancel({ id: "o-1" }); await tools.workflows.close_order({ id: refund });');
    expect(plan.items[1]).toMatchObject({ varies: { paths: ["/id"] }, derivedFrom: ["1"], inner: [{ tool: "shop.mail" }] });
    expect(plan.items[1]?.inner?.filter(({ tool }) => tool === "shop.get")).toEqual([]);
  });
});
