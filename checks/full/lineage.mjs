// How good lineage is: programs whose data flow is known, because this script wrote it into them. For each task of
// tau-retail the recorded calls become a program in which every argument that an earlier answer has is read from there (of
// several places one is picked); what no answer has is written out. Then `runs lineage` is asked, and compared.
// `node checks/full/lineage.mjs`
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCallgate, functionSource } from "../../packages/callgate/src/index.ts";
import { writeSection } from "./result-page.ts";
import { retailReads } from "../../examples/tau-retail/retail-reads.ts";
import { retailWrites } from "../../examples/tau-retail/retail-writes.ts";

const data = new URL("../../../shared/data/agent/tau-retail/", import.meta.url);
if (!existsSync(data)) {
  console.log("skipped: the data set is not beside this repository (../shared/data/agent/tau-retail)");
  process.exit(0);
}
const read = (name) => readFileSync(new URL(name, data), "utf8");

/** Texts and numbers that could be told apart at all; the rest lineage leaves out by design. */
const isTelling = (value) => (typeof value === "number" ? !Number.isInteger(value) || Math.abs(value) >= 100 : typeof value === "string" && value.trim().length >= 3);
function* leaves(value, path = []) {
  if (isTelling(value)) yield { value, path };
  else if (typeof value === "object" && value !== null) for (const [key, item] of Object.entries(value)) yield* leaves(item, [...path, key]);
}
const pointer = (path) => path.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
const access = (path) => path.map((key) => `[${JSON.stringify(/^\d+$/.test(key) ? Number(key) : key)}]`).join("");

/** The program of a task, and where it reads each argument from: call and place of the argument, to call and place of the answer. */
function programOf(task) {
  const answers = [];
  const flow = new Map();
  const written = new Set();
  const lines = task.actions.map(({ name, arguments: args, result }, seq) => {
    const text = (value, path) => {
      if (typeof value === "object" && value !== null) {
        const items = Object.entries(value).map(([key, item]) => [key, text(item, [...path, key])]);
        return Array.isArray(value) ? `[${items.map(([, item]) => item).join(", ")}]` : `{ ${items.map(([key, item]) => `${JSON.stringify(key)}: ${item}`).join(", ")} }`;
      }
      const places = isTelling(value) ? answers.flatMap(({ seq: from, found }) => found.filter((leaf) => leaf.value === value).map((leaf) => ({ from, path: leaf.path }))) : [];
      const picked = places[(seq * 7 + path.length * 3) % Math.max(1, places.length)];
      if (picked === undefined) {
        if (isTelling(value)) written.add(`${seq} ${pointer(path)}`);
        return JSON.stringify(value);
      }
      flow.set(`${seq} ${pointer(path)}`, `${picked.from} ${pointer(picked.path)}`);
      return `r${picked.from}${access(picked.path)}`;
    };
    const line = `const r${seq} = await tools.retail.${name}(${text(args, [])}).catch((error) => error.message);`;
    if (result.startsWith("{")) answers.push({ seq, found: [...leaves(JSON.parse(result))] });
    else if (!result.startsWith("Error")) answers.push({ seq, found: [...leaves(result)] });
    return line;
  });
  return { program: `${lines.join("\n")}\nreturn ${lines.length};`, flow, written };
}

const start = read("db.json");
let database = JSON.parse(start);
const stateFolder = mkdtempSync(join(tmpdir(), "callgate-lineage-"));
const gate = await createCallgate({ stateFolder, sources: [functionSource({ namespace: "retail", tools: [...retailReads(() => database), ...retailWrites(() => database)] })], rules: [{ allow: "retail.*" }] });
await gate.ready();

const total = { flows: 0, exact: 0, answer: 0, first: 0, named: 0, right: 0, written: 0, falsely: 0, runs: 0, runMs: 0, lineageMs: 0 };
const cpuMs = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1_000; };
try {
  for (const line of read("tasks.jsonl").trim().split("\n")) {
    const { program, flow, written } = programOf(JSON.parse(line));
    database = JSON.parse(start);
    const began = cpuMs();
    const run = await gate.run(program, { language: "javascript" });
    const ran = cpuMs();
    if (run.status !== "completed") throw new Error(`${run.status}: ${run.error?.message ?? run.diagnostics[0]?.message ?? ""}\n${program}`);
    const { calls } = await gate.runs.lineage(run.runId);
    total.runMs += ran - began;
    total.lineageMs += cpuMs() - ran;
    total.runs += 1;
    const found = new Map(calls.flatMap(({ seq, args }) => args.map(({ path, origins }) => [`${seq} ${path}`, origins.filter(({ kind }) => kind !== "program")])));
    for (const [argument, source] of flow) {
      const origins = found.get(argument) ?? [];
      total.flows += 1;
      total.named += origins.length;
      const places = origins.map(({ seq, path }) => `${seq} ${path}`);
      if (places.includes(source)) total.exact += 1;
      if (places[0] === source) total.first += 1;
      if (origins.some(({ seq }) => String(seq) === source.split(" ")[0])) total.answer += 1;
      total.right += places.filter((place) => place === source).length;
    }
    for (const argument of written) {
      total.written += 1;
      if ((found.get(argument) ?? []).length > 0) total.falsely += 1;
    }
  }
} finally {
  await gate.close();
  rmSync(stateFolder, { recursive: true, force: true });
}

const share = (part, all) => (all === 0 ? "none" : (part / all).toFixed(3));
const rows = [
  ["runs", total.runs],
  ["arguments read from an answer", total.flows],
  ["recall: the very place is named", share(total.exact, total.flows)],
  ["recall: the answer is named", share(total.answer, total.flows)],
  ["precision: named places that are the one it was read from", share(total.right, total.named)],
  ["places named for such an argument", share(total.named, total.flows)],
  ["arguments written out that no answer has", total.written],
  ["of these an answer is named for", share(total.falsely, total.written)],
  ["CPU of asking for lineage, to that of the run", share(total.lineageMs, total.runMs)],
];
for (const [what, value] of rows) console.log(`${String(what).padEnd(62)}${value}`);
writeSection({
  page: "lineage.md",
  intro: `# Lineage against known data flow

Programs whose data flow is known, because it was written into them: each task of tau-retail as one program in which every
argument that an earlier answer has is read from there, of several places from one.

A value that stands in several places (an order's id is in the order and in its customer's list) is named with all of them,
up to eight: which of them it was read from cannot be seen from the values. That is what precision loses here. Lineage is made
when somebody asks, so a run itself pays nothing.`,
  section: "tau-retail",
  text: `Measured ${new Date().toISOString().slice(0, 10)}, Node ${process.version}: \`node checks/full/lineage.mjs\`.

| | |
| --- | --- |
${rows.map(([what, value]) => `| ${what} | ${value} |`).join("\n")}`,
});
