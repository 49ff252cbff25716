import { BackgroundJob, CallgateError, ToolError } from "@callgate/contract";
import type { JournalEntry, RunResult } from "@callgate/contract";
import { testPolicy } from "@callgate/testkit";
import { afterEach, describe, expect, test } from "vitest";
import { durableWorld, sleepMs, until } from "./fixtures/durable-world.ts";
import type { TestTool } from "./fixtures/test-gate.ts";

let worlds: ReturnType<typeof durableWorld>[] = [];
afterEach(async () => {
  await Promise.all(worlds.map((world) => world.close()));
  worlds = [];
});

function world(more: readonly TestTool[] = []) {
  const done: unknown[] = [];
  const effect = (name: string, init: Partial<TestTool> = {}): TestTool => ({ name, effect: "write", handler: async (args, { idempotencyKey }) => { done.push([name, args, idempotencyKey]); return await Promise.resolve({ name, args }); }, ...init });
  const made = durableWorld([
    { name: "read", handler: async (args) => { const { n, ms } = args as { n: number; ms?: number }; if (ms !== undefined) await sleepMs(ms); return { n }; } },
    effect("write"),
    effect("ask_pay"),
    ...more,
  ]);
  worlds.push(made);
  return { ...made, done, effect };
}

/** What happened in a run, without the times and the hands it went through. */
function callLog(entries: readonly JournalEntry[]): unknown {
  return entries.flatMap((entry) => (entry.kind === "call-ended" ? [[entry.seq, entry.outcome, entry.result?.digest] as const] : [])).sort(([a], [b]) => a - b);
}

