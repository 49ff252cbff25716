import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { callbackApprover, createCallgate, defineTool, ToolError } from "./index.ts";
import type { CallgateOptions, Tool } from "./index.ts";
import { expect, onTestFinished, test } from "vitest";

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "callgate-budgets-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

interface World {
  readonly ran: { times: number };
  readonly tools: Readonly<Record<string, readonly Tool[]>>;
}

/** Tools that count how often they ran, and cost. */
function world(): World {
  const ran = { times: 0 };
  const input = { type: "object" } as const;
  return {
    ran,
    tools: {
      crm: [
        defineTool({ name: "get", description: "counts", effect: "read", input, handler: () => ++ran.times }),
        defineTool({ name: "put", description: "counts", effect: "write", input, cost: { microUsdPerCall: 100, tokensPerCall: 50 }, handler: () => ++ran.times }),
        defineTool({ name: "ask_model", description: "says what it really cost", effect: "read", input, cost: { microUsdPerCall: 1_000 }, handler: (_args, context) => { ran.times += 1; context.reportCost({ microUsd: 40, tokens: 7 }); context.reportCost({ tokens: 3, microUsd: -5 }); return "ok"; } }),
        defineTool({ name: "flaky", description: "fails", effect: "read", input, cost: { microUsdPerCall: 10 }, retry: { retries: 5, minDelayMs: 1, maxDelayMs: 1 }, handler: () => { ran.times += 1; throw new ToolError({ code: "BUSY", message: "busy", retryable: true }); } }),
      ],
    },
  };
}

async function openGate(folder: string, options: CallgateOptions, { tools }: World = world()) {
  const gate = await createCallgate({ folder, stateFolder: folder, tools, rules: [{ id: "all", allow: "*" }], ...options });
  onTestFinished(() => gate.close());
  return gate;
}

test("br-020: of 1,000 parallel calls of programs in two gates on one journal exactly as many begin as the budget has", async () => {
  const [folder, shared] = [await makeFolder(), world()];
  const options: CallgateOptions = { budgets: [{ id: "ten", per: ["user"], window: "day", limits: { calls: 10 } }] };
  const gates = [await openGate(folder, options, shared), await openGate(folder, options, shared)];
  const program = "const all = await Promise.allSettled(Array.from({ length: 250 }, () => tools.crm.get({}))); return all.filter((one) => one.status === 'fulfilled').length";
  const results = await Promise.all(gates.flatMap((gate) => [gate.run(program, { language: "javascript" }), gate.run(program, { language: "javascript" })]));
  expect(results.map(({ status }) => status)).toEqual(["completed", "completed", "completed", "completed"]);
  expect(shared.ran.times).toBe(10);
  const refused = results.flatMap(({ calls }) => calls).filter(({ outcome }) => outcome === "limit_exceeded");
  expect(refused).toHaveLength(990);
  expect(refused[0]).toMatchObject({ effectStatus: "none", error: { code: "LIMIT_EXCEEDED", retryable: true, details: { limit: "budget", bucket: "ten", unit: "calls", limitValue: 10 } } });
});

test("ag-012: a model that submits failing programs again and again spends what its budget has, and no more", async () => {
  const [folder, shared] = [await makeFolder(), world()];
  const gate = await openGate(folder, { budgets: [{ id: "run", per: ["run"], limits: { calls: 8 } }, { id: "day", per: ["user"], window: "day", limits: { calls: 30 } }] }, shared);
  for (let round = 0; round < 10; round += 1) await gate.run("await Promise.allSettled(Array.from({ length: 20 }, () => tools.crm.get({}))); throw new Error('again')", { language: "javascript" });
  expect(shared.ran.times).toBe(30);
  const [run, ...days] = await gate.budgets();
  expect(run).toMatchObject({ id: "run", spent: { calls: 8 } });
  expect(days.at(-1)).toMatchObject({ id: "day", who: { user: expect.any(String) }, spent: { calls: 30 }, resetsAtMs: expect.any(Number) });
});

test("money: what does not fit is not spent, and what a tool reports stands in for what it declares", async () => {
  const [folder, shared] = [await makeFolder(), world()];
  const gate = await openGate(folder, { budgets: [{ id: "usd", limits: { microUsd: 1_050 } }] }, shared);
  const first = await gate.run("return [await tools.crm.ask_model({}), await tools.crm.get({})]", { language: "javascript" });
  expect(first).toMatchObject({ status: "completed", cost: { microUsd: 40, tokens: 10 }, calls: [{ cost: { microUsd: 40, tokens: 10 } }, {}] });
  expect(await gate.budgets()).toMatchObject([{ spent: { calls: 2, microUsd: 40, tokens: 10 } }]);
  expect((await gate.call("crm.ask_model", {})).outcome.kind).toBe("ok");
  // 80 are spent, and it may cost 1,000.
  expect((await gate.call("crm.ask_model", {})).outcome).toMatchObject({ kind: "limit_exceeded", error: { retryable: false, details: { unit: "microUsd", limitValue: 1_050, spent: 80 } } });
  expect(await gate.call("crm.put", {})).toMatchObject({ outcome: { kind: "ok" }, cost: { microUsd: 100, tokens: 50 } });
  expect((await gate.runs.show(first.runId))?.entries.flatMap((entry) => (entry.kind === "call-ended" ? [entry.cost] : []))).toEqual([{ microUsd: 40, tokens: 10 }, undefined]);
});

