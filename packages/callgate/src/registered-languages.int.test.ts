import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createBubblewrapLauncher } from "@callgate/sandbox-process";
import { afterAll, describe, expect, test } from "vitest";
import { createCallgate } from "./index.ts";
import { compiledCode } from "./cli/fixtures/cli-project.ts";
import { runCommand } from "./cli/fixtures/run-command.ts";

const probe = await createBubblewrapLauncher().probe();
const why = probe.kind === "ready" ? "" : ` (skipped: ${probe.reason}; ${probe.fix})`;

describe.skipIf(probe.kind !== "ready")(`languages of the configuration${why}`, { timeout: 120_000 }, () => {
  const root = mkdtempSync(join(tmpdir(), "callgate-languages-"));
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  const sandbox = { languages: { perl: { command: ["perl"] }, ruby: { command: ["no-such-ruby"] } } };

  test("a gate runs them as it runs a shell: output, files, exit code; a missing command is named", async () => {
    const gate = await createCallgate({ stateFolder: join(root, "gate"), sandbox });
    try {
      const done = await gate.run('```perl\nprint "hi\\n"; open my $f, ">", "out/a.txt"; print $f "x"; exit 4\n```', { language: "perl" });
      expect(done).toMatchObject({ status: "failed", console: [{ text: "hi" }], error: { code: "EXIT_CODE", details: { exitCode: 4 } }, artifacts: [{ name: "a.txt" }] });
      expect(await gate.run("puts 1", { language: "ruby" })).toMatchObject({ status: "crashed", error: { code: "SANDBOX_CRASHED", message: expect.stringContaining("no-such-ruby") as string, details: { missingProgram: "no-such-ruby" } } });
      await expect(gate.run("x", { language: "cobol" })).rejects.toMatchObject({ code: "USAGE" });
    } finally {
      await gate.close();
    }
  });

  test("a wrong one is an error of the configuration", async () => {
    await expect(createCallgate({ stateFolder: join(root, "gate"), sandbox: { languages: { python: { command: ["python3.13"] } } } })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    await expect(createCallgate({ stateFolder: join(root, "gate"), sandbox: { launcher: "deno", ...sandbox } })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  });

  test("callgate run FILE and exec -l know them by name and by ending", () => {
    writeFileSync(join(root, "callgate.jsonc"), JSON.stringify({ sandbox }));
    writeFileSync(join(root, "hello.pl"), 'print "hello\\n"');
    const callgate = (...args: string[]): { readonly status: number | null; readonly stdout: string; readonly stderr: string } => runCommand(["--trust", ...args], { cwd: root, env: { PATH: process.env["PATH"] ?? "", HOME: root, ...compiledCode, XDG_STATE_HOME: join(root, "cli") } });
    expect(callgate("run", "hello.pl")).toMatchObject({ status: 0, stdout: "", stderr: expect.stringContaining("hello") as string });
    expect(JSON.parse(callgate("--json", "exec", "-l", "pl", "-e", 'print "hi\\n"').stdout)).toMatchObject({ status: "completed", console: [{ text: "hi" }] });
    expect(callgate("exec", "-l", "cobol", "-e", "1")).toMatchObject({ status: 2, stderr: expect.stringContaining("sandbox.languages") as string });
    expect(callgate("run", "x.zig")).toMatchObject({ status: 2, stderr: expect.stringContaining("perl (.pl)") as string });
  });
});
