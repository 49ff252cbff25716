import { BackgroundJob, ToolError } from "@callgate/contract";
import type { CallOutcome, InterceptedCall, Interceptor } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { createCallLimits } from "../limits/call-limits.ts";
import { allow, ask, errorOf, testGate, testTool } from "./fixtures/test-broker.ts";
import type { TestGateInit, TestTool } from "./fixtures/test-broker.ts";
import { createInterceptors, defineInterceptor } from "./interceptors.ts";

/** A gate with a write `crm.pay` that keeps what it was called with. */
function interceptedGate(interceptors: readonly Interceptor[], tool: TestTool = {}, init: Partial<TestGateInit> = {}) {
  const seen: unknown[] = [];
  const run = (args: unknown): unknown => {
    seen.push(args);
    return { paid: true };
  };
  const gate = testGate({ tools: [testTool("crm.pay", { run, ...tool }), testTool("crm.get", { effect: "read", run, ...tool }), testTool("web.get", { effect: "read", run })], interceptors, ...init });
  const intercepted = () => gate.entries().flatMap((entry) => (entry.kind === "call-intercepted" ? [`${entry.by} ${entry.how}`] : []));
  return { ...gate, seen, intercepted };
}

const cap: Interceptor = { name: "cap", tools: "crm.*", before: ({ args }) => ({ kind: "transform", args: { ...(args as object), amount: 100 } }) };

