import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Gate } from "@callgate/contract";
import { createBubblewrapLauncher, createUnsafeLocalLauncher } from "@callgate/sandbox-process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { createCallgate, createCodeExecutor, defineTool } from "./index.ts";

// Cases of the list that are steps: what the gate does about them. What the sandboxes do is in
// packages/sandbox-process/src/security-steps.int.test.ts.

const run = promisify(execFile);
const folder = realpathSync(mkdtempSync(join(tmpdir(), "callgate-steps-")));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("commands behind a gate", { timeout: 120_000 }, () => {
  const started: (readonly string[])[] = [];
  /** Arguments as a list, no shell; what is a value cannot be an option. */
  const value = z.string().regex(/^[^-\0][^\0]*$/);
  const grep = defineTool({ name: "grep", description: "Finds lines", effect: "read", input: z.strictObject({ pattern: value, file: value }), handler: async ({ pattern, file }) => (await run("grep", ["-e", pattern, "--", file], { cwd: folder, env: { PATH: process.env["PATH"] ?? "" } }).catch(() => ({ stdout: "nothing" }))).stdout });
  const command = defineTool({ name: "run", description: "Runs a command", effect: "write", input: z.strictObject({ argv: z.array(z.string().regex(/^[^\0]*$/)).min(1) }), handler: ({ argv }) => (started.push(argv), "ran") });
  let gate: Gate;
  beforeAll(async () => {
    writeFileSync(join(folder, "notes.txt"), "a line\n$(touch pwned)\n");
    const argv = (...parts: readonly string[]) => ({ ...Object.fromEntries(parts.map((part, index) => [`/argv/${index}`, part])), [`/argv/${parts.length}`]: { exists: false } });
    gate = await createCallgate({ stateFolder: join(folder, "state"), tools: { cmd: [grep, command] }, rules: [{ id: "list", allow: "cmd.run", when: { args: argv("find", ".", "-name", "*.ts") } }, { id: "log", allow: "cmd.run", when: { args: argv("git", "log") } }] });
  });
  afterAll(() => gate.close());
  const call = async (tool: string, args: unknown): Promise<string> => {
    const { outcome } = await gate.call(tool, args);
    return outcome.kind === "ok" ? `ok ${JSON.stringify(outcome.value)}` : outcome.error.code;
  };

  test("sh-004: a value that is an option is refused before the command is started, and shell text is text", async () => {
    for (const args of [{ pattern: "-f/etc/passwd", file: "notes.txt" }, { pattern: "root", file: "-rf" }, { pattern: "x", file: "--output=/var/tmp/x" }, { pattern: "a\0b", file: "notes.txt" }, { pattern: "x", file: "notes.txt", extra: "--version" }, { pattern: ["x"], file: "notes.txt" }]) expect(await call("cmd.grep", args), JSON.stringify(args)).toBe("INVALID_INPUT");
    expect(await call("cmd.grep", { pattern: "touch", file: "notes.txt" })).toBe('ok "$(touch pwned)\\n"');
    for (const text of ["$(touch pwned)", "`touch pwned`", "; touch pwned", "a\ntouch pwned"]) await call("cmd.grep", { pattern: text, file: "notes.txt" });
    expect(await call("cmd.grep", { pattern: "line", file: "notes.txt; touch pwned" })).toBe('ok "nothing"');
    expect(existsSync(join(folder, "pwned"))).toBe(false);
  });

  test("sh-005: a rule allows one shape of arguments, to its end; the same program with others asks, and nobody answers", async () => {
    expect([await call("cmd.run", { argv: ["find", ".", "-name", "*.ts"] }), await call("cmd.run", { argv: ["git", "log"] })]).toEqual(['ok "ran"', 'ok "ran"']);
    const before = started.length;
    for (const argv of [["find", ".", "-exec", "id", ";"], ["find", ".", "-name", "*.ts", "-exec", "id", ";"], ["find"], ["git", "-c", "core.pager=id", "log"], ["git", "log", "--output=x"], ["git", "log", ""], ["tar", "--checkpoint-action=exec=id"], ["sed", "1e id"], ["env", "id"], ["xargs", "id"], ["awk", "BEGIN{system(\"id\")}"], ["/usr/bin/find", ".", "-name", "*.ts"], ["find ", ".", "-name", "*.ts"]]) expect(await call("cmd.run", { argv }), argv.join(" ")).toBe("APPROVAL_UNAVAILABLE");
    expect(started.length).toBe(before);
  });
});

