import { describe, expect, test } from "vitest";
import { localPrincipal, ToolError } from "@callgate/contract";
import type { Principal, RateStore } from "@callgate/contract";
import { createCallLimits } from "../limits/call-limits.ts";
import type { CallLimitOptions } from "../limits/call-limits.ts";
import { ask, errorOf, testGate, testTool } from "./fixtures/test-broker.ts";
import type { TestGateInit } from "./fixtures/test-broker.ts";

/** A gate whose tool `crm.get` counts how often it ran. */
function limitedGate(limits: CallLimitOptions, more: Partial<TestGateInit> = {}) {
  const ran = { times: 0 };
  const gate = testGate({ tools: [testTool("crm.get", { effect: "read", run: () => ++ran.times }), testTool("crm.put", { run: () => ++ran.times }), testTool("web.get", { effect: "read", run: () => ++ran.times })], limits: createCallLimits(limits), ...more });
  return { ...gate, ran };
}

const as = (user: string, more: Partial<Principal> = {}): { readonly principal: Principal } => ({ principal: { ...localPrincipal, user, ...more } });

describe("rate limits", () => {
  test("of 100 parallel calls exactly as many begin as the limit says; the others are told which limit, and when to call again", async () => {
    const gate = limitedGate({ rateLimits: [{ id: "get-10", tools: "crm.get", calls: 10, windowSeconds: 60 }] });
    const ended = await Promise.all(Array.from({ length: 100 }, () => gate.call("crm.get")));
    expect(gate.ran.times).toBe(10);
    const over = ended.filter(({ outcome }) => outcome.kind === "limit_exceeded");
    expect(over).toHaveLength(90);
    for (const { outcome } of over) expect(outcome).toMatchObject({ effectStatus: "none", error: { code: "LIMIT_EXCEEDED", retryable: true, details: { limit: "rate", bucket: "get-10", limitValue: 10, windowSeconds: 60 } } });
    const [first] = over;
    if (first === undefined) throw new Error("none was over");
    expect(errorOf(first).details?.["retryAfterMs"]).toBeGreaterThan(0);
    expect(errorOf(first).details?.["retryAfterMs"]).toBeLessThanOrEqual(60_000);
    expect(gate.entries().filter(({ kind }) => kind === "call-ended")).toHaveLength(100);
  });

  test("counts apart what it says, and only the tools it means", async () => {
    const gate = limitedGate({ rateLimits: [{ id: "each", tools: ["crm.*"], per: ["user", "tool"], calls: 1, windowSeconds: 60 }] });
    const kinds = [];
    for (const [tool, who] of [["crm.get", "ann"], ["crm.get", "ann"], ["crm.put", "ann"], ["crm.get", "bob"], ["web.get", "ann"], ["web.get", "ann"]] as const) kinds.push((await gate.call(tool, {}, as(who))).outcome.kind);
    expect(kinds).toEqual(["ok", "limit_exceeded", "ok", "ok", "ok", "ok"]);
    expect((await gate.call("crm.get", {}, as("ann", { tenant: "another" }))).outcome.kind).toBe("ok");
  });

  test("what one limit refuses is not counted by the others", async () => {
    const gate = limitedGate({
      rateLimits: [
        { id: "wide", per: ["source"], calls: 3, windowSeconds: 60 },
        { id: "narrow", tools: "crm.get", calls: 1, windowSeconds: 60 },
      ],
    });
    for (let index = 0; index < 5; index += 1) await gate.call("crm.get");
    expect((await gate.call("crm.put")).outcome.kind).toBe("ok");
    expect((await gate.call("crm.put")).outcome.kind).toBe("ok");
    expect((await gate.call("crm.put")).outcome).toMatchObject({ kind: "limit_exceeded", error: { details: { bucket: "wide" } } });
  });

  test("a window that is over is free again, wholly", async () => {
    const gate = limitedGate({ rateLimits: [{ id: "second", calls: 2, windowSeconds: 1 }] });
    const waitUntilFree = async (): Promise<void> => {
      while ((await gate.call("crm.get")).outcome.kind !== "ok") await new Promise((resolve) => setTimeout(resolve, 50));
    };
    await Promise.all(Array.from({ length: 5 }, () => gate.call("crm.get")));
    expect(gate.ran.times).toBe(2);
    await waitUntilFree();
    expect(gate.ran.times).toBe(3);
  });

  test("is not got round by retries: each attempt counts, and one that would be over it is not made", async () => {
    const tried = { times: 0 };
    const flaky = testTool("crm.flaky", { effect: "read", retry: { retries: 5, minDelayMs: 1 }, run: () => { tried.times += 1; throw new ToolError({ code: "BUSY", message: "busy", retryable: true }); } });
    const gate = limitedGate({ rateLimits: [{ id: "three", calls: 3, windowSeconds: 60 }] }, { tools: [flaky] });
    let isOver = false;
    const first = gate.call("crm.flaky").finally(() => (isOver = true));
    while (!isOver) {
      await gate.clock.advance(100);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await first).outcome).toMatchObject({ kind: "failed", error: { code: "BUSY", retryable: true } });
    expect(tried.times).toBe(3);
    expect((await gate.call("crm.flaky")).outcome).toMatchObject({ kind: "limit_exceeded" });
    expect(tried.times).toBe(3);
  });

  test("over a limit nobody is asked, no key is taken and no intent is recorded", async () => {
    let asked = 0;
    const gate = limitedGate({ rateLimits: [{ id: "one", calls: 1, windowSeconds: 60 }] }, { decide: ask, answer: () => { asked += 1; return { kind: "approved", by: "ann" }; } });
    expect((await gate.call("crm.put", { n: 1 }, { taskId: "t" })).outcome.kind).toBe("ok");
    const keys = gate.journal.keys.size;
    expect((await gate.call("crm.put", { n: 2 }, { taskId: "t" })).outcome).toMatchObject({ kind: "limit_exceeded", effectStatus: "none" });
    expect([asked, gate.journal.keys.size, gate.ran.times]).toEqual([1, keys, 1]);
    expect(gate.entries().filter((entry) => "seq" in entry && entry.seq === 2).map(({ kind }) => kind)).toEqual(["call-issued", "call-decided", "call-ended"]);
  });

  test("an answer that came later is not lost to a limit: the call was counted when the question went out", async () => {
    let answer: "pending" | "approved" = "pending";
    const gate = limitedGate({ rateLimits: [{ id: "one", calls: 1, windowSeconds: 60 }] }, { decide: ask, answer: () => (answer === "pending" ? { kind: "pending" } : { kind: "approved", by: "ann" }) });
    const parked = await gate.request("crm.put", {}, { callId: "c1" });
    if (parked.kind !== "parked") throw new Error("the call was not parked");
    answer = "approved";
    const again = await gate.request("crm.put", {}, { callId: "c1", past: parked.past });
    expect(again).toMatchObject({ kind: "performed", outcome: { kind: "ok" } });
  });

  test("a denied call is not counted", async () => {
    const gate = limitedGate({ rateLimits: [{ id: "one", calls: 1, windowSeconds: 60 }] }, { decide: (tool) => (tool === "crm.put" ? { kind: "deny", ruleId: "no", reason: "no" } : { kind: "allow", ruleId: "yes" }) });
    for (let index = 0; index < 3; index += 1) expect((await gate.call("crm.put")).outcome.kind).toBe("denied");
    expect((await gate.call("crm.get")).outcome.kind).toBe("ok");
  });

  test("where it cannot be counted the call does not happen, and the error names no address", async () => {
    const store: RateStore = { take: () => Promise.reject(new Error("ECONNREFUSED canary-7f3a")), giveBack: () => Promise.resolve(), close: () => Promise.resolve() };
    const gate = limitedGate({ rateLimits: [{ id: "one", calls: 1, windowSeconds: 60 }], rateStore: store });
    expect((await gate.call("crm.put")).outcome).toMatchObject({ kind: "failed", effectStatus: "none", error: { code: "LIMIT_UNAVAILABLE", retryable: true, message: expect.not.stringContaining("canary") } });
    expect(gate.ran.times).toBe(0);
  });
});

