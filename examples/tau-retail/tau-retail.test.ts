import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCallgate, functionSource } from "callgate";
import type { Gate } from "callgate";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { canonical, hashOf, openRetailShop, sorted } from "./retail-plans.ts";
import { retailReads } from "./retail-reads.ts";
import type { RetailDatabase } from "./retail-schemas.ts";
import { retailWrites } from "./retail-writes.ts";

// tau-bench's retail domain (MIT): 16 tools, a database, 520 tasks with their calls, results and final states.
const data = new URL("../../../shared/data/agent/tau-retail/", import.meta.url);
const isThere = existsSync(data);
if (!isThere) console.warn("tau-retail is skipped: its data set is not beside this repository (../shared/data/agent/tau-retail)");

const taskShape = z.object({
  id: z.string(),
  actions: z.array(z.object({ name: z.string(), arguments: z.record(z.string(), z.unknown()), result: z.string() })),
  stateHash: z.string(),
});

const read = (name: string) => readFileSync(new URL(name, data), "utf8");
/** The task's calls as one program; a refusal is caught and kept as the data set writes it, plus the gate's word on its effect. */
function programOf(task: z.infer<typeof taskShape>): string {
  const calls = task.actions.map(({ name, arguments: args }) => `await attempt(() => retail.${name}(${JSON.stringify(args)}));`);
  return `import { retail } from "tools";
const results: unknown[] = [];
async function attempt(call: () => Promise<unknown>): Promise<void> {
  try { results.push(await call()); } catch (error) { results.push("Error: " + (error as Error).message); }
}
${calls.join("\n")}
return results;`;
}

describe.skipIf(!isThere)("tau-retail", () => {
  const start = isThere ? read("db.json") : "{}";
  let database: RetailDatabase = JSON.parse(start) as RetailDatabase;
  const stateFolder = mkdtempSync(join(tmpdir(), "callgate-tau-"));
  let gate: Gate;

  beforeAll(async () => {
    const tools = [...retailReads(() => database), ...retailWrites(() => database)];
    gate = await createCallgate({ stateFolder, sources: [functionSource({ namespace: "retail", tools })], rules: [{ allow: "retail.*" }] });
    await gate.ready();
  });
  afterAll(async () => {
    await gate.close();
    rmSync(stateFolder, { recursive: true, force: true });
  });

  test("has the data set's 16 tools", () => {
    const names = z.array(z.object({ name: z.string() })).parse(JSON.parse(read("tools.json"))).map(({ name }) => `retail.${name}`);
    expect(gate.tools().map((tool) => tool.name).sort()).toEqual(names.sort());
  });

  test("every task as one program gives the recorded results and the recorded final state", { timeout: 300_000 }, async () => {
    const wrong: string[] = [];
    const tasks = read("tasks.jsonl").trim().split("\n").map((line) => taskShape.parse(JSON.parse(line)));
    for (const task of tasks) {
      database = JSON.parse(start) as RetailDatabase;
      const result = await gate.run(programOf(task), { budgetTokens: 100_000 });
      const value = result.value?.kind === "whole" ? result.value.value : undefined;
      const wanted = task.actions.map((action) => (action.result.startsWith("{") ? sorted(JSON.parse(action.result)) : `${action.result}. Nothing was changed.`));
      if (result.status !== "completed" || canonical(value) !== JSON.stringify(wanted)) wrong.push(`${task.id}: ${result.status} ${result.error?.message ?? result.diagnostics[0]?.message ?? "other results"}`);
      else if (hashOf(database) !== task.stateHash) wrong.push(`${task.id}: other final state`);
    }
    expect(wrong).toEqual([]);
    expect(tasks).toHaveLength(520);
  });

  // All 520, and drift in 100 of them: checks/full/plans.mjs.
  test("a task is rehearsed without a trace, its plan has the recorded writes, and applied it ends on the recorded state; drift stops it", { timeout: 300_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "callgate-tau-"));
    const shop = await openRetailShop(start, folder);
    try {
      const tasks = read("tasks.jsonl").trim().split("\n").map((line) => taskShape.parse(JSON.parse(line)));
      const picked = tasks.toSorted((a, b) => b.actions.length - a.actions.length).filter((_task, index) => index % 87 === 1);
      for (const task of picked) expect(await shop.plan(task, { withDrift: true })).toMatchObject({ isGold: true, isUnchanged: true, endsOnGold: true, unsure: 0, drift: { isCaught: true }, wrong: [] });
      expect(picked).toHaveLength(6);
    } finally {
      await shop.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
