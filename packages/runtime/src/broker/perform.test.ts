import { CallgateError, ToolError } from "@callgate/contract";
import type { Effect, RetrySpec, ToolContext } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { errorOf, testGate, testTool } from "./fixtures/test-broker.ts";
import type { TestTool } from "./fixtures/test-broker.ts";

const retry: RetrySpec = { retries: 2, minDelayMs: 100, maxDelayMs: 150 };

/** A tool that fails so often before it succeeds, and what it saw. */
function flaky(failures: number, given: TestTool = {}, error: () => unknown = () => new Error("busy")) {
  const seen: ToolContext[] = [];
  const tool = testTool("crm.pay", {
    retry,
    ...given,
    run: (_args, context) => {
      seen.push(context);
      if (seen.length <= failures) throw error();
      return seen.length;
    },
  });
  return { tool, seen };
}

describe("perform", () => {
  test("P9: the time a tool waits for a person is none of its deadline, and what is left of that goes on", async () => {
    const wait = Promise.withResolvers<string>();
    const gate = testGate({ tools: [testTool("crm.pay", { timeoutMs: 1_000, run: async (_args, context) => { const said = await context.waitForPerson?.(() => wait.promise); await new Promise<never>((_resolve, reject) => context.signal.addEventListener("abort", () => reject(new Error(`given up after ${said}`)))); } })] });
    const performing = gate.call("crm.pay");
    await gate.clock.advance(60_000);
    expect(gate.clock.pendingTimers).toBe(0);
    wait.resolve("yes");
    await gate.clock.advance(900);
    expect(gate.entries().at(-1)).not.toMatchObject({ kind: "call-ended" });
    await gate.clock.advance(200);
    expect((await performing).outcome).toMatchObject({ kind: "timed_out" });
  });

  test.each<Effect>(["read", "write", "destructive"])("agent 68: repeats a %s that declares retry, under the same key, until it succeeds", async (effect) => {
    const { tool, seen } = flaky(2, { effect });
    const gate = testGate({ tools: [tool] });
    const performing = gate.call("crm.pay");
    await gate.clock.advance(400);
    const { outcome } = await performing;
    expect(outcome).toMatchObject({ kind: "ok", value: 3, effectStatus: effect === "read" ? "none" : "done" });
    expect(new Set(seen.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
    expect(gate.entries().at(-1)).toMatchObject({ kind: "call-ended", attempts: 3 });
    expect(gate.events.flatMap((event) => (event.kind === "call-started" ? [event.attempt] : []))).toEqual([1, 2, 3]);
    expect(gate.clock.pendingTimers).toBe(0);
  });

  test("waits longer each time, within the bounds of the declaration", async () => {
    const { tool, seen } = flaky(2);
    const gate = testGate({ tools: [tool] });
    const performing = gate.call("crm.pay");
    await gate.clock.advance(49);
    expect(seen).toHaveLength(1);
    await gate.clock.advance(51);
    expect(seen).toHaveLength(2);
    await gate.clock.advance(50);
    expect(seen).toHaveLength(2);
    await gate.clock.advance(100);
    expect(seen).toHaveLength(3);
    await performing;
  });

  test("br-033: a process that stood still between two tries asks whether the run is still its own, and does not try again when it is not", async () => {
    const { tool, seen } = flaky(1, { retry: { retries: 1, minDelayMs: 60_000, maxDelayMs: 60_000 } });
    const gate = testGate({ tools: [tool] });
    let renewals = 0;
    Object.assign(gate.journal, { renew: () => { renewals += 1; return Promise.reject(new CallgateError("RUN_FENCED", "Run r1 was taken over")); } });
    const performing = gate.call("crm.pay");
    await gate.clock.advance(60_000);
    const { outcome } = await performing;
    expect([seen.length, renewals]).toEqual([1, 1]);
    expect(outcome).toMatchObject({ kind: "failed", effectStatus: "unknown", error: { code: "RUN_FENCED", message: "crm.pay was not tried again: a write is written down before it is made, and another process has taken this run over. The run goes on there. Whether the change took effect is not known: find out with a read before calling again." } });
    expect(gate.entries().at(-1)).toMatchObject({ kind: "call-ended", attempts: 1 });
  });

  test("gives up after the declared number, and says how often it tried", async () => {
    const { tool, seen } = flaky(9, { effect: "read" });
    const gate = testGate({ tools: [tool] });
    const performing = gate.call("crm.pay");
    await gate.clock.advance(1000);
    expect(errorOf(await performing)).toMatchObject({ code: "TOOL_FAILED", message: "busy (3 attempts)" });
    expect(seen).toHaveLength(3);
  });

  test.each<[string, TestTool, () => unknown]>([
    ["declares none", { retry: undefined as never }, () => new Error("busy")],
    ["failed with a code that cannot be helped", {}, () => new ToolError({ code: "NO_SUCH_CARD", message: "No" })],
  ])("does not repeat a tool that %s", async (_name, given, error) => {
    const { tool, seen } = flaky(1, given, error);
    const gate = testGate({ tools: [tool] });
    const performing = gate.call("crm.pay");
    await gate.clock.advance(1000);
    expect((await performing).outcome.kind).toBe("failed");
    expect(seen).toHaveLength(1);
  });

  test("repeats a ToolError that says it can be helped, or whose declaration does", async () => {
    for (const error of [() => new ToolError({ code: "BUSY", message: "b", retryable: true }), () => new ToolError({ code: "DECLARED", message: "b" })]) {
      const { tool, seen } = flaky(1, { errors: [{ code: "DECLARED", description: "d", retryable: true }] }, error);
      const gate = testGate({ tools: [tool] });
      const performing = gate.call("crm.pay");
      await gate.clock.advance(1000);
      expect([(await performing).outcome.kind, seen.length]).toEqual(["ok", 2]);
    }
  });

  test("comes no sooner than the service asks for, and not at all where that is longer than it may wait; the caller is told when", async () => {
    for (const [retryAfterMs, attempts] of [[140, 2], [151, 1]] as const) {
      const { tool, seen } = flaky(1, {}, () => new ToolError({ code: "BUSY", message: "b", retryable: true, retryAfterMs, details: { region: "eu" } }));
      const gate = testGate({ tools: [tool] });
      const performing = gate.call("crm.pay");
      await gate.clock.advance(139);
      expect(seen).toHaveLength(1);
      await gate.clock.advance(1_000);
      const performed = await performing;
      expect(seen).toHaveLength(attempts);
      if (attempts === 1) expect(errorOf(performed)).toMatchObject({ code: "BUSY", retryable: true, details: { region: "eu", retryAfterMs } });
    }
  });

  test("never repeats a write that timed out, for it may still be at it; a read it does", async () => {
    for (const effect of ["read", "write"] as const) {
      let ran = 0;
      const gate = testGate({ tools: [testTool("crm.pay", { effect, retry, run: () => { ran += 1; return new Promise(() => undefined); } })] });
      const performing = gate.call("crm.pay");
      await gate.clock.advance(10_000);
      const { outcome } = await performing;
      expect([outcome.kind, outcome.effectStatus, ran]).toEqual(effect === "read" ? ["timed_out", "none", 3] : ["timed_out", "unknown", 1]);
    }
  });

  test("does not lift the doubt of one attempt by the certainty of the next", async () => {
    let ran = 0;
    const run = () => {
      ran += 1;
      throw ran === 1 ? new Error("connection lost") : new ToolError({ code: "REFUSED", message: "No", notApplied: true });
    };
    const gate = testGate({ tools: [testTool("crm.pay", { retry, run })] });
    const performing = gate.call("crm.pay");
    await gate.clock.advance(1000);
    const performed = await performing;
    expect([performed.outcome.kind, performed.outcome.effectStatus]).toEqual(["failed", "unknown"]);
    expect(errorOf(performed).message).toContain("Whether the change took effect is not known");
  });

  test("stops waiting for the next attempt when it is cancelled", async () => {
    const { tool, seen } = flaky(9);
    const gate = testGate({ tools: [tool] });
    const abort = new AbortController();
    const performing = gate.call("crm.pay", {}, { signal: abort.signal });
    await gate.clock.advance(10);
    abort.abort();
    const { outcome } = await performing;
    expect([outcome.kind, outcome.effectStatus, seen.length, gate.clock.pendingTimers]).toEqual(["cancelled", "unknown", 1, 0]);
  });

  test("does not take the late end of an attempt that was repeated for that of the call", async () => {
    const first = Promise.withResolvers<unknown>();
    let ran = 0;
    const gate = testGate({ tools: [testTool("crm.get", { effect: "read", retry, run: () => ((ran += 1) === 1 ? first.promise : "second") })] });
    const performing = gate.call("crm.get");
    await gate.clock.advance(2000);
    expect((await performing).outcome).toMatchObject({ kind: "ok", value: "second" });
    first.resolve("first");
    await gate.clock.advance(0);
    expect(gate.eventKinds()).not.toContain("call-late");
  });

  test("agent 12: names the deadline, aborts the tool's signal with a TimeoutError", async () => {
    let signal: AbortSignal | undefined;
    const gate = testGate({ tools: [testTool("crm.get", { effect: "read", timeoutMs: 250, run: (_args, context) => { signal = context.signal; return new Promise(() => undefined); } })] });
    const performing = gate.call("crm.get");
    await gate.clock.advance(250);
    expect(errorOf(await performing)).toEqual({ code: "TOOL_TIMEOUT", message: "crm.get did not answer within 250 ms", tool: "crm.get", retryable: true });
    expect(signal?.reason).toMatchObject({ name: "TimeoutError" });
  });

  test("tells for every failed write what became of it", async () => {
    const message = async (run: () => unknown) => errorOf(await testGate({ tools: [testTool("crm.pay", { run })] }).call("crm.pay")).message;
    const throwing = (error: Error) => () => { throw error; };
    expect(await message(throwing(new Error("socket hang up")))).toBe("socket hang up. Whether the change took effect is not known: find out with a read before calling again.");
    expect(await message(throwing(new ToolError({ code: "X", message: "No card.", notApplied: true })))).toBe("No card. Nothing was changed.");
    expect(await message(() => Symbol("x"))).toContain("The change itself took effect; do not repeat the call.");
  });

  test("agent 13: reports a result it cannot take: circular, too large; the call happened all the same", async () => {
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    const gate = testGate({ tools: [testTool("crm.pay", { run: () => circle }), testTool("crm.all", { effect: "read", run: () => "x".repeat(65 * 1024 * 1024) }), testTool("crm.big", { run: () => 10n ** 30n })] });
    expect((await gate.call("crm.pay")).outcome).toMatchObject({ kind: "invalid_output", effectStatus: "done", error: { code: "VALUE_UNSUPPORTED", path: "/self" } });
    expect((await gate.call("crm.all")).outcome).toMatchObject({ kind: "limit_exceeded", effectStatus: "none", error: { code: "LIMIT_EXCEEDED", details: { limit: "callResultBytes", limitValue: 64 * 1024 * 1024 } } });
    expect((await gate.call("crm.big")).outcome).toMatchObject({ kind: "ok", value: 10n ** 30n });
  });

  test("a result that is nested too deep is no matter of bytes", async () => {
    let deep: unknown = 1;
    for (let level = 0; level < 300; level += 1) deep = { deep };
    const gate = testGate({ tools: [testTool("crm.deep", { effect: "read", run: () => deep }), testTool("crm.digits", { effect: "read", run: () => 10n ** 100_001n })] });
    const { outcome } = await gate.call("crm.deep");
    expect(outcome).toMatchObject({ kind: "invalid_output", effectStatus: "none", error: { code: "VALUE_TOO_LARGE", path: `${"/deep".repeat(200)}`, message: expect.stringContaining("nested deeper than 200") as string } });
    expect(JSON.stringify(outcome)).not.toContain("callResultBytes");
    expect((await gate.call("crm.digits")).outcome).toMatchObject({ kind: "invalid_output", error: { code: "VALUE_TOO_LARGE", message: expect.stringContaining("digits") as string } });
  });

  test("counts bytes, not characters, of a result", async () => {
    const gate = testGate({ tools: [testTool("crm.all", { effect: "read", run: () => "é".repeat(600) })] });
    const limits = { callResultBytes: 1000 } as never;
    expect((await gate.call("crm.all", {}, { limits: { ...limits as object, argumentBytes: 1000 } as never })).outcome.kind).toBe("limit_exceeded");
  });
});
