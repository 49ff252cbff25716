// The tasks of WorkBench (MIT) as a suite: an office of tables, and for each task the rows that must come and go. Its
// recorded calls are writes alone, and so are the tools here: what a model would need to look things up is not among them.
import { defineEnvironment } from "callgate/eval";
import type { EvalCase, EvalSuite } from "callgate/eval";
import { workbenchSources } from "../../packages/runtime/src/run/fixtures/workbench.ts";
import type { Row, TableName, Tables } from "../../packages/runtime/src/run/fixtures/workbench.ts";
import { agentData, agentTasks } from "./agent-data.ts";
import { caseDefaults, programOf } from "./written-calls.ts";
import type { WrittenCall } from "./written-calls.ts";

interface Task {
  readonly id: string;
  readonly query: string;
  readonly actions: readonly WrittenCall[];
  readonly stateDiff: Partial<Record<TableName, { readonly removed: readonly Row[]; readonly added: readonly Row[] }>>;
}

const names = ["calendar", "email", "analytics_plots", "project_tasks", "crm"] as const;

/** Rows as text, so that they can be looked for. */
const textOf = (row: Row): string => JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)));
const sorted = (rows: readonly Row[]): readonly string[] => rows.map(textOf).sort();

export function suite(): EvalSuite {
  const start = agentData("workbench", "db.json");
  const before = new Map(Object.entries(JSON.parse(start) as Tables).map(([name, rows]) => [name, rows.map(textOf)]));
  return {
    name: "workbench",
    mode: "code",
    environment: defineEnvironment(async ({ openGate }) => {
      const tables = JSON.parse(start) as Tables;
      const gate = await openGate({ sources: workbenchSources(tables).map(({ source }) => source), rules: [{ allow: "*" }] });
      return { gate, state: () => changesOf(tables, before) };
    }),
    cases: agentTasks<Task>("workbench").map(caseOf),
  };
}

function changesOf(tables: Tables, before: ReadonlyMap<string, readonly string[]>): Record<string, { removed: string[]; added: string[] }> {
  return Object.fromEntries(names.flatMap((name) => {
    const [was, is] = [before.get(name) ?? [], tables[name].map(textOf)];
    const [old, now] = [new Set(was), new Set(is)];
    const [removed, added] = [was.filter((row) => !now.has(row)).sort(), is.filter((row) => !old.has(row)).sort()];
    return removed.length + added.length === 0 ? [] : [[name, { removed, added }] as const];
  }));
}

function caseOf({ id, query, actions, stateDiff }: Task): EvalCase {
  const wanted = Object.fromEntries(Object.entries(stateDiff).map(([name, { removed, added }]) => [name, { removed: [...sorted(removed)], added: [...sorted(added)] }]));
  const isNothing = Object.keys(wanted).length === 0;
  const spelled = (name: string): string => `tools.${name}`;
  return {
    ...caseDefaults,
    id,
    kind: "normal-flow",
    tags: [id.replace(/-\d+$/, "")],
    task: query,
    effects: { allowed: [...new Set(actions.map(({ name }) => name))], forbidden: [] },
    state: [{ path: "", equals: wanted }],
    work: { program: programOf(actions, spelled) },
    mustFail: isNothing ? [] : [{ program: programOf(actions.slice(0, -1), spelled) }],
    ...(isNothing ? { skip: "nothing is to change in it, so that doing nothing would pass" } : {}),
  };
}
