// Ten workflows, saved with the command line from runs of tau-retail and WorkBench tasks; called by the command line, by one
// program, and by a real MCP client that starts `callgate mcp`: each time the data has to end as the tasks themselves left
// it. Then an input of a tool gets another name: three of them break, told by `workflow check` and to every caller, and
// nothing of them runs. `node checks/full/ten-workflows.mjs`
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { markdownTable, measured, writeSection } from "./result-page.ts";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const data = path("../../../shared/data/agent");
if (!existsSync(data)) {
  console.log("skipped: the data sets are not beside this repository (../shared/data/agent)");
  process.exit(0);
}
/** Three of the shop's return items, which is the call that changes. */
const chosen = { "tau-retail": ["retail-train-0", "retail-train-1", "retail-train-2", "retail-train-4", "retail-train-6", "retail-train-9", "retail-train-10"], workbench: ["calendar-0", "calendar-2", "calendar-4"] };
const breaking = ["retail_train_0", "retail_train_1", "retail_train_2"];

const root = mkdtempSync(join(tmpdir(), "callgate-ten-"));
const folder = join(root, "office");
mkdirSync(join(folder, "tools"), { recursive: true });
const files = { retail: join(folder, "retail.json"), calendar: join(folder, "calendar.json") };
const reset = () => {
  copyFileSync(join(data, "tau-retail/db.json"), files.retail);
  writeFileSync(files.calendar, JSON.stringify(JSON.parse(readFileSync(join(data, "workbench/db.json"), "utf8")).calendar));
};
const state = () => Object.values(files).map((file) => JSON.stringify(JSON.parse(readFileSync(file, "utf8")))).join("\n");

const names = ["reads", "writes"].map((part) => readFileSync(path(`../../examples/tau-retail/retail-${part}.ts`), "utf8")).join("").match(/(?<=name: ")\w+(?=")/g) ?? [];
const retailTools = `// The shop of tau-retail over a file. Written by checks/full/ten-workflows.mjs.
import { readFileSync, writeFileSync } from "node:fs";
import { defineTool } from "callgate";
import { retailReads } from ${JSON.stringify(path("../../examples/tau-retail/retail-reads.ts"))};
import { retailWrites } from ${JSON.stringify(path("../../examples/tau-retail/retail-writes.ts"))};

let database = JSON.parse(readFileSync("retail.json", "utf8"));
const tools = Object.fromEntries([...retailReads(() => database), ...retailWrites(() => database)].map((tool) => [tool.name, kept(tool)]));
function kept(tool) {
  return defineTool({ ...tool, handler: async (args, context) => {
    database = JSON.parse(readFileSync("retail.json", "utf8"));
    const output = await tool.handler(args, context);
    if (tool.effect !== "read") writeFileSync("retail.json", JSON.stringify(database));
    return output;
  } });
}
${names.map((name) => `export const ${name} = tools[${JSON.stringify(name)}];`).join("\n")}
`;
const calendarTools = `import { readFileSync, writeFileSync } from "node:fs";
import { defineTool } from "callgate";
import { z } from "zod";
export const delete_event = defineTool({
  description: "Deletes an event",
  effect: "destructive",
  input: z.object({ event_id: z.string() }),
  output: z.string(),
  handler({ event_id }) {
    const events = JSON.parse(readFileSync("calendar.json", "utf8"));
    writeFileSync("calendar.json", JSON.stringify(events.filter((event) => event.event_id !== event_id)));
    return "Event deleted successfully.";
  },
});
`;
writeFileSync(join(folder, "tools/retail.ts"), retailTools);
writeFileSync(join(folder, "tools/calendar.ts"), calendarTools);
writeFileSync(join(folder, "callgate.jsonc"), '{ "rules": [{ "allow": "*" }] }');
const env = { PATH: process.env.PATH ?? "", HOME: root, XDG_STATE_HOME: join(root, "state"), XDG_CONFIG_HOME: join(root, "config"), NO_COLOR: "1" };
/** As it would be published. */
const bin = join(spawnSync(process.execPath, [path("../built-packages.mjs")], { encoding: "utf8" }).stdout.trim(), "callgate/bin/callgate.mjs");
const callgate = (args, input = "") => spawnSync(process.execPath, [bin, "--trust", ...args], { cwd: folder, env, input, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });

/** For commands that do not write the data: a few at once. */
async function callgateEach(all) {
  const ends = [];
  for (let at = 0; at < all.length; at += 3) ends.push(...(await Promise.all(all.slice(at, at + 3).map((args) => promisify(execFile)(process.execPath, [bin, "--trust", ...args], { cwd: folder, env }).then(() => ({ status: 0, stderr: "" }), ({ code, stderr }) => ({ status: code, stderr }))))));
  return ends;
}

/** What a client of `callgate mcp` gets. */
async function withClient(work) {
  const client = new Client({ name: "ten-workflows", version: "1" });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [bin, "--trust", "mcp"], cwd: folder, env, stderr: "ignore" }));
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

