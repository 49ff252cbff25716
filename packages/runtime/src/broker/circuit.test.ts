import { setTimeout as sleep } from "node:timers/promises";
import { ToolError } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { createCallLimits } from "../limits/call-limits.ts";
import type { CallLimitOptions } from "../limits/call-limits.ts";
import { ask, testGate, testTool } from "./fixtures/test-broker.ts";
import type { TestGateInit, TestTool } from "./fixtures/test-broker.ts";

const busy = () => new ToolError({ code: "BUSY", message: "busy", retryable: true, notApplied: true });

/** A source `crm` whose tools do what `world.next` says, and one `web` that is well. */
function brokenGate(limits: CallLimitOptions, more: TestTool = {}, init: Partial<TestGateInit> = {}) {
  const world = { ran: 0, next: (): unknown => { throw busy(); } };
  const changes: unknown[] = [];
  const run = (): unknown => {
    world.ran += 1;
    return world.next();
  };
  const callLimits = createCallLimits(limits, (...change) => void changes.push(change));
  const gate = testGate({ tools: [testTool("crm.get", { effect: "read", run, ...more }), testTool("crm.put", { run, ...more }), testTool("web.get", { effect: "read", run: () => "well" })], limits: callLimits, ...init });
  return { ...gate, world, changes, callLimits };
}

const breaker = { circuitBreaker: { failures: 3, openMs: 60_000 } };

