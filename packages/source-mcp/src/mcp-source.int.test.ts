import { fileURLToPath } from "node:url";
import type { ServerAnswer, ServerQuestion, Source, SourceNotice, ToolContext } from "@callgate/contract";
import { CallgateError, localPrincipal, SourceReturn, ToolError } from "@callgate/contract";
import { afterEach, describe, expect, test, vi } from "vitest";
import { agentGate } from "../../agent/src/fixtures/agent-gate.ts";
import { createMcpSource } from "./mcp-source.ts";
import type { McpSourceOptions } from "./mcp-source.ts";

const script = fileURLToPath(new URL("./fixtures/scripted-server.mjs", import.meta.url));
const open: Source[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((source) => source.close()));
});

function scripted(mode: string, more: Partial<McpSourceOptions> = {}): Source {
  const source = createMcpSource({ namespace: "scripted", command: process.execPath, args: [script, mode], ...more });
  open.push(source);
  return source;
}

interface Seen {
  readonly context: ToolContext;
  readonly progress: [string, number | undefined][];
}

function watched(signal: AbortSignal = AbortSignal.timeout(20_000)): Seen {
  const progress: [string, number | undefined][] = [];
  const log = (): void => undefined;
  const context: ToolContext = {
    signal,
    principal: localPrincipal,
    runId: "run_1",
    callId: "call_1",
    idempotencyKey: "key_1",
    log: { debug: log, info: log, warn: log, error: log },
    progress: (message, fraction) => void progress.push([message, fraction]),
    reportCost: () => undefined, attach: () => Promise.reject(new Error("not used")),
  };
  return { context, progress };
}

const call = (source: Source, name: string, args: unknown = {}): Promise<unknown> => source.call(name, args, watched().context);
const signal = (): AbortSignal => AbortSignal.timeout(20_000);

async function toolError(promise: Promise<unknown>): Promise<ToolError> {
  const error = await promise.then((value) => Promise.reject(new Error(`resolved: ${JSON.stringify(value)}`)), (reason: unknown) => reason);
  expect(ToolError.is(error), String(error)).toBe(true);
  return error as ToolError;
}

async function listError(source: Source): Promise<CallgateError> {
  const error = await source.list(signal()).then(() => undefined, (reason: unknown) => reason);
  expect(CallgateError.is(error), String(error)).toBe(true);
  return error as CallgateError;
}

const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe("createMcpSource: list", () => {
  test("starts nothing before the first use, then lists with effects as claims", async () => {
    const source = scripted("ok");
    expect(source.state).toEqual({ kind: "connecting" });
    const { tools, problems } = await source.list(signal());
    expect(problems).toEqual([]);
    expect(tools.slice(0, 3).map(({ tool, claimed }) => [tool.name, tool.effect, claimed])).toEqual([
      ["echo", "read", true],
      ["write_it", "destructive", true],
      ["fail_coded", "write", true],
    ]);
    expect(source.state).toEqual({ kind: "ready" });
    expect(source.purpose).toBe("Misbehaves on request.");
  });

  test("code-mode 15: follows every page", async () => {
    const all = await scripted("ok").list(signal());
    const paged = await scripted("pages").list(signal());
    expect(paged.tools.map(({ tool }) => tool.name)).toEqual(all.tools.map(({ tool }) => tool.name));
  });

  test.each(["malformed", "modern"])("reports malformed tools and keeps the rest (%s)", async (mode) => {
    const source = scripted(mode);
    const { tools, problems } = await source.list(signal());
    expect(tools).toHaveLength(21);
    expect(problems.map((problem) => problem.tool)).toEqual(["wrong_type", undefined, undefined, "echo", "no_schema"]);
    expect(problems[0]?.message).toContain('must have "type": "object"');
    expect(await call(source, "echo", { a: 1 })).toEqual({ got: { a: 1 } });
  });

  test("mcp-004: ends a cursor that comes back, and makes one change of ten thousand", async () => {
    expect((await scripted("loop").list(signal())).problems[0]?.message).toContain("repeats the page cursor");
    const source = scripted("ok");
    await source.list(signal());
    let changes = 0;
    source.onChange(() => void changes++);
    await call(source, "storm");
    await vi.waitFor(() => expect(changes).toBeGreaterThan(0), 3_000);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(changes).toBeLessThan(20);
  });
});

