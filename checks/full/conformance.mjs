// Holds every language behind every launcher that works here against the one suite of sandbox drivers, and prints what came
// of it: `node checks/full/conformance.mjs` to standard output, `--write` into docs/conformance.md. `--only TEXT|TEXT` keeps
// the rows, `--group TEXT` the cases, whose name has a text. Rows that are not taken stay in the document as they are, each
// with its own day. A case that fails, fails the check. Containers run in engines of its
// own, as root, in a temporary folder; remote guests in a server of this process, over TLS on loopback.
import { readFileSync, writeFileSync } from "node:fs";
import { createDenoDriver, createPyodideDriver } from "@callgate/sandbox-deno";
import { commandLanguage, createBubblewrapLauncher, createContainerLauncher, createProcessDriver, createUnsafeLocalLauncher, nodeLanguage, pythonLanguage, shellLanguage } from "@callgate/sandbox-process";
import { createQuickJsDriver } from "@callgate/sandbox-quickjs";
import { conformanceOf, sandboxDriverGroups } from "@callgate/testkit";
import { denoExceptions, pyodideExceptions } from "../../packages/sandbox-deno/src/fixtures/suite-exceptions.ts";
import { createAuthority } from "../../packages/sandbox-process/src/fixtures/certificates.ts";
import { createLoopbackLauncher } from "../../packages/sandbox-process/src/fixtures/remote-launcher.ts";
import { startTestEngine, whyNoEngine } from "../../packages/sandbox-process/src/fixtures/test-engine.ts";

const option = (name) => (process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : "");
const isWanted = (language, sandbox) => option("--only").split("|").some((part) => `${language}, ${sandbox}`.includes(part));
if (process.argv.includes("--write") && option("--group") !== "") throw new Error("--write takes whole rows: leave out --group");
const groups = sandboxDriverGroups.filter(({ name }) => name.includes(option("--group")));
const languages = [
  { language: "Python", dialect: "cpython", spec: () => pythonLanguage },
  { language: "JavaScript in Node", dialect: "node", spec: () => nodeLanguage() },
  { language: "shell", dialect: "shell", spec: () => shellLanguage },
  { language: "Perl, by command", dialect: "perl", spec: () => commandLanguage("perl", { command: ["perl"] }) },
];

/** What is opened before the rows of a sandbox and closed after them. */
const closed = [];
const authority = createAuthority();

async function containers(kind) {
  const reason = whyNoEngine(kind);
  if (reason !== undefined) return { reason };
  const engine = await startTestEngine(kind);
  closed.push(() => engine.close());
  const image = await engine.nodeImage();
  return { create: () => createContainerLauncher(kind, { engines: [engine.socketPath], image, cpus: 2 }) };
}

const launchers = [
  { sandbox: "bubblewrap", open: () => ({ create: createBubblewrapLauncher }) },
  { sandbox: "docker", open: () => containers("docker") },
  { sandbox: "podman", open: () => containers("podman") },
  { sandbox: "remote, bubblewrap", open: () => (authority === undefined ? { reason: "needs openssl for its certificates" } : { create: () => createLoopbackLauncher(createBubblewrapLauncher(), authority) }) },
  { sandbox: "local-unsafe", open: () => ({ create: createUnsafeLocalLauncher }) },
];

const today = new Date().toISOString().slice(0, 10);
const table = [];
const reasons = [];
let failed = 0;

