import { createHash } from "node:crypto";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect as connectSocket } from "node:net";
import { PassThrough } from "node:stream";
import type { GateEvent, Plan, Principal, RunOptions, SourcePassThrough } from "@callgate/contract";
import type { ClientOptions, JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, describe, expect, test, vi } from "vitest";
import { completed, createFakeGate, namespaceView, toolView } from "./fixtures/fake-gate.ts";
import type { FakeGate } from "./fixtures/fake-gate.ts";
import type { HttpEndpoint, HttpOptions } from "./http-endpoint.ts";
import { createMcpServer } from "./mcp-server.ts";
import type { McpServerOptions } from "./mcp-server.ts";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const eras = ["legacy", "modern"] as const;
type Era = (typeof eras)[number];
const modes = [...eras.map((era) => [era, "http"] as const), ...eras.map((era) => [era, "stdio"] as const)];

function newClient(era: Era, name = "test-client", options: ClientOptions = {}): Client {
  const client = new Client({ name, version: "9" }, { versionNegotiation: { mode: era === "modern" ? { pin: "2026-07-28" } : "legacy" }, ...options });
  closers.push(() => client.close());
  return client;
}

async function openHttp(gate: FakeGate, options: HttpOptions = {}, server: Partial<McpServerOptions> = {}): Promise<HttpEndpoint> {
  const mcp = createMcpServer({ gate, version: "1.2.3", ...server });
  closers.push(() => mcp.close());
  return mcp.serveHttp(options);
}

/** A client over in-process streams: the bytes of stdio without a second process. */
function stdioPair(gate: FakeGate, server: Partial<McpServerOptions> = {}): Transport {
  const [toServer, toClient] = [new PassThrough(), new PassThrough()];
  const mcp = createMcpServer({ gate, version: "1.2.3", ...server });
  const endpoint = mcp.serveStdio({ stdin: toServer, stdout: toClient });
  closers.push(() => endpoint.close());
  let rest = "";
  const transport: Transport & { stderr: null; pid: number } = {
    // What the SDK recognises a stdio transport by.
    stderr: null,
    pid: 1,
    start: () => {
      toClient.on("data", (chunk: Buffer) => {
        const lines = (rest + chunk.toString()).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) transport.onmessage?.(JSON.parse(line) as JSONRPCMessage);
      });
      return Promise.resolve();
    },
    send: (message) => {
      toServer.write(`${JSON.stringify(message)}\n`);
      return Promise.resolve();
    },
    close: () => {
      toServer.end();
      transport.onclose?.();
      return Promise.resolve();
    },
  };
  return transport;
}

async function connect(gate: FakeGate, [era, wire]: readonly [Era, "http" | "stdio"], client: Client = newClient(era), server: Partial<McpServerOptions> = {}): Promise<Client> {
  if (wire === "stdio") {
    await client.connect(stdioPair(gate, server));
    return client;
  }
  const { url, token } = await openHttp(gate, {}, server);
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: `Bearer ${token}` } } }));
  return client;
}

const firstText = (result: { content: readonly unknown[] }): string => (result.content[0] as { text: string }).text;

