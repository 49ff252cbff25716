import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compiledCode } from "./fixtures/cli-project.ts";
import { runCommand } from "./fixtures/run-command.ts";

const root = mkdtempSync(join(tmpdir(), "callgate-budgets-"));
const folder = join(root, "project");
const env = { PATH: process.env["PATH"] ?? "", HOME: root, ...compiledCode, XDG_STATE_HOME: join(root, "state"), XDG_CONFIG_HOME: join(root, "config") };

function callgate(...args: readonly string[]): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  const { status, stdout, stderr } = runCommand(["--trust", "--user", "ann", ...args], { cwd: folder, env });
  return { status, stdout, stderr };
}

beforeAll(() => cpSync(fileURLToPath(new URL("../../../../examples/limits-folder", import.meta.url)), folder, { recursive: true }));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test("the example: run says what it cost, budgets ls how they stand, and what is over one ends with the code of a limit", { timeout: 180_000 }, () => {
  expect(callgate("budgets").stdout).toMatch(/spend\s+all\s+0\/1000 microUsd\s+\d{4}-/);
  const run = callgate("--json", "exec", "-e", 'const ends = []; for (const text of ["a", "b", "c", "d"]) await tools.ai.summarize({ text }).then(() => ends.push("ok"), (error) => ends.push(error.details.bucket)); return ends');
  expect(run.status).toBe(0);
  // Each may cost 400 and costs 300: the fourth does not fit into what three left.
  expect(JSON.parse(run.stdout)).toMatchObject({ value: ["ok", "ok", "ok", "spend"], cost: { microUsd: 900 } });
  const [spend, ...runs] = JSON.parse(callgate("--json", "budgets", "ls").stdout) as readonly object[];
  expect(spend).toMatchObject({ id: "spend", who: { user: "ann" }, window: "day", limits: { microUsd: 1000 }, spent: { calls: 3, microUsd: 900 } });
  expect(runs).toMatchObject([{ id: "runs", spent: { calls: 3 } }]);
  expect(callgate("budgets", "ls").stdout).toMatch(/spend\s+user ann\s+900\/1000 microUsd\s+\d{4}-\d\d-\d\dT00:00:00\.000Z/);
  expect(callgate("call", "ai.summarize", '{"text":"e"}')).toMatchObject({ status: 6, stderr: expect.stringContaining("does not fit into the budget spend") as string });
  expect(JSON.parse(callgate("--json", "--tenant", "rival", "budgets", "ls").stdout)).toMatchObject([{ who: {}, spent: { calls: 0 } }, { who: {}, spent: { calls: 0 } }]);
});

test("a limit that is wrong is refused with its place", () => {
  writeFileSync(join(folder, "wrong.jsonc"), '{ "budgets": [{ "id": "b", "limits": {} }], "rateLimits": [{ "id": "r", "calls": 0, "windowSeconds": 1 }] }');
  const { status, stderr } = callgate("-c", "wrong.jsonc", "budgets", "ls");
  expect(status).toBe(2);
  expect(stderr).toContain("budgets.0.limits: says nothing: give calls, bytes, durationMs, tokens or microUsd");
  expect(stderr).toContain("rateLimits.0.calls:");
});
