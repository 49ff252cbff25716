import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { callgateBin, createCliProject } from "./fixtures/cli-project.ts";

const tools = `
import { defineTool } from "callgate";
import { writeFileSync } from "node:fs";
import { z } from "zod";
const never = () => { writeFileSync("begun", ""); return new Promise((resolve) => setTimeout(resolve, 600_000)); };
export const read = defineTool({ description: "Reads for ever", effect: "read", timeoutMs: 600_000, input: z.object({}), handler: never });
export const write = defineTool({ description: "Writes for ever", effect: "write", timeoutMs: 600_000, input: z.object({}), handler: never });
`;
const keepsOn = `${tools}\nsetInterval(() => undefined, 1_000);\nexport const now = defineTool({ description: "Says now", effect: "read", input: z.object({}), handler: () => 1 });\n`;
const server = 'import { writeFileSync } from "node:fs";\nwriteFileSync("begun", "");\nfor await (const _ of process.stdin);\n';

function project(files: Readonly<Record<string, string>>) {
  const { folder, env } = createCliProject(files, {});
  const callgate = (...words: readonly string[]) => spawnSync(process.execPath, [callgateBin, "--trust", ...words], { cwd: folder, env, encoding: "utf8", timeout: 110_000 });
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
  return { callgate, interrupted };
}

describe("Ctrl-C", { timeout: 240_000 }, () => {
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

  test("ends a worker", async () => {
    expect(await project({}).interrupted("worker")).toMatchObject({ status: 0 });
  });
});

test("a tool file that keeps something open does not keep a command that is over", { timeout: 120_000 }, () => {
  const { callgate } = project({ "callgate.jsonc": "{}", "tools/slow.ts": keepsOn });
  expect(callgate("call", "slow.now")).toMatchObject({ status: 0, stdout: "1\n" });
});
