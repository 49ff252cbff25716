import { getEventListeners } from "node:events";
import { CallgateError, localPrincipal } from "@callgate/contract";
import type { Effect, JournalEntry } from "@callgate/contract";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ask, errorOf, testGate, testTool } from "./fixtures/test-broker.ts";

const unhandled: unknown[] = [];
const note = (reason: unknown) => void unhandled.push(reason);

beforeEach(() => {
  unhandled.length = 0;
  process.on("unhandledRejection", note);
});
afterEach(async () => {
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});

/** A tool that takes so long, and rejects when it is aborted. */
function slow(clock: () => ReturnType<typeof testGate>["clock"], durationMs: number, effect: Effect) {
  const count = { ran: 0, most: 0, inside: 0 };
  const tool = testTool("crm.slow", {
    effect,
    timeoutMs: 50,
    run: (_args, { signal }) =>
      new Promise((resolve, reject) => {
        count.ran += 1;
        count.inside += 1;
        count.most = Math.max(count.most, count.inside);
        const leave = (end: () => void) => { count.inside -= 1; end(); };
        const timer = clock().schedule(durationMs, () => { leave(() => { resolve("done"); }); });
        signal.addEventListener("abort", () => { timer.cancel(); leave(() => { reject(new Error("stopped")); }); }, { once: true });
      }),
  });
  return { tool, count };
}

const kindsOf = (entries: readonly JournalEntry[], seq: number) => entries.filter((entry) => "seq" in entry && entry.seq === seq).map(({ kind }) => kind);