describe("createMcpSource: call", () => {
  test("gives values by the one rule, without doubling text and structured content", async () => {
    const source = scripted("ok");
    expect(await call(source, "echo", { n: 1 })).toEqual({ got: { n: 1 } });
    expect(await call(source, "write_it")).toBe("written");
    expect(await call(source, "odd")).toEqual({ content: [{ type: "hologram", data: 7 }, 3] });
  });

  test("agent-and-executor 74: a call has a minute where nothing is said, and what is said holds: a server that hangs is given up then", async () => {
    const deadlines = async (source: Source) => new Set((await source.list(signal())).tools.map(({ tool }) => tool.timeoutMs));
    expect(await deadlines(scripted("ok"))).toEqual(new Set([60_000]));
    const short = scripted("ok", { callTimeoutMs: 300 });
    expect(await deadlines(short)).toEqual(new Set([300]));
    await using world = await agentGate({}, { sources: [short] });
    const { outcome } = await world.gate.call("scripted.hang", {});
    expect(outcome).toMatchObject({ kind: "timed_out", error: { code: "TOOL_TIMEOUT", message: expect.stringContaining("300 ms") as string } });
    expect((await world.gate.call("scripted.echo", {})).outcome.kind).toBe("ok");
  });

  test("code-mode 13, out-009: a 19-digit id comes and goes unchanged", async () => {
    expect(await call(scripted("ok"), "int64", { id: 1234567890123456789n })).toEqual({ id: 1234567890123456789n, same: true });
  });

  test("code-mode 13: a 5 MB PNG becomes an artifact, its bytes intact", async () => {
    const returned = await call(scripted("ok"), "png");
    const { value, artifacts } = SourceReturn.is(returned) ? returned : new SourceReturn(undefined, []);
    expect(value).toEqual({ content: [{ type: "image", artifact: "png-1.png", mimeType: "image/png", sizeBytes: 5 * 1024 * 1024 }] });
    expect(artifacts[0]?.mimeType).toBe("image/png");
    expect(Buffer.compare(artifacts[0]?.bytes ?? Buffer.alloc(0), Buffer.alloc(5 * 1024 * 1024, 137))).toBe(0);
  });

  test("throws tool errors with the server's code, or TOOL_FAILED", async () => {
    const source = scripted("ok");
    const coded = await toolError(call(source, "fail_coded"));
    expect([coded.code, coded.message]).toEqual(["NO_SUCH_DOC", "There is no such document"]);
    expect((await toolError(call(source, "fail_text"))).message).toBe("it went wrong");
    const refused = await toolError(call(source, "refuse"));
    expect([refused.code, refused.details]).toEqual(["INVALID_PARAMS", { jsonRpcCode: -32602 }]);
    expect(refused.message).toContain("document_id");
  });

  test("mcp-014: abort ends the call at once and the server is told; an answer that comes twice is dropped", async () => {
    const source = scripted("ok");
    const controller = new AbortController();
    const pending = toolError(source.call("hang", {}, watched(controller.signal).context));
    await call(source, "echo");
    controller.abort(new Error("deadline"));
    expect((await pending).code).toBe("CANCELLED");
    await vi.waitFor(async () => expect(await call(source, "cancelled")).toEqual([expect.stringContaining("deadline")]));
    expect(await call(source, "twice")).toBe("first");
    expect(await call(source, "write_it")).toBe("written");
  });

  test("passes progress on, and does not let a flood through", async () => {
    const { context, progress } = watched();
    expect(await scripted("ok").call("progress", {}, context)).toBe("done");
    expect(progress[0]).toEqual(["one of four", 0.25]);
    expect(progress.length).toBeLessThan(100);
  });

  test("an answer over the bound fails its own call only", async () => {
    const source = scripted("ok", { maxMessageBytes: 1024 * 1024 });
    const other = call(source, "huge", { bytes: 1000 });
    const error = await toolError(call(source, "huge", { bytes: 3 * 1024 * 1024 }));
    expect(error.code).toBe("VALUE_TOO_LARGE");
    expect(await other).toHaveLength(1000);
  });

  test("mcp-006: refuses elicitation and sampling", async () => {
    const { answers } = (await call(scripted("ok"), "ask")) as { answers: string[] };
    expect(answers).toHaveLength(2);
    for (const answer of answers) expect(answer).toContain("Callgate does not answer");
  });

  const form = { mode: "form", message: "Which branch?", requestedSchema: { type: "object", properties: { branch: { type: "string" } }, required: ["branch"] } };

  test.each(["ok", "modern"])("a question is passed on where somebody asks, with whose it is, and its answer goes back (%s)", async (mode) => {
    const asked: ServerQuestion[] = [];
    const answers: ServerAnswer[] = [{ kind: "given", values: { branch: "main" } }, { kind: "declined" }, { kind: "cancelled" }];
    const source = scripted(mode, { ask: (question) => { asked.push(question); return Promise.resolve(answers.shift() ?? { kind: "cancelled" }); } });
    expect(await call(source, "ask", { question: form })).toMatchObject({ answered: { action: "accept", content: { branch: "main" }, ...(mode === "modern" ? { state: "state-1" } : {}) } });
    expect(asked).toEqual([{ namespace: "scripted", tool: "ask", calls: [expect.objectContaining({ callId: expect.any(String) as string })], kind: "form", message: "Which branch?", schema: form.requestedSchema }]);
    expect(await call(source, "ask", { question: form })).toMatchObject({ answered: { action: "decline" } });
    const page = { mode: "url", message: "Sign in", url: "https://sign.example/in", elicitationId: "e1" };
    expect(await call(source, "ask", { question: page })).toMatchObject({ answered: { action: "cancel" } });
    expect(asked.at(-1)).toEqual({ namespace: "scripted", tool: "ask", calls: [expect.objectContaining({ callId: expect.any(String) as string })], kind: "url", message: "Sign in", url: "https://sign.example/in" });
  });

  test("mcp-006: with somebody to ask, sampling is refused all the same, and so is a page that is no page", async () => {
    const asked: ServerQuestion[] = [];
    const source = scripted("ok", { ask: (question) => { asked.push(question); return Promise.resolve({ kind: "declined" }); } });
    const { answers } = (await call(source, "ask")) as { answers: string[] };
    expect(answers.toSorted()).toEqual([expect.stringContaining("Callgate does not answer sampling"), "answered"]);
    expect(await call(source, "ask", { question: { mode: "url", message: "x", url: "javascript:alert(1)", elicitationId: "e1" } })).toMatchObject({ answered: expect.any(String) as string });
    expect(asked).toHaveLength(1);
  });

  test("a call that is given up takes its question away, and without anybody to ask the newer revision's is INPUT_REQUIRED", async () => {
    const gaveUp = new AbortController();
    const taken = Promise.withResolvers<void>();
    const source = scripted("ok", { ask: (_question, ended) => new Promise((_resolve, reject) => { ended.addEventListener("abort", () => { taken.resolve(); reject(new Error("given up")); }); gaveUp.abort(new Error("enough")); }) });
    await expect(source.call("ask", { question: form }, watched(gaveUp.signal).context)).rejects.toBeDefined();
    await taken.promise;
    expect((await toolError(call(scripted("modern"), "ask", { question: form }))).code).toBe("INPUT_REQUIRED");
  });

  test("mcp-009: the process sees its configured variables and none of the host's secrets", async () => {
    const hostEnv = { ...process.env, OTHER_SERVERS_TOKEN: "s3cret", PATH: process.env["PATH"] };
    const env = await call(scripted("ok", { env: { MINE: "yes" }, hostEnv }), "env");
    expect(env).toMatchObject({ MINE: "yes", PATH: process.env["PATH"] });
    expect(env).not.toHaveProperty("OTHER_SERVERS_TOKEN");
  });
});

