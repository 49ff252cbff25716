// A stdio MCP server that misbehaves on request; speaks the `initialize` era. argv[2] is how it starts:
//   ok | pages | malformed | loop | garbage | hang | die | die-on-probe | stubborn | modern
// No SDK: what it sends must be able to be wrong.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const mode = process.argv[2] ?? "ok";
const write = (text) => process.stdout.write(`${text}\n`);
const send = (message) => write(JSON.stringify({ jsonrpc: "2.0", ...message }));
const text = (value) => ({ content: [{ type: "text", text: value }] });
const tool = (name, more = {}) => ({ name, description: `Does ${name}`, inputSchema: { type: "object" }, ...more });

const tools = [
  tool("echo", { annotations: { readOnlyHint: true }, outputSchema: { type: "object", properties: { got: {} } } }),
  tool("write_it", { annotations: { destructiveHint: true } }),
  ...["fail_coded", "fail_text", "refuse", "png", "int64", "die", "hang", "cancelled", "env", "ask", "grandchild", "storm", "progress", "huge", "flood_stderr", "twice", "odd"].map((name) => tool(name)),
];
const pages = { first: [tools.slice(0, 2), "p2"], p2: [tools.slice(2, 4), "p3"], p3: [tools.slice(4), undefined] };
const cancelled = [];
const answers = new Map();
let asked = 0;

const handlers = {
  echo: (id, args) => answer(id, { structuredContent: { got: args }, content: [{ type: "text", text: JSON.stringify({ got: args }) }] }),
  write_it: (id) => answer(id, text("written")),
  fail_coded: (id) => answer(id, { isError: true, structuredContent: { code: "NO_SUCH_DOC", message: "There is no such document" }, content: [] }),
  fail_text: (id) => answer(id, { isError: true, ...text("it went wrong") }),
  refuse: (id) => send({ id, error: { code: -32602, message: "missing: document_id" } }),
  png: (id) => answer(id, { content: [{ type: "image", mimeType: "image/png", data: Buffer.alloc(5 * 1024 * 1024, 137).toString("base64") }] }),
  // Written by hand: JSON.stringify cannot write these digits.
  int64: (id, args, raw) => write(`{"jsonrpc":"2.0","id":${id},"result":{"structuredContent":{"id":1234567890123456789,"same":${/1234567890123456789/.test(raw)}},"content":[]}}`),
  die: () => {
    process.stderr.write("fatal: the disk is on fire\n");
    process.exit(7);
  },
  hang: () => undefined,
  cancelled: (id) => answer(id, text(JSON.stringify(cancelled))),
  env: (id) => answer(id, { structuredContent: { ...process.env }, content: [] }),
  ask: (id) => {
    for (const method of ["elicitation/create", "sampling/createMessage"]) {
      answers.set(`q${++asked}`, (message) => {
        const got = [...(answers.get(id) ?? []), message.error?.message ?? "answered"];
        answers.set(id, got);
        if (got.length === 2) answer(id, { structuredContent: { answers: got }, content: [] });
      });
      send({ id: `q${asked}`, method, params: { message: "Your password?", requestedSchema: { type: "object", properties: {} }, messages: [], maxTokens: 1 } });
    }
  },
  grandchild: (id) => {
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" });
    answer(id, { structuredContent: { pid: child.pid }, content: [] });
  },
  storm: (id) => {
    for (let n = 0; n < 10_000; n++) send({ method: "notifications/tools/list_changed" });
    answer(id, text("sent"));
  },
  progress: (id, args, raw, meta) => {
    send({ method: "notifications/progress", params: { progressToken: meta.progressToken, progress: 1, total: 4, message: "one of four" } });
    for (let n = 0; n < 5_000; n++) send({ method: "notifications/progress", params: { progressToken: meta.progressToken, progress: 2, total: 4 } });
    answer(id, text("done"));
  },
  huge: (id, args) => answer(id, text("x".repeat(args.bytes))),
  flood_stderr: (id) => {
    for (let n = 0; n < 200; n++) process.stderr.write(`${"noise ".repeat(4000)}\n`);
    process.stderr.write("last words\n");
    answer(id, text("flooded"));
  },
  twice: (id) => {
    answer(id, text("first"));
    answer(id, text("second"));
    answer(99_999, text("nobody asked"));
  },
  odd: (id) => answer(id, { content: [{ type: "hologram", data: 7 }, 3] }),
};

function answer(id, result) {
  send({ id, result: mode === "modern" ? { resultType: "complete", ...result } : result });
}

function listTools(id, cursor) {
  if (mode === "pages") {
    const [part, nextCursor] = pages[cursor ?? "first"];
    return answer(id, { tools: part, ...(nextCursor ? { nextCursor } : {}) });
  }
  if (mode === "loop") return answer(id, { tools: [tool("echo")], nextCursor: "again" });
  const bad = [{ name: "no_type", inputSchema: { properties: {} } }, { description: "no name" }, null, tool("echo", { description: "twice" }), { name: "no_schema" }];
  return answer(id, { tools: mode === "malformed" || mode === "modern" ? [...tools, ...bad] : tools });
}

const serverInfo = { name: "scripted", title: "Scripted server", version: "1.0.0" };
const capabilities = { tools: { listChanged: mode !== "modern" }, resources: {}, prompts: {} };

function onMessage(message, raw) {
  const { id, method, params } = message;
  if (method === undefined) return answers.get(id)?.(message);
  if (method === "notifications/cancelled") return void cancelled.push(params.reason);
  if (mode === "die-on-probe" && method === "server/discover") process.exit(1);
  if (mode === "hang") return undefined;
  if (mode === "modern" && method === "server/discover") return answer(id, { supportedVersions: ["2026-07-28"], capabilities, instructions: "Misbehaves on request. Not for use.", ttlMs: 0, cacheScope: "private", _meta: { "io.modelcontextprotocol/serverInfo": serverInfo } });
  if (method === "initialize") return answer(id, { protocolVersion: params.protocolVersion, capabilities, serverInfo, instructions: "Misbehaves on request. Not for use." });
  if (method === "tools/list") return listTools(id, params?.cursor);
  if (method === "tools/call") return handlers[params.name](id, params.arguments, raw, params._meta ?? {});
  if (method === "resources/list") return answer(id, { resources: [{ uri: "mem://a", name: "a", mimeType: "text/plain" }, { name: "no uri" }] });
  if (method === "resources/templates/list") return answer(id, { resourceTemplates: [{ uriTemplate: "mem://{x}", name: "t" }] });
  if (method === "resources/read") return answer(id, { contents: [{ uri: params.uri, mimeType: "text/plain", text: "hello" }, { uri: params.uri, blob: "AQID" }] });
  if (method === "prompts/list") return answer(id, { prompts: [{ name: "greet", arguments: [{ name: "who", required: true }] }] });
  if (method === "prompts/get") return answer(id, { messages: [{ role: "user", content: { type: "text", text: `Hello ${params.arguments.who}` } }] });
  return id === undefined ? undefined : send({ id, error: { code: -32601, message: "Method not found" } });
}

if (mode === "die") {
  process.stderr.write("Error: API_KEY is not set (got key-123456)\n");
  process.exit(3);
}
if (mode === "stubborn") process.on("SIGTERM", () => undefined), setInterval(() => undefined, 1000);
if (mode === "garbage") for (let n = 0; n < 500; n++) write(n % 2 ? `Listening on port ${n}` : '{"not":"rpc"}');
createInterface({ input: process.stdin }).on("line", (line) => onMessage(JSON.parse(line), line));
