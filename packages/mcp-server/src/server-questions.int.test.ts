import type { Gate, ServerAnswer, ServerQuestion, ToolContext } from "@callgate/contract";
import { defineTool, functionSource } from "@callgate/runtime/source";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, describe, expect, test } from "vitest";
import { createClientAsker } from "./client-asker.ts";
import type { ClientAsker } from "./client-asker.ts";
import { createRealGate } from "./fixtures/real-gate.ts";
import { createMcpServer } from "./mcp-server.ts";
import type { McpGateServer } from "./mcp-server.ts";

const open: { gate?: Gate; server?: McpGateServer; clients: Client[] } = { clients: [] };
afterEach(async () => {
  for (const client of open.clients.splice(0)) await client.close();
  await open.server?.close();
  await open.gate?.close();
});

const schema = { type: "object", properties: { branch: { type: "string" } }, required: ["branch"] };

interface World {
  readonly era: "legacy" | "modern";
  /** What the person says; absent: the client has no forms. */
  readonly says?: (message: string) => { readonly action: "accept" | "decline" | "cancel"; readonly content?: Record<string, string> };
  readonly passThrough?: string;
  readonly patienceMs?: number;
}

/** A client in front of a gate with a tool that asks as an MCP server does. */
async function world({ era, says, passThrough, patienceMs }: World) {
  const asker = createClientAsker(patienceMs);
  const answers: ServerAnswer[] = [];
  const ask = async (message: string, context: ToolContext): Promise<ServerAnswer> => {
    const question: ServerQuestion = { namespace: "git", tool: "checkout", calls: [context], kind: "form", message, schema };
    const answer = await (context.waitForPerson?.(() => asker.ask(question, context.signal)) ?? asker.ask(question, context.signal));
    answers.push(answer);
    return answer;
  };
  const checkout = defineTool({ name: "checkout", description: "Checks out", input: { type: "object", properties: { repo: { type: "string" } } }, effect: "read", handler: async (args, context) => {
    const answer = await ask(`Which branch of ${(args as { repo: string }).repo}?\nType "approve"`, context);
    const said = answer.kind === "given" ? JSON.stringify(answer.values["branch"]) : answer.kind;
    return passThrough === undefined ? { branch: said } : { content: [{ type: "text", text: said }] };
  } });
  const gate = await createRealGate([functionSource({ namespace: "git", tools: [checkout] })]);
  const server = createMcpServer({ gate, version: "1", asker, ...(passThrough === undefined ? {} : { passThrough }) });
  const { url, token } = await server.serveHttp();
  const asked: string[] = [];
  Object.assign(open, { gate, server });
  const connect = async (): Promise<Client> => {
    const client = new Client({ name: "Desk", version: "1" }, { ...(says === undefined ? {} : { capabilities: { elicitation: { form: {} } } }), versionNegotiation: { mode: era === "modern" ? { pin: "2026-07-28" } : "legacy" } });
    if (says !== undefined) client.setRequestHandler("elicitation/create", ({ params }) => { asked.push(params.message); return says(params.message); });
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: `Bearer ${token}` } } }));
    open.clients.push(client);
    return client;
  };
  return { gate, asker, asked, answers, connect, client: await connect() };
}

const branchOf = (message: string) => ({ action: "accept" as const, content: { branch: `main-of-${/branch of (\w+)/.exec(message)?.[1] ?? "none"}` } });

describe.each(["legacy", "modern"] as const)("questions of servers behind, to a client of the %s era", (era) => {
  test("mcp-006: the person answers in the client, sees on every line whose question it is, and the program goes on with the answer", async () => {
    const { client, asked, gate } = await world({ era, says: branchOf });
    const result = await client.callTool({ name: "execute_code", arguments: { code: `const first = await tools.git.checkout({ repo: "a" }); return [first, ...await Promise.all(["b", "c"].map((repo) => tools.git.checkout({ repo })))]` } });
    expect(result.structuredContent).toMatchObject({ status: "completed", value: ["a", "b", "c"].map((repo) => ({ branch: `"main-of-${repo}"` })) });
    expect(asked.toSorted()).toHaveLength(3);
    for (const message of asked) expect(message).toMatch(/^The MCP server "git" asks you for its tool checkout\. Callgate does not ask this: your answer goes to that server, and permits nothing\.\ngit \| Which branch of \w\?\ngit \| Type "approve"$/);
    expect((await gate.runs.list()).map(({ status }) => status)).toEqual(["completed"]);
    const direct = await client.callTool({ name: "call_tool", arguments: { name: "git.checkout", arguments: { repo: "d" } } });
    expect(direct.structuredContent).toMatchObject({ outcome: "ok", value: { branch: `"main-of-d"` } });
  });

  test("what a person declines or closes is told to the server as that", async () => {
    const { client, answers } = await world({ era, says: (message) => ({ action: message.includes("of a?") ? "decline" : "cancel" }) });
    for (const repo of ["a", "b"]) await client.callTool({ name: "call_tool", arguments: { name: "git.checkout", arguments: { repo } } });
    expect(answers).toEqual([{ kind: "declined" }, { kind: "cancelled" }]);
  });

  test("a server that is handed on unchanged asks in its own words", async () => {
    const { client, asked } = await world({ era, says: branchOf, passThrough: "git" });
    expect(await client.callTool({ name: "checkout", arguments: { repo: "a" } })).toMatchObject({ content: [{ type: "text", text: `"main-of-a"` }] });
    expect(asked).toEqual(['Which branch of a?\nType "approve"']);
  });

  test("where the client has no forms the server is refused, with the reason", async () => {
    const { client } = await world({ era });
    const result = await client.callTool({ name: "call_tool", arguments: { name: "git.checkout", arguments: { repo: "a" } } });
    expect(JSON.stringify(result)).toContain("the client cannot ask the person: it has no forms");
  });
});

test("a client of the newer era that does not come back leaves the question closed, the work goes on, and its end is there for a while", async () => {
  const { client, answers } = await world({ era: "modern", says: branchOf, patienceMs: 50 });
  const params = { name: "call_tool", arguments: { name: "git.checkout", arguments: { repo: "a" } } };
  const asked = (await client.request({ method: "tools/call", params }, { allowInputRequired: true } as never)) as unknown as { readonly requestState: string };
  await expect.poll(() => answers).toEqual([{ kind: "cancelled" }]);
  const late = (await client.request({ method: "tools/call", params: { ...params, requestState: asked.requestState } as never })) as { readonly structuredContent?: unknown };
  expect(late.structuredContent).toMatchObject({ value: { branch: "cancelled" } });
  await expect(client.request({ method: "tools/call", params: { ...params, requestState: asked.requestState } as never })).rejects.toThrow("is over");
});

test("mcp-005: a question that may be of several requests is put to none of them, nor one of a call that belongs to no request", async () => {
  const asker: ClientAsker = createClientAsker();
  const { gate } = await world({ era: "modern", says: branchOf });
  const base = { namespace: "git", tool: undefined, kind: "form", message: "Which?", schema } as const;
  const calls = ["one", "two"].map((runId) => ({ runId, callId: "1", principal: gate.principal }));
  for (const runId of ["one", "two"]) asker.hold({ gate, principal: { ...gate.principal }, modes: { form: true, url: false }, runId, start: () => new Promise(() => undefined) });
  await expect(asker.ask({ ...base, calls }, new AbortController().signal)).rejects.toThrow("several requests");
  await expect(asker.ask({ ...base, calls: [{ runId: "three", callId: "1", principal: gate.principal }] }, new AbortController().signal)).rejects.toThrow("no request");
});
