import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, test } from "vitest";
import { callgateBin, createCliProject } from "./fixtures/cli-project.ts";

const tool = `
import { defineTool } from "callgate";
export const whoIs = defineTool({ name: "who_is", description: "Says who calls, and which process answers", input: { type: "object" }, effect: "read", handler: (_args, { principal }) => ({ user: principal.user, pid: process.pid }) });
`;

test("clients started with --shared are served by one process, each as who it acts for; it is listed, and ends when told to", { timeout: 240_000 }, async () => {
  const { folder, env } = createCliProject({ "callgate.jsonc": JSON.stringify({ principal: { user: "ann" } }), "tools/who.ts": tool }, {});
  const cli = async (...args: readonly string[]) => await promisify(execFile)(process.execPath, [callgateBin, ...args], { cwd: folder, env });
  const clients: Client[] = [];
  const connect = async (...args: readonly string[]) => {
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "legacy" } });
    clients.push(client);
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [callgateBin, "--trust", ...args, "mcp", "--shared"], cwd: folder, env, stderr: "ignore" }));
    const { structuredContent } = await client.callTool({ name: "call_tool", arguments: { name: "who.who_is", arguments: {} } });
    return (structuredContent as { readonly value: { readonly user: string; readonly pid: number } }).value;
  };
  try {
    const [ann, bob] = await Promise.all([connect(), connect("--user", "bob")]);
    expect([ann.user, bob.user, ann.pid === bob.pid]).toEqual(["ann", "bob", true]);
    expect(JSON.parse((await cli("--json", "daemon", "status")).stdout)).toMatchObject([{ pid: ann.pid, clients: 2, isCurrent: true }]);
  } finally {
    await cli("daemon", "stop");
    await Promise.all(clients.map((client) => client.close()));
  }
});
