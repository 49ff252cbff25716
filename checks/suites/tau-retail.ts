// The retail tasks of tau-bench (MIT) as a suite: a shop of 16 tools, and for each task the state its database must end in.
// `callgate eval checks/suites/tau-retail.ts` runs the recorded calls of each as one program.
import { functionSource } from "callgate";
import { defineEnvironment } from "callgate/eval";
import type { EvalCase, EvalSuite } from "callgate/eval";
import { hashOf } from "../../examples/tau-retail/retail-plans.ts";
import { retailReads } from "../../examples/tau-retail/retail-reads.ts";
import type { RetailDatabase } from "../../examples/tau-retail/retail-schemas.ts";
import { retailWrites } from "../../examples/tau-retail/retail-writes.ts";
import { agentData, agentTasks } from "./agent-data.ts";
import { caseDefaults, programOf } from "./written-calls.ts";
import type { WrittenCall } from "./written-calls.ts";

interface Task {
  readonly id: string;
  readonly instruction: string;
  readonly actions: readonly (WrittenCall & { readonly result: string })[];
  readonly stateHash: string;
}

const spelled = (name: string): string => `tools.retail.${name}`;

export function suite(): EvalSuite {
  const start = agentData("tau-retail", "db.json");
  const startHash = hashOf(JSON.parse(start) as RetailDatabase);
  return {
    name: "tau-retail",
    mode: "code",
    instructions: agentData("tau-retail", "policy.md"),
    environment: defineEnvironment(async ({ openGate }) => {
      const database = JSON.parse(start) as RetailDatabase;
      const gate = await openGate({ sources: [functionSource({ namespace: "retail", tools: [...retailReads(() => database), ...retailWrites(() => database)] })], rules: [{ allow: "retail.*" }] });
      return { gate, state: () => ({ hash: hashOf(database) }) };
    }),
    cases: agentTasks<Task>("tau-retail").map((task) => caseOf(task, startHash)),
  };
}

/** A task that changes nothing is judged by the calls it takes; one without any cannot be told from nothing done. */
function caseOf({ id, instruction, actions, stateHash }: Task, startHash: string): EvalCase {
  const succeeded = actions.filter(({ result }) => !result.startsWith("Error"));
  const changes = stateHash !== startHash;
  return {
    ...caseDefaults,
    id,
    kind: "normal-flow",
    tags: [id.split("-")[1] ?? "", changes ? "changes" : "looks"],
    task: instruction,
    effects: { allowed: [...new Set(actions.map(({ name }) => `retail.${name}`))], forbidden: [] },
    state: [{ path: "/hash", equals: stateHash }],
    calls: changes ? [] : [...new Set(succeeded.map(({ name }) => name))].map((name) => ({ tool: `retail.${name}`, outcome: "ok" as const })),
    work: { program: programOf(actions, spelled) },
    mustFail: changes && succeeded.length > 0 ? [{ program: programOf(withoutLastWrite(actions), spelled) }] : [],
    ...(actions.length === 0 || (!changes && succeeded.length === 0) ? { skip: "nothing is to be done in it, so that doing nothing could not be told from doing it" } : {}),
  };
}

/** The same work without what it changed last. */
function withoutLastWrite(actions: Task["actions"]): Task["actions"] {
  const last = actions.findLastIndex(({ name, result }) => !result.startsWith("Error") && /^(?:cancel|exchange|modify|return)/.test(name));
  return actions.filter((_action, index) => index !== last);
}
