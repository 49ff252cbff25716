import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { callgateBin, createCliProject } from "./fixtures/cli-project.ts";

/** A server that answers nothing before the file `go` is there. */
const server = `
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  while (!existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 50));
  if (method === "initialize") say({ id, result: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "slow", version: "1" } } });
  else if (method === "tools/list") say({ id, result: { tools: [{ name: "late", inputSchema: { type: "object" } }] } });
  else if (id !== undefined) say({ id, error: { code: -32601, message: "no" } });
}
`;

const config = { mcpServers: { slow: { command: process.execPath, args: ["server.mjs"], connectTimeoutMs: 300_000 } } };

test("callgate mcp answers its client before a slow source has, and tells when its tools come", { timeout: 120_000 }, async () => {
  const { folder, env } = createCliProject({ "callgate.jsonc": JSON.stringify(config), "server.mjs": server }, {});
  const child = spawn(process.execPath, [callgateBin, "--trust", "mcp"], { cwd: folder, env, stdio: ["pipe", "pipe", "pipe"] });
  let told = "";
  child.stderr.on("data", (chunk: Buffer) => (told += chunk.toString()));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => JSON.parse(String((await lines.next()).value)) as { readonly id?: number; readonly method?: string };
  const say = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  try {
    say({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } } });
    expect(await next()).toMatchObject({ id: 1, result: {} });
    // Whoever waited for the source gave it up first, and said so.
    expect(told).not.toContain("did not list");
    say({ method: "notifications/initialized" });
    writeFileSync(join(folder, "go"), "");
    let message = await next();
    while (message.method !== "notifications/tools/list_changed") message = await next();
    say({ id: 2, method: "tools/list" });
    while (message.id !== 2) message = await next();
    expect(JSON.stringify(message)).toContain("slow (1)");
  } finally {
    const gone = once(child, "exit");
    child.stdin.end();
    await gone;
  }
});