describe("files that a program names to the host", { timeout: 120_000 }, () => {
  test("py-017: no spelling of a name writes outside of the working folder", async (context) => {
    const workDir = join(folder, "around", "work");
    const stateFolder = join(folder, "executor-state");
    const { kind } = await createUnsafeLocalLauncher().probe();
    if (kind !== "ready") return context.skip("needs a sandbox without walls, to run what is not refused");
    const executor = await createCodeExecutor({ workDir, stateFolder, sandbox: { launcher: "local-unsafe" }, rules: [] });
    const passwd = readFileSync("/etc/passwd", "utf8");
    const names = ["../../../etc/passwd", "/etc/passwd", "a/../../x", "a//..//..//x", "..\\..\\x", "x\0.py", "../beside.py"];
    for (const filename of names) {
      const result = await executor.execute([{ language: "python", code: "print('ran')", filename }]);
      expect([filename, result.exitCode, result.stdout]).toEqual([filename, 1, ""]);
    }
    for (const filename of ["%2e%2e%2fx.py", "CON", "e\u0301.py", "\u00e9.py"]) await executor.execute([{ language: "python", code: "1", filename }]);
    expect((await executor.execute([{ language: "python", code: "1", filename: `${"n".repeat(4096)}.py` }])).exitCode).toBe(1);
    await executor.close();
    expect(readdirSync(join(folder, "around"))).toEqual(["work"]);
    // Two spellings of one letter are two names: neither leads to the other.
    expect(readdirSync(workDir).filter((name) => name !== "out").toSorted()).toEqual(["%2e%2e%2fx.py", "CON", "e\u0301.py", "\u00e9.py"].toSorted());
    expect(readFileSync("/etc/passwd", "utf8")).toBe(passwd);
    return undefined;
  });
});

describe("what a gate stands on", { timeout: 240_000 }, () => {
  test("ag-010: a program that tries to write policy, keys and record, or to end the broker, reaches none of them; the attempt is on record", async (context) => {
    const probe = await createBubblewrapLauncher().probe();
    if (probe.kind !== "ready") return context.skip(`needs bubblewrap: ${probe.reason}`);
    const home = join(folder, "guard");
    const stateFolder = join(home, "state");
    mkdirSync(join(home, "work"), { recursive: true });
    // Programs run as another user where the gate is root's: they have to be able to come this far, and to write there.
    for (const [path, mode] of [[folder, 0o755], [home, 0o755], [join(home, "work"), 0o777]] as const) chmodSync(path, mode);
    const config = join(home, "callgate.jsonc");
    writeFileSync(config, '{ "rules": [{ "deny": "bank.*" }] }\n');
    const paid: unknown[] = [];
    const pay = defineTool({ name: "pay", description: "Pays", effect: "write", input: z.any(), handler: (args: unknown) => paid.push(args) });
    const options = { folder: home, stateFolder, tools: { bank: [pay] }, rules: [{ deny: "bank.*" }] };
    // What would show the guard to programs is refused, however it is named.
    for (const source of [stateFolder, home]) await expect(createCallgate({ ...options, sandbox: { launcher: "bubblewrap", mounts: [{ host: source, guest: "/data", mode: "rw" }] } })).rejects.toMatchObject({ code: "MOUNT_REFUSED" });
    const gate = await createCallgate({ ...options, sandbox: { launcher: "bubblewrap", mounts: [{ host: join(home, "work"), guest: "/data", mode: "rw" }] }, check: { scan: { SH_: "note" } } });
    const before = { config: readFileSync(config, "utf8"), key: readFileSync(join(stateFolder, "master.key")) };
    const files = [config, ...["journal.db", "master.key", "approver.json", "trust.json"].map((name) => join(stateFolder, name)), "/data/../callgate.jsonc"];
    const attempts = [
      [...files.flatMap((file) => [`echo pwned > ${file}`, `rm -rf ${file}`, `ln -sf /data/x ${file}`]), "ln -s .. /data/up", "echo pwned > /data/up/callgate.jsonc", "echo tried > /data/mark"].join("\n"),
      `kill -9 ${process.pid} $PPID`,
      "kill -9 -1",
      "export CALLGATE_PROFILE=admin; callgate approvals approve --all; callgate grants add 'bank.*' --for '*' --uses 9",
    ];
    const runs = [];
    for (const attempt of attempts) runs.push(await gate.run(`${attempt}\ntrue`, { language: "shell" }));
    expect({ config: readFileSync(config, "utf8"), key: readFileSync(join(stateFolder, "master.key")) }).toEqual(before);
    expect(existsSync(join(stateFolder, "approver.json"))).toBe(false);
    // They were made: what the program may write is written.
    expect([readFileSync(join(home, "work", "mark"), "utf8"), runs.filter(({ status }) => status === "rejected")]).toEqual(["tried\n", []]);
    // The broker lives, and decides as it did.
    expect((await gate.call("bank.pay", {})).outcome).toMatchObject({ error: { code: "TOOL_NOT_FOUND" } });
    expect([paid, await gate.grants.list()]).toEqual([[], []]);
    for (const [index, { runId }] of runs.entries()) expect((await gate.runs.show(runId))?.run.programText).toContain(attempts[index]);
    expect(await gate.audit.verify()).toMatchObject({ ok: true });
    await gate.close();
    return undefined;
  });
});
