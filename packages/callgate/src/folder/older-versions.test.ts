import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Gate } from "@callgate/contract";
import { defineOlderVersion, defineTool } from "@callgate/runtime/source";
import { checkWorkflow, makeWorkflow, readWorkflows, relockWorkflow, testWorkflow, writeWorkflow } from "@callgate/runtime/workflow";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { createCallgate } from "../create-callgate.ts";

/** Version 1 says `order_id` and `status`; version 2 `order` and `state`, with the customer in it. */
const one = { input: z.object({ order_id: z.string() }), output: z.object({ status: z.string() }) };
const two = { input: z.object({ order: z.string(), reason: z.string() }), output: z.object({ state: z.string(), customer: z.string() }) };
const seen: unknown[] = [];
const undone: unknown[] = [];

const older = defineOlderVersion({
  version: "1",
  ...one,
  upgrade: ({ order_id }) => ({ order: order_id, reason: "not said" }),
  downgrade: (output) => ({ status: (output as z.infer<typeof two.output>).state }),
  restore: ({ status }) => ({ state: status, customer: "unknown" }),
});

function shop(version: "1" | "2" | "2 alone") {
  const common = { name: "cancel", description: "Cancels an order", effect: "write" } as const;
  if (version === "1") return [defineTool({ ...common, version, ...one, handler: ({ order_id }) => { seen.push({ order_id }); return { status: "cancelled" }; } })];
  return [
    defineTool({
      ...common,
      version: "2",
      ...two,
      sensitive: ["/output/customer"],
      ...(version === "2 alone" ? {} : { older: [older] }),
      handler: (args) => { seen.push(args); return { state: "cancelled", customer: "ada@example.com" }; },
      compensate: (args, output) => void undone.push({ args, output }),
    }),
  ];
}

const program = 'const { status } = await tools.shop.cancel({ order_id: "W1" });\nreturn status;\n';

