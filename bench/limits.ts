// What limits and interceptors cost: a call of a warm gate without any, and with each switched on alone. They take turns,
// so that the ratios hold on a busy machine too; read those. CPU time of the whole process.
// `node bench/limits.ts`
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCallgate, defineTool } from "callgate";
import type { CallgateOptions } from "callgate";
import { missingRedis, startRedis } from "@callgate/testkit";

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const folder = mkdtempSync(join(tmpdir(), "callgate-bench-"));
const input = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
const get = defineTool({ name: "get", description: "bench", effect: "read", input, handler: ({ n }: { n: number }) => ({ n }) });
const open = (name: string, options: CallgateOptions) => createCallgate({ stateFolder: join(folder, name), tools: { bench: [get] }, rules: [{ id: "all", allow: "bench.*" }], ...options });
const plenty = 1_000_000_000;

const redis = missingRedis() === undefined ? await startRedis() : undefined;
if (redis === undefined) console.log(`without Redis: ${missingRedis() ?? ""}`);
else process.env["CALLGATE_BENCH_REDIS"] = redis.url;
const options: Readonly<Record<string, CallgateOptions>> = {
  "none": {},
  "rate limit, memory": { rateLimits: [{ id: "r", per: ["user", "tool"], calls: plenty, windowSeconds: 3600 }] },
  ...(redis === undefined ? {} : { "rate limit, Redis": { redis: "env:CALLGATE_BENCH_REDIS", rateLimits: [{ id: "r", per: ["user", "tool"], calls: plenty, windowSeconds: 3600 }] } satisfies CallgateOptions }),
  "concurrency limit": { concurrencyLimits: [{ id: "c", per: ["user"], calls: 1000 }] },
  "budget": { budgets: [{ id: "b", per: ["user"], window: "day", limits: { calls: plenty } }] },
  "circuit breaker": { circuitBreaker: { failures: 5, openMs: 30_000 } },
  "interceptor that looks": { interceptors: [{ name: "look", before: () => undefined, after: () => undefined }] },
  "interceptor that changes": { interceptors: [{ name: "change", before: ({ args }) => ({ kind: "transform", args: { n: (args as { n: number }).n + 1 } }), after: () => ({ kind: "replace", value: { n: 1 } }) }] },
};
const gates = new Map(await Promise.all(Object.entries(options).map(async ([name, one]) => [name, await open(name.replaceAll(/\W+/g, "-"), one)] as const)));
const calls = 300;
const program = `let n = 0; for (; n < ${calls}; n++) await tools.bench.get({ n }); return n`;

async function round(name: string): Promise<number> {
  const before = process.cpuUsage();
  const result = await gates.get(name)?.run(program, { language: "javascript" });
  if (result?.status !== "completed") throw new Error(`${name}: ${result?.error?.message ?? ""}`);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / calls;
}

try {
  const rounds = new Map([...gates.keys()].map((name) => [name, [] as number[]]));
  for (const name of gates.keys()) for (let n = 0; n < 3; n++) await round(name);
  for (let n = 0; n < 15; n++) for (const [name, found] of rounds) found.push(await round(name));
  const none = median(rounds.get("none") ?? []);
  console.log("CPU ms a call of a program, and its ratio to a call without any");
  for (const [name, found] of rounds) console.log(`${name.padEnd(26)}${median(found).toFixed(3)}  ${(median(found) / none).toFixed(2)}×`);
} finally {
  for (const gate of gates.values()) await gate.close();
  await redis?.stop();
  rmSync(folder, { recursive: true, force: true });
}