describe("concurrency limits", () => {
  test("calls of several tools and runs share a limit; the others wait for their turn", async () => {
    const count = { now: 0, most: 0 };
    const slow = (name: string) =>
      testTool(name, {
        effect: "read",
        run: () =>
          new Promise((resolve) => {
            count.most = Math.max(count.most, ++count.now);
            gate.clock.schedule(40, () => { count.now -= 1; resolve(name); });
          }),
      });
    const gate: ReturnType<typeof limitedGate> = limitedGate({ concurrencyLimits: [{ id: "crm-3", tools: "crm.*", calls: 3 }] }, { tools: [slow("crm.one"), slow("crm.two")] });
    const calls = Array.from({ length: 12 }, (_, index) => gate.call(index % 2 === 0 ? "crm.one" : "crm.two", {}, { runId: `run_${index % 4}` }));
    await gate.clock.advance(400);
    expect((await Promise.all(calls)).map(({ outcome }) => outcome.kind)).toEqual(Array.from({ length: 12 }, () => "ok"));
    expect(count.most).toBe(3);
    expect(gate.clock.pendingTimers).toBe(0);
  });

  test("whoever waits longer than may be waited is told so, and the turn is another's", async () => {
    const held = Promise.withResolvers<string>();
    const gate = limitedGate({ concurrencyLimits: [{ id: "one", per: ["user"], calls: 1, maxWaitMs: 100 }] }, { tools: [testTool("crm.slow", { effect: "read", run: () => held.promise })] });
    const [first, second, other] = [gate.call("crm.slow"), gate.call("crm.slow"), gate.call("crm.slow", {}, as("bob"))];
    await gate.clock.advance(150);
    expect((await second).outcome).toMatchObject({ kind: "limit_exceeded", effectStatus: "none", error: { code: "LIMIT_EXCEEDED", details: { limit: "concurrency", bucket: "one", limitValue: 1, retryAfterMs: 1000 } } });
    held.resolve("done");
    expect([(await first).outcome.kind, (await other).outcome.kind, (await gate.call("crm.slow")).outcome.kind]).toEqual(["ok", "ok", "ok"]);
  });

  test("two limits that overlap in any order never block each other, and all turns come back", async () => {
    const gate = limitedGate({
      concurrencyLimits: [
        { id: "b", tools: "crm.*", calls: 1 },
        { id: "a", per: ["user"], calls: 1 },
        { id: "c", calls: 2 },
      ],
    });
    for (let round = 0; round < 3; round += 1) {
      const calls = Array.from({ length: 30 }, (_, index) => gate.call(index % 3 === 0 ? "web.get" : "crm.get", {}, as(`user${index % 4}`)));
      expect((await Promise.all(calls)).every(({ outcome }) => outcome.kind === "ok")).toBe(true);
    }
  });
});