describe("older versions of a tool", () => {
  const root = mkdtempSync(join(tmpdir(), "callgate-older-"));
  const folder = join(root, "workflows");
  const opened: Gate[] = [];
  let runOfOne = "";
  async function open(version: Parameters<typeof shop>[0], rules: readonly object[] = [{ allow: "*" }]): Promise<Gate> {
    const gate = await createCallgate({ stateFolder: join(root, "state"), tools: { shop: shop(version) }, rules: rules as never, workflowsFolder: folder });
    opened.push(gate);
    await gate.ready();
    return gate;
  }
  const interfaces = async (gate: Gate) => {
    const shown = await gate.runs.show(runOfOne);
    const checked = shown?.entries.find((entry) => entry.kind === "checked");
    return checked?.kind === "checked" ? (checked.interfaces ?? {}) : {};
  };
  const workflow = () => {
    const [found] = readWorkflows(folder).workflows;
    if (found === undefined) throw new Error("no workflow");
    return found;
  };
  beforeAll(async () => {
    const gate = await open("1");
    runOfOne = (await gate.run(program)).runId;
    writeWorkflow(folder, await makeWorkflow(gate, { runId: runOfOne, name: "cancel_order", version: "1.0.0", description: "Cancels an order" }));
    await gate.close();
    seen.length = 0;
  });
  afterEach(async () => {
    for (const gate of opened.splice(0)) await gate.close();
    seen.length = 0;
    undone.length = 0;
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  test("a program that was checked against one is checked and called as it; without that it is one of today", async () => {
    const gate = await open("2");
    expect(await gate.run(program)).toMatchObject({ status: "rejected" });
    const result = await gate.run(program, { interfaces: await interfaces(gate) });
    expect(result).toMatchObject({ status: "completed", value: { value: "cancelled" } });
    expect(seen).toEqual([{ order: "W1", reason: "not said" }]);
    expect(await gate.run('return (await tools.shop.cancel({ order: "W1", reason: "late" })).state')).toMatchObject({ status: "completed", value: { value: "cancelled" } });
  });

  test("the policy decides about today's arguments, and what is not kept is refused by the check", async () => {
    const gate = await open("2", [{ deny: "shop.cancel", when: { args: { "/reason": "not said" } } }, { allow: "*" }]);
    expect((await gate.run(program, { interfaces: await interfaces(gate) })).error).toMatchObject({ code: "DENIED" });
    expect(seen).toEqual([]);
    const alone = await open("2 alone");
    expect(await alone.run(program, { interfaces: await interfaces(alone) })).toMatchObject({ status: "rejected" });
  });

  test("its run is replayed, exported, edited and undone as what it was checked against", async () => {
    const gate = await open("2");
    const { runId } = await gate.run(program, { interfaces: await interfaces(gate) });
    expect((await gate.runs.replay(runId)).divergence).toBeUndefined();
    const recording = await gate.runs.recording(runId);
    expect(recording.tools[0]?.output).toMatchObject({ properties: { status: { type: "string" } } });
    expect(await gate.runs.edit(runId, { program: program.replace("return status", "return status.length") })).toMatchObject({ result: { status: "completed", value: { value: 9 } } });
    expect(await gate.runs.rollback(runId)).toMatchObject({ compensation: { undone: [expect.any(String)], remaining: [] } });
    expect(undone).toEqual([{ args: { order: "W1", reason: "not said" }, output: { state: "cancelled", customer: "unknown" } }]);
  });

  test("a workflow goes on as what it was saved with, keeps its capabilities, and is told of", async () => {
    const gate = await open("2");
    expect(await checkWorkflow(gate, workflow())).toMatchObject([{ severity: "changed", tool: "shop.cancel", message: expect.stringContaining("keeps the one of version 1") as string }]);
    expect(await testWorkflow(gate, workflow())).toMatchObject([{ passed: true }]);
    expect(await gate.call("workflows.cancel_order", { order_id: "W7" })).toMatchObject({ outcome: { kind: "ok", value: "cancelled" } });
    expect(seen).toEqual([{ order: "W7", reason: "not said" }]);
    const alone = await open("2 alone");
    expect(await alone.call("workflows.cancel_order", { order_id: "W7" })).toMatchObject({ outcome: { error: { code: "WORKFLOW_BROKEN" } } });
  });

  test("a plan is good for the tool as it was shown: with another version of it nothing runs, be the older one kept or not", async () => {
    const gate = await open("1");
    const { plan } = await gate.run(program, { rehearse: true });
    if (plan === undefined) throw new Error("no plan");
    const approved = await gate.plans.approve(plan, { by: "bea" });
    for (const version of ["2", "2 alone"] as const) {
      const upgraded = await open(version);
      expect(await upgraded.plans.problems(approved)).toEqual([expect.stringContaining("version 2 now") as string]);
      await expect(upgraded.apply(approved)).rejects.toMatchObject({ code: "PLAN_STALE", message: expect.stringMatching(/the definition of shop\.cancel has changed \(it is version 2 now, .*Nothing was done; rehearse the program again/) as string });
      await upgraded.close();
    }
    expect(seen).toEqual([]);
  });

  test("what is sensitive today is in no record of an older form that does not say what is", async () => {
    const gate = await open("2");
    const { runId } = await gate.run(program, { interfaces: await interfaces(gate) });
    const ended = (await gate.runs.show(runId))?.entries.find((entry) => entry.kind === "call-ended");
    expect(ended).toMatchObject({ asInterface: expect.stringMatching(/^sha256:/) as string, result: { summary: expect.not.stringContaining("cancelled") as string } });
  });

  test("adapters that fail say so: nothing is called for arguments, and what was done is told for an answer", async () => {
    const failing = (part: object) => [defineTool({ name: "cancel", description: "Cancels an order", effect: "write", version: "2", ...two, older: [{ ...older, ...part }], handler: (args) => { seen.push(args); return { state: "cancelled", customer: "" }; } })];
    const withPart = async (part: object) => {
      const gate = await createCallgate({ stateFolder: join(root, "state"), tools: { shop: failing(part) }, rules: [{ allow: "*" }] });
      opened.push(gate);
      return await gate.run(program, { interfaces: await interfaces(gate) });
    };
    expect((await withPart({ upgrade: () => { throw new Error("no such order then"); } })).error).toMatchObject({ code: "INVALID_INPUT", message: expect.stringContaining("no such order then") as string });
    expect(seen).toEqual([]);
    expect((await withPart({ downgrade: () => ({ status: 7 }) })).error).toMatchObject({ code: "INVALID_OUTPUT", message: expect.stringContaining("took effect") as string });
    expect(seen).toHaveLength(1);
  });

  test("a version that is declared wrongly is refused with its tool", async () => {
    await expect(createCallgate({ stateFolder: join(root, "state"), tools: { shop: [defineTool({ name: "cancel", description: "x", ...two, older: [{ version: "1", input: { type: "nothing" } }], handler: () => ({ state: "", customer: "" }) })] } })).rejects.toMatchObject({ code: "TOOL_INVALID", message: expect.stringContaining("version 1") as string });
  });

  test("a workflow is locked on the tools of now once it fits them", async () => {
    const gate = await open("2");
    expect(await relockWorkflow(gate, workflow())).toMatchObject({ kind: "refused", findings: expect.arrayContaining([expect.objectContaining({ severity: "broken" })]) as unknown[] });
    const fitted = { ...workflow(), program: workflow().program.replace("order_id: inputs.order_id", 'order: inputs.order_id, reason: "x"').replace("{ status }", "{ state: status }") };
    // It asks for something else than what was recorded.
    expect(await relockWorkflow(gate, fitted)).toMatchObject({ kind: "refused", findings: expect.arrayContaining([expect.objectContaining({ message: expect.stringContaining("shop.cancel") as string })]) as unknown[] });
  });
});
