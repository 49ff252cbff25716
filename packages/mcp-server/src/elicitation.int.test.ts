import type { Gate } from "@callgate/contract";
import { defineTool, functionSource } from "@callgate/runtime/source";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, describe, expect, test } from "vitest";
import { createRealGate } from "./fixtures/real-gate.ts";
import { createMcpServer } from "./mcp-server.ts";
import type { McpGateServer } from "./mcp-server.ts";

type Said = { readonly action: "accept" | "decline" | "cancel"; readonly content?: Record<string, string> };

let open: { readonly gate: Gate; readonly server: McpGateServer; readonly client: Client } | undefined;
afterEach(async () => {
  await open?.client.close();
  await open?.server.close();
  await open?.gate.close();
  open = undefined;
});

interface World {
  /** What the person in front of the client says, one after the other; the last again. Absent: the client has no forms. */
  readonly says?: readonly Said[];
  readonly elicits?: boolean;
  readonly rules?: readonly object[];
}

/** A client of one era before a gate whose writes ask. */
async function world(era: "legacy" | "modern", { says, elicits, rules = [] }: World) {
  const paid: unknown[] = [];
  const asked: string[] = [];
  const source = functionSource({ namespace: "crm", tools: [defineTool({ name: "pay", description: "Pays", input: { type: "object", properties: { amount: { type: "number" }, note: { type: "string" } }, required: ["amount"] }, effect: "write", handler: (args) => { paid.push(args); return { paid: true }; } })] });
  const gate = await createRealGate([source], rules as never);
  const server = createMcpServer({ gate, version: "1", ...(elicits === undefined ? {} : { elicits }) });
  const client = new Client({ name: "Desk", version: "1" }, { ...(says === undefined ? {} : { capabilities: { elicitation: { form: {} } } }), versionNegotiation: { mode: era === "modern" ? { pin: "2026-07-28" } : "legacy" } });
  if (says !== undefined) {
    client.setRequestHandler("elicitation/create", (request) => {
      asked.push("message" in request.params ? request.params.message : "");
      return says[Math.min(asked.length, says.length) - 1] ?? { action: "cancel" as const };
    });
  }
  const { url, token } = await server.serveHttp();
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: `Bearer ${token}` } } }));
  open = { gate, server, client };
  const run = (code: string) => client.callTool({ name: "execute_code", arguments: { code } });
  return { gate, client, paid, asked, run };
}

const approve: Said = { action: "accept", content: { decision: "approve" } };
const pay = (amount: number): string => `return await tools.crm.pay({ amount: ${amount} })`;

