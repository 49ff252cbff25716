// 500 runs at once, each of two parallel branches of two calls of one tool, in a process that is killed in their middle;
// another one takes them over. All have to get their own answers. The same with the recorded order of completions taken
// away is the control, and has to go wrong. Writes docs/results/branches.md with --write.
import { parseArgs } from "node:util";
import { branchRuns } from "../../packages/runtime/src/run/fixtures/branch-runs.ts";
import { markdownTable, measured, writeSection } from "./result-page.ts";

const { values } = parseArgs({ options: { runs: { type: "string", default: "500" }, write: { type: "boolean", default: false } } });
const { runs, interrupted, wrong, wrongWithoutOrder } = await branchRuns(Number(values.runs));
const table = markdownTable(["runs at once", "taken over", "wrong", "wrong without the recorded order (control)"], [[runs, interrupted, wrong, wrongWithoutOrder]]);
console.log(table);
if (values.write) {
  const intro = `# Parallel branches taken over

Each run has two parallel branches of two calls of one tool. Their process is killed with SIGKILL when three of four
calls, over all runs, have ended. Another process goes on with the runs that had not ended by then: those taken over.`;
  writeSection({ page: "branches.md", intro, section: "SQLite, QuickJS", text: `${measured(`node checks/full/branches.mjs --runs ${values.runs}`)}\n\n${table}` });
}
if (wrong > 0 || wrongWithoutOrder === 0) process.exitCode = 1;
