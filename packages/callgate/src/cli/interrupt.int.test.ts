import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { callgateBin, createCliProject } from "./fixtures/cli-project.ts";
import { runCommand } from "./fixtures/run-command.ts";

const tools = `
import { defineTool } from "callgate";
import { writeFileSync } from "node:fs";
import { z } from "zod";
const never = () => { writeFileSync("begun", ""); return new Promise((resolve) => setTimeout(resolve, 600_000)); };
export const read = defineTool({ description: "Reads for ever", effect: "read", timeoutMs: 600_000, input: z.object({}), handler: never });
export const write = defineTool({ description: "Writes for ever", effect: "write", timeoutMs: 600_000, input: z.object({}), handler: never });
`;
const ends = `
import { defineTool } from "callgate";
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
export const write = defineTool({ description: "Writes once it may", effect: "write", timeoutMs: 600_000, input: z.object({}),
  async handler() { appendFileSync("ledger", "x"); writeFileSync("begun", ""); while (!existsSync("may-end")) await sleep(20); return "written"; } });
`;
const keepsOn = `${tools}\nsetInterval(() => undefined, 1_000);\nexport const now = defineTool({ description: "Says now", effect: "read", input: z.object({}), handler: () => 1 });\n`;
const server = 'import { writeFileSync } from "node:fs";\nwriteFileSync("begun", "");\nfor await (const _ of process.stdin);\n';

function project(files: Readonly<Record<string, string>>) {
  const { folder, env } = createCliProject(files, {});
  const callgate = (...words: readonly string[]) => runCommand(["--trust", ...words], { cwd: folder, env });
  /** Presses Ctrl-C once something is under way. */
  const interrupted = async (...words: readonly string[]) => {
    rmSync(join(folder, "begun"), { force: true });
    const child = spawn(process.execPath, [callgateBin, "--trust", ...words], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
    let [out, err] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
    const closed = once(child, "close");
    await vi.waitUntil(() => existsSync(join(folder, "begun")) || err.includes("working") || child.exitCode !== null, { timeout: 100_000, interval: 20 });
    child.kill("SIGINT");
    const [status] = (await closed) as [number];
    return { status, out, err };
  };
  /** Presses it once `begun` is there, then lets the tool end. */
  const letGo = async (...words: readonly string[]) => {
    rmSync(join(folder, "begun"), { force: true });
    const child = spawn(process.execPath, [callgateBin, "--trust", ...words], { cwd: folder, env, stdio: ["ignore", "ignore", "pipe"] });
    let err = "";
    child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
    const closed = once(child, "close");
    await vi.waitUntil(() => existsSync(join(folder, "begun")) || child.exitCode !== null, { timeout: 100_000, interval: 20 });
    child.kill("SIGINT");
    await vi.waitUntil(() => err.includes("giving ") || child.exitCode !== null, { timeout: 100_000, interval: 20 });
    writeFileSync(join(folder, "may-end"), "");
    const [status] = (await closed) as [number];
    return { status, err };
  };
  return { callgate, interrupted, letGo, ledger: () => readFileSync(join(folder, "ledger"), "utf8") };
}

describe("Ctrl-C", { timeout: 600_000 }, () => {
  test("while a source is slow to list its tools ends the command", async () => {
    const { interrupted } = project({ "callgate.jsonc": JSON.stringify({ mcpServers: { slow: { command: process.execPath, args: ["server.mjs"], connectTimeoutMs: 600_000 } } }), "server.mjs": server });
    expect(await interrupted("search", "anything")).toEqual({ status: 130, out: "", err: "interrupted\n" });
    expect(JSON.parse((await interrupted("--json", "search", "anything")).out)).toMatchObject({ status: "cancelled", error: { code: "CANCELLED" } });
  });

  test.each([["read", "none"], ["write", "unknown"]])("while a tool that does not stop %ss ends the command and the process, and the record says how it stands", async (tool, effect) => {
    const { callgate, interrupted } = project({ "callgate.jsonc": '{ "rules": [{ "allow": "*" }] }', "tools/slow.ts": tools });
    const { status, out } = await interrupted("--json", "exec", "-e", `return await tools.slow.${tool}({})`);
    expect(status).toBe(130);
    const told = JSON.parse(out) as { readonly runId: string };
    expect(told).toMatchObject({ status: "cancelled", calls: [{ tool: `slow.${tool}`, outcome: "cancelled", effectStatus: effect }] });
    const shown = JSON.parse(callgate("--json", "runs", "show", told.runId).stdout) as object;
    expect(shown).toMatchObject({ run: { status: "cancelled" } });
    expect(JSON.stringify(shown)).toContain(`"effectStatus":"${effect}"`);
  });

  test("of runs resume gives the run back once what is under way has ended; it is not cancelled, and goes on elsewhere", async () => {
    const { callgate, letGo, ledger } = project({ "callgate.jsonc": '{ "rules": [{ "allow": "*" }], "suspendAfterMs": 0 }', "tools/slow.ts": ends });
    const begun = callgate("--json", "exec", "-e", 'import { slow, waitFor } from "tools"; await waitFor("go"); const first = await slow.write({}); return [first, await waitFor("end")]');
    const { runId } = JSON.parse(begun.stdout) as { readonly runId: string };
    callgate("runs", "signal", runId, "go");
    const left = await letGo("runs", "resume", runId);
    expect(left).toMatchObject({ status: 130, err: expect.stringContaining(`Run ${runId} was given back as it stands, and is not cancelled; callgate runs cancel ${runId} ends it`) as string });
    expect(JSON.parse(callgate("--json", "runs", "show", runId).stdout)).toMatchObject({ run: { status: "suspended" }, entries: expect.arrayContaining([expect.objectContaining({ kind: "call-ended", outcome: "ok", effectStatus: "done" })]) as object });
    callgate("runs", "signal", runId, "end", "7");
    expect(callgate("--json", "runs", "resume", runId)).toMatchObject({ status: 0, stdout: expect.stringContaining('"value":["written",7]') as string });
    expect(ledger()).toBe("x");
  });

  test("ends a worker", async () => {
    expect(await project({}).interrupted("worker")).toMatchObject({ status: 0 });
  });
});

test("a tool file that keeps something open does not keep a command that is over", { timeout: 120_000 }, () => {
  const { callgate } = project({ "callgate.jsonc": "{}", "tools/slow.ts": keepsOn });
  expect(callgate("call", "slow.now")).toMatchObject({ status: 0, stdout: "1\n" });
});