describe("before", () => {
  test("sees the call in clear, cannot change it, and lets it go on", async () => {
    const looked: InterceptedCall[] = [];
    const gate = interceptedGate([{ name: "look", before: (call) => { looked.push(call); expect(() => { (call.args as { amount: number }).amount = 5; }).toThrow(); expect(() => { (call.principal as { user: string }).user = "root"; }).toThrow(); } }], { sensitive: ["/input/card"] });
    expect((await gate.call("crm.pay", { amount: 1, card: "canary-card" })).outcome).toMatchObject({ kind: "ok", effectStatus: "done", value: { paid: true } });
    expect(looked).toMatchObject([{ tool: "crm.pay", namespace: "crm", args: { amount: 1, card: "canary-card" }, principal: { user: "local" }, lane: "execute", isUndo: false }]);
    expect([gate.seen, gate.intercepted()]).toEqual([[{ amount: 1, card: "canary-card" }], []]);
  });

  test("only of the tools they mean, in their order, each with what the one before made", async () => {
    const order: string[] = [];
    const add = (name: string, tools?: string): Interceptor => ({ name, ...(tools === undefined ? {} : { tools }), before: ({ args }) => { order.push(name); return { kind: "transform", args: { trail: `${(args as { trail?: string }).trail ?? ""}${name}` } }; } });
    const gate = interceptedGate([add("a"), add("b", "crm.*"), add("c", "*.get"), add("d", "web.*")]);
    await gate.call("crm.pay");
    expect([order, gate.seen]).toEqual([["a", "b"], [{ trail: "ab" }]]);
  });

  test("what they make of arguments is validated again, decided again, shown, performed and on record", async () => {
    const decided: unknown[] = [];
    const questions: unknown[] = [];
    const gate = interceptedGate([cap], { badInput: (value) => ((value as { amount: number }).amount > 1_000 ? "too much" : undefined), sensitive: ["/input/card"] }, {
      decide: (_tool, args) => { decided.push(args); return ask(); },
      answer: (question) => { questions.push(question.argsSummary); return { kind: "approved", by: "ann" }; },
    });
    expect((await gate.call("crm.pay", { amount: 500, card: "canary-card" })).outcome.kind).toBe("ok");
    const performed = { amount: 100, card: "canary-card" };
    expect([decided.slice(0, 2), questions, gate.seen]).toEqual([[{ amount: 500, card: "canary-card" }, performed], [{ amount: 100, card: "hash:one" }], [performed]]);
    expect(gate.entries().find(({ kind }) => kind === "call-intercepted")).toMatchObject({ by: "cap", how: "transformed", args: { summary: { amount: 100, card: "hash:one" } } });
    expect(gate.entries().filter(({ kind }) => kind === "call-decided")).toHaveLength(2); // Asked, and answered.
    expect(JSON.stringify(gate.events)).not.toContain("canary-card");
    expect(gate.events).toContainEqual(expect.objectContaining({ kind: "call-intercepted", by: "cap", how: "transformed" }));
  });

  test("arguments that they made and that do not fit end the call, and nothing happened", async () => {
    const tooMuch: Interceptor = { name: "more", before: () => ({ kind: "transform", args: { amount: 5_000 } }) };
    const gate = interceptedGate([tooMuch], { badInput: (value) => ((value as { amount: number }).amount > 1_000 ? "too much" : undefined) });
    expect((await gate.call("crm.pay", { amount: 1 })).outcome).toMatchObject({ kind: "invalid_input", effectStatus: "none", error: { code: "INVALID_INPUT" } });
    const function_: Interceptor = { name: "odd", before: () => ({ kind: "transform", args: { amount: () => 1 } }) };
    expect((await interceptedGate([function_]).call("crm.pay")).outcome).toMatchObject({ kind: "invalid_input", error: { code: "VALUE_UNSUPPORTED" } });
    expect(gate.seen).toEqual([]);
  });

  test("no stage loosens the policy: what is denied reaches none, what asks still asks, and a change is held against the rules", async () => {
    const looked: unknown[] = [];
    let asked = 0;
    const byAmount: TestGateInit["decide"] = (_tool, args) => {
      const { amount } = args as { amount: number };
      return amount > 1_000 ? { kind: "deny", ruleId: "limit", reason: "too much" } : amount > 200 ? ask() : allow();
    };
    const change: Interceptor = { name: "change", before: ({ args }) => { looked.push(args); const { to } = args as { to?: number }; return to === undefined ? undefined : { kind: "transform", args: { amount: to } }; } };
    const gate = interceptedGate([change], {}, { decide: byAmount, answer: () => { asked += 1; return { kind: "approved", by: "ann" }; } });
    expect((await gate.call("crm.pay", { amount: 5_000, to: 1 })).outcome.kind).toBe("denied");
    expect(looked).toEqual([]);
    expect((await gate.call("crm.pay", { amount: 300, to: 1 })).outcome.kind).toBe("ok");
    expect(asked).toBe(1);
    expect((await gate.call("crm.pay", { amount: 1, to: 5_000 })).outcome).toMatchObject({ kind: "denied", error: { details: { ruleId: "limit" } } });
    expect(gate.seen).toEqual([{ amount: 1 }]);
  });

  test("an approval is for what is performed: another change after it is refused", async () => {
    let amount = 100;
    let pending = true;
    const drifting: Interceptor = { name: "drift", before: () => ({ kind: "transform", args: { amount } }) };
    const gate = interceptedGate([drifting], {}, { decide: ask, answer: () => (pending ? { kind: "pending" } : { kind: "approved", by: "ann" }) });
    const parked = await gate.request("crm.pay", {}, { callId: "c1", seq: 1 });
    if (parked.kind !== "parked") throw new Error("the call was not parked");
    pending = false;
    amount = 100_000;
    const again = await gate.request("crm.pay", {}, { callId: "c1", seq: 1, past: parked.past });
    expect(again).toMatchObject({ kind: "performed", outcome: { kind: "denied" } });
    expect(gate.seen).toEqual([]);
  });

  test("an answer in the tool's place is checked, is no answer of the tool's, and changed nothing", async () => {
    const stub: Interceptor = { name: "stub", before: ({ args }) => ({ kind: "answer", value: (args as { bad?: boolean }).bad === true ? { paid: "perhaps" } : { paid: false } }) };
    const gate = interceptedGate([stub], { badOutput: (value) => (typeof (value as { paid: unknown }).paid === "boolean" ? undefined : "paid must be boolean") }, { limits: createCallLimits({ rateLimits: [{ id: "one", calls: 1, windowSeconds: 60 }] }) });
    for (let round = 0; round < 3; round += 1) expect((await gate.call("crm.pay", { round })).outcome).toMatchObject({ kind: "ok", effectStatus: "none", value: { paid: false } });
    expect(gate.entries().findLast(({ kind }) => kind === "call-ended")).toMatchObject({ answeredBy: "stub", attempts: 0, cached: false, effectStatus: "none" });
    expect(gate.events.findLast(({ kind }) => kind === "call-ended")).toMatchObject({ answeredBy: "stub" });
    expect((await gate.call("crm.pay", { bad: true })).outcome).toMatchObject({ kind: "invalid_output", effectStatus: "none", error: { code: "INVALID_OUTPUT" } });
    expect([gate.seen, gate.eventKinds().includes("call-started")]).toEqual([[], false]);
  });

  test("a write that is made again after its process was lost is made with the same change", async () => {
    const gate = interceptedGate([cap], { idempotent: true });
    const again = await gate.request("crm.pay", { amount: 500 }, { past: { issued: true, begun: true, resolved: 0 } });
    expect(again).toMatchObject({ outcome: { kind: "ok", effectStatus: "done" } });
    expect(gate.seen).toEqual([{ amount: 100 }]);
  });

  test("denies, and its reason is told without secrets", async () => {
    const gate = interceptedGate([{ name: "hours", before: () => ({ kind: "deny", reason: "Not at night, canary-7f3a" }) }]);
    const performed = await gate.call("crm.pay");
    expect(performed.outcome).toMatchObject({ kind: "denied", effectStatus: "none", error: { code: "DENIED", details: { ruleId: "interceptor:hours" } } });
    expect(errorOf(performed).message).toContain("Not at night, [secret]");
    expect(gate.entries().filter(({ kind }) => kind === "call-decided")).toMatchObject([{ decision: "deny", ruleId: "interceptor:hours" }]);
  });

  test.each<[string, Interceptor["before"]]>([
    ["throws", () => { throw new Error("canary of the host"); }],
    ["rejects", () => Promise.reject(new Error("canary of the host"))],
    ["never answers", () => new Promise(() => undefined)],
    ["returns nonsense", () => ({ kind: "let me in" }) as never],
  ])("one that %s denies; why is the host's to read", async (_how, before) => {
    const gate = interceptedGate([{ name: "broken", timeoutMs: 50, ...(before === undefined ? {} : { before }) }]);
    const call = gate.call("crm.pay");
    await gate.clock.advance(100);
    const performed = await call;
    expect(performed.outcome).toMatchObject({ kind: "denied", effectStatus: "none", error: { details: { ruleId: "interceptor:broken" } } });
    expect(errorOf(performed).message).not.toContain("canary");
    expect([gate.seen, gate.intercepted(), gate.logs.length]).toEqual([[], ["broken failed"], 1]);
    expect(gate.clock.pendingTimers).toBe(0);
  });
});

