import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { callgateBin, createCliProject } from "./fixtures/cli-project.ts";
import { runCommand } from "./fixtures/run-command.ts";


const tools = `
import { defineTool } from "callgate";
import { writeFileSync } from "node:fs";
import { z } from "zod";
export const get = defineTool({ description: "Read a note", effect: "read", input: z.object({ id: z.number() }), handler: ({ id }) => "note " + id });
export const hang = defineTool({ description: "Keep a note, slowly", effect: "write", timeoutMs: 60000, input: z.object({ text: z.string() }), handler: () => { writeFileSync("called", ""); return new Promise(() => {}); } });
export const pay = defineTool({ description: "Pay", effect: "write", input: z.object({ card: z.string() }), output: z.object({ receipt: z.string() }), sensitive: ["/input/card", "/output/receipt"],
  handler({ card }, context) { context.log.info("paying with " + card); if (card.endsWith("0000")) throw new Error("refused card " + card); return { receipt: "receipt-for-" + card.slice(-4) }; } });
`;

function project(config: string) {
  const { root, folder, state, env } = createCliProject({ "tools/notes.ts": tools, "callgate.jsonc": config }, { CANARY_SECRET: "canary-7f3a-of-a-server" });
  const callgate = (...args: readonly string[]) => runCommand(["--trust", ...args], { cwd: folder, env });
  return { root, folder, state, env, callgate };
}

const allowAll = '{ "rules": [{ "allow": "*" }] }';

/** A mount of the test's own needs the right to make one. */
function canMount(): boolean {
  return spawnSync("unshare", ["-m", "true"]).status === 0;
}