const rows = [];
try {
  reset();
  const [inputs, saves] = [new Map(), []];
  for (const [set, ids] of Object.entries(chosen)) {
    const tasks = readFileSync(join(data, set, "tasks.jsonl"), "utf8").trim().split("\n").map((line) => JSON.parse(line));
    for (const id of ids) {
      const { actions } = tasks.find((task) => task.id === id);
      const calls = actions.map(({ name, arguments: args }, index) => `const r${index} = await tools.${name.includes(".") ? name : `retail.${name}`}(${JSON.stringify(args)});`);
      const ran = callgate(["--json", "run", "-"], `${calls.join("\n")}\nreturn { calls: ${calls.length} };\n`);
      assert.equal(ran.status, 0, `${id}: ${ran.stderr}`);
      const name = id.replaceAll("-", "_");
      saves.push(["workflow", "save", JSON.parse(ran.stdout).runId, "--name", name, "--description", `Task ${id}`]);
      inputs.set(name, undefined);
      console.log(`${id} ran, ${calls.length} calls`);
    }
  }
  for (const { status, stderr } of await callgateEach(saves)) assert.equal(status, 0, stderr);
  for (const name of inputs.keys()) {
    const recordings = join(folder, "workflows", name, "recordings");
    inputs.set(name, JSON.parse(readFileSync(join(recordings, readdirSync(recordings)[0]), "utf8")).inputs);
  }
  console.log("saved");
  const wanted = state();
  const tested = callgate(["workflow", "test"]);
  assert.match(tested.stdout, /10 of 10 tests passed/);

  reset();
  for (const [name, given] of inputs) assert.equal(callgate(["workflow", "run", name, JSON.stringify(given)]).status, 0, name);
  assert.ok(state() === wanted, "the command line leaves the data as the tasks did");
  console.log("called by the command line");
  rows.push(["`callgate workflow run`, one by one", 10, "as the tasks left it"]);

  reset();
  const program = `const done: unknown[] = [];\n${[...inputs].map(([name, given]) => `done.push(await tools.workflows.${name}(${JSON.stringify(given)}));`).join("\n")}\nreturn done.length;`;
  assert.equal(callgate(["run", "-"], program).stdout.trim(), "10");
  assert.ok(state() === wanted, "a program leaves the data as the tasks did");
  rows.push(["one program of `callgate run`", 10, "as the tasks left it"]);

  reset();
  await withClient(async (client) => {
    for (const [name, given] of inputs) {
      const result = await client.callTool({ name: "call_tool", arguments: { name: `workflows.${name}`, arguments: given } });
      assert.notEqual(result.isError, true, `${name}: ${JSON.stringify(result.content)}`);
    }
  });
  assert.ok(state() === wanted, "an MCP client leaves the data as the tasks did");
  rows.push(["an MCP client of `callgate mcp`, one by one", 10, "as the tasks left it"]);

  reset();
  const untouched = state();
  writeFileSync(join(folder, "tools/retail.ts"), retailTools.replace("return defineTool({ ...tool,", "return defineTool({ ...tool, input: tool.name === 'return_delivered_order_items' ? JSON.parse(JSON.stringify(tool.input).replaceAll('item_ids', 'items')) : tool.input,"));
  const checked = callgate(["--json", "workflow", "check"]);
  assert.equal(checked.status, 1);
  const { broken, findings } = JSON.parse(checked.stdout);
  assert.deepEqual(broken.toSorted((one, other) => one.localeCompare(other)), breaking);
  const told = findings.find(({ severity, workflow }) => severity === "broken" && workflow === breaking[0]).message.split("\n")[0];
  rows.push(["`callgate workflow check` after a source has changed", `${broken.length} broken`, told.replaceAll("|", "/")]);
  for (const { stderr } of await callgateEach(breaking.map((name) => ["workflow", "run", name, JSON.stringify(inputs.get(name))]))) assert.match(stderr, /WORKFLOW_BROKEN/);
  rows.push(["`callgate workflow run` of these", 3, "`WORKFLOW_BROKEN`, nothing ran"]);
  await withClient(async (client) => {
    for (const name of breaking) {
      const result = await client.callTool({ name: "call_tool", arguments: { name: `workflows.${name}`, arguments: inputs.get(name) } });
      assert.match(JSON.stringify(result), /WORKFLOW_BROKEN/);
    }
  });
  rows.push(["an MCP client's calls of these", 3, "`WORKFLOW_BROKEN`, nothing ran"]);
  assert.ok(state() === untouched, "nothing of a broken workflow ran");
} finally {
  rmSync(root, { recursive: true, force: true });
}
const table = markdownTable(["called by", "workflows", "the data ends"], rows);
console.log(table);
writeSection({
  page: "workflows.md",
  intro: `# Ten workflows from tasks

Seven tasks of tau-retail and three of WorkBench, run as programs with the command line and saved as workflows. Each way of
calling them starts from the data sets' own data, in files that the tools read and write.`,
  section: "Saved, called, broken",
  text: `${measured("node checks/full/ten-workflows.mjs")}\n\n${table}`,
});
