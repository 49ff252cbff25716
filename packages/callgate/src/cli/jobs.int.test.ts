import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createCliProject } from "./fixtures/cli-project.ts";
import { runCommand } from "./fixtures/run-command.ts";

const tool = `
import { writeFileSync } from "node:fs";
import { BackgroundJob, defineTool } from "callgate";
export const build = defineTool({
  description: "builds",
  effect: "write",
  input: { type: "object" },
  handler: () => new BackgroundJob({ id: 5 }),
  poll: () => ({ kind: "pending", pollAfterMs: 60_000 }),
  cancelJob: (token) => { writeFileSync("stopped", JSON.stringify(token)); return { notApplied: true }; },
});`;
const project = createCliProject({ "callgate.jsonc": '{ "suspendAfterMs": 0, "rules": [{ "id": "all", "allow": "*" }] }', "tools/ci.ts": tool }, {});
afterAll(() => rmSync(project.root, { recursive: true, force: true }));

function callgate(...args: readonly string[]): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  const { status, stdout, stderr } = runCommand(["--trust", ...args], { cwd: project.folder, env: project.env });
  return { status, stdout, stderr };
}

test("jobs ls lists what goes on in the background, jobs cancel ends it, and its tool stops it when the run goes on", { timeout: 180_000 }, () => {
  const { runId } = JSON.parse(callgate("--json", "exec", "-e", "return await tools.ci.build({})").stdout) as { readonly runId: string };
  expect(JSON.parse(callgate("--json", "jobs").stdout)).toMatchObject([{ callId: `${runId}.0`, tool: "ci.build", token: { id: 5 } }]);
  expect(callgate("jobs", "ls").stdout).toContain(`${runId}.0`);
  expect(callgate("jobs", "cancel", `${runId}.9`)).toMatchObject({ stderr: expect.stringContaining("no background job under way") as string });
  const cancelled = callgate("jobs", "cancel", `${runId}.0`);
  expect(cancelled).toMatchObject({ status: 0, stdout: expect.stringContaining(`callgate runs resume ${runId}`) as string });
  expect(existsSync(join(project.folder, "stopped"))).toBe(false);
  expect(JSON.parse(callgate("--json", "runs", "resume", runId).stdout)).toMatchObject({ status: "failed", error: { code: "CANCELLED" }, calls: [{ outcome: "cancelled", effectStatus: "none" }] });
  expect(existsSync(join(project.folder, "stopped"))).toBe(true);
  expect(callgate("jobs").stderr).toContain("No background jobs");
});
