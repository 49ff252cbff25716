import type { Gate, RunResult } from "@callgate/contract";
import { keepingApprover } from "@callgate/runtime/broker";
import { defineTool, functionSource } from "@callgate/runtime/source";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createRealGate } from "./fixtures/real-gate.ts";
import { createMcpServer } from "./mcp-server.ts";
import type { McpGateServer } from "./mcp-server.ts";

/** Three reasons to ask: a write that no rule is about, a rule about a read, and what destroys. */
const names = ["write", "look", "drop"] as const;
const effects = { write: "write", look: "read", drop: "destructive" } as const;
const rules = [{ ask: "bank.look" }, { allow: "bank.balance" }];

describe.each(["legacy", "modern"] as const)("what needs an approval, from an MCP client of the %s era and from everywhere else", (era) => {
  let performed: string[] = [];
  let gate: Gate;
  let server: McpGateServer;
  let client: Client;

  beforeAll(async () => {
    const asking = names.map((name) => defineTool({ name, description: `Does ${name}`, effect: effects[name], input: { type: "object" }, handler: () => { performed.push(name); return "done"; } }));
    const balance = defineTool({ name: "balance", description: "Reads", effect: "read", input: { type: "object" }, handler: () => 7 });
    gate = await createRealGate([functionSource({ namespace: "bank", tools: [...asking, balance] })], rules, { approver: keepingApprover(), defaults: { suspendAfterMs: 0 } });
    server = createMcpServer({ gate, version: "1.0.0" });
    client = new Client({ name: "it", version: "1" }, { versionNegotiation: { mode: era === "modern" ? { pin: "2026-07-28" } : "legacy" } });
    const { url, token } = await server.serveHttp();
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: `Bearer ${token}` } } }));
  });
  afterAll(async () => {
    await client.close();
    await server.close();
    await gate.close();
  });
  beforeEach(() => {
    performed = [];
  });

  const callers: Readonly<Record<string, (tool: string) => Promise<unknown>>> = {
    // It waits for an answer as long as its caller does.
    "a direct call": async (tool) => {
      const stop = new AbortController();
      const unlisten = gate.onEvent((event) => { if (event.kind === "approval-asked") stop.abort(); });
      const { outcome } = await gate.call(`bank.${tool}`, {}, { signal: stop.signal });
      unlisten();
      expect(outcome).toMatchObject({ kind: "cancelled", effectStatus: "none" });
    },
    "a program": (tool) => gate.run(`return await tools.bank.${tool}({})`),
    "a program in JavaScript that looks the tool up": (tool) => gate.run(`const one = tools["bank"]; const f = one["${tool}"]; return await f.call(null, {})`, { language: "javascript" }),
    "parallel calls": (tool) => gate.run(`return await Promise.all([tools.bank.balance({}), tools.bank.${tool}({}), tools.bank.${tool}({ again: true })])`, { language: "javascript" }),
    "a call that nobody waits for": (tool) => gate.run(`tools.bank.${tool}({}).catch(() => 0); return 1`, { language: "javascript" }),
    "a run that is resumed without an answer": async (tool) => {
      const { runId } = await gate.run(`return await tools.bank.${tool}({})`);
      for (let again = 0; again < 2; again += 1) await gate.runs.resume(runId).catch((error: unknown) => error);
    },
    "a client's program": (tool) => client.callTool({ name: "execute_code", arguments: { code: `return await tools.bank.${tool}({})` } }),
    "a client's program in the reading lane": (tool) => client.callTool({ name: "query_code", arguments: { code: `return await tools.bank.${tool}({})` } }),
    "a client that names it as a tool": (tool) => client.callTool({ name: `bank.${tool}`, arguments: {} }).catch((error: unknown) => error),
  };

  // What is no client is the same for both.
  const here = Object.keys(callers).filter((caller) => era === "legacy" || caller.includes("client"));
  test.each(here.flatMap((caller) => names.map((name) => [caller, name] as const)))("code-mode 1: %s does not reach %s without an answer", async (caller, name) => {
    await callers[caller]?.(name);
    expect(performed).toEqual([]);
  });

  test("code-mode 1: with an answer each of them happens, once", async () => {
    for (const name of names) {
      const { runId } = await gate.run(`return await tools.bank.${name}({ asked: true })`);
      const [pending] = await gate.approvals.list({ runId });
      await gate.approvals.answer(pending?.question.approvalId ?? "", { approved: true, by: "somebody else" });
      expect((await gate.runs.resume(runId)).status).toBe("completed");
    }
    expect(performed).toEqual([...names]);
  });

  test("code-mode 2: a model that tries every verb there is, from outside and in its program, approves nothing: the run stays suspended", async () => {
    const { runId } = await gate.run("return await tools.bank.write({ by: 'the model' })");
    const [pending] = await gate.approvals.list({ runId });
    const approvalId = pending?.question.approvalId ?? "";
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).filter((name) => /approv|grant|answer|signal|resolve|policy|trust|config/i.test(name))).toEqual([]);
    const guesses = { approvalId, approval_id: approvalId, id: approvalId, runId, run_id: runId, approved: true, by: "somebody else", kind: "approval", name: "approvals.approve", names: ["approvals.approve", "grants.add"], query: "approve grant answer", handle: `result://${runId}/1`, code: `return await tools.approvals.approve({ id: "${approvalId}" })` };
    for (const { name, inputSchema } of tools) {
      const known = Object.keys(inputSchema.properties ?? {});
      for (const args of [guesses, Object.fromEntries(Object.entries(guesses).filter(([key]) => known.includes(key)))]) await client.callTool({ name, arguments: args }).catch((error: unknown) => error);
    }
    for (const verb of ["approvals/approve", "approvals.answer", "approve", "grants.add", "callgate.approve", "elicitation/create"]) await client.callTool({ name: verb, arguments: guesses }).catch((error: unknown) => error);
    const programs = [
      `return await tools.approvals.answer("${approvalId}", { approved: true, by: "somebody else" })`,
      `return await tools.grants.add({ tool: "bank.*", args: {}, user: "*", agent: "*", maxUses: 10, expiresAtMs: Date.now() + 60000, by: "somebody else" })`,
      `return await tools.callgate.approve({ id: "${approvalId}" })`,
      `return await results.read("${approvalId}")`,
      `return await import("callgate")`,
      `return (await fetch("http://127.0.0.1/approvals/${approvalId}")).status`,
    ];
    for (const program of programs) expect((await gate.run(program, { language: "javascript" })).status, program).not.toBe("completed");
    const seen: RunResult = await gate.run("const found = []; for (const [at, root] of Object.entries({ globalThis, tools, results })) for (const key of Reflect.ownKeys(root)) if (/approv|grant|answer|signal|journal|policy/i.test(String(key))) found.push(at + '.' + String(key)); return found", { language: "javascript" });
    expect(seen).toMatchObject({ status: "completed", value: { value: ["globalThis.AbortSignal"].filter(() => JSON.stringify(seen.value).includes("AbortSignal")) } });
    expect(await gate.runs.resume(runId)).toMatchObject({ status: "suspended" });
    expect([performed, (await gate.approvals.show(approvalId))?.state, await gate.grants.list()]).toEqual([[], "open", []]);
  }, 120_000);
});
