// Holds every language behind every launcher that works here against the one suite of sandbox drivers, and prints what came
// of it: `node checks/full/conformance.mjs` to standard output, `--write` into docs/conformance.md. `--only TEXT` keeps the
// rows, `--group TEXT` the cases, whose name has a text. A case that fails, fails the check.
import { readFileSync, writeFileSync } from "node:fs";
import { commandLanguage, createBubblewrapLauncher, createProcessDriver, createUnsafeLocalLauncher, nodeLanguage, pythonLanguage, shellLanguage } from "@callgate/sandbox-process";
import { createQuickJsDriver } from "@callgate/sandbox-quickjs";
import { conformanceOf, sandboxDriverGroups } from "@callgate/testkit";

const option = (name) => (process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : "");
const launchers = [createBubblewrapLauncher, createUnsafeLocalLauncher].map((create) => ({ name: create().name, create }));
const onProcess = ({ create }) => createProcessDriver({ launcher: create(), languages: [pythonLanguage, nodeLanguage(), shellLanguage, commandLanguage("perl", { command: ["perl"] })] });
const rows = [
  { language: "JavaScript", sandbox: "quickjs", dialect: "javascript", open: () => createQuickJsDriver() },
  ...launchers.flatMap((launcher) => [["Python", "cpython"], ["JavaScript in Node", "node"], ["shell", "shell"], ["Perl, by command", "perl"]].map(([language, dialect]) => ({ language, sandbox: launcher.name, dialect, probe: () => launcher.create().probe(), open: () => onProcess(launcher) }))),
].filter(({ language, sandbox }) => `${language} ${sandbox}`.includes(option("--only")));
const groups = sandboxDriverGroups.filter(({ name }) => name.includes(option("--group")));

const table = [];
const reasons = new Set();
let failed = 0;
for (const { language, sandbox, dialect, probe, open } of rows) {
  const state = await probe?.();
  if (state?.kind === "unavailable") {
    table.push([language, sandbox, ...groups.map(() => "not here"), state.reason]);
    continue;
  }
  const driver = open();
  const tell = ({ group, name, verdict, reason }) => verdict !== "does not apply" && process.stderr.write(`${verdict === "passed" ? "ok  " : "FAIL"} ${language}, ${sandbox}: ${group}: ${name}${reason === undefined ? "" : `\n     ${reason.slice(0, 600)}`}\n`);
  const verdicts = await conformanceOf({ driver, dialect, groups, tell });
  await driver.close();
  failed += verdicts.filter(({ verdict }) => verdict === "failed").length;
  for (const { verdict, name, reason } of verdicts) if (verdict === "failed") reasons.add(`- ${language}, ${sandbox}: ${name}: ${reason.split("\n")[0]}`);
  const cell = (group) => {
    const own = verdicts.filter((verdict) => verdict.group === group && verdict.verdict !== "does not apply");
    return own.length === 0 ? "–" : `${own.filter(({ verdict }) => verdict === "passed").length}/${own.length}`;
  };
  table.push([language, sandbox, ...groups.map(({ name }) => cell(name)), (state?.missing ?? []).length === 0 ? "" : "see `callgate sandbox ls`"]);
}

const line = (cells) => `| ${cells.join(" | ")} |`;
const head = ["language", "sandbox", ...groups.map(({ name }) => name), "missing here"];
const printed = [line(head), line(head.map(() => "---")), ...table.map(line), ...(reasons.size === 0 ? [] : ["", "Failed:", ...reasons])].join("\n");
if (process.argv.includes("--write")) {
  const file = "docs/conformance.md";
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replace(/(<!-- conformance -->\n)[\s\S]*(<!-- end -->)/, (_all, opening, closing) => `${opening}Measured ${new Date().toISOString().slice(0, 10)}, ${process.platform} ${process.arch}, Node ${process.versions.node}.\n\n${printed}\n${closing}`));
} else console.log(printed);
process.exitCode = failed === 0 ? 0 : 1;
