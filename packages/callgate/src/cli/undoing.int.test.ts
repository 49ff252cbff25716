import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createCliProject } from "./fixtures/cli-project.ts";
import { runCommand } from "./fixtures/run-command.ts";
import { shopTools } from "./fixtures/shop-tools.ts";

function project() {
  const { root, folder, env } = createCliProject({ "tools/shop.ts": shopTools, "callgate.jsonc": JSON.stringify({ rules: [{ ask: "shop.order" }], approvals: "keep", suspendAfterMs: 0 }) }, { USER: "ann" });
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const callgate = (...args: readonly string[]) => runCommand(["--trust", ...args], { cwd: folder, env });
  const question = (): string => (JSON.parse(callgate("--json", "approvals", "ls").stdout) as readonly { readonly question: { readonly approvalId: string } }[])[0]?.question.approvalId ?? "";
  return { callgate, question, ledger: () => readFileSync(join(folder, "ledger"), "utf8").trim().split("\n") };
}

test("a rollback that waits for an approval says so, exits with 5 and prints no value; its steps are shown as what they are", { timeout: 600_000 }, () => {
  const { callgate, question, ledger } = project();
  const { runId } = JSON.parse(callgate("--json", "exec", "-e", 'import { shop } from "tools"; await shop.order({ n: 1 }); return "the value"').stdout) as { runId: string };
  callgate("approvals", "approve", question());
  expect(callgate("runs", "resume", runId)).toMatchObject({ status: 0, stdout: expect.stringContaining("the value") as string });
  expect(callgate("runs", "ls").stdout).toMatch(new RegExp(`${runId} .* worked, .* waited`));

  const waiting = callgate("runs", "rollback", runId);
  expect(waiting).toMatchObject({ status: 5, stdout: expect.stringMatching(/Not undone: shop\.order .*waits for approval apr_/) as string });
  expect(waiting.stdout + waiting.stderr).not.toContain("the value");
  const json = callgate("--json", "runs", "rollback", runId);
  expect([json.status, JSON.parse(json.stdout)]).toEqual([5, { runId, status: "completed", compensation: { undone: [], remaining: [expect.objectContaining({ callId: `${runId}.0`, approvalId: question() })] }, notices: [expect.any(String)] }]);
  expect(callgate("approvals", "ls").stdout).toContain(`? Undoing shop.order (call ${runId}.0) asks to run: what that call did is taken back, it is not called again.`);
  const shown = callgate("runs", "show", runId).stdout;
  expect(shown).toMatch(/undo of #0 shop\.order\({"n":1}\)/);
  expect(shown).toContain("undo of #0 shop.order has not begun: nobody has answered yet");
  expect(shown).not.toContain("#100000000");
  callgate("approvals", "approve", question());
  expect(callgate("runs", "rollback", runId)).toMatchObject({ status: 0, stdout: expect.stringContaining(`Undone, last first: ${runId}.0`) as string });
  const again = callgate("runs", "rollback", runId);
  expect([again.status, again.stdout]).toEqual([0, `Nothing is left to undo. Undone before: ${runId}.0\n${runId} completed\n`]);
  expect(ledger()).toEqual(["order 1", "cancel 1"]);
});