describe("createBroker under load", () => {
  test("carries 100 calls at once, each with its own record, in order", async () => {
    const gate: ReturnType<typeof testGate> = testGate({ tools: [slow(() => gate.clock, 10, "write").tool] });
    const { signal } = new AbortController();
    const calls = Array.from({ length: 100 }, (_, index) => gate.call("crm.slow", { index }, { signal }));
    await gate.clock.advance(10);
    const performed = await Promise.all(calls);
    expect(performed.every(({ outcome }) => outcome.kind === "ok")).toBe(true);
    expect(new Set(performed.map(({ argsDigest }) => argsDigest)).size).toBe(100);
    for (let seq = 1; seq <= 100; seq++) expect(kindsOf(gate.entries(), seq)).toEqual(["call-issued", "call-decided", "call-ended"]);
    // The signal of a run outlives its calls.
    expect([gate.clock.pendingTimers, getEventListeners(signal, "abort").length]).toEqual([0, 0]);
  });

  test("keeps a tool's concurrency over runs; waiting for a turn is not counted against its deadline", async () => {
    const gate: ReturnType<typeof testGate> = testGate({ tools: [] });
    const { tool, count } = slow(() => gate.clock, 40, "read");
    const bounded = { ...tool, tool: { ...tool.tool, concurrency: 3 } };
    const calls = Array.from({ length: 12 }, (_, index) => gate.call("crm.slow", {}, { runId: `run_${index % 4}`, catalog: { resolve: () => bounded, nearest: () => [] } }));
    await gate.clock.advance(200);
    expect((await Promise.all(calls)).map(({ outcome }) => outcome.kind)).toEqual(Array.from({ length: 12 }, () => "ok"));
    expect(count.most).toBe(3);
  });

  test("follows a catalog that changes a tool's concurrency", async () => {
    const gate: ReturnType<typeof testGate> = testGate({ tools: [] });
    const { tool, count } = slow(() => gate.clock, 40, "read");
    const sized = (concurrency: number) => ({ catalog: { resolve: () => ({ ...tool, tool: { ...tool.tool, concurrency } }), nearest: () => [] } });
    const first = gate.call("crm.slow", {}, sized(1));
    await gate.clock.advance(50);
    const calls = Array.from({ length: 4 }, () => gate.call("crm.slow", {}, sized(2)));
    await gate.clock.advance(200);
    await Promise.all([first, ...calls]);
    expect(count.most).toBe(2);
  });

  test("work that ignores its signal keeps its turn until it ends, and those who wait for it are told", async () => {
    const gate: ReturnType<typeof testGate> = testGate({ tools: [] });
    const work = [Promise.withResolvers<number>(), Promise.withResolvers<number>()];
    let ran = 0;
    const deaf = testTool("crm.deaf", { effect: "read", timeoutMs: 100, concurrency: 2, run: () => work[ran++]?.promise ?? "late turn" });
    const call = () => gate.call("crm.deaf", {}, { catalog: { resolve: () => deaf, nearest: () => [] } });
    const [first, second, waiting] = [call(), call(), call()];
    await gate.clock.advance(100);
    expect((await Promise.all([first, second])).map(({ outcome }) => outcome.kind)).toEqual(["timed_out", "timed_out"]);
    expect(ran).toBe(2);
    await gate.clock.advance(200);
    expect((await waiting).outcome).toMatchObject({ kind: "limit_exceeded", effectStatus: "none", error: { code: "LIMIT_EXCEEDED", retryable: true, details: { limit: "concurrency", limitValue: 2 } } });
    expect(ran).toBe(2);
    work[0]?.resolve(1);
    expect((await call()).outcome).toMatchObject({ kind: "ok", value: "late turn" });
    expect([gate.clock.pendingTimers, ran]).toEqual([0, 3]);
  });

  test("cancelled while it waits for its turn, a write has no intent on record and changed nothing", async () => {
    const gate: ReturnType<typeof testGate> = testGate({ tools: [] });
    const { tool, count } = slow(() => gate.clock, 40, "write");
    const one = { catalog: { resolve: () => ({ ...tool, tool: { ...tool.tool, concurrency: 1 } }), nearest: () => [] } };
    const abort = new AbortController();
    const [first, second] = [gate.call("crm.slow", {}, one), gate.call("crm.slow", {}, { ...one, signal: abort.signal })];
    await gate.clock.advance(5);
    abort.abort();
    expect((await second).outcome).toMatchObject({ kind: "cancelled", effectStatus: "none" });
    expect(gate.journal.rows.filter(({ entry }) => "seq" in entry && entry.seq === 2).map(({ durability }) => durability)).toEqual(["lazy", "lazy", "lazy"]);
    await gate.clock.advance(50);
    await first;
    expect(count.ran).toBe(1);
  });

  test("does not know what became of a write in whose middle Callgate failed", async () => {
    const gate = testGate({ tools: [testTool("crm.pay"), testTool("crm.get", { effect: "read" })] });
    gate.clock.schedule = () => { throw new Error("clock broke"); };
    expect((await gate.call("crm.pay")).outcome).toMatchObject({ kind: "failed", effectStatus: "unknown", error: { code: "INTERNAL" } });
    expect((await gate.call("crm.get")).outcome).toMatchObject({ kind: "failed", effectStatus: "none", error: { code: "INTERNAL" } });
  });

  test("frees a turn however its call ended, and holds none while a person thinks", async () => {
    const answers = [Promise.withResolvers<{ kind: "approved"; by: string }>(), Promise.withResolvers<{ kind: "approved"; by: string }>()];
    let asked = 0;
    const gate: ReturnType<typeof testGate> = testGate({ tools: [testTool("crm.one", { concurrency: 1, run: () => 1 })], decide: ask, answer: () => answers[asked++]?.promise ?? { kind: "denied", by: "x" } });
    const [first, second] = [gate.call("crm.one"), gate.call("crm.one")];
    await gate.clock.advance(0);
    answers[1]?.resolve({ kind: "approved", by: "ann" });
    expect((await second).outcome.kind).toBe("ok");
    answers[0]?.resolve({ kind: "approved", by: "ann" });
    expect((await first).outcome.kind).toBe("ok");
  });

  test("br-034: aborted at any moment, every call ends once, truthfully, and leaves no timer, listener or rejection", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ durationMs: fc.nat(80), abortMs: fc.nat(100), effect: fc.constantFrom<Effect>("read", "write"), asks: fc.boolean(), answerMs: fc.nat(60), retries: fc.nat(2) }), { minLength: 1, maxLength: 8 }),
        async (plan) => {
          const gate: ReturnType<typeof testGate> = testGate({
            tools: [],
            decide: (_tool, args) => ((args as { asks: boolean }).asks ? ask() : { kind: "allow", ruleId: "r" }),
            answer: (question) => new Promise((resolve) => { gate.clock.schedule((question.argsSummary as { answerMs: number }).answerMs, () => { resolve({ kind: "approved", by: "ann" }); }); }),
          });
          const run = plan.map((step) => {
            const { tool, count } = slow(() => gate.clock, step.durationMs, step.effect);
            const bounded = { ...tool, tool: { ...tool.tool, concurrency: 2, retry: { retries: Math.max(1, step.retries), minDelayMs: 5 } } };
            const abort = new AbortController();
            gate.clock.schedule(step.abortMs, () => { abort.abort(); });
            return { step, abort, count, call: gate.call("crm.slow", step, { signal: abort.signal, catalog: { resolve: () => bounded, nearest: () => [] } }) };
          });
          await gate.clock.advance(2_000);
          for (const [index, { step, abort, count, call }] of run.entries()) {
            const { outcome, effect } = await call;
            expect(effect).toBe(step.effect);
            expect(["ok", "timed_out", "cancelled"]).toContain(outcome.kind);
            const expected = step.effect === "read" || count.ran === 0 ? "none" : outcome.kind === "ok" ? "done" : "unknown";
            expect(outcome.effectStatus).toBe(expected);
            const kinds = kindsOf(gate.entries(), index + 1);
            expect(kinds.filter((kind) => kind === "call-issued")).toHaveLength(1);
            expect(kinds.filter((kind) => kind === "call-ended")).toHaveLength(1);
            if (kinds.includes("call-late")) expect(kinds.at(-1)).toBe("call-late");
            expect(getEventListeners(abort.signal, "abort")).toHaveLength(0);
          }
          expect(gate.clock.pendingTimers).toBe(0);
        },
      ),
      { numRuns: 60 },
    );
  });

  test("close cancels what is under way, waits until it is recorded, and takes no more", async () => {
    const gate = testGate({ tools: [testTool("crm.hang", { run: () => new Promise(() => undefined) })] });
    const hanging = gate.call("crm.hang");
    await gate.clock.advance(1);
    await gate.broker.close();
    expect((await hanging).outcome).toMatchObject({ kind: "cancelled", effectStatus: "unknown" });
    expect(gate.entries().at(-1)).toMatchObject({ kind: "call-ended", outcome: "cancelled" });
    await expect(gate.call("crm.hang")).rejects.toSatisfy((error) => CallgateError.is(error) && error.code === "CLOSED");
    await gate.broker.close();
    expect(gate.clock.pendingTimers).toBe(0);
  });

  test("survives a late end that cannot be journalled any more", async () => {
    const work = Promise.withResolvers<unknown>();
    const gate = testGate({ tools: [testTool("crm.hang", { run: () => work.promise })] });
    const hanging = gate.call("crm.hang");
    await gate.clock.advance(1000);
    await hanging;
    gate.journal.fail = () => true;
    work.resolve(1);
    await gate.clock.advance(0);
    expect(gate.logs).toMatchObject([{ level: "error" }]);
  });

  test("survives listeners and log sinks that throw", async () => {
    const gate = testGate({ tools: [testTool("crm.pay", { run: (_args, context) => { context.log.info("x"); return 1; } })] });
    gate.events.push = () => { throw new Error("listener"); };
    gate.logs.push = () => { throw new Error("sink"); };
    expect((await gate.call("crm.pay")).outcome.kind).toBe("ok");
  });
});

