import { setTimeout as sleep } from "node:timers/promises";
import { defineTool } from "@callgate/runtime/source";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createAgent } from "./create-agent.ts";
import { agentGate } from "./fixtures/agent-gate.ts";
import type { AgentGate } from "./fixtures/agent-gate.ts";
import { assertAnswered } from "./fixtures/told.ts";
import { scriptedModel } from "./model/scripted-model.ts";

/** checks/full/agent-soak.mjs runs a thousand of each. */
const runs = Number(process.env["CALLGATE_SOAK_RUNS"] ?? 60);
let world: AgentGate;
let underWay = 0;

beforeAll(async () => {
  world = await agentGate({ t: [defineTool({ name: "wait", description: "Waits.", effect: "read", input: true, async handler(_args, { signal }) {
    underWay += 1;
    try {
      await sleep(Math.random() * 4, undefined, { signal });
      return "x".repeat(500);
    } finally {
      underWay -= 1;
    }
  } })] });
});
afterAll(async () => {
  await world.gate.close();
});

const calls = { calls: Array.from({ length: 3 }, () => ({ tool: "t.wait" })) };
const agent = () => createAgent({ name: "a", model: scriptedModel([calls, { ...calls, delayMs: 1 }, { text: "done", delayMs: 1 }]), gate: world.gate, mode: "tools" });

/** Timers and handles of this process, and what is under way. */
function held(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
}

test(`${runs} runs leave nothing: no timer, no call, no memory that grows with them`, { timeout: 600_000 }, async () => {
  for (let n = 0; n < 10; n++) await agent().run("warm up");
  const before = { timers: held(), heap: process.memoryUsage().heapUsed };
  for (let n = 0; n < runs; n++) expect((await agent().run("work")).answer).toBe("done");
  globalThis.gc?.();
  await expect.poll(() => underWay).toBe(0);
  expect(held()).toBeLessThanOrEqual(before.timers + 2);
  // The journal in memory keeps each run; an agent beside it keeps none.
  expect((process.memoryUsage().heapUsed - before.heap) / runs).toBeLessThan(512 * 1024);
});

test(`${runs} runs that are aborted at any moment end as that or as done, and every call has its result`, { timeout: 600_000 }, async () => {
  const timers = held();
  const ends = new Set<string>();
  for (let n = 0; n < runs; n++) {
    const stopping = new AbortController();
    const stop = setTimeout(() => stopping.abort(), Math.random() * 25);
    const result = await agent().run("work", { signal: stopping.signal });
    clearTimeout(stop);
    ends.add(result.stop.kind);
    assertAnswered(result.state.messages);
    expect(result.state.open).toEqual([]);
  }
  expect([...ends].every((kind) => kind === "cancelled" || kind === "answered")).toBe(true);
  expect(ends.has("cancelled")).toBe(true);
  await expect.poll(() => underWay).toBe(0);
  await expect.poll(held).toBeLessThanOrEqual(timers + 2);
});