test("each attempt of a call is spent, and one that does not fit is not made", async () => {
  const [folder, shared] = [await makeFolder(), world()];
  const gate = await openGate(folder, { budgets: [{ id: "three", limits: { calls: 3 } }] }, shared);
  expect(await gate.call("crm.flaky", {})).toMatchObject({ outcome: { kind: "failed", error: { code: "BUSY" } }, cost: { microUsd: 30 } });
  expect(shared.ran.times).toBe(3);
  expect(await gate.budgets()).toMatchObject([{ spent: { calls: 3, microUsd: 30 } }]);
});

test("a call that did not happen costs nothing: denied by policy, or by a person", async () => {
  const [folder, shared] = [await makeFolder(), world()];
  const budgets = [{ id: "one", limits: { calls: 1 } }];
  const gate = await openGate(folder, { budgets, rules: [{ id: "ask", ask: "crm.put" }, { id: "no", deny: "crm.flaky" }, { id: "reads", allow: "crm.get" }], approver: callbackApprover(() => ({ kind: "denied", by: "ann", reason: "no" })) }, shared);
  for (let round = 0; round < 3; round += 1) expect((await gate.call("crm.put", { round })).outcome.kind).toBe("denied");
  expect((await gate.call("crm.flaky", {})).outcome).toMatchObject({ kind: "failed", error: { code: "TOOL_NOT_FOUND" } });
  expect((await gate.call("crm.get", {})).outcome.kind).toBe("ok");
});

test("what waits for a person holds its part of a budget, and its answer is good however much the others spent", async () => {
  const [folder, shared] = [await makeFolder(), world()];
  const gate = await openGate(folder, { budgets: [{ id: "two", limits: { calls: 2 } }], approvals: "keep", suspendAfterMs: 0, rules: [{ id: "ask", ask: "crm.put" }, { id: "reads", allow: "crm.get" }] }, shared);
  const waiting = await gate.run("return await tools.crm.put({})", { language: "javascript" });
  expect(waiting.status).toBe("suspended");
  expect((await gate.call("crm.get", {})).outcome.kind).toBe("ok");
  expect((await gate.call("crm.get", {})).outcome.kind).toBe("limit_exceeded");
  const [open] = await gate.approvals.list();
  await gate.approvals.answer(open?.question.approvalId ?? "", { approved: true, by: "ann" });
  expect(await gate.runs.resume(waiting.runId)).toMatchObject({ status: "completed" });
  expect(await gate.budgets()).toMatchObject([{ spent: { calls: 2 } }]);
  expect(shared.ran.times).toBe(2);
});

test("what does not fit into a budget does not count in a rate limit", async () => {
  const gate = await openGate(await makeFolder(), { rateLimits: [{ id: "two", calls: 2, windowSeconds: 3600 }], budgets: [{ id: "one", tools: "crm.get", limits: { calls: 1 } }] });
  const details = [];
  for (const tool of ["crm.get", "crm.get", "crm.get", "crm.put", "crm.put"]) {
    const { outcome } = await gate.call(tool, {});
    details.push(outcome.kind === "ok" ? "ok" : outcome.error.details?.["bucket"]);
  }
  expect(details).toEqual(["ok", "one", "one", "ok", "two"]);
});

test("a question that nobody will answer any more frees what was held for its call: its run was cancelled, suspended or under way", async () => {
  const folder = await makeFolder();
  const gate = await openGate(folder, { budgets: [{ id: "one", limits: { calls: 1 } }], approvals: "keep", suspendAfterMs: 0, rules: [{ id: "ask", ask: "crm.put" }] });
  const waiting = await gate.run("return await tools.crm.put({})", { language: "javascript" });
  expect(await gate.budgets()).toMatchObject([{ spent: { calls: 1 } }]);
  expect((await gate.runs.cancel(waiting.runId)).status).toBe("cancelled");
  expect(await gate.budgets()).toMatchObject([{ spent: { calls: 0, microUsd: 0 } }]);
  const abort = new AbortController();
  gate.onEvent((event) => { if (event.kind === "approval-asked") setTimeout(() => abort.abort(), 50); });
  expect((await gate.run("return await tools.crm.put({})", { language: "javascript", suspendAfterMs: Infinity, signal: abort.signal })).status).toBe("cancelled");
  expect(await gate.budgets()).toMatchObject([{ spent: { calls: 0, microUsd: 0 } }]);
});

function startProcess(folder: string, asked: string) {
  const child = spawn(process.execPath, ["--no-warnings", fileURLToPath(new URL("./fixtures/budget-process.ts", import.meta.url)), folder, asked], { stdio: ["ignore", "pipe", "inherit"] });
  const gone = once(child, "exit");
  const words: AsyncIterator<string> = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const word = async (): Promise<unknown> => (await words.next()).value;
  return { child, gone, word };
}

test("two processes on one journal share a budget exactly; what one that was killed had begun is spent", async () => {
  const folder = await makeFolder();
  const lost = startProcess(folder, "hang");
  expect(await lost.word()).toBe("begun");
  lost.child.kill("SIGKILL");
  await lost.gone;
  const two = [startProcess(folder, "60"), startProcess(folder, "60")];
  const ran = await Promise.all(two.map(({ word }) => word()));
  await Promise.all(two.map(({ gone }) => gone));
  expect(Number(ran[0]) + Number(ran[1])).toBe(24);
}, 120_000);
