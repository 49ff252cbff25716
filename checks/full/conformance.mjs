// Holds every language behind every launcher that works here against the one suite of sandbox drivers, and prints what came
// of it: `node checks/full/conformance.mjs` to standard output, `--write` into docs/conformance.md. `--only TEXT|TEXT` keeps
// the rows, `--group TEXT` the cases, whose name has a text. A case that fails, fails the check. Containers run in engines of its
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
  return { create: () => createContainerLauncher(kind, { engines: [engine.socketPath], image: engine.image, cpus: 2 }) };
}

const launchers = [
  { sandbox: "bubblewrap", open: () => ({ create: createBubblewrapLauncher }) },
  { sandbox: "docker", open: () => containers("docker"), without: ["JavaScript in Node"] },
  { sandbox: "podman", open: () => containers("podman"), without: ["JavaScript in Node"] },
  { sandbox: "remote, bubblewrap", open: () => (authority === undefined ? { reason: "needs openssl for its certificates" } : { create: () => createLoopbackLauncher(createBubblewrapLauncher(), authority) }) },
  { sandbox: "local-unsafe", open: () => ({ create: createUnsafeLocalLauncher }) },
];

const table = [];
const reasons = new Set();
let failed = 0;

async function row({ language, sandbox, dialect, except = {}, missing = "" }, driver) {
  const tell = ({ group, name, verdict, reason }) => verdict !== "does not apply" && process.stderr.write(`${verdict === "passed" ? "ok  " : "FAIL"} ${language}, ${sandbox}: ${group}: ${name}${reason === undefined ? "" : `\n     ${reason.slice(0, 600)}`}\n`);
  const verdicts = await conformanceOf({ driver, dialect, groups, except, tell });
  await driver.close();
  failed += verdicts.filter(({ verdict }) => verdict === "failed").length;
  for (const { verdict, name, reason } of verdicts) if (verdict === "failed") reasons.add(`- ${language}, ${sandbox}: ${name}: ${reason.split("\n")[0]}`);
  const cell = (group) => {
    const own = verdicts.filter((verdict) => verdict.group === group && verdict.verdict !== "does not apply");
    return own.length === 0 ? "–" : `${own.filter(({ verdict }) => verdict === "passed").length}/${own.length}`;
  };
  table.push([language, sandbox, ...groups.map(({ name }) => cell(name)), missing]);
}

const notHere = (language, sandbox, reason) => table.push([language, sandbox, ...groups.map(() => "not here"), reason]);

if (isWanted("JavaScript", "quickjs")) await row({ language: "JavaScript", sandbox: "quickjs", dialect: "javascript" }, createQuickJsDriver());
if (isWanted("JavaScript", "deno")) await row({ language: "JavaScript", sandbox: "deno", dialect: "javascript", except: denoExceptions }, createDenoDriver({ warm: 2 }));
if (isWanted("Python", "deno, Pyodide")) await row({ language: "Python", sandbox: "deno, Pyodide", dialect: "python", except: pyodideExceptions }, createPyodideDriver({ maxGuests: 4 }));
for (const { sandbox, open, without = [] } of launchers) {
  const wanted = languages.filter(({ language }) => isWanted(language, sandbox));
  if (wanted.length === 0) continue;
  const { create, reason } = await open();
  const state = reason === undefined ? await create().probe() : { kind: "unavailable", reason };
  for (const { language, dialect, spec } of wanted) {
    if (state.kind === "unavailable") notHere(language, sandbox, state.reason);
    else if (without.includes(language)) notHere(language, sandbox, "the image of the tests has no Node");
    else await row({ language, sandbox, dialect, missing: state.missing.length === 0 ? "" : "see `callgate sandbox ls`" }, createProcessDriver({ launcher: create(), languages: [spec()] }));
  }
  for (const close of closed.splice(0)) await close();
}

const line = (cells) => `| ${cells.join(" | ")} |`;
const head = ["language", "sandbox", ...groups.map(({ name }) => name), "missing here"];
const printed = [line(head), line(head.map(() => "---")), ...table.map(line), ...(reasons.size === 0 ? [] : ["", "Failed:", ...reasons])].join("\n");
if (process.argv.includes("--write")) {
  const file = "docs/conformance.md";
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replace(/(<!-- conformance -->\n)[\s\S]*(<!-- end -->)/, (_all, opening, closing) => `${opening}Measured ${new Date().toISOString().slice(0, 10)}, ${process.platform} ${process.arch}, Node ${process.versions.node}${option("--only") === "" ? "" : "; the other rows (Pyodide, Docker, Podman, remote, local) were not taken with it"}.\n\n${printed}\n${closing}`));
} else console.log(printed);
process.exit(failed === 0 ? 0 : 1);
