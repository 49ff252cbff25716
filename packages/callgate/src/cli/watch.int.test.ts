import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createCliProject } from "./fixtures/cli-project.ts";
import { runCommand } from "./fixtures/run-command.ts";

const crm = 'import { defineTool } from "callgate";\nimport { z } from "zod";\nexport const find = defineTool({ name: "find", description: "Finds", effect: "read", input: z.object({ n: z.number() }), handler: ({ n }) => { if (n < 0) throw new Error("no"); return n; } });\n';
const { root, folder, env } = createCliProject({ "tools/crm.ts": crm, "callgate.jsonc": '{ "alerts": { "failures": { "over": 0.4 } } }' }, { NO_COLOR: "1" });
afterAll(() => rmSync(root, { recursive: true, force: true }));

function callgate(...args: readonly string[]): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  const { status, stdout, stderr } = runCommand(args, { cwd: folder, env });
  return { status, stdout, stderr };
}

test("watch --once tells what the journal has heard, in exit code, words and JSON; what is turned off is not told", () => {
  expect(callgate("watch", "--once", "--trust")).toMatchObject({ status: 0, stdout: "", stderr: expect.stringContaining("nothing to look at") as string });
  const program = "for (let n = -6; n < 6; n += 1) try { await tools.crm.find({ n }) } catch {}";
  expect(callgate("exec", "--trust", "-e", program).status).toBe(0);
  expect(callgate("watch", "--once")).toMatchObject({ status: 1, stdout: expect.stringMatching(/^\d{4}-\S+ failures: \d+ % of the calls of crm failed within 10 minutes \(last in run_\S+\)\n$/) as string, stderr: expect.stringContaining("1 alert") as string });
  const { stdout } = callgate("--json", "watch", "--once");
  expect(JSON.parse(stdout)).toMatchObject({ ruleId: "failures", kind: "failures", subject: "crm", threshold: 0.4 });
  expect(callgate("watch", "--exit-on-alert", "--since", "60").status).toBe(1);
  writeFileSync(join(folder, "callgate.jsonc"), '{ "alerts": { "failures": false } }');
  expect(callgate("watch", "--once").status).toBe(0);
  writeFileSync(join(folder, "callgate.jsonc"), '{ "alerts": { "webhook": { "url": "http://hooks.example", "secret": "env:HOME" } } }');
  expect(callgate("watch", "--once")).toMatchObject({ status: 2, stderr: expect.stringContaining("must be a URL with https") as string });
});