describe("circuit breakers", () => {
  test("a source that failed so many times in a row is left alone, whichever tool is called; others are not", async () => {
    const gate = brokenGate(breaker);
    for (const tool of ["crm.get", "crm.put", "crm.get"]) expect((await gate.call(tool)).outcome).toMatchObject({ kind: "failed", error: { code: "BUSY" } });
    for (const tool of ["crm.get", "crm.put"]) {
      const { outcome } = await gate.call(tool);
      expect(outcome).toMatchObject({ kind: "failed", effectStatus: "none", error: { code: "CIRCUIT_OPEN", retryable: true, details: { source: "crm" } } });
      if (outcome.kind !== "ok") expect(outcome.error.details?.["retryAfterMs"]).toBeLessThanOrEqual(60_000);
    }
    expect(gate.world.ran).toBe(3);
    expect((await gate.call("web.get")).outcome.kind).toBe("ok");
    expect(gate.changes).toEqual([["crm", "open", 60_000]]);
    expect(gate.callLimits?.breakers?.view("crm")).toMatchObject({ state: "open" });
    expect(gate.callLimits?.breakers?.view("web")).toBeUndefined();
  });

  test.each([
    ["an answer between", (round: number) => { if (round % 3 === 2) return "ok"; throw busy(); }],
    ["errors that the tool means", () => { throw new ToolError({ code: "NOT_FOUND", message: "no such customer" }); }],
  ])("%s keeps it closed", async (_what, next) => {
    const gate = brokenGate(breaker);
    for (let round = 0; round < 12; round += 1) {
      gate.world.next = () => next(round);
      await gate.call("crm.get");
    }
    expect(gate.world.ran).toBe(12);
  });

  test("wrong input, denials and cancelled calls are no faults", async () => {
    const gate = brokenGate(breaker, { badInput: (value) => ((value as { bad?: boolean }).bad === true ? "bad" : undefined) }, { decide: (_tool, args) => ((args as { denied?: boolean }).denied === true ? { kind: "deny", ruleId: "no", reason: "no" } : { kind: "allow", ruleId: "yes" }) });
    gate.world.next = () => new Promise(() => undefined);
    for (let round = 0; round < 5; round += 1) {
      await gate.call("crm.get", { bad: true });
      await gate.call("crm.get", { denied: true });
      const abort = new AbortController();
      const call = gate.call("crm.get", {}, { signal: abort.signal });
      await gate.clock.advance(1);
      abort.abort();
      expect((await call).outcome.kind).toBe("cancelled");
    }
    gate.world.next = () => "ok";
    expect((await gate.call("crm.get")).outcome.kind).toBe("ok");
  });

  test("timeouts and plain throws are", async () => {
    const gate = brokenGate({ circuitBreaker: { failures: 2, openMs: 60_000 } });
    gate.world.next = () => { throw new TypeError("fetch failed"); };
    await gate.call("crm.get");
    gate.world.next = () => new Promise(() => undefined);
    const slow = gate.call("crm.get");
    await gate.clock.advance(1_000);
    expect((await slow).outcome.kind).toBe("timed_out");
    expect((await gate.call("crm.get")).outcome).toMatchObject({ error: { code: "CIRCUIT_OPEN" } });
  });

  test("after its time one call tries, the others are refused meanwhile; what it finds closes or opens it", async () => {
    const gate = brokenGate({ circuitBreaker: { failures: 1, openMs: 100 } });
    await gate.call("crm.get");
    await sleep(120);
    const trial = Promise.withResolvers<string>();
    gate.world.next = () => trial.promise;
    const calls = Array.from({ length: 10 }, () => gate.call("crm.get"));
    const refused = await Promise.all(calls.slice(1));
    expect(refused.every(({ outcome }) => outcome.kind === "failed" && outcome.error.code === "CIRCUIT_OPEN")).toBe(true);
    trial.resolve("well again");
    expect((await calls[0])?.outcome).toMatchObject({ kind: "ok" });
    gate.world.next = () => "well";
    expect((await gate.call("crm.get")).outcome.kind).toBe("ok");
    expect(gate.changes.map((change) => (change as unknown[])[1])).toEqual(["open", "half_open", "closed"]);
  });

  test("a trial that fails, or is given up, opens it again", async () => {
    const gate = brokenGate({ circuitBreaker: { failures: 1, openMs: 100 } });
    await gate.call("crm.get");
    await sleep(120);
    await gate.call("crm.get");
    expect((await gate.call("crm.get")).outcome).toMatchObject({ error: { code: "CIRCUIT_OPEN" } });
    await sleep(120);
    gate.world.next = () => new Promise(() => undefined);
    const abort = new AbortController();
    const given = gate.call("crm.get", {}, { signal: abort.signal });
    await gate.clock.advance(1);
    abort.abort();
    await given;
    expect((await gate.call("crm.get")).outcome).toMatchObject({ error: { code: "CIRCUIT_OPEN" } });
  });

  test("retries stop when it opens, and the doubt about a write stays", async () => {
    const gate = brokenGate({ circuitBreaker: { failures: 2, openMs: 60_000 } }, { retry: { retries: 5, minDelayMs: 1 } });
    gate.world.next = () => { throw new ToolError({ code: "BUSY", message: "busy", retryable: true }); };
    const call = gate.call("crm.put");
    await gate.clock.advance(10_000);
    expect((await call).outcome).toMatchObject({ kind: "failed", effectStatus: "unknown", error: { code: "BUSY" } });
    expect(gate.world.ran).toBe(2);
  });

  test("nobody is asked about a call that would be refused, and no key is taken", async () => {
    let asked = 0;
    const gate = brokenGate({ circuitBreaker: { failures: 1, openMs: 60_000 } }, {}, { decide: ask, answer: () => { asked += 1; return { kind: "approved", by: "ann" }; } });
    await gate.call("crm.put", {}, { taskId: "t" });
    const keys = gate.journal.keys.size;
    expect((await gate.call("crm.put", { other: true }, { taskId: "t" })).outcome).toMatchObject({ error: { code: "CIRCUIT_OPEN" } });
    expect([asked, gate.journal.keys.size]).toEqual([1, keys]);
  });

  test("only the sources it means have one; what is wrong with it is told", async () => {
    const gate = brokenGate({ circuitBreaker: { failures: 1, openMs: 60_000, sources: ["git*", "web"] } });
    for (let round = 0; round < 3; round += 1) expect((await gate.call("crm.get")).outcome).toMatchObject({ error: { code: "BUSY" } });
    expect(() => createCallLimits({ circuitBreaker: { failures: 0, openMs: 100 } })).toThrow(expect.objectContaining({ code: "USAGE", message: expect.stringContaining("circuitBreaker.failures") }));
    expect(() => createCallLimits({ circuitBreaker: { failures: 1, openMs: 100, sources: "a.b" } })).toThrow(expect.objectContaining({ code: "USAGE", message: expect.stringContaining("circuitBreaker.sources") }));
  });
});