describe("after", () => {
  test("sees how the call ended, in the reverse order, and may put another good value in its place", async () => {
    const order: string[] = [];
    const outcomes: CallOutcome[] = [];
    const mask = (name: string): Interceptor => ({ name, after: (_call, outcome) => { order.push(name); outcomes.push(outcome); return outcome.kind === "ok" ? { kind: "replace", value: { paid: true, by: name } } : undefined; } });
    const gate = interceptedGate([mask("outer"), mask("inner")]);
    expect((await gate.call("crm.pay")).outcome).toMatchObject({ kind: "ok", effectStatus: "done", value: { paid: true, by: "outer" } });
    expect([order, outcomes.map((one) => (one.kind === "ok" ? one.value : one.kind))]).toEqual([["inner", "outer"], [{ paid: true }, { paid: true, by: "inner" }]]);
    expect(gate.entries().findLast(({ kind }) => kind === "call-ended")).toMatchObject({ effectStatus: "done", result: { summary: { paid: true, by: "outer" } } });
    expect(gate.intercepted()).toEqual(["inner replaced", "outer replaced"]);
  });

  test("changes nothing by changing what it is shown", async () => {
    const gate = interceptedGate([{ name: "meddle", after: (_call, outcome) => { if (outcome.kind === "ok") (outcome.value as { paid: boolean }).paid = false; } }]);
    expect((await gate.call("crm.pay")).outcome).toMatchObject({ kind: "ok", value: { paid: true } });
  });

  test("a value that does not fit, a failure, and one in the place of no good answer fail the call; what became of the effect stays true", async () => {
    const wrong = interceptedGate([{ name: "wrong", after: () => ({ kind: "replace", value: { paid: 1 } }) }], { badOutput: (value) => (typeof (value as { paid: unknown }).paid === "boolean" ? undefined : "no") });
    expect((await wrong.call("crm.pay")).outcome).toMatchObject({ kind: "invalid_output", effectStatus: "done", error: { code: "INVALID_OUTPUT" } });
    const broken: Interceptor = { name: "broken", timeoutMs: 50, after: () => { throw new Error("canary of the host"); } };
    const throwing = interceptedGate([broken]);
    const performed = await throwing.call("crm.pay");
    expect(performed.outcome).toMatchObject({ kind: "failed", effectStatus: "done", error: { code: "INTERCEPTOR_FAILED", retryable: false } });
    expect(errorOf(performed).message).toContain("The change itself took effect");
    expect(errorOf(performed).message).not.toContain("canary");
    const doubtful = interceptedGate([{ name: "hide", after: () => ({ kind: "replace", value: { paid: true } }) }], { run: () => { throw new Error("connection lost"); } });
    expect((await doubtful.call("crm.pay")).outcome).toMatchObject({ kind: "failed", effectStatus: "unknown", error: { code: "INTERCEPTOR_FAILED" } });
    const silent = interceptedGate([{ ...broken, after: () => new Promise(() => undefined) }]);
    const call = silent.call("crm.get");
    await silent.clock.advance(100);
    expect((await call).outcome).toMatchObject({ kind: "failed", effectStatus: "none", error: { code: "INTERCEPTOR_FAILED" } });
  });

  test("hears of every end of a call that was let through: refused by a limit, by a person, answered from a cache, or by a job", async () => {
    const ends: string[] = [];
    const listen: Interceptor = { name: "listen", after: ({ tool }, { kind }) => void ends.push(`${tool} ${kind}`) };
    const limited = interceptedGate([listen], { cache: { ttlMs: 1_000 } }, { limits: createCallLimits({ rateLimits: [{ id: "two", tools: "crm.get", calls: 2, windowSeconds: 60 }] }), decide: (tool) => (tool === "crm.pay" ? ask() : allow()), answer: () => ({ kind: "denied", by: "ann", reason: "no" }) });
    for (const tool of ["crm.get", "crm.get", "crm.get", "crm.pay"]) await limited.call(tool);
    expect(ends).toEqual(["crm.get ok", "crm.get ok", "crm.get limit_exceeded", "crm.pay denied"]);
    const jobs = interceptedGate([{ name: "mark", after: () => ({ kind: "replace", value: "marked" }) }], { run: () => new BackgroundJob({ id: 1 }), poll: () => ({ kind: "done", output: "built" }) });
    const parked = await jobs.request("crm.pay", {}, { callId: "c1", seq: 1 });
    if (parked.kind !== "parked") throw new Error("the call was not parked");
    await jobs.clock.advance(10_000);
    expect(await jobs.request("crm.pay", {}, { callId: "c1", seq: 1, past: parked.past })).toMatchObject({ outcome: { kind: "ok", value: "marked" } });
  });
});

