import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Gate } from "@callgate/contract";
import { functionSource } from "@callgate/runtime/source";
import { suggestWorkflows, testWorkflow } from "@callgate/runtime/workflow";
import type { WorkflowSuggestions } from "@callgate/runtime/workflow";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { retailReads } from "../../../../examples/tau-retail/retail-reads.ts";
import type { RetailDatabase } from "../../../../examples/tau-retail/retail-schemas.ts";
import { retailWrites } from "../../../../examples/tau-retail/retail-writes.ts";
import { workbenchSources } from "../../../runtime/src/run/fixtures/workbench.ts";
import type { Tables } from "../../../runtime/src/run/fixtures/workbench.ts";
import { createCallgate } from "../create-callgate.ts";

const data = new URL("../../../../../shared/data/agent/", import.meta.url);
const isThere = existsSync(data);
if (!isThere) console.warn("suggestions from traffic are skipped: the tasks are not beside this repository (../shared/data/agent)");

interface Task {
  readonly id: string;
  readonly user_id: string;
  readonly actions: readonly { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }[];
}
const read = (name: string): string => readFileSync(new URL(name, data), "utf8");
const tasksOf = (set: string): readonly Task[] => read(`${set}/tasks.jsonl`).trim().split("\n").map((line) => JSON.parse(line) as Task);

/** Every draft that is offered is one: it is checked, makes the recorded calls, and its tests pass. */
async function assertDrafts(gate: Gate, { suggestions, draft }: WorkflowSuggestions): Promise<void> {
  for (const { name, problem } of suggestions) {
    expect({ name, problem }).toEqual({ name, problem: undefined });
    const tests = await testWorkflow(gate, { ...(await draft(name)), digest: "sha256:00" });
    expect({ name, failures: tests.flatMap(({ failures }) => failures) }).toEqual({ name, failures: [] });
  }
}

describe.skipIf(!isThere)("what recorded traffic suggests", { timeout: 600_000 }, () => {
  const root = mkdtempSync(join(tmpdir(), "callgate-traffic-"));
  const opened: Gate[] = [];
  afterEach(async () => {
    for (const gate of opened.splice(0)) await gate.close();
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  test("tau-retail: customers are looked up and one of their orders is cancelled; each by itself, in tasks that differ in everything", async () => {
    const database = JSON.parse(read("tau-retail/db.json")) as RetailDatabase;
    const gate = await createCallgate({ stateFolder: join(root, "retail"), sources: [functionSource({ namespace: "retail", tools: [...retailReads(() => database), ...retailWrites(() => database)] })], rules: [{ allow: "*" }] });
    opened.push(gate);
    await gate.ready();
    const tasks = tasksOf("tau-retail").filter(({ actions }) => actions.length === 1 && actions[0]?.name === "cancel_pending_order").slice(0, 12);
    for (const { id, user_id, actions } of tasks) {
      const user = database.users[user_id] as unknown as { readonly name: { readonly first_name: string; readonly last_name: string }; readonly address: { readonly zip: string } };
      const call = async (tool: string, args: object): Promise<unknown> => (await gate.call(`retail.${tool}`, args, { taskId: id })).outcome.kind;
      expect(await call("find_user_id_by_name_zip", { ...user.name, zip: user.address.zip })).toBe("ok");
      expect(await call("get_user_details", { user_id })).toBe("ok");
      for (const { name, arguments: args } of actions) {
        expect(await call("get_order_details", { order_id: args["order_id"] })).toBe("ok");
        expect(await call(name, args)).toBe("ok");
      }
    }
    const found = await suggestWorkflows(gate);
    expect(found.suggestions[0]).toMatchObject({ times: 12, variants: 12, tools: ["retail.find_user_id_by_name_zip", "retail.get_user_details", "retail.get_order_details", "retail.cancel_pending_order"], saved: { calls: 36 } });
    expect(found.suggestions[0]?.inputs.slice(0, 4)).toEqual(["first_name", "last_name", "zip", "order_id"]);
    expect(found.suggestions[0]?.saved.tokens).toBeGreaterThan(12 * 300);
    await assertDrafts(gate, found);
  });

  test("WorkBench: writes that have little of each other; what is suggested can be drafted, and nothing else is", async () => {
    const tables = JSON.parse(read("workbench/db.json")) as Tables;
    const gate = await createCallgate({ stateFolder: join(root, "workbench"), sources: workbenchSources(tables).map(({ source }) => source), rules: [{ allow: "*" }] });
    opened.push(gate);
    await gate.ready();
    const tasks = tasksOf("workbench").filter(({ actions }) => actions.length > 1).slice(0, 40);
    for (const { id, actions } of tasks) for (const { name, arguments: args } of actions) await gate.call(name, args, { taskId: id });
    const found = await suggestWorkflows(gate, { limit: 5 });
    expect(found.looked.calls).toBeGreaterThan(80);
    for (const { times, variants, tools } of found.suggestions) expect([times >= 3, variants >= 2, tools.length >= 2]).toEqual([true, true, true]);
    await assertDrafts(gate, found);
  });
});
