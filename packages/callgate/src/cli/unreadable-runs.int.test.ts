import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createCliProject } from "./fixtures/cli-project.ts";
import { runCommand } from "./fixtures/run-command.ts";
import { shopTools } from "./fixtures/shop-tools.ts";

function project() {
  const config = { rules: [{ ask: "shop.order" }], approvals: "keep", suspendAfterMs: 0 };
  const { root, folder, env } = createCliProject({ "tools/shop.ts": shopTools, "callgate.jsonc": JSON.stringify(config) }, { USER: "ann" });
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const callgate = (...args: readonly string[]) => runCommand(["--trust", ...args], { cwd: folder, env });
  const useKey = (keyFile: string | undefined): void => writeFileSync(join(folder, "callgate.jsonc"), JSON.stringify({ ...config, ...(keyFile === undefined ? {} : { journal: { keyFile } }) }));
  return { callgate, useKey };
}

test("with another key file it is said which runs and questions cannot be read, why and what to do; doctor's own programs are not among the runs", { timeout: 600_000 }, () => {
  const { callgate, useKey } = project();
  const { runId } = JSON.parse(callgate("--json", "exec", "-e", 'import { shop } from "tools"; return await shop.order({ n: 1 })').stdout) as { runId: string };
  expect(callgate("doctor").stdout).not.toContain("journal key");
  useKey("other.key");
  const doctor = callgate("doctor");
  expect(doctor).toMatchObject({ status: 0, stdout: expect.stringMatching(new RegExp(`journal key: 1 run of this journal is sealed under another key file, of which 1 has not ended and cannot go on here: ${runId}\\n +to do: .*other\\.key.*journal\\.keyFile`)) as string });
  const asked = callgate("approvals", "ls").stdout;
  expect(asked).toContain("sealed under another key file (journal.keyFile)");
  const [question] = JSON.parse(callgate("--json", "approvals", "ls").stdout) as readonly { readonly question: { readonly approvalId: string }; readonly unreadable?: string }[];
  expect(question?.unreadable).toBe("other_key");
  expect(callgate("approvals", "approve", question?.question.approvalId ?? "")).toMatchObject({ status: 1, stderr: expect.stringContaining("JOURNAL_KEY_LOST") as string });
  expect(callgate("runs", "resume", runId)).toMatchObject({ status: 1, stderr: expect.stringMatching(/JOURNAL_KEY_LOST.*another one.*same key file/) as string });
  expect(callgate("runs", "show", runId).stdout).toContain("sealed under another key file");
  expect(callgate("runs", "ls").stdout.trim().split("\n").slice(1)).toEqual([expect.stringMatching(new RegExp(`^${runId}.*\\(sealed under another key file\\)`))]);
  useKey(undefined);
  expect(callgate("approvals", "approve", question?.question.approvalId ?? "").status).toBe(0);
  expect(callgate("runs", "resume", runId).status).toBe(0);
});
