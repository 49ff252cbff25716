import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createBubblewrapLauncher } from "@callgate/sandbox-process";
import { afterAll, describe, expect, test } from "vitest";
import { callgateBin, compiledCode } from "./fixtures/cli-project.ts";
import { runCommand } from "./fixtures/run-command.ts";

const probe = await createBubblewrapLauncher().probe();
const why = probe.kind === "ready" ? "" : ` (skipped: ${probe.reason}; ${probe.fix})`;

describe.skipIf(probe.kind !== "ready")(`callgate session${why}`, { timeout: 240_000 }, () => {
  const root = mkdtempSync(join(tmpdir(), "callgate-session-"));
  const folder = join(root, "project");
  mkdirSync(join(folder, "tools"), { recursive: true });
  writeFileSync(
    join(folder, "tools/notes.ts"),
    `import { defineTool } from "callgate";
import { z } from "zod";
export const get = defineTool({ description: "Read a note", effect: "read", input: z.object({ id: z.number() }), output: z.object({ text: z.string() }), handler: ({ id }) => ({ text: "note " + id }) });
export const add = defineTool({ description: "Keep a note", effect: "write", input: z.object({ text: z.string() }), handler: () => ({}) });
`,
  );
  const env = { PATH: process.env["PATH"] ?? "", HOME: root, ...compiledCode, XDG_STATE_HOME: join(root, "state"), XDG_CONFIG_HOME: join(root, "config") };
  const callgate = (...args: string[]): { readonly status: number | null; readonly stdout: string; readonly stderr: string } => runCommand(["--trust", ...args], { cwd: folder, env });
  const json = (...args: string[]): Record<string, unknown> => JSON.parse(callgate("--json", ...args).stdout) as Record<string, unknown>;
  const recordFile = (name: string): string => join(root, "state/callgate/sessions", `${name}.json`);
  const holderOf = (name: string): number => (JSON.parse(readFileSync(recordFile(name), "utf8")) as { pid: number }).pid;
  const untilGone = async (pid: number): Promise<void> => {
    for (;;) {
      try {
        process.kill(pid, 0);
      } catch {
        return;
      }
      await new Promise((wake) => setTimeout(wake, 50));
    }
  };
  afterAll(() => {
    callgate("session", "close", "--all");
    rmSync(root, { recursive: true, force: true });
  });

  test("state lives between commands, blocks are checked and call tools, and each is on record", async () => {
    expect(callgate("session", "open", "ana")).toMatchObject({ status: 0, stdout: "ana\n" });
    expect(callgate("session", "open", "ana")).toMatchObject({ status: 2, stderr: expect.stringContaining("already") as string });
    expect(callgate("session", "run", "ana", "-e", "from tools import notes\nn = notes.get(id=3)\nopen('kept.txt', 'w').write('x')\nn['text']")).toMatchObject({ status: 0, stdout: "note 3\n" });
    writeFileSync(join(folder, "block.py"), "import os\n[n['text'], os.path.exists('kept.txt')]");
    expect(json("session", "run", "ana", "block.py")).toMatchObject({ status: "completed", value: ["note 3", true], session: { sessionId: "ana", block: 2, stateKept: true } });
    expect(callgate("session", "run", "ana", "-e", "unheard_of")).toMatchObject({ status: 1, stderr: expect.stringContaining("unheard_of") as string });
    // Nobody can be asked here.
    expect(callgate("session", "run", "ana", "-e", "notes.add(text='x')")).toMatchObject({ status: 3 });
    expect(json("session", "ls")).toMatchObject([{ sessionId: "ana", language: "python", state: "idle", blocks: 3, generation: 1 }]);
    const shown = json("session", "show", "ana") as { runs: { block: number; status: string }[] };
    expect(shown.runs.map(({ block, status }) => [block, status])).toEqual([[1, "completed"], [2, "completed"], [3, "rejected"], [3, "failed"]]);
    const holder = holderOf("ana");
    expect(callgate("session", "close", "ana")).toMatchObject({ status: 0, stdout: "ana closed\n" });
    await untilGone(holder);
    expect(existsSync(recordFile("ana"))).toBe(false);
    expect(callgate("session", "run", "ana", "-e", "1")).toMatchObject({ status: 1, stderr: expect.stringContaining("SESSION_ENDED") as string });
  });

  test("Ctrl-C at a block interrupts it and keeps the state", async () => {
    expect(callgate("session", "open", "long", "-l", "python").status).toBe(0);
    callgate("session", "run", "long", "-e", "x = 1");
    const child = spawn(process.execPath, [callgateBin, "session", "run", "long", "-e", "x = 2\nimport time\nfor _ in range(600): time.sleep(0.1)"], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
    const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
    // Of several sessions of this user, that one.
    while ((json("session", "ls") as unknown as { sessionId: string; state: string }[]).find(({ sessionId }) => sessionId === "long")?.state !== "busy");
    child.kill("SIGINT");
    expect(await ended).toBe(130);
    expect(json("session", "run", "long", "-e", "x")).toMatchObject({ value: expect.any(Number) as number, session: { stateKept: true, generation: 1 } });
  });

  test("a session whose process was killed says that its state is gone, and can begin anew; one that was ended says why", async () => {
    expect(callgate("session", "open", "lost", "-l", "shell").status).toBe(0);
    expect(callgate("session", "run", "lost", "-e", "x=41").status).toBe(0);
    const holder = holderOf("lost");
    process.kill(holder, "SIGKILL");
    await untilGone(holder);
    expect((json("session", "ls") as unknown as object[])[0]).toMatchObject({ sessionId: "lost", state: "lost" });
    expect(callgate("session", "run", "lost", "-e", "echo $x")).toMatchObject({ status: 1, stderr: expect.stringMatching(/SESSION_ENDED.*was killed.*gone.*session restart lost/) as string });
    expect(callgate("session", "restart", "lost")).toMatchObject({ status: 0 });
    expect(json("session", "run", "lost", "-e", "echo \"x is '$x'\"")).toMatchObject({ console: [{ text: "x is ''" }] });
    const second = holderOf("lost");
    process.kill(second, "SIGTERM");
    await untilGone(second);
    expect(callgate("session", "run", "lost", "-e", "true").stderr).toContain("The process that held the session was ended");
    expect(json("session", "show", "lost")).toMatchObject({ state: "ended", runs: [{ block: 1 }, { block: 1 }] });
    expect(callgate("session", "close", "lost")).toMatchObject({ status: 0, stdout: "lost had ended\n" });
  });

  test("mistakes are told", () => {
    expect(callgate("session", "open", "../x")).toMatchObject({ status: 2 });
    expect(callgate("session", "open", "-l", "typescript")).toMatchObject({ status: 2, stderr: expect.stringContaining("keeps no state") as string });
    expect(callgate("session", "run", "nobody", "-e", "1")).toMatchObject({ status: 1, stderr: expect.stringContaining("session ls") as string });
    expect(callgate("session", "run", "nobody")).toMatchObject({ status: 2 });
  });
});