async function row({ language, sandbox, dialect, except = {}, missing = "" }, driver) {
  const tell = ({ group, name, verdict, reason }) => verdict !== "does not apply" && process.stderr.write(`${verdict === "passed" ? "ok  " : "FAIL"} ${language}, ${sandbox}: ${group}: ${name}${reason === undefined ? "" : `\n     ${reason.slice(0, 600)}`}\n`);
  const verdicts = await conformanceOf({ driver, dialect, groups, except, tell });
  await driver.close();
  failed += verdicts.filter(({ verdict }) => verdict === "failed").length;
  for (const { verdict, name, reason } of verdicts) if (verdict === "failed") reasons.push(`- ${language}, ${sandbox}: ${name}: ${reason.split("\n")[0]}`);
  const cell = (group) => {
    const own = verdicts.filter((verdict) => verdict.group === group && verdict.verdict !== "does not apply");
    return own.length === 0 ? "–" : `${own.filter(({ verdict }) => verdict === "passed").length}/${own.length}`;
  };
  table.push([language, sandbox, ...groups.map(({ name }) => cell(name)), today, missing]);
}

const notHere = (language, sandbox, reason) => table.push([language, sandbox, ...groups.map(() => "not here"), today, reason]);

if (isWanted("JavaScript", "quickjs")) await row({ language: "JavaScript", sandbox: "quickjs", dialect: "javascript" }, createQuickJsDriver());
if (isWanted("JavaScript", "deno")) await row({ language: "JavaScript", sandbox: "deno", dialect: "javascript", except: denoExceptions }, createDenoDriver({ warm: 2 }));
if (isWanted("Python", "deno, Pyodide")) await row({ language: "Python", sandbox: "deno, Pyodide", dialect: "python", except: pyodideExceptions }, createPyodideDriver({ maxGuests: 4 }));
for (const { sandbox, open } of launchers) {
  const wanted = languages.filter(({ language }) => isWanted(language, sandbox));
  if (wanted.length === 0) continue;
  const { create, reason } = await open();
  const state = reason === undefined ? await create().probe() : { kind: "unavailable", reason };
  for (const { language, dialect, spec } of wanted) {
    if (state.kind === "unavailable") notHere(language, sandbox, state.reason);
    else await row({ language, sandbox, dialect, missing: state.missing.length === 0 ? "" : "see `callgate sandbox ls`" }, createProcessDriver({ launcher: create(), languages: [spec()] }));
  }
  for (const close of closed.splice(0)) await close();
}

const line = (cells) => `| ${cells.join(" | ")} |`;
const head = ["language", "sandbox", ...groups.map(({ name }) => name), "measured", "missing here"];
const pageOf = (rows, failures) => [line(head), line(head.map(() => "---")), ...rows.map(line), ...(failures.length === 0 ? [] : ["", "Failed:", "", ...failures])].join("\n");

/** The table of the document, with the rows of this run in place of their former ones; in the order of a whole run. */
function merged(text) {
  const [, body = ""] = /<!-- conformance -->\n([\s\S]*)<!-- end -->/.exec(text) ?? [];
  const key = ([language, sandbox]) => `${language}, ${sandbox}`;
  const before = body.split("\n").filter((row) => row.startsWith("| ")).map((row) => row.slice(2, -2).split(" | ")).filter(([first]) => first !== "---");
  const isSame = before.shift()?.join() === head.join();
  const taken = new Set(table.map(key));
  const rows = [...(isSame ? before.filter((row) => !taken.has(key(row))) : []), ...table];
  const order = ["JavaScript, quickjs", "JavaScript, deno", "Python, deno, Pyodide", ...launchers.flatMap(({ sandbox }) => languages.map(({ language }) => `${language}, ${sandbox}`))];
  const failures = isSame ? body.split("\n").filter((row) => row.startsWith("- ") && ![...taken].some((own) => row.startsWith(`- ${own}: `))) : [];
  return pageOf(rows.toSorted((a, b) => order.indexOf(key(a)) - order.indexOf(key(b))), [...failures, ...reasons]);
}

if (process.argv.includes("--write")) {
  const file = "docs/conformance.md";
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replace(/(<!-- conformance -->\n)[\s\S]*(<!-- end -->)/, (_all, opening, closing) => `${opening}${process.platform} ${process.arch}, Node ${process.versions.node}.\n\n${merged(text)}\n${closing}`));
} else console.log(pageOf(table, reasons));
process.exit(failed === 0 ? 0 : 1);
