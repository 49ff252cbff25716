// Every run of every example as a test that stands alone: exported, then replayed as it is and with its program edited, by a
// process that has no network, none of the example's tools and data, and no socket of a database. Where a run has nothing to
// export its reason is told. `node checks/full/exported-examples.mjs [EXAMPLE...]` writes what came of each to docs/results/exports.md.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { markdownTable, measured, writeSection } from "./result-page.ts";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const repository = path("../..").replace(/\/$/, "");
/** How an example is run: a module with our hook before it, or commands in a copy of its folder. */
const examples = {
  "twenty-lines": { module: "twenty-lines.ts" },
  "main-job (demo)": { module: "demo.ts", folder: "main-job" },
  "main-job": { module: "main-job.ts" },
  "expense-week": { module: "week.ts" },
  workflows: { module: "workflows.ts" },
  "backfill-records": { module: "backfill-records.ts" },
  "data-analysis": { module: "data-analysis.ts" },
  "find-the-fault": { module: "find-the-fault.ts" },
  "weekly-report": { module: "weekly-report.ts" },
  "reviewed-content": { module: "reviewed-content.ts" },
  "openapi-service": { module: "openapi-service.ts" },
  "http-tool": { module: "http-tool.ts" },
  "shop-database": { module: "shop-database.ts" },
  "agent-desk": { module: "agent-desk.ts" },
  plans: { command: "sh story.sh" },
  approvals: { command: "sh story.sh" },
  "limits-folder": { command: "callgate --trust exec -e 'for (const text of [\"a\", \"b\", \"c\", \"d\"]) console.log(await tools.ai.summarize({ text }))' || true" },
};
/** Examples without a run of a program on record, and why. */
const without = {
  "merge-apis": "a code executor: its blocks run in processes that are kept, and are no runs that can be executed again",
  "tidy-folder": "a code executor: its blocks change a folder, which is their result",
  evaluation: "a suite: its cases are agents over made-up tools, in gates that are gone with the case",
  "policy-folder": "a policy and its cases; nothing is called",
  "tau-retail": "tools and programs of the data set's tasks, run by checks/full/plans.mjs and checks/full/ten-workflows.mjs",
};
const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(examples);

/** Nothing but this process's own files: no network, and neither examples, data sets nor sockets of databases. */
function walled(root) {
  const hidden = [`${repository}/examples`, path("../../../shared"), "/run", "/var/lib"].filter((folder) => existsSync(folder)).map((folder) => realpathSync(folder));
  return ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", root, root, "--bind", join(repository, "node_modules"), join(repository, "node_modules"), ...hidden.flatMap((folder) => ["--tmpfs", folder]), "--unshare-net", "--unshare-pid", "--setenv", "TMPDIR", root, "--chdir", root];
}

/** A network or an example that could be reached would make the test none. */
function assertWalled(root, env) {
  const probe = `const { readdirSync } = require("fs"); if (readdirSync(${JSON.stringify(`${repository}/examples`)}).length > 0) throw "the examples are there"; require("net").connect(53, "192.0.2.1").on("connect", () => { throw "a network is there"; }).on("error", () => process.exit(0));`;
  const [command, ...args] = walled(root);
  const { status, stderr } = spawnSync(command, [...args, process.execPath, "-e", probe], { env, encoding: "utf8" });
  if (status !== 0) throw new Error(`The wall does not hold: ${stderr}`);
}

/** The test, and the same with a program that prints a line first: what it calls is answered as before. */
function withEdited(text) {
  const isWrapped = /const program = `\s*(?:\\`{3}|~{3}|export default|async\b|\(|function\b)/.test(text);
  const edited = isWrapped ? "`${program}\n// edited`" : text.includes('"language": "python"') ? "`print('edited')\n${program}`" : "`console.log('edited'); ${program}`";
  return `${text}
test("with its program edited", { timeout: 120_000 }, async () => {
  const { status, newCall, unused, console: printed } = await replayRecording(recording, { program: ${edited} });
  expect({ status, newCall, unused }).toEqual({ status: recording.end.status, newCall: undefined, unused: [] });
${isWrapped ? "" : '  expect(printed[0]).toBe("edited");\n'}});
`;
}

function runModule(name, { module, folder = name }, { root, env }) {
  const hooked = { ...env, EXPORT_FOLDER: root, NODE_OPTIONS: `--import=${path("export-hook.mjs")}` };
  const ran = spawnSync(process.execPath, [path(`../../examples/${folder}/${module}`)], { env: hooked, encoding: "utf8", timeout: 600_000 });
  const told = existsSync(join(root, "told.jsonl")) ? readFileSync(join(root, "told.jsonl"), "utf8").trim().split("\n").map((line) => JSON.parse(line)) : [];
  return { ran, told };
}