describe("runs.resume", () => {
  test("code-mode 3: a question survives the process; answered twice at once from others, the effect happens once and both get the same", async () => {
    const { done, open, entries } = world();
    const first = await open();
    const waiting = await first.run(`
      console.log("before"); text("said once");
      const a = await tools.t.read({ n: 1 });
      const paid = await tools.t.ask_pay({ amount: a.n });
      console.log("after");
      return { paid, at: Date.now() > 0 }`);
    expect([waiting.status, waiting.waits?.map(({ kind }) => kind), done]).toEqual(["suspended", ["approval"], []]);
    await first.close();
    const [second, third] = [await open(), await open()];
    const [pending] = await second.approvals.list();
    const { approvalId = "" } = pending?.question ?? {};
    const [yes, no] = await Promise.all([second.approvals.answer(approvalId, { approved: true, by: "ann" }), third.approvals.answer(approvalId, { approved: true, by: "bob" })]);
    expect(yes.known).toBe(!no.known);
    const [one, two] = await Promise.all([second.runs.resume(waiting.runId), third.runs.resume(waiting.runId)]);
    expect([one.status, two.status]).toEqual(["completed", "completed"]);
    expect(one.value).toMatchObject({ value: { paid: { args: { amount: 1 } }, at: true } });
    expect(two.value).toEqual(one.value);
    expect(done).toHaveLength(1);
    expect([one.console.map(({ text }) => text), one.text]).toEqual([["before", "after"], ["said once"]]);
    expect(entries(waiting.runId).flatMap((entry) => (entry.kind === "console" ? entry.entries.map(({ text }) => text) : entry.kind === "text" ? [entry.text] : []))).toHaveLength(3);
    expect(entries(waiting.runId).filter(({ kind }) => kind === "approval-asked")).toHaveLength(1);
    expect(await third.runs.resume(waiting.runId)).toMatchObject({ status: "completed", value: one.value });
    expect(await third.approvals.list()).toEqual([]);
  });

  test("code-mode 8: 20 parallel calls with shuffled latencies, suspended in the middle, give the same whether resumed once or fifty times", async () => {
    // Each call has its own place in the shuffled order of answers; half of them are not answered before somebody tells.
    const parked = (n: number): boolean => n % 2 === 1;
    const made = world([{ name: "mixed", effect: "write", handler: async (args) => {
      const { n } = args as { n: number };
      await sleepMs((n * 7) % 20);
      return parked(n) ? new BackgroundJob({ n }) : { n };
    } }]);
    const gate = await made.open();
    const program = `
      const order = [];
      const all = await Promise.all(Array.from({ length: 20 }, async (_, n) => { const r = await tools.t.mixed({ n }); order.push(n); return [r.n, Math.random()]; }));
      return { order, all, at: Date.now() };`;
    const { runId, status } = await gate.run(program, { seed: "0123456789abcdef0123456789abcdef", suspendAfterMs: 1 });
    expect(status).toBe("suspended");
    const kept = made.journal.runs.get(runId);
    if (kept === undefined) throw new Error("no run");
    const delivered = kept.entries.filter(({ kind }) => kind === "delivered").length;
    const waiting = kept.waits.flatMap((wait) => (wait.kind === "job" ? [wait.seq] : []));
    expect([delivered, waiting.length]).toEqual([10, 10]); // In the middle of them.
    for (const seq of waiting.toSorted((one, other) => one - other)) await gate.runs.complete(`${runId}.${seq}`, { kind: "value", value: { n: seq } });
    // From one state, twice: all told and resumed once, and torn down fifty times before that.
    const [entries, signals, state] = [[...kept.entries], [...kept.signals], { status: kept.status, waits: kept.waits, wakeAtMs: kept.wakeAtMs }];
    const end = (result: RunResult): unknown => ({ ...(result.value as { value: object }).value, at: undefined });
    const once = await gate.runs.resume(runId);
    const onceLog = callLog(kept.entries);
    expect([once.status, (onceLog as unknown[]).length]).toEqual(["completed", 20]);

    kept.entries.splice(0, kept.entries.length, ...entries);
    kept.signals.length = 0;
    delete kept.finish;
    Object.assign(kept, state);
    for (let turn = 0; turn < 49; turn += 1) {
      // A part of what it waits for comes every fifth time.
      if (turn % 5 === 4) kept.signals.push(...signals.slice(kept.signals.length, kept.signals.length + 1));
      expect((await gate.runs.resume(runId, { suspendAfterMs: 0 })).status).toBe("suspended");
    }
    kept.signals.push(...signals.slice(kept.signals.length));
    const fifty = await gate.runs.resume(runId);
    expect([fifty.status, end(fifty), callLog(kept.entries)]).toEqual(["completed", end(once), onceLog]);
    expect(kept.entries.filter(({ kind }) => kind === "call-issued")).toHaveLength(20);
  }, 600_000);

  test("br-010: a run that does something else than its record says ends as diverged, names both sides, and performs nothing", async () => {
    const { open, journal, done } = world();
    const gate = await open();
    const run = await gate.run("await tools.t.write({ n: 1 }); await waitFor('go'); await tools.t.write({ n: 2 }); return 1");
    const kept = journal.runs.get(run.runId)?.entries ?? [];
    const at = kept.findIndex(({ kind }) => kind === "checked");
    const checked = kept[at];
    if (checked?.kind === "checked") kept[at] = { ...checked, code: checked.code?.replace("n: 1", "n: 9") ?? "" };
    await gate.runs.signal(run.runId, { name: "go" });
    const resumed = await gate.runs.resume(run.runId);
    expect(resumed).toMatchObject({ status: "diverged", error: { code: "REPLAY_DIVERGED", details: { seq: 0 } }, effects: { done: ["t.write (call 0)"] } });
    expect(resumed.error?.message).toContain("Call 0 (t.write) has other arguments");
    expect(done).toHaveLength(1);
  });

  test("an error that quotes a sensitive argument reads the same before and after", async () => {
    const { open } = world([{ name: "find", sensitive: ["/input/email"], handler: ({ email }: { email: string }) => { throw new ToolError({ code: "NOT_FOUND", message: `No customer ${email}` }); } } as TestTool]);
    const gate = await open();
    const { runId } = await gate.run("const { message } = await tools.t.find({ email: 'ann of acme' }).catch((error) => error); await tools.t.write({ message }); await waitFor('go'); return message");
    await gate.runs.signal(runId, { name: "go" });
    expect(await gate.runs.resume(runId)).toMatchObject({ status: "completed", value: { value: "No customer [sensitive]" } });
  });

  test("an outcome that could not be written at once is written with the next, so that the run can go on", async () => {
    const { open, journal, done } = world();
    const gate = await open();
    let isFull = true;
    journal.before = (_what, _lease, entries) => {
      if (!isFull || !entries.some(({ kind }) => kind === "call-ended")) return;
      isFull = false;
      throw new CallgateError("JOURNAL_UNAVAILABLE", "no space left");
    };
    const { runId, notices } = await gate.run("const paid = await tools.t.write({ n: 1 }); await waitFor('go'); return paid");
    expect(notices).toContainEqual(expect.stringContaining("could not be written to the journal"));
    await gate.runs.signal(runId, { name: "go" });
    expect(await gate.runs.resume(runId)).toMatchObject({ status: "completed", value: { value: { args: { n: 1 } } } });
    expect(done).toHaveLength(1);
  });

  test.each(["suspended", "lost"])("what was handed to the program and could not be written, for the disk was full, is handed to it again; no write it led to is made twice (%s)", async (how) => {
    const { open, journal, done, lose } = world();
    const gate = await open();
    journal.before = (_what, _lease, entries) => {
      if (entries.some(({ kind }) => kind === "delivered")) throw new CallgateError("JOURNAL_UNAVAILABLE", "no space left");
    };
    const program = "const [a, b] = await Promise.all([tools.t.write({ n: 1 }), tools.t.read({ n: 2, ms: 5 })]); const c = await tools.t.write({ n: a.args.n + b.n }); const d = await tools.t.write({ n: c.args.n + 1 }); const go = await waitFor('go'); return [c.args.n, d.args.n, go]";
    let runId = "";
    gate.onEvent((event) => void (event.kind === "run-started" && (runId = event.runId)));
    const running = gate.run(program, how === "lost" ? { suspendAfterMs: Number.POSITIVE_INFINITY } : {});
    await until(() => done.length === 3);
    if (how === "suspended") expect((await running).status).toBe("suspended");
    else await until(() => (journal.runs.get(runId)?.entries.filter(({ kind }) => kind === "call-ended").length ?? 0) >= 3);
    // Nothing that was delivered is on record, and everything that came of it is.
    expect(journal.runs.get(runId)?.entries.some(({ kind }) => kind === "delivered")).toBe(false);
    journal.before = () => undefined;
    lose(runId);
    const other = await open();
    await other.runs.signal(runId, { name: "go", payload: "now" });
    expect(await other.runs.resume(runId)).toMatchObject({ status: "completed", value: { value: [3, 4, "now"] } });
    expect(done).toHaveLength(3);
  });

  test("a call that comes out otherwise when what led to it is handed over again is not made: the run ends as diverged", async () => {
    const { open, journal, done, lose } = world();
    const gate = await open();
    journal.before = (_what, _lease, entries) => {
      if (entries.some(({ kind }) => kind === "delivered")) throw new CallgateError("JOURNAL_UNAVAILABLE", "no space left");
    };
    const { runId, status } = await gate.run("await tools.t.write({ n: 1 }); await tools.t.write({ n: Date.now() }); await waitFor('go'); return 1");
    expect([status, done.length]).toEqual(["suspended", 2]);
    journal.before = () => undefined;
    lose(runId);
    await sleepMs(5); // The time of the program is that of the last answer it had.
    expect(await (await open()).runs.resume(runId)).toMatchObject({ status: "diverged", error: { code: "REPLAY_DIVERGED", details: { seq: 1 } } });
    expect(done).toHaveLength(2);
  });

  test("code-mode 15: a tool whose interface has changed since the check refuses the run by name, until the changes are accepted", async () => {
    const { open, done, effect } = world();
    const first = await open();
    const run = await first.run("const later = waitFor('go'); await waitFor('go'); await tools.t.write({ n: 1 }); return await later");
    await first.runs.signal(run.runId, { name: "go", payload: 1 });
    const renamed = [{ name: "read", handler: () => 1 }, effect("write", { input: { type: "object", properties: { n: { type: "number" } } } }), effect("ask_pay")];
    const second = await open({}, renamed);
    await expect(second.runs.resume(run.runId)).rejects.toMatchObject({ code: "RUN_NOT_RESUMABLE", message: expect.stringContaining("tool t.write has another interface") as string });
    expect(done).toEqual([]);
    expect((await second.runs.show(run.runId))?.run).toMatchObject({ status: "suspended", waits: [{ kind: "event", name: "go", occurrence: 1 }] });
    await second.runs.signal(run.runId, { name: "go" });
    expect(await second.runs.resume(run.runId, { acceptChanges: true })).toMatchObject({ status: "completed", value: { value: 1 } });
    expect(done).toHaveLength(1);
  });

  test("whatever keeps a resumer from going on, the run is given back as it was, with the reason, and goes on later", async () => {
    const { open, journal, entries } = world();
    const first = await open();
    const { runId } = await first.run("return await waitFor('go')");
    const before = journal.runs.get(runId)?.waits;
    const readEntries = journal.readEntries.bind(journal);
    for (const code of ["JOURNAL_CORRUPT", "JOURNAL_UNAVAILABLE"] as const) {
      journal.readEntries = async (tenant, id, options) => {
        if (options?.clear === true) throw new CallgateError(code, "cannot be read here");
        return await readEntries(tenant, id, options);
      };
      await expect(first.runs.resume(runId)).rejects.toMatchObject({ code });
      expect(journal.runs.get(runId)).toMatchObject({ status: "suspended", waits: before });
      expect(entries(runId).at(-1)).toMatchObject({ kind: "suspended", reason: "cannot be read here" });
    }
    journal.readEntries = readEntries;
    await first.runs.signal(runId, { name: "go", payload: 1 });
    expect(await first.runs.resume(runId)).toMatchObject({ status: "completed", value: { value: 1 } });
  });

  test("an approval is refused when the policy has changed since it was asked", async () => {
    const { open, done } = world();
    const first = await open();
    const run = await first.run("try { return await tools.t.ask_pay({ n: 1 }) } catch (error) { return error.code + ': ' + error.message }");
    const [pending] = await first.approvals.list();
    await first.approvals.answer(pending?.question.approvalId ?? "", { approved: true, by: "ann" });
    const second = await open({ policy: testPolicy((tool) => (tool.startsWith("t.ask") ? "ask" : "allow"), "changed") });
    const resumed = await second.runs.resume(run.runId);
    expect(done).toEqual([]);
    expect(resumed.value).toMatchObject({ value: expect.stringMatching(/^DENIED: .*this has changed: the policy/) as string });
  });

  test("what a person denied in an earlier stretch is denied again without asking", async () => {
    const { open, done, entries } = world();
    const first = await open();
    const run = await first.run("const out = []; for (let i = 0; i < 2; i++) { try { out.push(await tools.t.ask_pay({ n: 1 })) } catch (error) { out.push(error.code) } await waitFor('go') } return out");
    const [pending] = await first.approvals.list();
    await first.approvals.answer(pending?.question.approvalId ?? "", { approved: false, by: "ann", reason: "too much" });
    expect(await first.runs.resume(run.runId)).toMatchObject({ status: "suspended", waits: [{ kind: "event", name: "go", occurrence: 0 }] });
    for (const id of ["1", "2"]) await first.runs.signal(run.runId, { name: "go", id });
    const second = await open();
    expect(await second.runs.resume(run.runId)).toMatchObject({ status: "completed", value: { value: ["DENIED", "DENIED"] } });
    expect(done).toEqual([]);
    expect(entries(run.runId).filter(({ kind }) => kind === "approval-asked")).toHaveLength(1);
  });
});

