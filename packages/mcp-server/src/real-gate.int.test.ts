import { fileURLToPath } from "node:url";
import type { Gate } from "@callgate/contract";
import { createMcpSource } from "@callgate/source-mcp";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createRealGate } from "./fixtures/real-gate.ts";
import { createMcpServer } from "./mcp-server.ts";
import type { McpGateServer } from "./mcp-server.ts";

const upstream = fileURLToPath(new URL("../../source-mcp/src/fixtures/scripted-server.mjs", import.meta.url));
const served = fileURLToPath(new URL("fixtures/serve-real-gate.ts", import.meta.url));

const wires = (["legacy", "modern"] as const).flatMap((era) => [[era, "http"] as const, [era, "stdio"] as const]);

describe.each(wires)("a real gate before a real MCP server: %s over %s", (era, wire) => {
  let gate: Gate | undefined;
  let server: McpGateServer | undefined;
  let client: Client;

  beforeAll(async () => {
    client = new Client({ name: "it", version: "1" }, { versionNegotiation: { mode: era === "modern" ? { pin: "2026-07-28" } : "legacy" } });
    if (wire === "stdio") {
      await client.connect(new StdioClientTransport({ command: process.execPath, args: [served, upstream], stderr: "inherit" }));
      return;
    }
    gate = await createRealGate([createMcpSource({ namespace: "up", command: process.execPath, args: [upstream, "ok"] })]);
    server = createMcpServer({ gate, version: "1.0.0", progressEveryMs: 200 });
    const { url, token } = await server.serveHttp();
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: `Bearer ${token}` } } }));
  });
  afterAll(async () => {
    await client.close();
    await server?.close();
    await gate?.close();
  });

  const textOf = (result: { content: readonly unknown[] }): string => (result.content[0] as { text: string }).text;
  const run = (code: string, tool = "execute_code"): ReturnType<Client["callTool"]> => client.callTool({ name: tool, arguments: { code } });

  test("runs a program over the upstream's tools; one value on two channels", async () => {
    const { tools } = await client.listTools();
    expect(tools[0]?.description).toMatch(/- up \(21\): Misbehaves on request\./);
    const result = await run('import { up } from "tools";\nconst a = await up.echo({ n: 1 });\nreturn { a, text: await up.write_it({}) };');
    expect(result.structuredContent).toMatchObject({ status: "completed", value: { a: { got: { n: 1 } }, text: "written" }, callCount: 2 });
    expect(textOf(result)).toContain('{"a":{"got":{"n":1}},"text":"written"}');
  });

  test("code-mode 13, out-009: the id a program got is the id its next call sends", async () => {
    const result = await run('const { id } = await tools.up.int64<{ id: bigint }>({});\nreturn await tools.up.int64<{ same: boolean }>({ id });');
    expect(result.structuredContent).toMatchObject({ status: "completed", value: { same: true } });
  });

  test("code-mode 13: a 5 MB PNG of the upstream reaches the client as a picture", async () => {
    const result = await run('await tools.up.png({});\nreturn "painted";');
    const picture = result.content.find((block) => block.type === "image");
    expect(picture?.mimeType).toBe("image/png");
    expect(Buffer.from(picture?.data ?? "", "base64").equals(Buffer.alloc(5 * 1024 * 1024, 137))).toBe(true);
    expect(textOf(result).length).toBeLessThan(1_000);
  });

  test("code-mode 10: a misspelt tool is reported with its place and the nearest name, before anything runs", async () => {
    const result = await run("const x = 1;\nreturn await tools.up.writ_it({ x });");
    expect(result.isError).toBe(true);
    expect(result.structuredContent).toMatchObject({ status: "rejected", callCount: 0, diagnostics: [{ line: 2 }] });
    expect(textOf(result)).toMatch(/2:\d+[\s\S]*write_it/);
    const repaired = await run("return await tools.up.ecko({ x: 1 });");
    expect(repaired.structuredContent).toMatchObject({ value: { got: { x: 1 } }, repairs: [{ kind: "renamed" }] });
  });

  test("a tool's own error code reaches the program, and the client when it is not caught", async () => {
    const caught = await run('try { await tools.up.fail_coded({}); return "no"; } catch (error) { return (error as { code: string }).code; }');
    expect(caught.structuredContent).toMatchObject({ value: "NO_SUCH_DOC" });
    const thrown = await run("return await tools.up.fail_coded({});");
    expect(thrown.isError).toBe(true);
    expect(thrown.structuredContent).toMatchObject({ status: "failed", error: { code: "NO_SUCH_DOC" } });
  });

  test("code-mode 19: a write is refused in the read lane before it happens", async () => {
    const result = await run("return await tools.up.write_it({});", "query_code");
    expect(result.isError).toBe(true);
    expect(textOf(result)).not.toContain("written");
    expect((await run("return await tools.up.echo({ a: 1 });", "query_code")).structuredContent).toMatchObject({ value: { got: { a: 1 } } });
  });

  test("code-mode 14: a result over the budget is an outline, and read_result reads the rest", async () => {
    const result = await run("return Array.from({ length: 50_000 }, (_, index) => ({ index, name: `item ${index}` }));");
    const { handle } = result.structuredContent as { handle: string };
    expect(textOf(result).length + JSON.stringify(result.structuredContent).length).toBeLessThan(20_000);
    const part = await client.callTool({ name: "read_result", arguments: { handle, offset: 49_999 } });
    expect(part.structuredContent).toMatchObject({ value: [{ index: 49_999, name: "item 49999" }] });
  });

  test("code-mode 18: progress of the upstream's tool reaches the client", async () => {
    const messages: string[] = [];
    await client.callTool({ name: "execute_code", arguments: { code: 'return await tools.up.progress({});' } }, { onprogress: ({ message }) => void messages.push(message ?? "") });
    expect(messages.join("\n")).toContain("up.progress");
  });

  test("code-mode 20: cancelling stops the call that hangs, and the next request works", async () => {
    const controller = new AbortController();
    const messages: string[] = [];
    const hanging = client
      .callTool({ name: "execute_code", arguments: { code: "return await tools.up.hang({});" } }, { signal: controller.signal, onprogress: ({ message }) => void messages.push(message ?? "") })
      .catch((error: unknown) => error);
    await vi.waitFor(() => expect(messages.join()).toContain("up.hang"), 10_000);
    controller.abort(new Error("enough"));
    expect(await hanging).toBeInstanceOf(Error);
    await vi.waitFor(async () => expect((await run("return await tools.up.cancelled<string[]>({});")).structuredContent).toMatchObject({ value: [expect.any(String)] }), 10_000);
  });

  test("finds, describes and calls a tool directly; resources and prompts pass through", async () => {
    const found = await client.callTool({ name: "search_tools", arguments: { query: "write it" } });
    expect(textOf(found)).toContain("write_it");
    const details = await client.callTool({ name: "get_tool_details", arguments: { names: ["up.echo"] } });
    expect(textOf(details)).toContain("echo(");
    const called = await client.callTool({ name: "call_tool", arguments: { name: "up.echo", arguments: { b: 2 } } });
    expect(called.structuredContent).toMatchObject({ outcome: "ok", value: { got: { b: 2 } } });
    expect((await client.listResources()).resources.map((resource) => resource.uri)).toContain("mem://a");
    expect((await client.readResource({ uri: "mem://a" })).contents[0]).toMatchObject({ text: "hello" });
    expect((await client.getPrompt({ name: "greet", arguments: { who: "you" } })).messages[0]?.content).toMatchObject({ text: "Hello you" });
  });

  test("an upstream that dies mid-call is an error that says so, and works again", async () => {
    const died = await client.callTool({ name: "call_tool", arguments: { name: "up.die" } });
    expect(died.structuredContent).toMatchObject({ outcome: "failed", effectStatus: "unknown", error: { code: "SOURCE_UNAVAILABLE" } });
    const again = await client.callTool({ name: "call_tool", arguments: { name: "up.write_it" } });
    expect(again.structuredContent).toMatchObject({ outcome: "ok" });
  });
});