function runCommand(name, { command }, { root, env }) {
  const [copy, bin, state] = [join(root, name), join(root, "bin"), join(root, "state")];
  cpSync(path(`../../examples/${name}`), copy, { recursive: true });
  for (const made of [bin, state]) mkdirSync(made, { recursive: true });
  symlinkSync(path("../../node_modules/.bin/callgate"), join(bin, "callgate"));
  const told = [];
  const inside = { ...env, PATH: [bin, dirname(process.execPath), env.PATH].join(delimiter), STORY_STATE: state, XDG_STATE_HOME: state, HOME: root };
  const sh = (text) => spawnSync("sh", ["-c", text], { cwd: copy, env: inside, encoding: "utf8", timeout: 600_000 });
  const ran = sh(command);
  for (const { runId, status, kind, language, edits } of JSON.parse(sh("callgate --trust --json runs ls --limit 100").stdout || "[]")) {
    if (kind !== "program" || edits !== undefined) continue;
    const exported = sh(`callgate --trust runs export ${runId} --out ${join(root, `${runId}.test.ts`)}`);
    told.push({ runId, status, language, what: exported.status === 0 ? "exported" : exported.stderr.trim().split("\n").at(-1) });
  }
  rmSync(copy, { recursive: true, force: true });
  return { ran, told };
}

const intro = `# Runs of the examples as tests

Every run of a program that an example makes is exported as a test, and replayed in a namespace of its own: without a network,
with the examples, the data sets and the sockets of databases out of reach, after the example and what it started are gone.
Then the same with its program edited: it prints a line first, and everything that it calls is answered from the record. An example that has no section here has not been gone through yet.

Examples without a run of a program on record: ${Object.entries(without).map(([name, why]) => `**${name}** (${why})`).join("; ")}.`;
let failed = 0;
for (const name of names) {
  const example = examples[name];
  const root = mkdtempSync(join(tmpdir(), "callgate-exported-"));
  const env = { ...process.env, XDG_STATE_HOME: join(root, "state"), NO_COLOR: "1" };
  const { ran, told: all } = (example.module === undefined ? runCommand : runModule)(name, example, { root, env });
  symlinkSync(path("../../node_modules"), join(root, "node_modules"), "dir");
  // Each gate of an example tells all that is on record by then.
  const told = [...new Map(all.map((one) => [one.runId, one])).values()];
  const tests = readdirSync(root).filter((file) => file.endsWith(".test.ts"));
  for (const file of tests) writeFileSync(join(root, file), withEdited(readFileSync(join(root, file), "utf8")));
  assertWalled(root, env);
  const [command, ...args] = walled(root);
  const tested = tests.length === 0 ? undefined : spawnSync(command, [...args, process.execPath, path("../../node_modules/vitest/vitest.mjs"), "run", "--no-isolate", "--maxWorkers=1"], { env, encoding: "utf8" });
  const isGood = ran.status === 0 && (tested === undefined || tested.status === 0);
  if (!isGood) failed += 1;
  const reasons = [...new Set(told.filter(({ what }) => what !== "exported").map(({ what, status, language }) => `${language}, ${status}: ${what.replaceAll(/run_\w+/g, "it").replaceAll("|", "/")}`))];
  console.log(`${isGood ? "ok    " : "FAILED"} ${name}: ${told.length} runs, ${tests.length} exported, replayed and edited without network, tools and data`);
  for (const reason of reasons) console.log(`         ${reason}`);
  if (!isGood) console.log(ran.status === 0 ? `${tested?.stdout ?? ""}${tested?.stderr ?? ""}`.slice(-4_000) : `${ran.stdout}${ran.stderr}`.slice(-2_000));
  rmSync(root, { recursive: true, force: true });
  const facts = markdownTable(["", ""], [["runs of programs", told.length], ["exported", tests.length], ["replayed, and replayed with the program edited", isGood ? tests.length : "failed"], ...reasons.map((reason) => ["not exported", reason])]);
  writeSection({ page: "exports.md", intro, section: name, text: `${measured(`node checks/full/exported-examples.mjs ${name.includes(" ") ? `"${name}"` : name}`)}\n\n${facts}` });
}
process.exitCode = failed === 0 ? 0 : 1;