describe("a lost process", () => {
  /** Starts a run whose write never comes back, and loses its process. */
  async function lostWrite(init: Partial<TestTool>, made = world()) {
    let tries = 0;
    const tool: TestTool = made.effect("pay", { handler: async (args, { idempotencyKey }) => { made.done.push([args, idempotencyKey]); tries += 1; if (tries === 1) await new Promise(() => undefined); return { paid: args }; }, ...init });
    const tools = [{ name: "read", handler: () => 1 }, tool];
    const first = await made.open({ defaults: { suspendAfterMs: 20, settleGraceMs: 10 } }, tools);
    const started = first.run("return await tools.t.pay({ n: 1 })");
    await until(() => tries === 1);
    const [runId = ""] = made.journal.runs.keys();
    made.lose(runId);
    return { ...made, first, started, runId, second: await made.open({}, tools) };
  }

  test("br-006: a write that may have happened is unknown and waits for a person, who says it happened", async () => {
    const { second, runId, done } = await lostWrite({});
    const waiting = await second.runs.resume(runId);
    expect(waiting).toMatchObject({ status: "suspended", waits: [{ kind: "resolution", callId: `${runId}.0`, tool: "t.pay" }] });
    await second.runs.resolve(`${runId}.0`, { happened: true, output: { paid: "found" } });
    expect(await second.runs.resume(runId)).toMatchObject({ status: "completed", value: { value: { paid: "found" } } });
    expect(done).toHaveLength(1);
    await expect(second.runs.resolve(`${runId}.0`, { happened: true })).rejects.toMatchObject({ code: "SIGNAL_REFUSED" });
  });

  test("br-006: nobody settles a write that is under way in a process that lives; once its process is lost, a cancel keeps what a person said", async () => {
    const made = world();
    let letGo: () => void = () => undefined;
    const held = new Promise<void>((resolve) => { letGo = resolve; });
    const undone: unknown[] = [];
    const tools: readonly TestTool[] = [{ name: "pay", effect: "write", handler: async () => { made.done.push(1); await held; }, compensate: (_args, output) => void undone.push(output) }];
    const [first, second] = [await made.open({}, tools), await made.open({}, tools)];
    const running = first.run("return await tools.t.pay({})");
    await until(() => made.done.length === 1);
    const [runId = ""] = made.journal.runs.keys();
    await expect(second.runs.resolve(`${runId}.0`, { happened: false })).rejects.toMatchObject({ code: "SIGNAL_REFUSED", message: expect.stringContaining("under way in a process that lives") as string });
    made.lose(runId);
    expect(await second.runs.resume(runId)).toMatchObject({ status: "suspended" });
    await second.runs.resolve(`${runId}.0`, { happened: true, output: "receipt" });
    expect((await second.runs.cancel(runId)).compensation).toEqual({ undone: [`${runId}.0`], remaining: [] });
    expect([undone, made.done]).toEqual([["receipt"], [1]]);
    letGo();
    await running;
  });

  test("br-006: what a person says of it before anybody has taken the run over counts, with its output", async () => {
    const { second, runId, done, journal } = await lostWrite({});
    const run = journal.runs.get(runId);
    const readRun = journal.readRun.bind(journal);
    // A journal tells a run whose process is known to be dead as crashed.
    journal.readRun = async (tenant, id) => ({ ...((await readRun(tenant, id)) as NonNullable<Awaited<ReturnType<typeof readRun>>>), status: "crashed" });
    await second.runs.resolve(`${runId}.0`, { happened: true, output: { paid: "found" } });
    await expect(second.runs.resolve(`${runId}.0`, { happened: false })).rejects.toMatchObject({ code: "SIGNAL_REFUSED" });
    journal.readRun = readRun;
    expect(run?.status).toBe("running");
    expect(await second.runs.resume(runId)).toMatchObject({ status: "completed", value: { value: { paid: "found" } } });
    expect(done).toHaveLength(1);
  });

  test("br-006: a person says it did not happen: it is performed, once", async () => {
    const { second, runId, done, entries } = await lostWrite({});
    await second.runs.resume(runId);
    await second.runs.resolve(`${runId}.0`, { happened: false });
    expect(await second.runs.resume(runId)).toMatchObject({ status: "completed" });
    expect(done).toHaveLength(2);
    expect(entries(runId).filter(({ kind }) => kind === "call-resolved")).toMatchObject([{ effectStatus: "none", how: "person" }]);
  });

  test.each([true, false])("br-006: the first answer of a person counts (happened: %s); the other one is refused and says so, the same one is no error", async (happened) => {
    const { second, runId, done, entries } = await lostWrite({});
    await second.runs.resume(runId);
    await second.runs.resolve(`${runId}.0`, { happened });
    await expect(second.runs.resolve(`${runId}.0`, { happened: !happened })).rejects.toMatchObject({ code: "SIGNAL_REFUSED", message: expect.stringMatching(`has already said that call ${runId}.0 ${happened ? "happened" : "did not happen"}. The first answer counts and this one does not`) as string });
    await second.runs.resolve(`${runId}.0`, { happened });
    await second.runs.resume(runId);
    expect(done).toHaveLength(happened ? 1 : 2);
    expect(entries(runId).filter(({ kind }) => kind === "call-resolved")).toHaveLength(1);
  });

  test("code-mode 7: an idempotent tool is called again under the same key", async () => {
    const { second, runId, done, entries } = await lostWrite({ idempotent: true });
    expect(await second.runs.resume(runId)).toMatchObject({ status: "completed", value: { value: { paid: { n: 1 } } } });
    expect(done).toHaveLength(2);
    expect(done[0]).toEqual(done[1]);
    expect(entries(runId).filter(({ kind }) => kind === "call-resolved")).toMatchObject([{ how: "repeated" }]);
  });

  test("code-mode 7: a tool that can tell is asked, and nothing is repeated", async () => {
    const { second, runId, done } = await lostWrite({ reconcile: () => ({ kind: "happened", output: { paid: "reconciled" } }) });
    expect(await second.runs.resume(runId)).toMatchObject({ status: "completed", value: { value: { paid: "reconciled" } } });
    expect(done).toHaveLength(1);
  });

  test("br-033: an owner that comes back after it lost the run performs nothing, writes nothing, and says so", async () => {
    const made = world();
    let release: () => void = () => undefined;
    const gated = new Promise<void>((resolve) => { release = resolve; });
    let stale = true;
    const tools: readonly TestTool[] = [{ name: "read", handler: async (args) => { if (stale) await gated; return args; } }, made.effect("write")];
    const first = await made.open({ defaults: { suspendAfterMs: 20, settleGraceMs: 10 } }, tools);
    const events: string[] = [];
    first.onEvent(({ kind }) => void events.push(kind));
    const running = first.run("const a = await tools.t.read({ n: 1 }); return await tools.t.write(a)");
    await until(() => made.journal.runs.size === 1);
    const [runId = ""] = made.journal.runs.keys();
    await until(() => events.includes("call-started"));
    made.lose(runId);
    stale = false;
    const second = await made.open({}, tools);
    expect(await second.runs.resume(runId)).toMatchObject({ status: "completed" });
    const written = made.entries(runId).length;
    release();
    expect(await running).toMatchObject({ runId, status: "running" });
    expect(made.done).toHaveLength(1);
    expect(made.entries(runId)).toHaveLength(written);
    expect(events).toContain("run-fenced");
  });

  test("code-mode 8: two parallel branches of two same-named calls, killed and taken over, get their own answers; without the recorded order they do not", async () => {
    const made = world();
    const first = await made.open();
    const run = await first.run(`
      const A = (async () => { await tools.t.read({ n: 1, ms: 40 }); return await tools.t.read({ n: 11 }) })();
      const B = (async () => { await tools.t.read({ n: 2, ms: 2 }); return await tools.t.read({ n: 22 }) })();
      const [a, b] = await Promise.all([A, B]);
      await waitFor("go");
      return a.n * 100 + b.n`);
    const kept = made.journal.runs.get(run.runId);
    if (kept === undefined) throw new Error("no run");
    const [entries, state] = [[...kept.entries], { status: kept.status, waits: kept.waits }];
    await first.runs.signal(run.runId, { name: "go" });
    expect(await first.runs.resume(run.runId)).toMatchObject({ status: "completed", value: { value: 1122 } });
    const delivered = entries.filter((entry) => entry.kind === "delivered").sort((a, b) => a.seq - b.seq);
    kept.entries.length = 0;
    kept.entries.push(...entries.map((entry) => (entry.kind === "delivered" ? { ...(delivered.shift() ?? entry), ord: entry.ord } : entry)));
    Object.assign(kept, state);
    expect(await first.runs.resume(run.runId)).toMatchObject({ status: "diverged" });
  });
});

