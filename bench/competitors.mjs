// Who is measured. Each: () → { run(code) → value, spin(ms) → settles once the endless loop was ended, elsewhere: true when
// it lives in a process of its own }. Peers are used as
// their own documentation shows, with their validation; they keep no journal and check no types.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { forgetfulJournal } from "./forgetful-journal.ts";

const records = (count) => Array.from({ length: count }, (_, id) => ({ id, group: `g${id % 7}`, amount: id % 100, name: `record ${id}` }));
const get = { description: "Answers n", schema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] }, execute: async ({ n }) => ({ n }) };
const rows = { description: "Answers that many records", schema: { type: "object", properties: { count: { type: "number" } }, required: ["count"] }, execute: async ({ count }) => records(count) };

/** A package of bench/peers, which is installed apart: npm ci --legacy-peer-deps --prefix bench/peers */
const peer = async (name) => (await import("./peers/load.mjs")).load(name);

const bindings = (call) => ["get", "rows"].map((name) => `const ${name} = (args) => ${call(name)};\n`).join("");

const ourTools = async () => {
  const { defineTool } = await import("callgate");
  return Object.entries({ get, rows }).map(([name, { description, schema, execute }]) => defineTool({ name, description, input: schema, effect: "read", handler: execute }));
};

async function callgate() {
  const { createCallgate } = await import("callgate");
  return usingGate(await createCallgate({ stateFolder: mkdtempSync(join(tmpdir(), "callgate-bench-")), tools: { bench: await ourTools() } }));
}

/** The same parts with a journal that forgets. Not a way to run Callgate: nothing could be explained or replayed. */
async function callgateWithoutJournal() {
  const [runtime, broker, journal, source, checker, sandbox] = await Promise.all(
    ["@callgate/runtime", "@callgate/runtime/broker", "@callgate/runtime/journal", "@callgate/runtime/source", "@callgate/check-typescript", "@callgate/sandbox-quickjs"].map((name) => import(name)),
  );
  return usingGate(
    await runtime.createGate({
      sources: [{ source: source.functionSource({ namespace: "bench", tools: await ourTools() }) }],
      checkers: [checker.createTypeScriptChecker()],
      drivers: [sandbox.createQuickJsDriver()],
      journal: forgetfulJournal,
      blobs: { put: async () => "sha256:0", get: async () => undefined, delete: async () => undefined },
      policy: broker.createDefaultPolicy(),
      approver: broker.denyingApprover(),
      redactor: journal.createRedactor({ secrets: [], key: new Uint8Array(32) }),
    }),
  );
}

async function usingGate(gate) {
  await gate.ready();
  const head = bindings((name) => `tools.bench.${name}(args)`);
  return {
    run: async (code) => {
      const result = await gate.run(head + code, { language: "javascript", limits: { cpuMs: 60_000, calls: 5_000 } });
      if (result.status !== "completed") throw new Error(`${result.status}: ${result.error?.message ?? result.diagnostics[0]?.message}`);
      return result.value.value;
    },
    spin: (ms) => gate.run("while (true) {}", { limits: { cpuMs: ms } }),
  };
}

async function aiSdk() {
  const { experimental_runCodeMode: runCodeMode } = await peer("@ai-sdk/code-mode");
  const { tool, jsonSchema } = await peer("ai");
  const tools = Object.fromEntries(Object.entries({ get, rows }).map(([name, one]) => [name, tool({ description: one.description, inputSchema: jsonSchema(one.schema), execute: one.execute })]));
  const head = bindings((name) => `tools.${name}(args)`);
  // Its defaults (256 calls, 32 at once, 4 MiB a result) would refuse half of the scenarios.
  const executionPolicy = { timeoutMs: 120_000, memoryLimitBytes: 512 * 1024 * 1024, maxToolOutputBytes: 64 * 1024 * 1024, maxBridgeRequests: 5_000, maxInFlightBridgeRequests: 1_000 };
  return {
    run: (code) => runCodeMode({ js: head + code, tools, options: { executionPolicy } }),
    spin: (ms) => runCodeMode({ js: "while (true) {}", tools, options: { executionPolicy: { timeoutMs: ms } } }),
  };
}

async function tanstack(kind) {
  const limits = { timeout: 120_000, memoryLimit: 512 };
  const driver = kind === "node" ? (await peer("@tanstack/ai-isolate-node")).createNodeIsolateDriver(limits) : (await peer("@tanstack/ai-isolate-quickjs")).createQuickJSIsolateDriver(limits);
  const external = Object.fromEntries(
    Object.entries({ get, rows }).map(([name, one]) => [`external_${name}`, { name: `external_${name}`, description: one.description, inputSchema: one.schema, execute: one.execute }]),
  );
  const head = bindings((name) => `external_${name}(args)`);
  const execute = async (code, timeout) => {
    const context = await driver.createContext({ bindings: external, ...limits, ...(timeout === undefined ? {} : { timeout }) });
    try {
      const result = await context.execute(code);
      if (!result.success) throw new Error(result.error?.message ?? "failed");
      return result.value;
    } finally {
      await context.dispose();
    }
  };
  return { run: (code) => execute(head + code), spin: (ms) => execute("while (true) {}", ms) };
}

async function utcp() {
  const { CodeModeUtcpClient } = await peer("@utcp/code-mode");
  const { addFunctionToUtcpDirectCall } = await peer("@utcp/direct-call");
  const tools = Object.entries({ get, rows }).map(([name, one]) => ({
    name,
    description: one.description,
    inputs: one.schema,
    outputs: { type: "object" },
    tags: [],
    tool_call_template: { name: "bench", call_template_type: "direct-call", callable_name: `bench_${name}` },
  }));
  addFunctionToUtcpDirectCall("bench_manual", async () => ({ utcp_version: "1.0.0", manual_version: "1.0.0", tools }));
  addFunctionToUtcpDirectCall("bench_get", async (args) => await get.execute(typeof args === "object" ? args : { n: args }));
  addFunctionToUtcpDirectCall("bench_rows", async (args) => await rows.execute(typeof args === "object" ? args : { count: args }));
  const client = await CodeModeUtcpClient.create();
  await client.registerManual({ name: "bench", call_template_type: "direct-call", callable_name: "bench_manual" });
  const head = bindings((name) => `bench.${name}(args)`);
  const execute = async (code, ms, memory) => (await client.callToolChain(code, ms, memory)).result;
  return { run: (code) => execute(head + code, 120_000, 512), spin: (ms) => execute("while (true) {}", ms, 128) };
}

/** Only on Cloudflare's own machines is a guest's CPU bounded; here an endless loop has to be ended with its process. */
async function cloudflare() {
  const { startWorkerd } = await import("./peers/workerd.mjs");
  const workerd = await startWorkerd();
  return {
    elsewhere: true,
    run: (code) => workerd.execute(code, 120_000),
    spin: (ms) => Promise.race([workerd.execute("while (true) {}", ms), sleep(2 * ms).then(() => workerd.end())]),
  };
}

export const competitors = {
  callgate,
  "callgate, no journal": callgateWithoutJournal,
  "@ai-sdk/code-mode": aiSdk,
  "@cloudflare/codemode, workerd": cloudflare,
  "@tanstack/ai-code-mode, node": () => tanstack("node"),
  "@tanstack/ai-code-mode, quickjs": () => tanstack("quickjs"),
  "@utcp/code-mode": utcp,
};
