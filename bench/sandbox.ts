// What the embedded sandbox costs, driver alone, beside two things anybody knows: a fresh node:vm context in the same
// thread (no isolation at all), and a new wasm engine for each run. Figures are medians; read the ratios, they hold on
// a busy machine. `node bench/sandbox.ts`
import { createContext, runInContext } from "node:vm";
import { defaultLimits, encodeValue } from "@callgate/contract";
import type { GuestHost, GuestJob, GuestRun, SandboxDriver } from "@callgate/contract";
import { createQuickJsDriver } from "@callgate/sandbox-quickjs";
import { createInstance, growMemory, initialPages } from "../packages/sandbox-quickjs/src/engine/instance.ts";
import { loadEngine } from "../packages/sandbox-quickjs/src/host/engine-file.ts";
import { medianMs } from "./median.ts";

const program = (body: string): string => `(async ($callgate) => { "use strict";\n${body}\n})`;
const jobFor = (body: string): GuestJob => ({
  runId: "bench",
  language: "javascript",
  code: program(body),
  modules: [{ namespace: "demo", tools: Array.from({ length: 200 }, (_, index) => `tool_${index}`) }],
  modulesDigest: "bench",
  seed: "00112233445566778899aabbccddeeff",
  startMs: 1_700_000_000_000,
  limits: { ...defaultLimits, calls: 1e6 },
});

/** Answers every call at once with its own arguments, or with a value made once. */
function run(driver: SandboxDriver, job: GuestJob, answer?: ReturnType<typeof encodeValue>): Promise<unknown> {
  const host: GuestHost = {
    onCalls: (calls) => guest.deliver(calls.map((call) => ({ seq: call.seq, atMs: 1, result: { kind: "value", value: answer ?? (call.kind === "timer" ? encodeValue(null) : call.args) } }))),
    onOutput: () => {},
  };
  const guest: GuestRun = driver.start(job, host);
  return guest.ended;
}

const module = loadEngine();
function newEngine(): void {
  const { exports, memory, ...instance } = createInstance(module, initialPages);
  Object.assign(instance, { hooks: { now: () => 0, shouldInterrupt: () => false, callHost: () => 0, rejected: () => {}, grow: (bytes: number) => growMemory(memory, bytes, initialPages) } });
  exports.newContext(exports.newRuntime(), 0);
}

const driver = createQuickJsDriver();
const warm = jobFor("return 1");
await medianMs(200, () => run(driver, warm));
const rows = encodeValue(Array.from({ length: 200_000 }, (_, id) => ({ id, region: `region ${id % 50}`, amount: id % 1_000, open: id % 3 === 0 })));
const aggregate = jobFor("const rows = await tools.demo.tool_0({}); const sums = {}; for (const row of rows) sums[row.region] = (sums[row.region] ?? 0) + row.amount; return sums");
const calls = 1_000;
const sequential = jobFor(`for (let i = 0; i < ${calls}; i++) await tools.demo.tool_0({ i })`);
const parallel = jobFor(`await Promise.all(Array.from({ length: ${calls} }, (_, i) => tools.demo.tool_0({ i })))`);

const vmRun = await medianMs(300, () => (runInContext(program("return 1"), createContext({})) as () => Promise<unknown>)());
const engineRun = await medianMs(100, newEngine);
const warmRun = await medianMs(2_000, () => run(driver, warm));
const sequentialCall = (await medianMs(9, () => run(driver, sequential))) / calls;
const parallelCall = (await medianMs(9, () => run(driver, parallel))) / calls;
const rowsRun = await medianMs(5, () => run(driver, aggregate, rows));
const rowsV8 = await medianMs(5, () => {
  const sums: Record<string, number> = {};
  for (const row of JSON.parse(rows.json) as { region: string; amount: number }[]) sums[row.region] = (sums[row.region] ?? 0) + row.amount;
});
const rssBefore = process.memoryUsage.rss();
for (let round = 0; round < 2_000; round++) await run(driver, warm);
const grownMiB = (process.memoryUsage.rss() - rssBefore) / 1_048_576;
await driver.close();

const line = (what: string, ms: number, beside = ""): void => console.log(`${what.padEnd(46)} ${ms.toFixed(3).padStart(9)} ms  ${beside}`);
line("node:vm, new context, same thread", vmRun);
line("new engine and context, nothing else", engineRun);
line("warm run, 200 tools, back to back", warmRun, `${(warmRun / vmRun).toFixed(2)} of node:vm, ${(warmRun / engineRun).toFixed(2)} of a new engine`);
line("tool call, one after another", sequentialCall, `${(sequentialCall / warmRun).toFixed(2)} of a warm run`);
line("tool call, 1,000 at once", parallelCall, `${(parallelCall / sequentialCall).toFixed(2)} of a sequential one`);
line(`200,000 rows (${(rows.json.length / 1e6).toFixed(1)} MB) aggregated`, rowsRun, `${(rowsRun / rowsV8).toFixed(1)} times V8's parse and loop alone (${rowsV8.toFixed(0)} ms)`);
console.log(`memory after 2,000 more runs: ${grownMiB >= 0 ? "+" : ""}${grownMiB.toFixed(1)} MiB`);
