import type { Gate, RunResult } from "@callgate/contract";
import { keepingApprover } from "@callgate/runtime/broker";
import { defineTool, functionSource } from "@callgate/runtime/source";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRealGate } from "./fixtures/real-gate.ts";
import { createMcpServer } from "./mcp-server.ts";
import type { McpGateServer } from "./mcp-server.ts";

describe.each(["legacy", "modern"] as const)("what needs an approval, tried by an MCP client of the %s era", (era) => {
  let performed = 0;
  let gate: Gate;
  let server: McpGateServer;
  let client: Client;

  beforeAll(async () => {
    const write = defineTool({ name: "write", description: "Writes", effect: "write", input: { type: "object" }, handler: () => { performed += 1; return "done"; } });
    gate = await createRealGate([functionSource({ namespace: "bank", tools: [write] })], [], { approver: keepingApprover(), defaults: { suspendAfterMs: 0 } });
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
    expect([performed, (await gate.approvals.show(approvalId))?.state, await gate.grants.list()]).toEqual([0, "open", []]);
  }, 120_000);
});