describe("createInterceptors", () => {
  test.each<[string, readonly Interceptor[], string]>([
    ["a name that cannot be one", [{ ...cap, name: "a b" }], "interceptors[0].name"],
    ["a name twice", [cap, cap], 'interceptors[1].name "cap" is there twice'],
    ["one that does nothing", [{ name: "idle" }], "interceptors[0] (idle) does nothing"],
    ["a pattern that can match nothing", [{ ...cap, tools: ["crm"] }], 'write "crm.*"'],
    ["no time", [{ ...cap, timeoutMs: 0 }], "interceptors[0].timeoutMs"],
  ])("refuses %s", (_what, interceptors, message) => {
    expect(() => createInterceptors(interceptors)).toThrow(expect.objectContaining({ code: "USAGE", message: expect.stringContaining(message) }));
  });

  test("types flow from what defineInterceptor is told", async () => {
    const typed = defineInterceptor<{ readonly amount: number }, { readonly paid: boolean }>({ name: "typed", before: ({ args }) => (args.amount > 10 ? { kind: "answer", value: { paid: false } } : undefined) });
    expect((await interceptedGate([typed]).call("crm.pay", { amount: 11 })).outcome).toMatchObject({ value: { paid: false } });
  });

  test("an error of a tool stays its own where nobody minds it", async () => {
    const gate = interceptedGate([{ name: "look", after: () => undefined }], { run: () => { throw new ToolError({ code: "NO_MONEY", message: "no", notApplied: true }); } });
    expect((await gate.call("crm.pay")).outcome).toMatchObject({ kind: "failed", effectStatus: "none", error: { code: "NO_MONEY" } });
  });
});