describe("callgate under attack", { timeout: 300_000 }, () => {
  test("garbage on standard input is answered or told in one line, and the next request works", async () => {
    const { folder, env } = project(allowAll);
    const server = spawn(process.execPath, [callgateBin, "--trust", "mcp"], { cwd: folder, env });
    let [out, err] = ["", ""];
    server.stdout.on("data", (chunk: Buffer) => { out += chunk.toString(); });
    server.stderr.on("data", (chunk: Buffer) => { err += chunk.toString(); });
    const initialize = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}';
    for (const line of ["not json", "\u0000\u001b[2J", '{"jsonrpc":"2.0"}', "[]", "[1,2]", "null", "x".repeat(300_000), initialize, '{"jsonrpc":"2.0","id":2,"method":"tools/call"}', '{"jsonrpc":"2.0","id":3,"method":"nope"}', '{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}', '{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"search_tools","arguments":{"query":"note"}}}']) server.stdin.write(`${line}\n`);
    await vi.waitUntil(() => out.includes('"id":4'), { timeout: 100_000, interval: 100 });
    server.stdin.end();
    expect(await new Promise((resolve) => server.once("exit", resolve))).toBe(0);
    const answers = out.trim().split("\n").map((line) => JSON.parse(line) as { id: number; error?: { code: number }; result?: unknown });
    expect(answers.find(({ id }) => id === 2)?.error?.code).toBe(-32_602);
    expect(answers.find(({ id }) => id === 3)?.error?.code).toBe(-32_601);
    expect(JSON.stringify(answers.find(({ id }) => id === 4)?.result)).toContain("notes.get");
    expect(err).not.toContain("\u001b");
    for (const line of err.trim().split("\n")) expect(line).toMatch(/^fault transport: .*JSON-RPC/);
  });

  test("over HTTP a wrong token, host, origin, path, session or body is refused with its status", async () => {
    const { folder, env } = project('{ "rules": [{ "allow": "*" }], "mcp": { "metrics": { "token": "env:CANARY_SECRET" } } }');
    const token = "a-token-of-the-test-0";
    const server = spawn(process.execPath, [callgateBin, "--trust", "mcp", "--http", "0", "--token", token], { cwd: folder, env });
    let err = "";
    server.stderr.on("data", (chunk: Buffer) => { err += chunk.toString(); });
    await vi.waitUntil(() => err.includes("/mcp"), { timeout: 100_000, interval: 100 });
    const url = /http:\S+/.exec(err)?.[0] ?? "";
    const ask = async (headers: Record<string, string>, body = "{}", target = url) => (await fetch(target, { method: "POST", headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers }, body })).status;
    const authorization = `Bearer ${token}`;
    expect(await ask({})).toBe(401);
    for (const wrong of [`${authorization}1`, authorization.slice(0, -1), "Bearer ", "Basic x"]) expect(await ask({ authorization: wrong })).toBe(401);
    expect((await fetch(`${url}?token=${token}`)).status).toBe(401);
    expect(await ask({ authorization, origin: "http://evil.example" })).toBe(403);
    expect(await ask({ authorization, origin: "null" })).toBe(403);
    const evilHost = execFileSync(process.execPath, ["-e", `require("node:http").request(${JSON.stringify(url)}, { method: "POST", headers: { host: "evil.example", authorization: ${JSON.stringify(authorization)} } }, (r) => { console.log(r.statusCode); r.resume(); }).end("{}")`], { encoding: "utf8" });
    expect(evilHost.trim()).toBe("403");
    for (const body of ["garbage", "[]", "null", '{"jsonrpc":"2.0","id":1,"method":"tools/list"}']) expect(await ask({ authorization }, body), body).toBe(400);
    expect(await ask({ authorization, "mcp-session-id": "made-up" }, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}')).toBe(404);
    expect(await ask({ authorization }, "{}", url.replace("/mcp", "/other"))).toBe(404);
    const metrics = async (of: string) => await fetch(url.replace("/mcp", "/metrics"), { headers: { authorization: `Bearer ${of}` } });
    expect((await metrics(token)).status).toBe(401);
    expect(await (await metrics(env["CANARY_SECRET"] ?? "")).text()).toContain('callgate_source_ready{source="notes"} 1');
    expect(await ask({ authorization }, "a".repeat(5 * 1024 * 1024)).catch(() => 413)).toBe(413);
    server.kill("SIGTERM");
    await new Promise((resolve) => server.once("exit", resolve));
    expect(err).not.toContain(token);
  });

  test("after kill -9 in the middle of a write the record says what is known and what is not", async () => {
    const { folder, env, callgate } = project(allowAll);
    const child = spawn(process.execPath, [callgateBin, "--trust", "exec", "-e", "return await tools.notes.hang({ text: 'x' })"], { cwd: folder, env });
    await vi.waitUntil(() => existsSync(join(folder, "called")), { timeout: 100_000, interval: 50 });
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("exit", resolve));
    const [run] = JSON.parse(callgate("--json", "runs", "ls").stdout) as { runId: string; status: string }[];
    expect(run?.status).toBe("crashed");
    const shown = callgate("runs", "show", run?.runId ?? "").stdout;
    expect(shown).toContain("RUN_INTERRUPTED");
    expect(shown).toContain("check passed");
    expect(shown).toContain("#0 notes.hang has no recorded end; whether it took effect is not known");
  });

  test.skipIf(!canMount())("on a full or read-only disk nothing is called that could not be recorded, and nothing is left behind (skipped where a user may not mount a small disk)", () => {
    const { root, folder, env } = project(allowAll);
    const state = join(root, "state");
    mkdirSync(state);
    const callgate = `"${process.execPath}" "${callgateBin}" --trust`;
    const write = `${callgate} exec -e 'return await tools.notes.hang({ text: "x" })' 2>&1; echo "exit $?"`;
    const script = `mount -t tmpfs -o size=512k tmpfs "${state}" && ${callgate} trust >/dev/null; head -c 1000000 /dev/zero >"${state}/ballast" 2>/dev/null; ${write}; ls "${state}/callgate"; rm "${state}/ballast"; ${callgate} exec -e 'return 1' >/dev/null 2>&1; echo "room $?"; mount -o remount,ro "${state}"; ${write}`;
    const { stdout } = spawnSync("unshare", ["-m", "sh", "-c", script], { cwd: folder, env, encoding: "utf8" });
    expect(stdout.match(/error JOURNAL_UNAVAILABLE: .*(?:ENOSPC|no space|full).*another state folder/g)?.length, stdout).toBe(1);
    expect(stdout).toMatch(/error JOURNAL_UNAVAILABLE: .*(?:EROFS|read-only).*another state folder/);
    expect(stdout.match(/exit 1/g)?.length).toBe(2);
    expect(stdout).toContain("room 0");
    expect(stdout).not.toMatch(/master\.key\./);
    expect(existsSync(join(folder, "called"))).toBe(false);
  });

  test("a secret of the configuration and sensitive values are in no file of the state folder; the secret is in no output", async () => {
    const server = 'console.error("my token is " + process.env.TOKEN); console.log(process.env.TOKEN); process.exit(3)';
    const { state, env, callgate } = project(JSON.stringify({ rules: [{ allow: "*" }], mcpServers: { locked: { command: process.execPath, args: ["-e", server], env: { TOKEN: "env:CANARY_SECRET" } } } }));
    const outputs = [
      callgate("exec", "-e", 'const paid = await tools.notes.pay({ card: "4111-1111-2222" }); console.log(paid.receipt); return paid'),
      callgate("exec", "-e", 'return await tools.notes.pay({ card: "4111-1111-0000" })'),
      callgate("call", "notes.pay", '{"card":"4111-1111-3333"}'),
      callgate("call", "notes.pay", '{"card":4111111144444}'),
      callgate("doctor"),
    ];
    const [run] = JSON.parse(callgate("--json", "runs", "ls").stdout) as { runId: string }[];
    outputs.push(callgate("--json", "runs", "show", run?.runId ?? ""));
    await sleep(0);
    const written = readdirSync(state, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1")).join("\n");
    for (const word of ["4111-1111", "4111111144444", "receipt-for", env.CANARY_SECRET, Buffer.from(env.CANARY_SECRET).toString("base64")]) expect(written.includes(word), word).toBe(false);
    // Not empty: the runs are there.
    expect(written).toContain("notes.pay");
    for (const { stdout, stderr } of outputs) expect(stdout + stderr).not.toContain(env.CANARY_SECRET);
  });
});