describe.each(["legacy", "modern"] as const)("questions to the person in front of a client, %s era", (era) => {
  test("the person sees the operation and allows it: it happens once, and the run goes on to its end", async () => {
    const { run, paid, asked, gate } = await world(era, { says: [approve] });
    const result = await run(`const first = await tools.crm.pay({ amount: 4, note: "\\u202egpj.exe" }); return { first, second: await tools.crm.pay({ amount: 5 }) }`);
    expect(result.structuredContent).toMatchObject({ status: "completed", value: { first: { paid: true }, second: { paid: true } } });
    expect(paid).toEqual([{ amount: 4, note: "\u202egpj.exe" }, { amount: 5 }]);
    expect(asked).toHaveLength(2);
    expect(asked[0]).toMatch(/^crm\.pay asks to run\. It changes data\.\nWhy you are asked: [\s\S]*│ {3}"note": "\\u202egpj\.exe"/);
    const [record] = await gate.runs.list();
    const shown = await gate.runs.show(record?.runId ?? "");
    expect(shown?.entries.filter((entry) => entry.kind === "call-decided" && entry.decision === "allow").map((entry) => (entry.kind === "call-decided" ? entry.answeredBy : ""))).toEqual(["local", "local"]);
  });

  test("one direct call asks as a program does", async () => {
    const { client, paid, asked } = await world(era, { says: [approve] });
    const result = await client.callTool({ name: "call_tool", arguments: { name: "crm.pay", arguments: { amount: 7, note: 'a "quoted" text' } } });
    expect(result.structuredContent).toMatchObject({ status: "completed", value: { paid: true } });
    expect([paid, asked.length]).toEqual([[{ amount: 7, note: 'a "quoted" text' }], 1]);
  });

  test.each<[string, Said, RegExp]>([
    ["says no", { action: "accept", content: { decision: "deny", reason: "too much" } }, /too much/],
    ["declines the form", { action: "decline" }, /refused/],
    ["accepts without choosing", { action: "accept", content: {} }, /refused/],
  ])("who %s has refused it, and nothing happened", async (_name, said, message) => {
    const { run, paid } = await world(era, { says: [said] });
    const result = await run(pay(4));
    expect(result.structuredContent).toMatchObject({ status: "failed", error: { code: "DENIED" } });
    expect(JSON.stringify(result.structuredContent)).toMatch(message);
    expect(paid).toEqual([]);
  });

  test("who closes the form leaves the question open: the run waits, is answered elsewhere, and its result is read by its handle", async () => {
    const { run, client, gate, paid } = await world(era, { says: [{ action: "cancel" }] });
    const { structuredContent } = await run(pay(4));
    expect(structuredContent).toMatchObject({ status: "suspended" });
    const { runId } = structuredContent as { runId: string };
    const read = () => client.callTool({ name: "read_result", arguments: { handle: `run://${runId}` } });
    expect((await read()).structuredContent).toMatchObject({ status: "suspended" });
    const [pending] = await gate.approvals.list();
    await gate.approvals.answer(pending?.question.approvalId ?? "", { approved: true, by: "bea" });
    await gate.runs.resume(runId);
    expect((await read()).structuredContent).toMatchObject({ status: "completed", value: { paid: true } });
    expect(paid).toHaveLength(1);
  });

  test("two questions at once are asked together, and each answer is for its own", async () => {
    const { run, paid, asked } = await world(era, { says: [approve, { action: "decline" }] });
    const result = await run("const done = await Promise.allSettled([tools.crm.pay({ amount: 1 }), tools.crm.pay({ amount: 2 })]); return done.map(({ status }) => status)");
    expect(result.structuredContent).toMatchObject({ status: "completed" });
    expect([...(result.structuredContent as { value: string[] }).value].sort()).toEqual(["fulfilled", "rejected"]);
    expect([paid.length, asked.length]).toEqual([1, 2]);
  });

  test("a client without forms, and a server told not to ask, ask nobody", async () => {
    for (const init of [{}, { says: [approve], elicits: false }]) {
      const { run, paid, asked } = await world(era, init);
      expect((await run(pay(4))).structuredContent).toMatchObject({ status: "failed", error: { code: "APPROVAL_UNAVAILABLE" } });
      expect([paid, asked]).toEqual([[], []]);
      await open?.client.close();
      await open?.server.close();
      await open?.gate.close();
    }
  });
});

test("a state that was changed, or belongs to another request, moves nothing", async () => {
  const { client, paid, gate } = await world("modern", { says: [approve] });
  await client.close();
  const manual = new Client({ name: "Desk", version: "1" }, { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: { pin: "2026-07-28" } }, inputRequired: { autoFulfill: false } });
  const { url, token } = await (open?.server.serveHttp() ?? Promise.reject(new Error("no server")));
  await manual.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: `Bearer ${token}` } } }));
  const call = (params: Record<string, unknown>) => manual.request({ method: "tools/call", params: { name: "execute_code", arguments: { code: pay(4) }, ...params } } as never, { allowInputRequired: true } as never) as Promise<{ resultType?: string; requestState?: string; inputRequests?: Record<string, unknown> }>;
  const first = await call({});
  expect(first.resultType).toBe("input_required");
  const [approvalId = ""] = Object.keys(first.inputRequests ?? {});
  const inputResponses = { [approvalId]: approve };
  const forged = `${(first.requestState ?? "").slice(0, -4)}AAAA`;
  await expect(call({ inputResponses, requestState: forged })).rejects.toThrow(/Invalid or expired requestState/);
  await expect(call({ name: "query_code", inputResponses, requestState: first.requestState })).rejects.toThrow(/belongs to another request/);
  expect(paid).toEqual([]);
  // An answer to a question that was never asked is none.
  expect(await call({ inputResponses: { apr_other: approve }, requestState: first.requestState })).toMatchObject({ structuredContent: { status: "suspended" } });
  expect((await gate.approvals.list()).map(({ question }) => question.approvalId)).toEqual([approvalId]);
  expect(await call({ inputResponses, requestState: first.requestState })).toMatchObject({ structuredContent: { status: "completed" } });
  // Sent once more it finds the run at its end, and nothing happens again.
  expect(await call({ inputResponses, requestState: first.requestState })).toMatchObject({ structuredContent: {} });
  expect(paid).toHaveLength(1);
  await manual.close();
});
