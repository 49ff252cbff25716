// What published tasks cost a model that calls tools one by one, all at once, or by a program, and what it costs where it
// goes badly. The agent's loop is run for real behind a gate, with a script in place of the model that makes the recorded
// calls; what it is sent is counted. An end state that is not the recorded one is not counted but told.
// `node checks/full/tokens.mjs [SET] [--every N]`: each N-th task. Default: all, of both sets.
import { createAgent, scriptedModel } from "../../packages/callgate/src/index.ts";
import { runSuite } from "../../packages/callgate/src/eval.ts";
import { loadSuite } from "../../packages/callgate/src/eval/load-suite.ts";
import { agentTasks, hasAgentData } from "../suites/agent-data.ts";
import { callsOf } from "../suites/bfcl-base.ts";
import { markdownTable, measured, writeSection } from "./result-page.ts";
import { tokensOf, tokensOfTasks, ways } from "./ways-of-working.ts";

if (!hasAgentData) {
  console.log("skipped: the published sets are not beside this repository (../shared/data/agent)");
  process.exit(0);
}
const every = process.argv.includes("--every") ? Number(process.argv[process.argv.indexOf("--every") + 1]) : 1;

const sets = {
  "tau-retail": new Map(agentTasks("tau-retail").map((task) => [task.id, task.actions.map(({ name, arguments: args }) => ({ tool: `retail.${name}`, input: args }))])),
  "bfcl-base": new Map(agentTasks("bfcl-base").map((task) => [task.id, callsOf(task).map((call) => ({ tool: `${call.class}.${call.name}`, input: call.arguments }))])),
};

const program = (calls, returned) => `import * as tools from "tools";
const results: unknown[] = [];
async function attempt(call: () => Promise<unknown>): Promise<void> {
  try { results.push(await call()); } catch (error) { results.push("Error: " + (error as Error).message); }
}
${calls.map(({ tool, input }) => `await attempt(() => tools.${tool}(${JSON.stringify(input)}));`).join("\n")}
return ${returned};`;
const misspelt = ([first, ...rest]) => [{ ...first, tool: `${first.tool}s` }, ...rest];
const workOf = (calls) => ({
  calls,
  program: (returned) => program(calls, returned === "all" ? "results" : "results.at(-1)"),
  wrongProgram: (attempt) => program(misspelt(calls), attempt === 1 ? "results" : "results.length"),
});

/** A subject that makes the recorded calls of its case in one way, and tells what it was sent. */
function subjectOf(way, calls, told) {
  return {
    name: way,
    async perform({ suite, case: one, gate, principal, taskId, signal }) {
      const { mode, turns, limits } = ways[way];
      const model = scriptedModel(turns(workOf(calls.get(one.id))));
      const agent = createAgent({ name: "subject", model, gate, principal, taskId, mode, limits: { turns: 200, repairs: 100, errors: 100, ...limits }, ...(suite.instructions === undefined ? {} : { instructions: suite.instructions }) });
      const { answer, usage } = await agent.run(one.task, { signal });
      const sent = model.asked.map(tokensOf);
      told.set(one.id, { end: sent.at(-1) ?? 0, read: sent.reduce((sum, count) => sum + count, 0), turns: sent.length });
      return { answer, usage };
    },
  };
}

const mean = (values) => Math.round(values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length));
const buckets = [["1 call", 1, 1], ["2 or 3", 2, 3], ["4 to 6", 4, 6], ["7 and more", 7, 1_000]];

const wanted = Object.entries(sets).filter(([name]) => !process.argv.some((word) => word in sets) || process.argv.includes(name));
for (const [name, calls] of wanted) {
  const whole = await loadSuite(`checks/suites/${name}.ts`);
  const suite = { ...whole, cases: whole.cases.filter((one, index) => one.skip === undefined && index % every === 0) };
  const told = {};
  const missed = [];
  for (const way of Object.keys(ways)) {
    told[way] = new Map();
    const report = await runSuite({ suite, subject: subjectOf(way, calls, told[way]), concurrency: 2 });
    for (const { id, status, attempts, reason } of report.cases) if (status !== "passed") {
      told[way].delete(id);
      missed.push({ way, id });
      console.log(`  ${id}: ${reason ?? attempts[0]?.failures[0]?.message ?? status}`);
    }
    console.log(`${name}, ${way}: ${told[way].size} tasks`);
  }
  const ids = suite.cases.map(({ id }) => id).filter((id) => Object.values(told).every((of) => of.has(id)));
  const of = (way, key, some = ids) => mean(some.map((id) => told[way].get(id)[key]));
  const rows = Object.keys(ways).map((way) => [way, of(way, "turns"), of(way, "end"), of(way, "read"), (of(way, "read") / of("one by one", "read")).toFixed(2), ids.filter((id) => told[way].get(id).read > told["one by one"].get(id).read).length]);
  const lengths = buckets.flatMap(([label, least, most]) => {
    const some = ids.filter((id) => calls.get(id).length >= least && calls.get(id).length <= most);
    return some.length === 0 ? [] : [[label, some.length, ...Object.keys(ways).map((way) => of(way, "read", some))]];
  });
  const text = [
    measured(`node checks/full/tokens.mjs ${name}${every === 1 ? "" : ` --every ${every}`}`),
    `${ids.length} of the ${whole.cases.length} tasks${every === 1 ? "" : ` (each ${every}th)`}; means, o200k tokens of what the model is sent.`,
    markdownTable(["way", "turns", "context at the end", "read over all turns", "÷ one by one", "tasks in which it reads more than one by one"], rows),
    "Read over all turns, by how many calls a task has:",
    markdownTable(["calls", "tasks", ...Object.keys(ways)], lengths),
    ...Object.keys(ways).flatMap((way) => {
      const left = missed.filter((one) => one.way === way).map(({ id }) => id);
      return left.length === 0 ? [] : [`Left out, because "${way}" did not come to the recorded end state: ${left.length} (${left.slice(0, 20).join(", ")})`];
    }),
  ].join("\n\n");
  console.log(text);
  writeSection({
    page: "tokens-of-tasks.md",
    intro: tokensOfTasks,
    section: name,
    text,
  });
}