describe("createMcpSource: death and trouble", () => {
  test("agent-and-executor 73: a server that dies mid-call fails that call as SOURCE_UNAVAILABLE and is started again at the next use", async () => {
    const source = scripted("ok");
    await source.list(signal());
    const error = await toolError(call(source, "die"));
    expect([error.code, error.retryable, error.notApplied]).toEqual(["SOURCE_UNAVAILABLE", false, false]);
    expect(error.message).toContain("exit code 7");
    // What that means for the effect the gate says, of every tool alike.
    expect(source.state.kind).toBe("down");
    expect(await call(source, "write_it")).toBe("written");
    expect(source.state).toEqual({ kind: "ready" });
  });

  test("waits between starts of a server that keeps dying", async () => {
    let nowMs = 0;
    const source = scripted("die", { now: () => nowMs });
    await listError(source);
    const early = await toolError(call(source, "echo"));
    expect([early.code, early.notApplied, early.retryable]).toEqual(["SOURCE_UNAVAILABLE", true, true]);
    expect(early.message).toContain("tried again in 1 s");
    nowMs = 600;
    expect((await listError(source)).message).toContain("exit code 3");
  });

  test("agent-and-executor 72: a missing command is named, with what to do", async () => {
    const error = await listError(createMcpSource({ namespace: "gone", command: "no-such-mcp-server", args: ["--port", "1"] }));
    expect(error.code).toBe("SOURCE_FAILED");
    expect(error.message).toMatch(/"gone" could not be started: the command was not found/);
    expect(error.message).toContain("no-such-mcp-server --port 1");
    expect(error.message).toContain("To fix");
  });

  test("a server that dies at start is quoted, without the configured secret", async () => {
    const error = await listError(scripted("die", { env: { API_KEY: "key-123456" } }));
    expect(error.message).toContain("exit code 3");
    expect(error.message).toContain("API_KEY is not set (got [secret])");
    expect(error.message).not.toContain("key-123456");
  });

  test("a server that never answers times out by its own limit and is gone", async () => {
    const source = scripted("hang", { connectTimeoutMs: 700 });
    const error = await listError(source);
    expect(error.message).toContain("within 0.7 s");
    expect(source.state.kind).toBe("down");
  });

  test("a server that dies of the newer protocol's first question is asked the older way", async () => {
    expect(await call(scripted("die-on-probe"), "write_it")).toBe("written");
  });

  test("garbage on stdout is skipped; megabytes on stderr stay bounded", async () => {
    const source = scripted("garbage");
    expect(await call(source, "flood_stderr")).toBe("flooded");
    expect(await call(source, "write_it")).toBe("written");
  });

  test.each([
    ["is cut off", '{"jsonrpc":"2.0","id":ID,"result":{"content":[', "It is not JSON"],
    ["has control characters in it", '{"jsonrpc":"2.0","id":ID,"result":{"content":"\u001b[2J\u009b\u202e"}}', "It is not JSON"],
    ["has no version", '{"id":ID,"result":{}}', 'It has no "jsonrpc": "2.0"'],
    ["has another version", '{"jsonrpc":"1.0","id":ID,"result":{}}', 'It has no "jsonrpc": "2.0"'],
    ["has its id as a text", '{"jsonrpc":"2.0","id":"ID","result":{}}', "Its id is not the one that was sent"],
    ["has no id", '{"jsonrpc":"2.0","result":{}}', "It does not say which request it answers"],
    ["has the id null", '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}', "It does not say which request it answers"],
    ["has neither result nor error", '{"jsonrpc":"2.0","id":ID}', "It has neither a result nor an error"],
    ["has a result that is a text", '{"jsonrpc":"2.0","id":ID,"result":"fine"}', "Its result is no object"],
    ["has an error that is a text", '{"jsonrpc":"2.0","id":ID,"error":"bad"}', "Its error is no object with a code and a message"],
    ["is a list", '[{"jsonrpc":"2.0","id":ID,"result":{"content":[]}}]', "It is a list of messages"],
    ["has a result without content", '{"jsonrpc":"2.0","id":ID,"result":{"contents":[]}}', "It has neither structuredContent nor a list of content"],
    ["has content that is a text", '{"jsonrpc":"2.0","id":ID,"result":{"content":"fine"}}', "It has neither structuredContent nor a list of content"],
  ])("an answer that %s fails its call at once, says what was received, and counts in the source's health", async (_what, text, fault) => {
    const source = scripted("ok");
    const error = await toolError(call(source, "broken", { text }));
    expect(error).toMatchObject({ code: "MALFORMED_ANSWER", notApplied: false, message: expect.stringContaining(fault) });
    expect(error.message).toContain(`Received: "${text.includes("contents") || text.includes('"content":"fine"') ? "{" : text.slice(0, 1)}`);
    expect(error.message).not.toMatch(/[\p{Cc}\u202e]/u);
    if (!fault.includes("structuredContent")) expect(source.state).toMatchObject({ kind: "degraded", reason: expect.stringMatching(/^1 of its answers could not be read as JSON-RPC\. The last: It/) });
    expect(await call(source, "write_it")).toBe("written");
  });

  test("what a server logs on stdout is put down to no call, nor an answer that comes late, nor one to another request", async () => {
    const source = scripted("ok");
    for (const text of ['{"level":30,"id":ID,"msg":"starting"}', '{"level":50,"msg":"no"}', "id: ID", "{ id: ID"]) {
      const given = new AbortController();
      const pending = toolError(source.call("broken", { text }, watched(given.signal).context));
      expect(await call(source, "echo", { n: 1 })).toEqual({ got: { n: 1 } });
      given.abort(new Error("enough"));
      expect(await pending).toMatchObject({ code: "CANCELLED" });
    }
    // Two are under way: nobody can tell whose it is.
    const given = new AbortController();
    const hanging = toolError(source.call("hang", {}, watched(given.signal).context));
    const broken = toolError(source.call("broken", { text: '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}' }, watched(given.signal).context));
    expect(await call(source, "write_it")).toBe("written");
    given.abort(new Error("enough"));
    expect([(await hanging).code, (await broken).code]).toEqual(["CANCELLED", "CANCELLED"]);
    expect(source.state).toEqual({ kind: "ready" });
  });

  test("an answer to a request that was never sent fails no call, and is told with the source", async () => {
    const source = scripted("ok");
    const given = new AbortController();
    const pending = toolError(source.call("broken", { text: '{"jsonrpc":"2.0","id":987654,"result":{"content":[]}}' }, watched(given.signal).context));
    await vi.waitUntil(() => source.state.kind === "degraded", { timeout: 20_000 });
    expect(source.state).toMatchObject({ reason: expect.stringContaining('It answers the request "987654", which was never sent. Received: "{') });
    given.abort(new Error("enough"));
    expect((await pending).code).toBe("CANCELLED");
  });

  test("a list of tools that is none fails the listing, with what was received", async () => {
    expect((await listError(scripted("no-list"))).message).toContain('could not list its tools (Page 1 of tools has no list; 0 items of earlier pages are used. Received: "{\\"tools\\":\\"soon\\"}")');
  });

  test("close fails calls under way, and ends a stubborn server and what it started", async () => {
    const source = scripted("stubborn", { stopGraceMs: 200 });
    const { pid } = (await call(source, "grandchild")) as { pid: number };
    expect(alive(pid)).toBe(true);
    const pending = toolError(call(source, "hang"));
    await source.close();
    await source.close();
    expect((await pending).code).toBe("SOURCE_UNAVAILABLE");
    await vi.waitFor(() => expect(alive(pid)).toBe(false), 3_000);
    expect((await toolError(call(source, "echo"))).code).toBe("SOURCE_UNAVAILABLE");
  });

  test("close while it is still starting does not wait for the handshake", async () => {
    const source = scripted("hang", { connectTimeoutMs: 20_000, stopGraceMs: 200 });
    const listing = source.list(signal()).catch((error: unknown) => error);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await source.close();
    expect(CallgateError.is(await listing)).toBe(true);
  });
});

