import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { createCliProject } from "./fixtures/cli-project.ts";
import { runCommand } from "./fixtures/run-command.ts";

const tools = `
import { defineTool } from "callgate";
import { appendFileSync } from "node:fs";
import { z } from "zod";
export const get = defineTool({ description: "Reads a person", effect: "read", input: z.object({ id: z.number() }), output: z.object({ name: z.string(), email: z.string() }), sensitive: ["/output/name"], handler: () => { appendFileSync("called", "get\\n"); return { name: "Ada Quill", email: "ada@example.com" }; } });
export const note = defineTool({ description: "Keeps a note", effect: "write", input: z.object({ text: z.string() }), output: z.object({ kept: z.string() }), handler: ({ text }) => { appendFileSync("called", "note\\n"); return { kept: text }; } });
`;
const program = `const person = await tools.people.get({ id: 1 });
console.log("found", person.name);
const kept = await tools.people.note({ text: "Met " + person.name });
return kept.kept.length;
`;
const nodeModules = fileURLToPath(new URL("../../../../node_modules", import.meta.url));

/** A namespace without a network, where this user may make one. */
const isolated = spawnSync("unshare", ["--net", "--map-root-user", "true"]).status === 0 ? ["unshare", "--net", "--map-root-user"] : [];

test("a run is stepped through, edited, compared, and exported as a test that replays without tools or network", { timeout: 240_000 }, () => {
  const { root, folder, env } = createCliProject({ "tools/people.ts": tools, "callgate.jsonc": '{ "rules": [{ "allow": "people.*" }] }', "changed.ts": program.replace("Met ", "Called "), "again.ts": program.replace("kept.kept.length", "kept.kept.length * 2") }, {});
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const callgate = (args: readonly string[], input = "") => runCommand(["--trust", ...args], { cwd: folder, env, input });
  const json = (...args: readonly string[]): unknown => JSON.parse(callgate(["--json", ...args]).stdout);
  const called = (): string => readFileSync(join(folder, "called"), "utf8");
  const { runId } = JSON.parse(callgate(["--json", "run", "-"], program).stdout) as { readonly runId: string };
  expect(called()).toBe("get\nnote\n");

  expect(json("runs", "step", runId)).toMatchObject({ steps: [{ name: "people.get", line: 1, answer: { kind: "value" } }, { name: "people.note", line: 3, printed: [{ text: "found Ada Quill" }] }], end: { status: "completed" } });
  expect(callgate(["runs", "step", runId, "--to", "1"]).stdout).toMatch(/^step 1 of 2 at 1:(?:(?!end).)*$/s);

  const stopped = callgate(["runs", "edit", runId, "--program", "changed.ts"]);
  expect(stopped.status).toBe(1);
  expect(stopped.stderr).toMatch(/first new call at 3:\d+: people\.note/);
  const edited = json("runs", "edit", runId, "--program", "again.ts") as { readonly runId: string };
  expect(edited).toMatchObject({ status: "completed", value: 26, calls: [{ effectStatus: "none" }, { effectStatus: "none", recorded: { effectStatus: "done" } }] });
  expect(called()).toBe("get\nnote\n");

  const diff = callgate(["runs", "diff", runId, edited.runId]);
  expect(diff.status).toBe(1);
  expect(diff.stdout).toContain("+return kept.kept.length * 2;");

  expect(callgate(["runs", "export", runId, "--out", "met.test.ts"]).status).toBe(0);
  const text = readFileSync(join(folder, "met.test.ts"), "utf8");
  for (const hidden of ["Quill", "ada@example.com", folder]) expect(text).not.toContain(hidden);
  // The same with another program: it has to fail.
  writeFileSync(join(folder, "saw.test.ts"), text.replace("Met ", "Saw "));
  symlinkSync(nodeModules, join(folder, "node_modules"), "dir");
  rmSync(join(folder, "tools"), { recursive: true });
  const vitest = [process.execPath, join(nodeModules, "vitest/vitest.mjs"), "run", "--no-color"];
  const ran = spawnSync("env", [...isolated, ...vitest], { cwd: folder, env, encoding: "utf8" });
  expect(ran.stdout).toMatch(/Tests +1 failed \| 1 passed \(2\)/);
  expect(ran.stdout).toContain("saw.test.ts (1 test | 1 failed)");
});
