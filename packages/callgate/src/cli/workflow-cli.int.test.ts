import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createCliProject } from "./fixtures/cli-project.ts";
import { runCommand } from "./fixtures/run-command.ts";

const tools = `
import { defineTool } from "callgate";
import { appendFileSync } from "node:fs";
import { z } from "zod";
export const add = defineTool({ description: "Keeps a note", effect: "write", input: z.object({ title: z.string() }), output: z.object({ kept: z.string() }), handler: ({ title }) => { appendFileSync("notes", title + "\\n"); return { kept: title }; } });
`;

test("a run is saved as a workflow, which is listed, run, tested and checked; nothing of its folder is loaded untrusted", { timeout: 300_000 }, () => {
  const { root, folder, env } = createCliProject({ "tools/notes.ts": tools, "callgate.jsonc": '{ "rules": [{ "allow": "*" }] }' }, {});
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const callgate = (args: readonly string[], input = "") => runCommand(args, { cwd: folder, env, input });
  const { runId } = JSON.parse(callgate(["--trust", "--json", "run", "-"], 'const { kept } = await tools.notes.add({ title: "first" }); return kept.length').stdout) as { readonly runId: string };
  const saved = callgate(["workflow", "save", runId, "--name", "keep"]);
  expect(saved).toMatchObject({ status: 0, stdout: "workflows/keep holds workflows.keep 1.0.0\n" });
  expect(saved.stderr).toContain("Inputs: title. Effect: write. It may call notes.add");
  expect(readFileSync(join(folder, "workflows/keep/program.ts"), "utf8")).toContain("title: inputs.title");

  expect(callgate(["workflow", "run", "keep", '{"title":"second"}'])).toMatchObject({ status: 0, stdout: "6\n" });
  expect(readFileSync(join(folder, "notes"), "utf8")).toBe("first\nsecond\n");
  expect(callgate(["workflow", "test"]).stdout).toContain("1 of 1 test passed; nothing was called");
  writeFileSync(join(folder, "tools/notes.ts"), tools.replace("title: z.string()", "heading: z.string()").replace("({ title })", "({ heading: title })"));
  const checked = callgate(["--json", "workflow", "check"]);
  expect(checked.status).toBe(1);
  expect(JSON.parse(checked.stdout)).toMatchObject({ checked: 1, broken: ["keep"] });
  expect(callgate(["workflow", "run", "keep", '{"title":"third"}']).stderr).toContain("WORKFLOW_BROKEN");
  expect(readFileSync(join(folder, "notes"), "utf8")).toBe("first\nsecond\n");
  const diff = callgate(["diff", "notes"]);
  expect(diff).toMatchObject({ status: 1 });
  expect(diff.stdout).toMatch(/input\.title: is not taken any more[^]*broken {2}workflow keep[^]*broken {2}the program of run/);

  writeFileSync(join(folder, "tools/notes.ts"), tools.replace("title: z.string()", "title: z.string(), urgent: z.boolean().optional()"));
  expect(callgate(["workflow", "check", "--relock"])).toMatchObject({ status: 0, stdout: expect.stringContaining("keep: 1.0.0 is 1.0.1 now") as string });
  expect(JSON.parse(callgate(["--json", "workflow", "check"]).stdout)).toMatchObject({ findings: [] });
  callgate(["trust", "--remove"]);
  expect(callgate(["workflow", "ls"])).toMatchObject({ status: 2, stdout: "" });
});