describe.each(modes)("createMcpServer: %s over %s", (era, wire) => {
  test("P16: shows six tools whatever is behind it, with annotations a client can act on", async () => {
    const gate = createFakeGate({ namespaces: [namespaceView("db", 400, "Orders")] });
    const client = await connect(gate, [era, wire]);
    expect(client.getProtocolEra()).toBe(era);
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toEqual(["search_tools", "get_tool_details", "call_tool", "execute_code", "query_code", "read_result"]);
    const byName = new Map(tools.map((tool) => [tool.name, tool]));
    expect(byName.get("query_code")?.annotations?.readOnlyHint).toBe(true);
    expect(byName.get("execute_code")?.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    expect(byName.get("search_tools")?.description).toContain("- db (400): Orders");
    expect(byName.get("execute_code")?.inputSchema).toMatchObject({ type: "object", required: ["code"] });
    expect(client.getServerVersion()).toMatchObject({ name: "callgate", version: "1.2.3" });
    expect(client.getInstructions()).toContain("400 tools");
  });

  test("clients act as the gate's own principal; an agent that it names stands, whatever a client calls itself", async () => {
    const ann: Principal = { tenant: "acme", user: "ann", roles: ["clerk"], claims: {} };
    for (const [principal, agent] of [[ann, "test-client/9"], [{ ...ann, agent: "claude" }, "claude"]] as const) {
      const gate = { ...createFakeGate({ run: () => Promise.resolve(completed(1)) }), principal };
      const client = await connect(gate, [era, wire], newClient(era));
      await client.callTool({ name: "query_code", arguments: { code: "return 1" } });
      expect(gate.asked.find(({ method }) => method === "run")?.args[1]).toMatchObject({ principal: { ...ann, agent } });
    }
  });

  test.skipIf(wire !== "http")("mcp-005, http-007: a client acts as the principal of its token, and a session of one is none for another", async () => {
    const gate = createFakeGate({ run: () => Promise.resolve(completed(1)) });
    const tokens = ["token of ann, long", "token of bea, long"];
    const principals = ["ann", "bea"].map((user): Principal => ({ tenant: "acme", user, roles: [user], claims: {} }));
    const endpoint = await openHttp(gate, { clients: principals.map((principal, index) => ({ tokenSha256: createHash("sha256").update(tokens[index] ?? "").digest("hex"), principal })) });
    for (const token of [...tokens, endpoint.token]) {
      const client = newClient(era);
      const transport = new StreamableHTTPClientTransport(new URL(endpoint.url), { requestInit: { headers: { authorization: `Bearer ${token}` } } });
      await client.connect(transport);
      await client.callTool({ name: "query_code", arguments: { code: "return 1" } });
      if (transport.sessionId === undefined) continue;
      const other = await fetch(endpoint.url, { method: "POST", headers: { authorization: `Bearer ${token === tokens[0] ? (tokens[1] ?? "") : (tokens[0] ?? "")}`, "mcp-session-id": transport.sessionId, "content-type": "application/json", accept: "application/json, text/event-stream" }, body: JSON.stringify({ jsonrpc: "2.0", id: 9, method: "tools/list" }) });
      expect([other.status, await other.text()]).toEqual([404, expect.stringContaining("There is no such session") as string]);
    }
    expect(gate.asked.filter(({ method }) => method === "run").map(({ args }) => (args[1] as RunOptions).principal?.user)).toEqual(["ann", "bea", "local"]);
    expect((await fetch(endpoint.url, { method: "POST", headers: { authorization: "Bearer token of nobody, long" } })).status).toBe(401);
  });

  test("code-mode 19: runs programs in their lane, on behalf of the principal and the client", async () => {
    const gate = createFakeGate({ run: () => Promise.resolve(completed({ a: 1 })) });
    const principal: Principal = { tenant: "acme", user: "ada", roles: ["dev"], claims: {} };
    const client = await connect(gate, [era, wire], newClient(era), { principal });
    await client.listTools();
    const result = await client.callTool({ name: "execute_code", arguments: { code: "return { a: 1 }", budgetTokens: 500, taskId: "t1" } });
    expect(result.structuredContent).toMatchObject({ runId: "run_1", status: "completed", value: { a: 1 } });
    expect(firstText(result)).toContain('{"a":1}');
    expect(result.isError).not.toBe(true);
    await client.callTool({ name: "query_code", arguments: { code: "return 1" } });
    const [first, second] = gate.asked.filter((entry) => entry.method === "run").map((entry) => entry.args[1] as RunOptions);
    expect(first).toMatchObject({ lane: "execute", budgetTokens: 500, taskId: "t1", principal: { tenant: "acme", user: "ada", agent: "test-client/9", roles: ["dev"] } });
    expect(second).toMatchObject({ lane: "query" });
  });

  test("a model may rehearse, and is told what would be written; nothing of it approves or applies", async () => {
    const item = { id: "1", tool: "crm.update", effect: "write", args: { id: 7, stage: "won" }, argsDigest: "sha256:1", occurrence: 0, decision: { kind: "ask", ruleId: "default:write" }, origins: [], derivedFrom: [] } as const;
    const plan = { items: [{ ...item, inner: [{ ...item, id: "1.1", tool: "crm.note", args: { text: "x".repeat(2_000) } }] }, { ...item, id: "2", isConditional: true, onlyWith: ["empty lists"], varies: { paths: ["/id"], restDigest: "sha256:2" } }] } as Partial<Plan> as Plan;
    const gate = createFakeGate({ run: () => Promise.resolve({ ...completed(1), plan }) });
    const client = await connect(gate, [era, wire]);
    const { tools } = await client.listTools();
    const result = await client.callTool({ name: "execute_code", arguments: { code: "return 1", rehearse: true } });
    expect(result.structuredContent).toMatchObject({ planned: [{ id: "1", tool: "crm.update", effect: "write", args: { id: 7, stage: "won" }, decision: "ask" }, { id: "1.1", tool: "crm.note", args: expect.stringMatching(/^\{"text":"x{490}x*… \(2011 characters\)$/) as string }, { id: "2", isConditional: true, onlyWith: ["empty lists"], varies: ["/id"] }] });
    // What a person reads in the client, where it shows text only.
    expect(firstText(result)).toContain('- 1 crm.update {"id":7,"stage":"won"}: changes data; needs approval\n');
    expect(firstText(result)).toMatch(/- 2 crm\.update .*conditional, comes only with empty lists; known only when it comes: \/id/);
    expect(gate.asked.find(({ method }) => method === "run")?.args[1]).toMatchObject({ rehearse: true });
    expect(tools.map(({ name }) => name)).toEqual(["search_tools", "get_tool_details", "call_tool", "execute_code", "query_code", "read_result"]);
  });

  test("reports failures with isError, and wrong arguments in words", async () => {
    const { value: _value, ...rest } = completed(undefined);
    const gate = createFakeGate({ run: () => Promise.resolve({ ...rest, status: "failed", error: { code: "NOPE", message: "It failed", retryable: false } }) });
    const client = await connect(gate, [era, wire]);
    await client.listTools();
    const failed = await client.callTool({ name: "execute_code", arguments: { code: "x" } });
    expect(failed.isError).toBe(true);
    expect(firstText(failed)).toContain("NOPE: It failed");
    const wrong = await client.callTool({ name: "execute_code", arguments: { program: "x" } });
    expect(wrong.isError).toBe(true);
    expect(firstText(wrong)).toMatch(/INVALID_INPUT.*\/code/s);
    await expect(client.callTool({ name: "db.query", arguments: {} })).rejects.toThrow(/search_tools/);
  });

  test("code-mode 18: sends progress of the run's events and signs of life, and nothing of other runs", async () => {
    let release = (): void => undefined;
    const gate = createFakeGate({
      run: async (_program, { principal }) => {
        const scope = { atMs: 0, runId: "run_1", callId: "c", tool: "db.query" };
        if (principal !== undefined) gate.emit({ ...scope, principal, kind: "call-started", attempt: 1 } satisfies GateEvent);
        gate.emit({ ...scope, tool: "other.secret", principal: { tenant: "x", user: "y", roles: [], claims: {} }, kind: "call-started", attempt: 1 });
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        return completed(1);
      },
    });
    const client = await connect(gate, [era, wire], newClient(era), { progressEveryMs: 100 });
    await client.listTools();
    const messages: string[] = [];
    const running = client.callTool({ name: "execute_code", arguments: { code: "x" } }, { onprogress: ({ message }) => void messages.push(message ?? "") });
    await vi.waitFor(() => expect(messages.length).toBeGreaterThan(2), 5_000);
    release();
    await running;
    expect(messages[0]).toBe("db.query …");
    expect(messages[1]).toMatch(/^db\.query … \(\d+ s, 0 calls done\)$/);
    expect(messages.join()).not.toContain("secret");
  });

  test("code-mode 20: cancelling the request aborts the run", async () => {
    let seen: AbortSignal | undefined;
    const gate = createFakeGate({
      run: (_program, { signal }) => {
        seen = signal;
        return new Promise((resolve) => signal?.addEventListener("abort", () => resolve(completed("late"))));
      },
    });
    const client = await connect(gate, [era, wire]);
    await client.listTools();
    const controller = new AbortController();
    const running = client.callTool({ name: "execute_code", arguments: { code: "x" } }, { signal: controller.signal }).catch((error: unknown) => error);
    await vi.waitFor(() => expect(seen).toBeDefined());
    controller.abort();
    expect(await running).toBeInstanceOf(Error);
    await vi.waitFor(() => expect(seen?.aborted).toBe(true));
  });

  test("code-mode 15: tells clients that tools changed", async () => {
    const gate = createFakeGate({ namespaces: [namespaceView("one", 1)] });
    let changes = 0;
    const client = newClient(era, "watcher", { listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => void changes++ } } });
    await connect(gate, [era, wire], client);
    await client.listTools();
    // Not sooner: a stream of the older era over HTTP opens after the handshake.
    await new Promise((resolve) => setTimeout(resolve, 200));
    gate.setNamespaces([namespaceView("two", 2)]);
    gate.emit({ kind: "catalog-changed", atMs: 0, tools: 2, problems: [] });
    await vi.waitFor(() => expect(changes).toBe(1), 3_000);
    expect((await client.listTools()).tools[0]?.description).toContain("- two (2)");
  });
});

describe("createMcpServer: the other tools", () => {
  const gate = (): FakeGate =>
    createFakeGate({
      namespaces: [namespaceView("db", 2)],
      tools: [toolView("db.orders", "lists orders"), toolView("db.users", "lists users")],
      call: (tool) =>
        tool === "db.orders"
          ? { runId: "run_2", callId: "c", outcome: { kind: "ok", effectStatus: "none", value: [1], artifacts: [] }, shaped: { kind: "whole", value: [1] }, artifacts: [] }
          : { runId: "run_2", callId: "c", outcome: { kind: "denied", effectStatus: "none", error: { code: "DENIED", message: "Not allowed", tool, retryable: false } }, artifacts: [] },
      read: (handle) => (handle.endsWith("/9") ? { kind: "artifact", name: "plot.png", mimeType: "image/png", bytes: Buffer.from("PNG") } : { kind: "value", value: ["a", "b"], total: 7, nextOffset: 2 }),
    });

  test("search_tools, get_tool_details and call_tool", async () => {
    const client = await connect(gate(), ["modern", "http"]);
    await client.listTools();
    const found = await client.callTool({ name: "search_tools", arguments: { query: "orders" } });
    expect(found.structuredContent).toEqual({ tools: [{ name: "db.orders", effect: "read", signature: "orders(args: { id: number }): Promise<string>", line: "lists orders" }] });
    // A client that shows text only must read the whole name there.
    expect(firstText(found)).toBe("db.orders(args: { id: number }): Promise<string> // [read] lists orders");
    const nothing = await client.callTool({ name: "search_tools", arguments: { query: "weather" } });
    expect(firstText(nothing)).toContain("Namespaces: db");
    const details = await client.callTool({ name: "get_tool_details", arguments: { names: ["db.users", "db.user"] } });
    expect(firstText(details)).toContain("fails with NOT_THERE: No such record");
    expect(firstText(details)).toContain('There is no tool "db.user". Nearest: db.orders, db.users');
    const called = await client.callTool({ name: "call_tool", arguments: { name: "db.orders", arguments: { id: 1 } } });
    expect(called.structuredContent).toEqual({ runId: "run_2", outcome: "ok", effectStatus: "none", value: [1] });
    const denied = await client.callTool({ name: "call_tool", arguments: { name: "db.users" } });
    expect(denied.isError).toBe(true);
    expect(firstText(denied)).toMatch(/DENIED: Not allowed.*Nothing was changed\./s);
    const rounded = await client.callTool({ name: "call_tool", arguments: { name: "db.orders", arguments: { id: 2 ** 60 } } });
    expect(rounded.isError).toBe(true);
    expect(firstText(rounded)).toContain("/arguments/id");
  });

  test("code-mode 13: read_result gives ranges, and pictures as pictures", async () => {
    const client = await connect(gate(), ["legacy", "stdio"]);
    await client.listTools();
    const part = await client.callTool({ name: "read_result", arguments: { handle: "result://run_1/0", limit: 2 } });
    expect(part.structuredContent).toEqual({ value: ["a", "b"], total: 7, nextOffset: 2 });
    expect(firstText(part)).toContain("Next: offset 2 of 7");
    const picture = await client.callTool({ name: "read_result", arguments: { handle: "result://run_1/9" } });
    expect(picture.content[1]).toEqual({ type: "image", data: Buffer.from("PNG").toString("base64"), mimeType: "image/png" });
  });

  test("code-mode 13: a 5 MB PNG of a run reaches the client as a picture, other files as links", async () => {
    const bytes = Buffer.alloc(5 * 1024 * 1024, 137);
    const artifacts = [
      { name: "plot.png", mimeType: "image/png", sizeBytes: bytes.length, digest: "sha256:1", handle: "result://run_1/1" },
      { name: "rows.csv", mimeType: "text/csv", sizeBytes: 10, digest: "sha256:2", handle: "result://run_1/2" },
    ] as const;
    const withPicture = createFakeGate({ run: () => Promise.resolve(completed("done", { artifacts })), read: () => ({ kind: "artifact", name: "plot.png", mimeType: "image/png", bytes }) });
    const client = await connect(withPicture, ["modern", "http"]);
    const result = await client.callTool({ name: "execute_code", arguments: { code: "x" } });
    expect(result.content[1]).toMatchObject({ type: "image", mimeType: "image/png" });
    expect(Buffer.from((result.content[1] as { data: string }).data, "base64").equals(bytes)).toBe(true);
    expect(result.content[2]).toEqual({ type: "resource_link", uri: "result://run_1/2", name: "rows.csv", mimeType: "text/csv", size: 10 });
    expect(firstText(result).length + JSON.stringify(result.structuredContent).length).toBeLessThan(1_000);
  });

  test("code-mode 14: a client that forwards text and structured content gets text only", async () => {
    const client = await connect(createFakeGate(), ["legacy", "stdio"], newClient("legacy", "codex-mcp-client"));
    expect((await client.listTools()).tools.every((tool) => tool.outputSchema === undefined)).toBe(true);
    const result = await client.callTool({ name: "execute_code", arguments: { code: "x" } });
    expect(result.structuredContent).toBeUndefined();
    expect(firstText(result)).toContain("no value");
  });
});

describe("createMcpServer: pass-through", () => {
  const source = (name: string, uris: readonly string[]): SourcePassThrough => ({
    listResources: () => Promise.resolve(uris.map((uri) => ({ uri, name: uri }))),
    listResourceTemplates: () => Promise.resolve([{ uriTemplate: `${name}://{id}`, name }]),
    readResource: (uri) => Promise.resolve([{ uri, mimeType: "text/plain", content: { kind: "text", text: `${name} ${uri}` } }]),
    listPrompts: () => Promise.resolve([{ name: "greet", arguments: [{ name: "who", required: true }] }, { name: `only_${name}`, arguments: [] }]),
    getPrompt: (prompt, args) => Promise.resolve([{ role: "user", content: { type: "text", text: `${name} ${prompt} ${args["who"] ?? ""}` } }]),
  });
  const broken: SourcePassThrough = { ...source("x", []), listResources: () => Promise.reject(new Error("down")), listPrompts: () => Promise.reject(new Error("down")) };

  test("names stay as they are unless two sources use them; one broken source hurts nobody", async () => {
    const gate = createFakeGate({ passThrough: new Map([["a", source("a", ["mem://1", "mem://same"])], ["b", source("b", ["mem://same"])], ["c", broken]]) });
    const client = await connect(gate, ["modern", "http"]);
    const { resources } = await client.listResources();
    expect(resources.map((resource) => resource.uri)).toEqual(["mem://1", "callgate://a/mem%3A%2F%2Fsame", "callgate://b/mem%3A%2F%2Fsame"]);
    expect((await client.readResource({ uri: "callgate://b/mem%3A%2F%2Fsame" })).contents[0]).toMatchObject({ text: "b mem://same" });
    expect((await client.readResource({ uri: "mem://1" })).contents[0]).toMatchObject({ text: "a mem://1" });
    expect((await client.readResource({ uri: "b://77" })).contents[0]).toMatchObject({ text: "b b://77" });
    await expect(client.readResource({ uri: "nobody://1" })).rejects.toThrow(/not found/i);
    expect((await client.listResourceTemplates()).resourceTemplates.map((template) => template.uriTemplate)).toContain("a://{id}");
    const { prompts } = await client.listPrompts();
    expect(prompts.map((prompt) => prompt.name)).toEqual(["a.greet", "only_a", "b.greet", "only_b"]);
    expect((await client.getPrompt({ name: "b.greet", arguments: { who: "you" } })).messages[0]?.content).toEqual({ type: "text", text: "b greet you" });
  });
});

describe("createMcpServer: HTTP walls", () => {
  interface Raw {
    readonly status: number;
    readonly body: string;
    readonly headers: Record<string, unknown>;
  }
  const post = (endpoint: HttpEndpoint, headers: Record<string, string>, body = "{}", path = "/mcp"): Promise<Raw> =>
    new Promise((resolve, reject) => {
      const request = httpRequest({ host: "127.0.0.1", port: endpoint.port, path, method: "POST", headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers } }, (response) => {
        let text = "";
        response.on("data", (chunk: Buffer) => (text += chunk.toString()));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, body: text, headers: response.headers }));
      });
      request.on("error", reject);
      request.end(body);
    });

  test("http-003, http-006: refuses a foreign host, a foreign origin, a missing or wrong token, and other paths, in that order", async () => {
    const endpoint = await openHttp(createFakeGate());
    const authorization = `Bearer ${endpoint.token}`;
    expect((await post(endpoint, { host: "evil.example", authorization })).status).toBe(403);
    expect((await post(endpoint, { origin: "http://evil.example", authorization })).status).toBe(403);
    const anonymous = await post(endpoint, {});
    expect([anonymous.status, anonymous.headers["www-authenticate"]]).toEqual([401, 'Bearer realm="callgate"']);
    expect((await post(endpoint, { authorization: `Bearer ${endpoint.token}x` })).status).toBe(401);
    expect((await post(endpoint, { authorization }, "{}", "/")).status).toBe(404);
  });

  test.each(["/artifacts/..%2f..%2fetc%2fpasswd", "/artifacts/%252e%252e/etc/passwd", "/mcp/../../etc/passwd", "//etc/passwd", "/mcp/%00", `/artifacts/${"a".repeat(8_000)}`])("http-008: nothing is served by its path: %s", async (path) => {
    const endpoint = await openHttp(createFakeGate());
    expect(await post(endpoint, { authorization: `Bearer ${endpoint.token}` }, "{}", path)).toMatchObject({ status: 404, body: expect.not.stringContaining("root:") as string });
  });

  test("the metrics open with their own token only, for a known host and origin; it opens nothing else, and without one nothing is there", async () => {
    const [own, client] = ["token of the metrics", "token of some client"];
    const digest = (token: string): string => createHash("sha256").update(token).digest("hex");
    const clients = [{ tokenSha256: digest(client), principal: createFakeGate().principal }];
    let fails = false;
    const text = (): Promise<string> => (fails ? Promise.reject(new Error("secret reason")) : Promise.resolve("calls 1\n"));
    const endpoint = await openHttp(createFakeGate(), { clients, metrics: { tokenSha256: digest(own), contentType: "text/plain; version=0.0.4", text } });
    const page = endpoint.url.replace("/mcp", "/metrics");
    const get = (token: string, headers: Record<string, string> = {}): Promise<Response> => fetch(page, { headers: { authorization: `Bearer ${token}`, ...headers } });
    const answer = await get(own);
    expect([answer.status, answer.headers.get("content-type"), await answer.text()]).toEqual([200, "text/plain; version=0.0.4", "calls 1\n"]);
    for (const token of [endpoint.token, client, `${own}x`, ""]) expect((await get(token)).status).toBe(401);
    expect((await get(own, { origin: "http://evil.example" })).status).toBe(403);
    expect((await post(endpoint, { host: "evil.example", authorization: `Bearer ${own}` }, "", "/metrics")).status).toBe(403);
    expect((await post(endpoint, { authorization: `Bearer ${own}` }, "", "/metrics")).headers["allow"]).toBe("GET");
    expect((await post(endpoint, { authorization: `Bearer ${own}` })).status).toBe(401);
    fails = true;
    const failed = await get(own);
    expect([failed.status, (await failed.text()).includes("secret reason")]).toEqual([500, false]);
    const bare = await openHttp(createFakeGate());
    expect((await post(bare, { authorization: `Bearer ${bare.token}` }, "", "/metrics")).status).toBe(404);
    await expect(openHttp(createFakeGate(), { token: own, metrics: { tokenSha256: digest(own), contentType: "", text } })).rejects.toThrow("Two tokens of the MCP endpoint are the same");
  });

  test("refuses a method that the endpoint has not, and says which it has", async () => {
    const endpoint = await openHttp(createFakeGate());
    for (const method of ["PUT", "PATCH", "HEAD", "OPTIONS"]) {
      const answer = await fetch(endpoint.url, { method, headers: { authorization: `Bearer ${endpoint.token}` }, ...(method.startsWith("P") ? { body: "{}" } : {}) });
      expect([answer.status, answer.headers.get("allow")], method).toEqual([405, "GET, POST, DELETE"]);
      expect((await fetch(endpoint.url, { method })).status, method).toBe(401);
    }
  });

  test("http-010: refuses a body over the bound, and one that is no JSON", async () => {
    const endpoint = await openHttp(createFakeGate(), { maxBodyBytes: 10_000 });
    const authorization = `Bearer ${endpoint.token}`;
    expect((await post(endpoint, { authorization }, JSON.stringify({ x: "y".repeat(20_000) }))).status).toBe(413);
    expect((await post(endpoint, { authorization }, "{nope")).status).toBe(400);
  });

  test.each([
    ["the head of a request", "POST /mcp HTTP/1.1\r\nHost: localhost\r\n", "X-A: b\r\n"],
    ["its body", "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer TOKEN\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n", "x"],
    ["a body that no token came with", "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n", "x"],
    ["a chunked body", "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer TOKEN\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n"],
    ["nothing at all", "", ""],
  ])("clients that dribble %s are let go, and others are answered meanwhile", { timeout: 60_000 }, async (_what, head, more) => {
    const endpoint = await openHttp(createFakeGate(), { headMs: 300, requestMs: 600 });
    const sockets = Array.from({ length: 20 }, () => connectSocket(endpoint.port, "127.0.0.1"));
    const gone = sockets.map((socket) => new Promise<void>((resolve) => void socket.on("error", () => undefined).once("close", () => resolve())));
    for (const socket of sockets) {
      socket.resume();
      socket.write(head.replace("TOKEN", endpoint.token));
    }
    const dribbling = setInterval(() => sockets.forEach((socket) => socket.writable && more !== "" && socket.write(more)), 50);
    const authorization = `Bearer ${endpoint.token}`;
    expect((await post(endpoint, { authorization, "mcp-session-id": "guess" }, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}')).status).toBe(404);
    await Promise.all(gone);
    clearInterval(dribbling);
    expect((await post(endpoint, { authorization, "mcp-session-id": "guess" }, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}')).status).toBe(404);
  });

  test("more connections than the bound are closed, and those within it are answered again once some have gone", async () => {
    const endpoint = await openHttp(createFakeGate(), { maxConnections: 5, headMs: 60_000 });
    const sockets = Array.from({ length: 5 }, () => connectSocket(endpoint.port, "127.0.0.1"));
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    await expect(post(endpoint, {})).rejects.toThrow();
    for (const socket of sockets) socket.destroy();
    await vi.waitUntil(async () => (await post(endpoint, {}).catch(() => undefined))?.status === 401, { timeout: 20_000 });
  });

  test("mcp-016: an unknown session is 404, and sessions do not pile up", async () => {
    const endpoint = await openHttp(createFakeGate(), { maxSessions: 2 });
    const authorization = `Bearer ${endpoint.token}`;
    const call = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
    expect((await post(endpoint, { authorization, "mcp-session-id": "guess" }, call)).status).toBe(404);
    expect((await post(endpoint, { authorization }, call)).status).toBe(400);
    const initialize = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "c", version: "1" } } });
    const ids = [];
    for (let count = 0; count < 3; count++) ids.push(String((await post(endpoint, { authorization }, initialize)).headers["mcp-session-id"]));
    const statuses = await Promise.all(ids.map(async (id) => (await post(endpoint, { authorization, "mcp-session-id": id, "mcp-protocol-version": "2025-06-18" }, call)).status));
    expect(statuses).toEqual([404, 200, 200]);
  });

  test("refuses a short token and names a port that is taken", async () => {
    await expect(openHttp(createFakeGate(), { token: "short" })).rejects.toMatchObject({ code: "USAGE" });
    await expect(openHttp(createFakeGate(), { port: 99_999 })).rejects.toMatchObject({ code: "USAGE" });
    const first = await openHttp(createFakeGate());
    await expect(openHttp(createFakeGate(), { port: first.port })).rejects.toThrow(/is taken/);
  });
});