describe("br-034: a run that is cancelled during a call", () => {
  test("ends as cancelled with the effect known or unknown; a late result is recorded and never delivered", async () => {
    // Cancelled at one of its steps, not after some time: before it, in the tool after each of its steps, and after it.
    const steps = 18;
    const stops = Array.from({ length: steps + 2 }, () => new AbortController());
    let late = 0;
    const made = world([{ name: "slow", effect: "write", handler: async (args) => {
      const { point } = args as { point: number };
      for (let step = 1; step <= steps; step += 1) {
        if (step === point) stops[point]?.abort();
        await new Promise((resolve) => setImmediate(resolve));
      }
      if (point <= steps) await until(() => made.entries(runIds.get(point) ?? "").some(({ kind }) => kind === "call-ended"));
      late += 1;
      return args;
    } }]);
    const gate = await made.open({ defaults: { suspendAfterMs: 20, settleGraceMs: 1 } });
    const runIds = new Map<number, string>();
    gate.onEvent((event) => { if (event.kind === "run-started") runIds.set(runIds.size, event.runId); });
    const ends: RunResult[] = [];
    for (const [point, stop] of stops.entries()) {
      if (point === 0) stop.abort();
      ends.push(await gate.run(`console.log('started'); const a = await tools.t.slow({ point: ${point} }); console.log('got', a); return a`, { signal: stop.signal }));
      if (!runIds.has(point)) runIds.set(point, ""); // It never began.
    }
    await until(() => late === steps + 1);
    expect(ends.map(({ status }) => status)).toEqual([...Array.from({ length: steps + 1 }, () => "cancelled"), "completed"]);
    expect(ends.map(({ calls }) => calls[0]?.effectStatus ?? "none")).toEqual(["none", ...Array.from({ length: steps }, () => "unknown"), "done"]);
    for (const { runId, effects, console: printed } of ends.slice(1, -1)) {
      expect(effects?.unknown).toHaveLength(1);
      await until(() => made.entries(runId).some(({ kind }) => kind === "call-late"));
      expect(made.entries(runId).filter(({ kind }) => kind === "call-late")).toMatchObject([{ effectStatus: "done" }]);
      expect(made.entries(runId).filter(({ kind }) => kind === "delivered")).toEqual([]);
      expect(printed.map(({ text }) => text)).toEqual(["started"]);
    }
  });

  test("three resumers race for one run: one drives it, all get its end", async () => {
    const { open, done, journal } = world();
    const gates = [await open(), await open(), await open()];
    const [first] = gates;
    const run = await first?.run("await waitFor('go'); await tools.t.write({ n: 1 }); return 'end'");
    const runId = run?.runId ?? "";
    await first?.runs.signal(runId, { name: "go" });
    const results = await Promise.all(gates.map((gate) => gate.runs.resume(runId)));
    expect(results.map(({ status, value }) => [status, (value as { value: unknown }).value])).toEqual(Array.from({ length: 3 }, () => ["completed", "end"]));
    expect([done.length, journal.runs.get(runId)?.epoch]).toEqual([1, 2]);
  });
});
