// What agents did call by call becomes a tool: found in the record, drafted with its tests, called, and kept when the tools
// behind it change. Offline, in folders of its own. It checks itself.
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCallgate, createToolHistory, toolChanges } from "callgate";
import type { Gate } from "callgate";
import { checkWorkflow, readWorkflows, relockWorkflow, suggestWorkflows, testWorkflow, writeWorkflow } from "@callgate/runtime/workflow";
import { newShop, shopTools } from "./shop.ts";

const root = mkdtempSync(join(tmpdir(), "callgate-workflows-"));
const [stateFolder, workflowsFolder] = [join(root, "state"), join(root, "workflows")];
const shop = newShop();
const history = createToolHistory({ stateFolder, folder: root, nowMs: () => Date.now() });

async function within<Result>(version: Parameters<typeof shopTools>[1], use: (gate: Gate) => Promise<Result>): Promise<Result> {
  const gate = await createCallgate({ stateFolder, folder: root, tools: { shop: shopTools(shop, version) }, workflowsFolder, rules: [{ allow: "*" }] });
  try {
    await gate.ready();
    return await use(gate);
  } finally {
    await gate.close();
  }
}

function saved(name: string) {
  const found = readWorkflows(workflowsFolder).workflows.find(({ manifest }) => manifest.name === name);
  assert(found !== undefined, `there is no workflow ${name}`);
  return found;
}

try {
  // The one that came of this once is kept beside this file, as it would be in a repository.
  cpSync(join(import.meta.dirname, "workflows"), workflowsFolder, { recursive: true });
  await within("1", async (gate) => {
    const tests = await testWorkflow(gate, saved("cancel_order_of"));
    assert(tests.every(({ passed }) => passed), JSON.stringify(tests));
    console.log(`cancel_order_of ${saved("cancel_order_of").manifest.version}: ${tests.length} tests passed with recorded answers`);
  });
  assert.deepEqual(shop.cancelled, []);

  await within("1", async (gate) => {
    // An agent serves four customers, one call at a time, and chooses the order each of them means.
    for (const [index, [name, { id, orders }]] of Object.entries(shop.customers).entries()) {
      const taskId = `mail-${index}`;
      await gate.call("shop.find", { email: `${name}@example.com` }, { taskId });
      await gate.call("shop.orders", { customer_id: id }, { taskId });
      await gate.call("shop.cancel", { order: orders[index % 2], reason: "not needed" }, { taskId });
    }
    const { suggestions, draft } = await suggestWorkflows(gate);
    const [found] = suggestions;
    assert(found !== undefined && found.problem === undefined, JSON.stringify(suggestions));
    console.log(`\nfound ${found.times} times: ${found.tools.join(" → ")}, inputs ${found.inputs.join(", ")}; would have saved ${found.saved.calls} turns and ${found.saved.tokens} tokens\n${found.program}`);
    writeWorkflow(workflowsFolder, await draft(found.name));
    const tests = await testWorkflow(gate, saved(found.name));
    assert(tests.length === 3 && tests.every(({ passed }) => passed), JSON.stringify(tests));
  });

  await within("1", async (gate) => {
    const { value } = await gate.run('return await tools.workflows.find_then_cancel({ email: "ada@example.com", order: "W-3001" });');
    assert.deepEqual(value?.kind === "whole" && value.value, { cancelled: "W-3001" });
    console.log("called from a program: W-3001 is cancelled");
  });

  await within("2", async (gate) => {
    const { namespaces, workflows } = await toolChanges(gate, { history, namespace: "shop", workflows: readWorkflows(workflowsFolder).workflows });
    for (const { tool, breaks, keeps } of namespaces.flatMap(({ changes }) => changes)) console.log(`\nchanged: ${tool}${keeps ? ", which keeps its older version" : ""}\n  ${breaks.join("\n  ")}`);
    assert(workflows.every(({ severity }) => severity === "changed"), JSON.stringify(workflows));
    const { outcome } = await gate.call("workflows.find_then_cancel", { email: "bea@example.com", order: "W-3002" });
    assert.deepEqual(outcome.kind === "ok" && outcome.value, { cancelled: "W-3002" });
    assert.equal(shop.cancelled.at(-1), "W-3002");
    console.log("the workflow goes on as what it was saved with: W-3002 is cancelled");
    assert.equal((await relockWorkflow(gate, saved("find_then_cancel"))).kind, "refused");
  });

  await within("3", async (gate) => {
    const relocked = await relockWorkflow(gate, saved("find_then_cancel"));
    assert(relocked.kind === "relocked", JSON.stringify(relocked));
    writeWorkflow(workflowsFolder, relocked.workflow);
    assert.deepEqual(await checkWorkflow(gate, saved("find_then_cancel")), []);
    console.log(`\nanother change fits: locked on it as ${saved("find_then_cancel").manifest.version}`);
  });
} finally {
  rmSync(root, { recursive: true, force: true });
}
