// 500 runs at once, each of two parallel branches of two calls of one tool, in a process that is killed in their middle;
// another one takes them over. All have to get their own answers. The same with the recorded order of completions taken
// away is the control, and has to go wrong. Writes docs/results/branches.md with --write.
import { parseArgs } from "node:util";
import { startPostgres } from "../../packages/journal-postgres/src/fixtures/private-postgres.ts";
import { branchRuns } from "../../packages/runtime/src/run/fixtures/branch-runs.ts";
import { markdownTable, measured, writeSection } from "./result-page.ts";

const { values } = parseArgs({ options: { journal: { type: "string", default: "sqlite" }, runs: { type: "string", default: "500" }, write: { type: "boolean", default: false } } });
const journalName = { sqlite: "SQLite", postgres: "PostgreSQL" }[values.journal];
if (journalName === undefined) throw new Error("--journal is sqlite or postgres");
const server = values.journal === "postgres" ? await startPostgres({ fsync: false }) : undefined;
async function copied() {
  const url = await server.createDatabase("copy");
  server.copyDatabase("killed", "copy");
  return url;
}
const databases = server === undefined ? undefined : { url: await server.createDatabase("killed"), copy: copied };
const { runs, interrupted, wrong, wrongWithoutOrder } = await branchRuns(Number(values.runs), databases);
await server?.stop();
const table = markdownTable(["runs at once", "taken over", "wrong", "wrong without the recorded order (control)"], [[runs, interrupted, wrong, wrongWithoutOrder]]);
console.log(table);
if (values.write) {
  const intro = `# Parallel branches taken over

Each run has two parallel branches of two calls of one tool. Their process is killed with SIGKILL in the middle of all of
them: when three of the four calls of each had ended, in whatever order, and the fourth was under way. Another process takes
them over.`;
  writeSection({ page: "branches.md", intro, section: `${journalName}, QuickJS`, text: `${measured(`node checks/full/branches.mjs --journal ${values.journal} --runs ${values.runs}`)}\n\n${table}` });
}
if (wrong > 0 || interrupted < runs || wrongWithoutOrder === 0) process.exitCode = 1;