describe("createMcpSource: pass-through", () => {
  test("lists and reads resources, templates and prompts", async () => {
    const source = scripted("ok");
    const through = source.passThrough;
    expect(await through?.listResources(signal())).toEqual([{ uri: "mem://a", name: "a", mimeType: "text/plain" }]);
    expect(await through?.listResourceTemplates(signal())).toEqual([{ uriTemplate: "mem://{x}", name: "t" }]);
    expect(await through?.readResource("mem://a", signal())).toEqual([
      { uri: "mem://a", mimeType: "text/plain", content: { kind: "text", text: "hello" } },
      { uri: "mem://a", content: { kind: "bytes", bytes: Buffer.from([1, 2, 3]) } },
    ]);
    expect(await through?.listPrompts(signal())).toEqual([{ name: "greet", arguments: [{ name: "who", required: true }] }]);
    expect(await through?.getPrompt("greet", { who: "you" }, signal())).toEqual([{ role: "user", content: { type: "text", text: "Hello you" } }]);
  });

  test("log messages and changes of resources are told to who listens, as asked for, also after the server died and was started again", async () => {
    const source = scripted("ok");
    const notices = source.passThrough?.notices;
    const told: SourceNotice[] = [];
    notices?.listen((notice) => told.push(notice));
    await notices?.setLogLevel("info", signal());
    await notices?.subscribe("mem://a", signal());
    const warning = { kind: "log", level: "warning", logger: "disk", data: { full: true, level: "info" } };
    await call(source, "say");
    expect(told.splice(0)).toEqual([warning, { kind: "resource-updated", uri: "mem://a" }]);
    await toolError(call(source, "die"));
    await vi.waitFor(async () => { await call(source, "say"); expect(told.splice(0)).toEqual([warning, { kind: "resource-updated", uri: "mem://a" }]); }, { timeout: 20_000, interval: 200 });
    await notices?.unsubscribe("mem://a");
    await call(source, "say");
    expect(told).toEqual([warning]);
  });
});
