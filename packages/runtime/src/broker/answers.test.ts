import { defaultLimits, localPrincipal, ToolError } from "@callgate/contract";
import type { KeptAnswer, SharedAnswers } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { errorOf, testGate, testTool } from "./fixtures/test-broker.ts";
import type { TestTool } from "./fixtures/test-broker.ts";

function counted(given: TestTool, answer: (n: number, args: unknown) => unknown = (n) => n) {
  const count = { ran: 0 };
  const gate = testGate({ tools: [testTool("crm.get", { effect: "read", ...given, run: (args) => answer((count.ran += 1), args) })] });
  return { gate, count };
}

const tick = () => new Promise((resolve) => setImmediate(resolve));

describe("createAnswers", () => {
  describe("for reads that declare cache", () => {
    const cache = { ttlMs: 1000 };

    test("agent 67: runs once for equal arguments within the time, whatever the order of keys, and says so", async () => {
      const { gate, count } = counted({ cache });
      await gate.call("crm.get", { a: 1, b: 2 });
      const second = await gate.call("crm.get", { b: 2, a: 1 });
      expect([count.ran, second.outcome]).toMatchObject([1, { kind: "ok", value: 1 }]);
      expect(second.wire).toEqual({ json: "1", tagged: false });
      expect(gate.entries().at(-1)).toMatchObject({ kind: "call-ended", cached: true, attempts: 0 });
      expect(gate.eventKinds().slice(-3)).toEqual(["call-requested", "call-decided", "call-ended"]);
    });

    test("an answer that another run may take in and this one may not is not handed over", async () => {
      const { gate, count } = counted({ cache }, () => "x".repeat(100));
      await gate.call("crm.get");
      const { outcome } = await gate.call("crm.get", {}, { limits: { ...defaultLimits, callResultBytes: 50 } });
      expect(outcome).toMatchObject({ kind: "limit_exceeded", error: { details: { limit: "callResultBytes", limitValue: 50 } } });
      expect(count.ran).toBe(2);
      expect(gate.events.at(-1)).not.toHaveProperty("cached");
      await gate.call("crm.get");
      expect(gate.events.at(-1)).toMatchObject({ kind: "call-ended", cached: true });
    });

    test("asks what processes share once for all who ask meanwhile, and hands over good answers only", async () => {
      const kept = new Map<string, KeptAnswer>();
      const asked = { gets: 0 };
      const answers: SharedAnswers = { get: async (key) => { asked.gets += 1; await tick(); return kept.get(key); }, put: (key, answer) => Promise.resolve(void kept.set(key, answer)), close: () => Promise.resolve() };
      const ran = { times: 0 };
      const run = (args: unknown): unknown => {
        ran.times += 1;
        if ((args as { fail?: boolean }).fail === true) throw new ToolError({ code: "NO", message: "no" });
        return ran.times;
      };
      const open = () => testGate({ tools: [testTool("crm.get", { effect: "read", cache, run }), testTool("crm.put", { run })], answers });
      const first = open();
      const ends = await Promise.all(Array.from({ length: 20 }, () => first.call("crm.get")));
      expect([asked.gets, ran.times, ends.every(({ outcome }) => outcome.kind === "ok")]).toEqual([1, 1, true]);
      await first.call("crm.get", { fail: true });
      await first.call("crm.put");
      await tick();
      expect(kept.size).toBe(1);
      const other = open();
      expect((await other.call("crm.get")).outcome).toMatchObject({ kind: "ok", value: 1 });
      expect(other.entries().at(-1)).toMatchObject({ kind: "call-ended", cached: true, attempts: 0 });
      expect((await other.call("crm.get", {}, { principal: { ...localPrincipal, user: "bob" } })).outcome).toMatchObject({ kind: "ok", value: 4 });
      expect((await other.call("crm.get", {}, { principal: { ...localPrincipal, tenant: "acme" } })).outcome).toMatchObject({ kind: "ok", value: 5 });
    });

    test("forgets when the time is over", async () => {
      const { gate, count } = counted({ cache });
      await gate.call("crm.get");
      await gate.clock.advance(999);
      await gate.call("crm.get");
      expect(count.ran).toBe(1);
      await gate.clock.advance(2);
      await gate.call("crm.get");
      expect(count.ran).toBe(2);
    });

    test("keeps nothing for a tool that declares none, nor for a write that does", async () => {
      for (const given of [{}, { cache, effect: "write" as const }]) {
        const { gate, count } = counted(given);
        await gate.call("crm.get");
        await gate.call("crm.get");
        expect(count.ran).toBe(2);
      }
    });

    test("never serves one principal, tenant or role with the answer of another; a task may differ", async () => {
      const { gate, count } = counted({ cache });
      for (const principal of [localPrincipal, { ...localPrincipal, user: "bob" }, { ...localPrincipal, tenant: "acme" }, { ...localPrincipal, roles: ["admin"] }, { ...localPrincipal, claims: { region: "eu" } }]) await gate.call("crm.get", {}, { principal });
      expect(count.ran).toBe(5);
      await gate.call("crm.get", {}, { principal: { ...localPrincipal, task: "other" } });
      expect(count.ran).toBe(5);
    });

    test("runs again when the definition of the tool changed", async () => {
      const { gate, count } = counted({ cache });
      await gate.call("crm.get");
      const changed = testTool("crm.get", { effect: "read", cache, version: "2", run: () => (count.ran += 1) });
      await gate.call("crm.get", {}, { catalog: { resolve: () => changed, nearest: () => [] } });
      expect(count.ran).toBe(2);
    });

    test("asks once for calls at the same time", async () => {
      const work = Promise.withResolvers<unknown>();
      const { gate, count } = counted({ cache }, () => work.promise);
      const calls = Array.from({ length: 20 }, () => gate.call("crm.get"));
      await tick();
      work.resolve({ list: [1] });
      const outcomes = (await Promise.all(calls)).map(({ outcome }) => outcome);
      expect(count.ran).toBe(1);
      expect(outcomes.every((outcome) => outcome.kind === "ok")).toBe(true);
      // Nobody shares an object with another call.
      const values = outcomes.map((outcome) => (outcome.kind === "ok" ? outcome.value : undefined));
      expect(new Set(values).size).toBe(20);
    });

    test("keeps no error, and lets those who waited run their own", async () => {
      const { gate, count } = counted({ cache }, async (n) => {
        await tick();
        if (n === 1) throw new Error("down");
        return n;
      });
      const outcomes = await Promise.all([gate.call("crm.get"), gate.call("crm.get"), gate.call("crm.get")]);
      expect(outcomes.map(({ outcome }) => outcome.kind)).toEqual(["failed", "ok", "ok"]);
      expect(count.ran).toBe(3);
      expect((await gate.call("crm.get")).outcome.kind).toBe("ok");
    });

    test("lets one who waits be cancelled without the others", async () => {
      const work = Promise.withResolvers<unknown>();
      const { gate, count } = counted({ cache }, () => work.promise);
      const abort = new AbortController();
      const [leader, follower] = [gate.call("crm.get"), gate.call("crm.get", {}, { signal: abort.signal })];
      await tick();
      abort.abort();
      expect((await follower).outcome.kind).toBe("cancelled");
      work.resolve(1);
      expect([(await leader).outcome.kind, count.ran]).toEqual(["ok", 1]);
    });
  });

  describe("for writes that name a business key", () => {
    const keyed: TestTool = { effect: "write", businessKey: (args: unknown) => (args as { key?: string }).key };

    test("br-004: performs 50 calls of one key at once exactly once; all get the one result", async () => {
      const { gate, count } = counted(keyed, async (n) => { await tick(); return `paid ${n}`; });
      const calls = await Promise.all(Array.from({ length: 50 }, (_, occurrence) => gate.call("crm.get", { key: "k2", amount: 1 }, { occurrence })));
      expect(count.ran).toBe(1);
      expect(new Set(calls.map(({ outcome }) => (outcome.kind === "ok" ? outcome.value : outcome.kind)))).toEqual(new Set(["paid 1"]));
    });

    test("br-003: refuses the key with other arguments, also while the first is under way; the first result stays", async () => {
      const work = Promise.withResolvers<unknown>();
      const { gate, count } = counted(keyed, () => work.promise);
      const first = gate.call("crm.get", { key: "k1", amount: 1 });
      await tick();
      const during = await gate.call("crm.get", { key: "k1", amount: 2 });
      work.resolve("paid");
      await first;
      const after = await gate.call("crm.get", { key: "k1", amount: 2 });
      for (const refused of [during, after]) {
        expect(refused.outcome.effectStatus).toBe("none");
        expect(errorOf(refused)).toMatchObject({ code: "IDEMPOTENCY_MISMATCH", retryable: false });
      }
      expect((await gate.call("crm.get", { key: "k1", amount: 1 })).outcome).toMatchObject({ kind: "ok", value: "paid" });
      expect(count.ran).toBe(1);
    });

    test("is per run, unless the task is the same", async () => {
      const { gate, count } = counted(keyed);
      await gate.call("crm.get", { key: "k" });
      await gate.call("crm.get", { key: "k" }, { runId: "run_2" });
      expect(count.ran).toBe(2);
      await gate.call("crm.get", { key: "k" }, { runId: "run_3", taskId: "t" });
      await gate.call("crm.get", { key: "k" }, { runId: "run_4", taskId: "t" });
      expect(count.ran).toBe(3);
    });

    test("takes two calls without a key for two, and an empty key for none", async () => {
      const { gate, count } = counted(keyed);
      for (const args of [{}, {}, { key: "" }, { key: "" }]) await gate.call("crm.get", args);
      expect(count.ran).toBe(4);
    });

    test("tries again after a failure that changed nothing, one at a time", async () => {
      let inside = 0;
      const { gate, count } = counted(keyed, async (n) => {
        inside += 1;
        await tick();
        const alone = inside === 1;
        inside -= 1;
        if (n < 3) throw new ToolError({ code: "BUSY", message: "busy", notApplied: true });
        return alone;
      });
      const calls = await Promise.all([1, 2, 3, 4].map(() => gate.call("crm.get", { key: "k" })));
      expect(calls.map(({ outcome }) => (outcome.kind === "ok" ? outcome.value : outcome.kind))).toEqual(["failed", "failed", true, true]);
      expect(count.ran).toBe(3);
    });

    test("shares the doubt about a write instead of repeating it", async () => {
      const { gate, count } = counted(keyed, async () => { await tick(); throw new Error("connection lost"); });
      const calls = await Promise.all([1, 2, 3].map(() => gate.call("crm.get", { key: "k" })));
      expect(calls.map(({ outcome }) => outcome.effectStatus)).toEqual(["unknown", "unknown", "unknown"]);
      expect(count.ran).toBe(1);
    });

    test("fails when the key cannot be made", async () => {
      const broken = [() => { throw new ToolError({ code: "NO_KEY", message: "No key in it" }); }, () => 5 as never];
      const codes = [];
      for (const businessKey of broken) codes.push(errorOf(await counted({ effect: "write", businessKey }).gate.call("crm.get")).code);
      expect(codes).toEqual(["NO_KEY", "TOOL_FAILED"]);
    });
  });
});