describe("createCallLimits", () => {
  const rate = { id: "one", calls: 1, windowSeconds: 60 };

  test.each([
    ["a name twice", { rateLimits: [rate, rate] }, 'rateLimits[1].id "one" is there twice'],
    ["a name that cannot be one", { rateLimits: [{ ...rate, id: "a b" }] }, "rateLimits[0].id must be"],
    ["a pattern that can match nothing", { rateLimits: [{ ...rate, tools: "crm" }] }, 'write "crm.*"'],
    ["an empty list of tools", { concurrencyLimits: [{ id: "c", calls: 1, tools: [] }] }, "concurrencyLimits[0].tools is an empty list"],
    ["a scope there is none of", { rateLimits: [{ ...rate, per: ["usr" as "user"] }] }, 'knows no "usr"'],
    ["no calls", { rateLimits: [{ ...rate, calls: 0 }] }, "rateLimits[0].calls must be a whole number from 1"],
    ["half a second", { rateLimits: [{ ...rate, windowSeconds: 0.5 }] }, "rateLimits[0].windowSeconds must be a whole number from 1 to 86400"],
  ])("refuses %s", (_what, limits, message) => {
    expect(() => createCallLimits(limits)).toThrow(expect.objectContaining({ code: "USAGE", message: expect.stringContaining(message) }));
  });

  test("nothing is limited where nothing is said", () => {
    expect(createCallLimits({})).toBeUndefined();
  });
});
