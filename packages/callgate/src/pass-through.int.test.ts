import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMcpServer } from "@callgate/mcp-server";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test } from "vitest";
import { createCallgate } from "./index.ts";

const script = join(createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/package.json"), "../dist/index.js");

async function clients() {
  const stateFolder = mkdtempSync(join(tmpdir(), "callgate-"));
  const gate = await createCallgate({ stateFolder, passThrough: "every", mcpServers: { every: { command: process.execPath, args: [script] } }, rules: [{ allow: "*" }, { deny: "every.get_sum" }] });
  await gate.ready();
  const server = createMcpServer({ gate, version: "1", passThrough: "every" });
  const { url, token } = await server.serveHttp();
  const through = new Client({ name: "test", version: "1" });
  await through.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: `Bearer ${token}` } } }));
  const direct = new Client({ name: "test", version: "1" });
  await direct.connect(new StdioClientTransport({ command: process.execPath, args: [script], stderr: "ignore" }));
  onTestFinished(async () => {
    await Promise.all([through.close(), direct.close()]);
    await server.close();
    await gate.close();
    rmSync(stateFolder, { recursive: true, force: true });
  });
  return { gate, through, direct };
}

test("a server that is passed through is as it is by itself: definitions, whole answers, resources, prompts; and every call is on record", async () => {
  const { gate, through, direct } = await clients();
  const [behind, itself] = [(await through.listTools()).tools, (await direct.listTools()).tools];
  // What it may not call does not exist for a client.
  expect(behind).toEqual(itself.filter(({ name }) => name !== "get-sum"));
  const calls: readonly [string, Record<string, unknown>][] = [
    ["echo", { message: "hello" }],
    ["get-tiny-image", {}],
    ["get-structured-content", { location: "Chicago" }],
    ["get-annotated-message", { messageType: "success", includeImage: true }],
    ["get-resource-links", { count: 2 }],
  ];
  for (const [name, args] of calls) {
    const [far, near] = await Promise.all([through.callTool({ name, arguments: args }), direct.callTool({ name, arguments: args })]);
    expect.soft({ name, ...far }).toEqual({ name, ...near });
  }
  await expect(through.callTool({ name: "get-sum", arguments: { a: 1, b: 2 } })).rejects.toThrow('There is no tool "get-sum"');
  expect(await through.callTool({ name: "echo", arguments: {} })).toMatchObject({ isError: true });
  expect((await through.listPrompts()).prompts.map(({ name }) => name)).toEqual((await direct.listPrompts()).prompts.map(({ name }) => name));
  expect((await through.listResources()).resources.map(({ uri }) => uri)).toEqual((await direct.listResources()).resources.map(({ uri }) => uri));
  expect(await through.getPrompt({ name: "args-prompt", arguments: { city: "Rome", state: "Lazio" } })).toMatchObject({ messages: (await direct.getPrompt({ name: "args-prompt", arguments: { city: "Rome", state: "Lazio" } })).messages });
  const runs = await gate.runs.list();
  expect(runs.filter(({ kind }) => kind === "call")).toHaveLength(calls.length + 1);
}, 120_000);