describe("stages under their deadline", () => {
  const never = () => new Promise<never>(() => undefined);

  test.each([
    ["schema of the input", { parseInput: never }, "TOOL_TIMEOUT", "none"],
    ["precheck", { precheck: never }, "TOOL_TIMEOUT", "none"],
    ["schema of the output", { parseOutput: never }, "INVALID_OUTPUT", "done"],
  ] as const)("a hanging %s ends the call", async (_name, hook, code, status) => {
    const tool = testTool("crm.pay", { run: () => 1, ...hook });
    const withOutput = { ...tool, validateOutput: async (value: unknown) => await (tool.tool.parseOutput?.(value) ?? { kind: "ok" as const, value }) };
    const gate = testGate({ tools: [withOutput] });
    const performing = gate.call("crm.pay");
    await gate.clock.advance(1000);
    const performed = await performing;
    expect([errorOf(performed).code, performed.outcome.effectStatus, gate.clock.pendingTimers]).toEqual([code, status, 0]);
  });

  test.each([
    ["input", { parseInput: () => { throw new Error("zod fell over"); } }, "invalid_input", "none"],
    ["output", { badOutput: () => { throw new Error("zod fell over"); } }, "invalid_output", "done"],
  ] as const)("a schema of the %s that throws is a named outcome", async (_name, hook, kind, status) => {
    const performed = await testGate({ tools: [testTool("crm.pay", { run: () => 1, ...hook })] }).call("crm.pay");
    expect([performed.outcome.kind, performed.outcome.effectStatus]).toEqual([kind, status]);
    expect(errorOf(performed).message).toContain("zod fell over");
  });

  test("cancelling ends a call in its input schema and in its precheck", async () => {
    for (const hook of [{ parseInput: never }, { precheck: never }]) {
      const abort = new AbortController();
      const gate = testGate({ tools: [testTool("crm.pay", hook)] });
      const performing = gate.call("crm.pay", {}, { signal: abort.signal });
      await gate.clock.advance(1);
      abort.abort();
      expect((await performing).outcome).toMatchObject({ kind: "cancelled", effectStatus: "none" });
    }
  });
});

