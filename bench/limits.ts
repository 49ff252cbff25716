// What limits and interceptors cost: a call of a warm gate without any, and with each switched on alone. They take turns,
// so that the ratios hold on a busy machine too; read those. CPU time of the whole process.
// `node bench/limits.ts`
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCallgate, defineTool } from "callgate";
import type { CallgateOptions } from "callgate";
import { missingRedis, startRedis } from "@callgate/testkit";
import { printInTurns } from "./in-turns.ts";

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

try {
  await printInTurns("CPU ms a call of a program, and its ratio to a call without any", gates);
} finally {
  for (const gate of gates.values()) await gate.close();
  await redis?.stop();
  rmSync(folder, { recursive: true, force: true });
}
