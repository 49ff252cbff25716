// The official MCP conformance suite's client scenarios against our MCP source (checks/full/mcp-conformance-client.ts).
// What fails by design is in mcp-expected-failures.yml. With --write the scores go to docs/results/mcp-conformance.md.
import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { markdownTable, measured, writeSection } from "./result-page.ts";

const suite = fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/dist/index.js"));
const client = fileURLToPath(new URL("mcp-conformance-client.ts", import.meta.url));

/** Client scenarios the installed suite has. */
export async function clientScenarios() {
  const { output } = await run([suite, "list", "--client"]);
  return [...output.matchAll(/^\s*-\s+(\S+)/gm)].map(([, name]) => name);
}

function run(args) {
  return new Promise((resolve) => {
    let output = "";
    const child = spawn(process.execPath, args, { stdio: "pipe" });
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => (output += part));
    child.on("close", (code) => resolve({ code, output }));
  });
}

/** The checks of one scenario by their outcome. */
export async function runClientScenario(name) {
  const folder = await mkdtemp(join(tmpdir(), "callgate-conformance-"));
  const { code, output } = await run([suite, "client", "--command", `${process.execPath} ${client}`, "--scenario", name, "-o", folder, "--timeout", "60000"]);
  const checks = [];
  for (const entry of await readdir(folder, { recursive: true })) if (entry.endsWith("checks.json")) checks.push(...JSON.parse(await readFile(join(folder, entry), "utf8")));
  await rm(folder, { recursive: true, force: true });
  const count = (status) => checks.filter((check) => check.status === status).length;
  return { name, passed: code === 0, succeeded: count("SUCCESS"), failed: count("FAILURE"), warnings: count("WARNING"), failures: checks.filter(({ status }) => status === "FAILURE").map(({ id, errorMessage, details }) => `${id}: ${errorMessage ?? JSON.stringify(details ?? {})}`), output };
}

/** What fails by design, with the reason. */
async function expectedFailures() {
  const text = await readFile(new URL("mcp-expected-failures.yml", import.meta.url), "utf8");
  const section = text.slice(text.indexOf("\nclient:"));
  return new Map([...section.matchAll(/^ {2}- (\S+) # (.+)$/gm)].map(([, name, reason]) => [name, reason]));
}

async function suiteVersion() {
  return JSON.parse(await readFile(new URL("../package.json", import.meta.resolve("@modelcontextprotocol/conformance/dist/index.js")), "utf8")).version;
}

async function writeResults(results, expected) {
  const rows = results.map(({ name, passed, succeeded, failed }) => [name, passed ? "pass" : "fail", `${succeeded} of ${succeeded + failed}`, passed ? "" : (expected.get(name) ?? "")]);
  writeSection({
    page: "mcp-conformance.md",
    intro: "# MCP conformance\n\nScenarios of the official suite (`@modelcontextprotocol/conformance`). Each section is written by the command it names.",
    section: "Client scenarios: the sources behind, and their sign-in",
    text: `${measured("node checks/full/mcp-client-conformance.mjs --write")} Suite ${await suiteVersion()}: ${results.filter(({ passed }) => passed).length} of ${results.length} pass.\n\n${markdownTable(["scenario", "result", "checks that succeeded", "why it fails"], rows)}`,
  });
}

if (process.argv[1] === import.meta.filename) {
  const words = process.argv.slice(2);
  const only = words.filter((word) => !word.startsWith("--"));
  const expected = await expectedFailures();
  const results = [];
  for (const name of only.length > 0 ? only : await clientScenarios()) {
    const result = await runClientScenario(name);
    results.push(result);
    console.log(`${result.passed ? "pass" : "FAIL"} ${name}: ${result.succeeded} succeeded, ${result.failed} failed, ${result.warnings} warnings`);
    for (const failure of result.failures) console.log(`     ${failure.slice(0, 300)}`);
    if (!result.passed && result.failures.length === 0) console.log(result.output.slice(-1_500));
  }
  const wrong = results.filter(({ name, passed }) => passed === expected.has(name));
  for (const { name, passed } of wrong) console.log(passed ? `${name} is expected to fail and passes: take it out of mcp-expected-failures.yml` : `${name} fails`);
  if (words.includes("--write")) await writeResults(results, expected);
  console.log(`${results.filter(({ passed }) => passed).length} of ${results.length} client scenarios pass`);
  process.exitCode = wrong.length === 0 ? 0 : 1;
}
