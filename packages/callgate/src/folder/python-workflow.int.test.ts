import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineTool } from "@callgate/runtime/source";
import { makeWorkflow, readWorkflows, testWorkflow, writeWorkflow } from "@callgate/runtime/workflow";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { createCallgate } from "../create-callgate.ts";

test("a Python program becomes a workflow with its literals as inputs: it is tested with recorded answers, and called with others", { timeout: 300_000 }, async () => {
  const root = mkdtempSync(join(tmpdir(), "callgate-python-workflow-"));
  const cancelled: string[] = [];
  const tools = [
    defineTool({ name: "get", description: "Reads an order", effect: "read", input: z.object({ order_id: z.string() }), output: z.object({ status: z.string() }), handler: ({ order_id }) => ({ status: order_id === "W-3" ? "shipped" : "pending" }) }),
    defineTool({ name: "cancel", description: "Cancels an order", effect: "write", input: z.object({ order_id: z.string(), reason: z.string() }), output: z.object({ done: z.boolean() }), handler: ({ order_id }) => { cancelled.push(order_id); return { done: true }; } }),
  ];
  const open = () => createCallgate({ stateFolder: join(root, "state"), folder: root, tools: { shop: tools }, rules: [{ allow: "*" }], workflowsFolder: join(root, "workflows"), sandbox: { launcher: "deno" } });
  const first = await open();
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  // It begins with a block of its own, before which nothing can stand on the line.
  const program = 'for order in ["W-1"]:\n    from tools import shop\n    if shop.get(order_id=order)["status"] == "pending":\n        shop.cancel(order_id=order, reason="not needed")\n"done"\n';
  const { runId, ...ran } = await first.run(program, { language: "python" });
  expect(ran).toMatchObject({ status: "completed" });
  const flat = await first.run('from tools import shop\norder = "W-2"\nstatus = shop.get(order_id=order)["status"]\nif status == "pending":\n    shop.cancel(order_id=order, reason="not needed")\nstatus\n', { language: "python" });
  writeWorkflow(join(root, "workflows"), await makeWorkflow(first, { runId: flat.runId, name: "cancel_pending", version: "1.0.0", description: "Cancels an order that is pending", fixed: ["reason"] }));
  const [saved] = readWorkflows(join(root, "workflows")).workflows;
  if (saved === undefined) throw new Error("no workflow");
  expect(saved.program).toContain('order = inputs["order"]');
  expect(saved.manifest).toMatchObject({ language: "python", input: { required: ["order"] } });
  expect(await testWorkflow(first, saved)).toMatchObject([{ passed: true, failures: [] }]);
  const inBlock = await makeWorkflow(first, { runId, name: "in_block", version: "1.0.0", description: "x" });
  expect(await testWorkflow(first, { ...inBlock, digest: "sha256:00" })).toMatchObject([{ passed: true, failures: [] }]);
  // No placeholder can be put in where the program cannot be executed again to see what it makes of it.
  const sensitive = await first.run('from tools import shop\nshop.get(order_id="ada@example.com")["status"]\n', { language: "python" });
  await expect(first.runs.recording(sensitive.runId)).rejects.toMatchObject({ code: "RECORDING_INVALID", message: expect.stringContaining("sensitive values") as string });
  await first.close();

  const gate = await open();
  onTestFinished(() => gate.close());
  await gate.ready();
  expect(await gate.call("workflows.cancel_pending", { order: "W-9" })).toMatchObject({ outcome: { kind: "ok", value: "pending" } });
  expect(await gate.call("workflows.cancel_pending", { order: "W-3" })).toMatchObject({ outcome: { kind: "ok", value: "shipped" } });
  expect(cancelled).toEqual(["W-1", "W-2", "W-9"]);
});
