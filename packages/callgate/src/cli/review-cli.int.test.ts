import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createCliProject } from "./fixtures/cli-project.ts";
import { runCommand } from "./fixtures/run-command.ts";

const tool = `import { appendFileSync } from "node:fs";
import { defineTool } from "callgate";
import { z } from "zod";
export const note = defineTool({ name: "note", description: "Notes a line", effect: "write", input: z.object({ line: z.string() }), handler: ({ line }) => { appendFileSync(process.env["LEDGER"] ?? "", line + "\\n"); return {}; } });
`;

test("a program that needs a review waits in the journal: other processes answer it and run it, once, or end it as denied", () => {
  const { root, folder, env: own } = createCliProject({ "tools/book.ts": tool, "callgate.jsonc": JSON.stringify({ rules: [{ allow: "*" }], approvals: "keep", suspendAfterMs: 0 }) }, {});
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const ledger = join(folder, "ledger");
  const callgate = (...args: readonly string[]) => runCommand(["--trust", ...args], { cwd: folder, env: { ...own, LEDGER: ledger } });
  const begin = (line: string): { readonly runId: string; readonly approvalId: string } => {
    const started = callgate("--json", "exec", "-e", `await tools.book.note({ line: ${JSON.stringify(line)} });\nreturn eval("40 + 2");`);
    const result = JSON.parse(started.stdout) as { readonly runId: string; readonly status: string };
    expect(result.status, started.stderr).toBe("suspended");
    const listed = callgate("approvals", "ls").stdout;
    expect(listed).toMatch(/A program asks to run.*\n.*question apr_\w+\n.*JS_EVAL at 2:8.*\n(?:.*\n)?.*before {5}.*\n.*\n.*as the model wrote it\n {2}│ +1 {2}await tools\.book\.note.*\n {2}│ +2 {2}return eval/);
    return { runId: result.runId, approvalId: /apr_\w+/.exec(listed)?.[0] ?? "" };
  };

  const approved = begin("approved");
  expect(callgate("runs", "show", approved.runId).stdout).toMatch(/program waits for an answer to apr_.*\n.*suspended; waits for a person to review the program/);
  expect(callgate("approvals", "approve", approved.approvalId)).toMatchObject({ status: 0, stdout: `approved ${approved.approvalId}\n` });
  expect(existsSync(ledger)).toBe(false);
  for (let round = 0; round < 2; round++) {
    const resumed = callgate("--json", "runs", "resume", approved.runId);
    expect([resumed.status, JSON.parse(resumed.stdout)], resumed.stderr).toMatchObject([0, { status: "completed", value: 42 }]);
  }
  expect(readFileSync(ledger, "utf8")).toBe("approved\n");

  const denied = begin("denied");
  expect(callgate("approvals", "show", denied.approvalId).stdout).toMatch(new RegExp(`before     .* approved ${approved.runId} of .*; since then 1 line came and 1 line went\\n(?:.*\\n)*.*-await tools\\.book\\.note.*approved.*\\n.*\\+await tools\\.book\\.note.*denied`));
  expect(callgate("approvals", "deny", denied.approvalId, "--reason", "no eval here").stdout).toBe(`denied ${denied.approvalId}\n`);
  const ended = callgate("--json", "runs", "resume", denied.runId);
  expect([ended.status, JSON.parse(ended.stdout)]).toMatchObject([3, { status: "rejected", error: { code: "DENIED", message: expect.stringContaining("no eval here") } }]);
  expect(readFileSync(ledger, "utf8")).toBe("approved\n");
  expect(callgate("approvals", "ls").stderr).toContain("No open questions");
}, 600_000);