describe("arguments on their way in", () => {
  test("agent 5: a call without arguments gets the empty object", async () => {
    const seen: unknown[] = [];
    const gate = testGate({ tools: [testTool("crm.get", { effect: "read", run: (args) => void seen.push(args) })] });
    await gate.call("crm.get", undefined, { args: { json: '{"$cg":"undefined"}', tagged: true } });
    await gate.call("crm.get", null);
    expect(seen).toEqual([{}, {}]);
  });

  test("names the place of invalid arguments, bounded", async () => {
    const issues = Array.from({ length: 30 }, (_, index) => ({ path: `/items/${index}`, message: "must be a number" }));
    const tool = testTool("crm.pay");
    const gate = testGate({ tools: [{ ...tool, validateInput: () => Promise.resolve({ kind: "invalid", issues }) }, testTool("crm.one", { badInput: () => "must be canary-7f3a" })] });
    const many = errorOf(await gate.call("crm.pay"));
    expect(many.message).toBe("The arguments of crm.pay do not match its schema: /items/0 must be a number; /items/1 must be a number; /items/2 must be a number (and 27 more). Nothing was changed; correct them and call again.");
    expect(many.details?.["issues"]).toHaveLength(20);
    expect(many).not.toHaveProperty("path");
    expect(errorOf(await gate.call("crm.one"))).toMatchObject({ path: "/amount", details: { issues: [{ path: "/amount", message: "must be [secret]" }] } });
  });

  test("refuses bytes that are no value, too deep, or over the limit, before anything else", async () => {
    const gate = testGate({ tools: [testTool("crm.pay", { badInput: () => "not reached" })] });
    const codeOf = async (args: { json: string; tagged: boolean }) => errorOf(await gate.call("crm.pay", {}, { args })).code;
    expect(await codeOf({ json: "{", tagged: false })).toBe("VALUE_UNSUPPORTED");
    expect(await codeOf({ json: '{"$cg":"nonsense"}', tagged: true })).toBe("VALUE_UNSUPPORTED");
    expect(await codeOf({ json: "[".repeat(50_000) + "]".repeat(50_000), tagged: false })).toBe("VALUE_TOO_LARGE");
    expect(await codeOf({ json: `"${"é".repeat(2.1 * 1024 * 1024)}"`, tagged: false })).toBe("LIMIT_EXCEEDED");
    expect(gate.entries().every((entry) => entry.kind !== "call-issued" || entry.args.summary === null)).toBe(true);
  });

  test("br-030: neither a secret nor a sensitive argument that a tool repeats reaches a record or an event", async () => {
    const run = (args: unknown) => { throw Object.assign(new Error(`card ${(args as { card: string }).card} refused, Bearer canary-7f3a`), { code: "E4111111111111111" }); };
    const gate = testGate({ tools: [testTool("crm.pay", { sensitive: ["/input/card", "/input/people/*/mail"], run })] });
    const { outcome } = await gate.call("crm.pay", { card: "4111111111111111", people: [{ mail: "ann@x.example" }] }, { principal: localPrincipal });
    const written = JSON.stringify([gate.entries().map((entry) => (entry.kind === "call-issued" ? { ...entry, args: { ...entry.args, clear: undefined } } : entry)), gate.events]);
    expect(written).not.toMatch(/4111111111111111|canary-7f3a/);
    expect(written).toContain("card [sensitive] refused, Bearer [secret]");
    // Its caller wrote the number itself, and may read it.
    expect(JSON.stringify(outcome)).toContain("card 4111111111111111 refused");
  });

  test("br-030: nor does one that a tool repeats when it is late", async () => {
    const work = Promise.withResolvers<unknown>();
    const gate = testGate({ tools: [testTool("crm.pay", { sensitive: ["/input/card"], run: () => work.promise })] });
    const performing = gate.call("crm.pay", { card: "4111111111111111" });
    await gate.clock.advance(1000);
    await performing;
    work.reject(new Error("card 4111111111111111 refused"));
    await gate.clock.advance(0);
    expect(gate.entries().at(-1)).toMatchObject({ kind: "call-late", error: { message: expect.stringContaining("card [sensitive] refused") as string } });
  });

  test("br-030: nor a secret in the words of an output schema", async () => {
    const gate = testGate({ tools: [testTool("crm.pay", { badOutput: () => "must not be canary-7f3a" })] });
    expect(errorOf(await gate.call("crm.pay")).message).toContain("/amount must not be [secret]. The change itself took effect");
  });
});
