import { existsSync, readFileSync } from "node:fs";
import type { Gate } from "@callgate/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { plainChecker } from "./fixtures/plain-checker.ts";
import { createTestGate } from "./fixtures/test-gate.ts";
import { irrevocable, workbenchSources } from "./fixtures/workbench.ts";
import type { Row, TableName, Tables } from "./fixtures/workbench.ts";

interface Task {
  readonly id: string;
  readonly actions: readonly { readonly name: string; readonly arguments: Row }[];
  readonly stateDiff: Partial<Record<TableName, { readonly removed: readonly Row[]; readonly added: readonly Row[] }>>;
}

const data = new URL("../../../../../shared/data/agent/workbench/", import.meta.url);
const isThere = existsSync(data);
const names = ["calendar", "email", "analytics_plots", "project_tasks", "crm"] as const;

const read = (file: string): string => readFileSync(new URL(file, data), "utf8");
const tasks = isThere ? read("tasks.jsonl").trim().split("\n").map((line) => JSON.parse(line) as Task).filter(({ actions }) => actions.length > 0) : [];

/** Rows as text, so that they can be looked for. */
const textOf = (row: Row): string => JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)));

describe.skipIf(!isThere)(`compensation over the office tasks${isThere ? "" : " (skipped: ../shared/data/agent/workbench is not there)"}`, () => {
  const start = isThere ? (JSON.parse(read("db.json")) as Tables) : undefined;
  const tables = { calendar: [], email: [], analytics_plots: [], project_tasks: [], crm: [] } as Tables;
  let gate: Gate;

  const reset = (): void => {
    for (const name of names) tables[name].splice(0, Infinity, ...(start?.[name] ?? []));
  };
  const startTexts = new Map(names.map((name) => [name, (start?.[name] ?? []).map(textOf)]));
  /** Rows that are there and were not, and the other way round; the order of those that stayed counts. */
  function changes(): Readonly<Record<string, { readonly removed: readonly string[]; readonly added: readonly string[] }>> {
    return Object.fromEntries(names.flatMap((name) => {
      const [before, after] = [startTexts.get(name) ?? [], tables[name].map(textOf)];
      const [was, is] = [new Set(before), new Set(after)];
      const [removed, added] = [before.filter((row) => !is.has(row)), after.filter((row) => !was.has(row))];
      const moved = before.filter((row) => is.has(row)).join("\n") === after.filter((row) => was.has(row)).join("\n") ? [] : ["the order"];
      return removed.length + added.length + moved.length === 0 ? [] : [[name, { removed: removed.sort(), added: [...added, ...moved].sort() }]];
    }));
  }

  beforeAll(async () => {
    reset();
    ({ gate } = await createTestGate([], { sources: workbenchSources(tables), checkers: [plainChecker()], defaults: { budgetTokens: 100_000 } }));
  });
  afterAll(() => gate.close());

  const callsOf = ({ actions }: Task, count = actions.length): string => actions.slice(0, count).map(({ name, arguments: args }) => `await tools.${name}(${JSON.stringify(args)});`).join("\n");

  /** What has to be left when a run of these calls was undone: the mails, each listed. */
  function expectUndone(task: Task, { runId, compensation }: Awaited<ReturnType<Gate["run"]>>, count: number): void {
    const calls = task.actions.slice(0, count).map(({ name }, seq) => ({ name, callId: `${runId}.${seq}` })).reverse();
    const [stays, goes] = [calls.filter(({ name }) => irrevocable.has(name)), calls.filter(({ name }) => !irrevocable.has(name))];
    // Where nothing can be undone, nothing is tried: the effects of the run are its remainder.
    if (goes.length > 0 || compensation !== undefined) {
      expect(compensation, task.id).toEqual({ undone: goes.map(({ callId }) => callId), remaining: stays.map(({ name, callId }) => ({ callId, tool: name, why: "its tool declares no way to undo it" })) });
    }
    const left = changes();
    expect(Object.keys(left), task.id).toEqual(stays.length === 0 ? [] : ["email"]);
    expect([left["email"]?.removed ?? [], left["email"]?.added.length ?? 0], task.id).toEqual([[], stays.length]);
    if (stays.length > 0) reset();
  }

  test("each task changes what it should, and is undone when it is rolled back", { timeout: 300_000 }, async () => {
    for (const task of tasks) {
      const result = await gate.run(callsOf(task));
      expect(result.status, task.id).toBe("completed");
      const wanted = Object.fromEntries(Object.entries(task.stateDiff).map(([name, { removed, added }]) => [name, { removed: removed.map(textOf).sort(), added: added.map(textOf).sort() }]));
      expect(changes(), task.id).toEqual(wanted);
      expectUndone(task, await gate.runs.rollback(result.runId), task.actions.length);
    }
  });

  test("each task that fails after its k-th write, for every k, leaves the tables as they were, or lists exactly what stays", { timeout: 300_000 }, async () => {
    let failures = 0;
    for (const task of tasks) {
      for (let count = 1; count <= task.actions.length; count += 1) {
        const result = await gate.run(`${callsOf(task, count)}\nthrow new Error("after ${count}");`);
        expect([result.status, result.effects?.done.length], task.id).toEqual(["failed", count]);
        expectUndone(task, result, count);
        failures += 1;
      }
    }
    expect(failures).toBe(tasks.reduce((sum, { actions }) => sum + actions.length, 0));
  });
});
