import { BackgroundJob, CallgateError, localPrincipal, ToolError } from "@callgate/contract";
import type { GateEvent, JobCancelled } from "@callgate/contract";
import { createQuickJsDriver } from "@callgate/sandbox-quickjs";
import { testPolicy } from "@callgate/testkit";
import { afterEach, describe, expect, test } from "vitest";
import { durableWorld, sleepMs, until } from "./fixtures/durable-world.ts";
import type { GateInit } from "./fixtures/durable-world.ts";
import { plainChecker } from "./fixtures/plain-checker.ts";
import { createTestGate } from "./fixtures/test-gate.ts";
import type { TestTool } from "./fixtures/test-gate.ts";

let close: () => Promise<unknown> = () => Promise.resolve();
afterEach(() => close());

function world(tools: readonly TestTool[]) {
  const made = durableWorld(tools);
  close = () => made.close();
  return made;
}

describe("sleep and waitFor", () => {
  test("a run sleeps suspended and is woken by a worker when its time has come", async () => {
    const { open, journal } = world([]);
    const gate = await open({ defaults: { suspendAfterMs: 0 } });
    const run = await gate.run("const at = Date.now(); await sleep(300); return Date.now() - at");
    expect(run).toMatchObject({ status: "suspended", waits: [{ kind: "timer", seq: 0 }] });
    const other = await open({ defaults: { suspendAfterMs: 0 } });
    const worker = other.work({ concurrency: 2 });
    await until(() => journal.runs.get(run.runId)?.status === "completed");
    await worker.stop();
    const result = await other.runs.resume(run.runId);
    expect((result.value as { value: number }).value).toBeGreaterThanOrEqual(300);
    expect(journal.runs.get(run.runId)?.epoch).toBe(2);
  });

  test("events reach the waits of their name in order, and a wait that is over takes none", async () => {
    const { open } = world([]);
    const gate = await open();
    const run = await gate.run(`
      const late = await waitFor("a", { timeoutMs: 0 }).catch((error) => error.code);
      const b = waitFor("b");
      return [late, await waitFor("a"), await waitFor("a"), await b];`);
    expect(run).toMatchObject({ status: "suspended", waits: [{ kind: "event", name: "b", occurrence: 0 }, { kind: "event", name: "a", occurrence: 0 }] });
    for (const [name, payload] of [["a", 1], ["b", { x: 9 }], ["a", 2]] as const) expect(await gate.runs.signal(run.runId, { name, payload, id: JSON.stringify(payload) })).toEqual({ known: false });
    expect(await gate.runs.signal(run.runId, { name: "a", payload: 1, id: "1" })).toEqual({ known: true });
    await expect(gate.runs.signal(run.runId, { name: "a", payload: 7, id: "1" })).rejects.toMatchObject({ code: "SIGNAL_REFUSED", message: expect.stringMatching(/has already told run \S+ of the event "a" with id 1, and it was something else/) as string });
    expect(await gate.runs.resume(run.runId)).toMatchObject({ status: "completed", value: { value: ["WAIT_TIMED_OUT", 1, 2, { x: 9 }] } });
    await expect(gate.runs.signal(run.runId, { name: "a" })).rejects.toMatchObject({ code: "SIGNAL_REFUSED" });
  });

  test.each([
    ["await sleep('soon')", "sleep needs milliseconds"],
    ["await sleep(1e15)", "at most ten years"],
    ["await waitFor(7)", "needs the name of an event"],
    ["await waitFor('a', { timeoutMs: -1 })", "timeoutMs must be"],
  ])("%s is refused with INVALID_INPUT", async (program, message) => {
    const gate = await world([]).open();
    const result = await gate.run(`try { ${program} } catch (error) { return error.code + " " + error.message }`);
    expect(result.value).toMatchObject({ value: expect.stringMatching(new RegExp(`^INVALID_INPUT .*${message}`)) as string });
  });
});

describe("background jobs", () => {
  const job = (polls: string[] = []): TestTool => ({
    name: "build", effect: "write", handler: () => new BackgroundJob({ id: 5 }, { pollAfterMs: 100 }),
    poll: (token) => { polls.push(JSON.stringify(token)); return polls.length < 3 ? { kind: "pending", pollAfterMs: 100 } : { kind: "done", output: { built: token } }; },
  });

  test("the call stays open while the run is suspended, and ends when the tool says so", async () => {
    const polls: string[] = [];
    const { open, journal, entries } = world([job(polls)]);
    const gate = await open({ defaults: { suspendAfterMs: 0 } });
    const run = await gate.run("return await tools.t.build({})");
    expect(run).toMatchObject({ status: "suspended", waits: [{ kind: "job", tool: "t.build", token: { id: 5 } }] });
    const worker = gate.work();
    await until(() => journal.runs.get(run.runId)?.status === "completed");
    await worker.stop();
    expect(polls).toEqual(['{"id":5}', '{"id":5}', '{"id":5}']);
    expect(await gate.runs.resume(run.runId)).toMatchObject({ value: { value: { built: { id: 5 } } } });
    expect(entries(run.runId).filter(({ kind }) => kind === "call-issued")).toHaveLength(1);
  });

  test("the end of what is no job is refused with what it is: no call, a wait, a call that ended, a run that ended", async () => {
    const { open } = world([{ name: "read", handler: (args) => Promise.resolve(args) }, { ...job(), poll: undefined } as unknown as TestTool]);
    const gate = await open();
    const { runId } = await gate.run("await tools.t.read({}); await waitFor('go'); return await tools.t.build({})");
    const complete = (seq: number) => gate.runs.complete(`${runId}.${seq}`, { kind: "value", value: 1 });
    const refused = (seq: number, why: RegExp) => expect(complete(seq)).rejects.toMatchObject({ code: "SIGNAL_REFUSED", message: expect.stringMatching(why) as string });
    await refused(0, /t\.read has ended \(ok\)/);
    await refused(1, /it is no call of a tool; the run waits for the event "go"/);
    await refused(9, /the run has no call 9 on record/);
    await gate.runs.signal(runId, { name: "go" });
    expect(await gate.runs.resume(runId)).toMatchObject({ status: "suspended", waits: [{ kind: "job" }] });
    expect(await complete(2)).toEqual({ known: false });
    expect(await gate.runs.resume(runId)).toMatchObject({ status: "completed" });
    expect(await complete(2)).toEqual({ known: true });
    await refused(0, /run \S+ has completed/);
  });

  test("what does not match the tool's output schema is refused while it can be corrected, as its end and as what became of a write", async () => {
    const output = { type: "object", properties: { image: { type: "integer" } }, required: ["image"] } as const;
    const { open, lose } = world([{ ...job(), poll: undefined, output }, { name: "slow", effect: "write", output, handler: () => new Promise(() => undefined) }] as unknown as readonly TestTool[]);
    const gate = await open();
    const { runId } = await gate.run("return await tools.t.build({})");
    await expect(gate.runs.complete(`${runId}.0`, { kind: "value", value: { image: "7" } })).rejects.toMatchObject({ code: "SIGNAL_REFUSED", message: expect.stringMatching(/output schema of t\.build: \/image .*Nothing was kept/) as string });
    expect(await gate.runs.complete(`${runId}.0`, { kind: "value", value: { image: 7 } })).toEqual({ known: false });
    expect(await gate.runs.resume(runId)).toMatchObject({ status: "completed", value: { value: { image: 7 } } });

    const ids: string[] = [];
    gate.onEvent((event) => { if (event.kind === "call-decided") ids.push(event.runId); });
    gate.run("return await tools.t.slow({})").catch(() => undefined);
    await until(() => ids.length > 0);
    const [inDoubt = ""] = ids;
    lose(inDoubt);
    const second = await open();
    expect(await second.runs.resume(inDoubt)).toMatchObject({ status: "suspended", waits: [{ kind: "resolution" }] });
    await expect(second.runs.resolve(`${inDoubt}.0`, { happened: true, output: { picture: 1 } })).rejects.toMatchObject({ code: "SIGNAL_REFUSED", message: expect.stringContaining("output schema of t.slow") as string });
    await second.runs.resolve(`${inDoubt}.0`, { happened: true, output: { image: 8 } });
    expect(await second.runs.resume(inDoubt)).toMatchObject({ status: "completed", value: { value: { image: 8 } } });
  });

  test.each(["foo", "run_1", "run_1.", ".3", "run_1.x"])("%s is no id of a call, and whatever takes one says so", async (id) => {
    const gate = await world([]).open();
    const said = { code: "RUN_NOT_FOUND", message: expect.stringContaining(`${id} is no call: the id of one is RUN.NUMBER`) as string };
    await expect(gate.runs.complete(id, { kind: "value", value: 1 })).rejects.toMatchObject(said);
    await expect(gate.runs.resolve(id, { happened: true })).rejects.toMatchObject(said);
    await expect(gate.jobs.cancel(id)).rejects.toMatchObject(said);
  });

  test("or when somebody tells, once; a direct call waits for that alive", async () => {
    const { open, journal } = world([{ ...job(), poll: undefined }] as unknown as readonly TestTool[]);
    const gate = await open();
    const run = await gate.run("return await tools.t.build({})");
    expect(await gate.runs.complete(`${run.runId}.0`, { kind: "value", value: 1 })).toEqual({ known: false });
    expect(await gate.runs.complete(`${run.runId}.0`, { kind: "value", value: 1 })).toEqual({ known: true });
    for (const other of [{ kind: "value", value: 2 }, { kind: "error", code: "FAILED", message: "no" }] as const) await expect(gate.runs.complete(`${run.runId}.0`, other)).rejects.toMatchObject({ code: "SIGNAL_REFUSED", message: expect.stringContaining("it was something else") as string });
    expect(await gate.runs.resume(run.runId)).toMatchObject({ status: "completed", value: { value: 1 } });
    const calling = gate.call("t.build", {});
    await until(() => journal.runs.size === 2 && [...journal.runs.values()].some(({ entries }) => entries.some(({ kind }) => kind === "call-backgrounded") && entries.every(({ kind }) => kind !== "suspended")));
    const [, direct] = [...journal.runs.keys()];
    await gate.runs.complete(`${String(direct)}.0`, { kind: "error", code: "BUILD_FAILED", message: "no disk" });
    expect((await calling).outcome).toMatchObject({ kind: "failed", effectStatus: "unknown", error: { code: "BUILD_FAILED" } });
  });
});

describe("cancelling background jobs", () => {
  const stoppable = (stopped: unknown[], answer: JobCancelled | undefined): TestTool => ({
    name: "build", effect: "write", handler: () => new BackgroundJob({ id: 5 }, { pollAfterMs: 100 }),
    poll: () => ({ kind: "pending", message: "half", fraction: 0.5, pollAfterMs: 100 }),
    cancelJob: (token) => { stopped.push(token); return answer; },
  });

  test("a job is listed with its handle for whose it is, tells its progress, and one that is cancelled is stopped by its tool", async () => {
    const stopped: unknown[] = [];
    const { open, journal } = world([stoppable(stopped, { notApplied: true })]);
    const gate = await open({ defaults: { suspendAfterMs: 0 } });
    const run = await gate.run("try { return await tools.t.build({}) } catch (error) { return error.code }");
    const callId = `${run.runId}.0`;
    expect(await gate.jobs.list()).toMatchObject([{ callId, runId: run.runId, tool: "t.build", token: { id: 5 } }]);
    expect(await gate.jobs.list({ principal: { ...localPrincipal, user: "bob" } })).toEqual([]);
    await expect(gate.jobs.cancel(callId, { principal: { ...localPrincipal, user: "bob" } })).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
    await expect(gate.jobs.cancel(`${run.runId}.7`)).rejects.toMatchObject({ code: "SIGNAL_REFUSED" });
    const progress: GateEvent[] = [];
    gate.onEvent((event) => { if (event.kind === "call-progressed") progress.push(event); });
    while (progress.length === 0) expect((await gate.runs.resume(run.runId)).status).toBe("suspended");
    expect(progress[0]).toMatchObject({ callId, message: "half", fraction: 0.5 });
    expect(await gate.jobs.cancel(callId)).toEqual({ known: false });
    expect(await gate.jobs.cancel(callId)).toEqual({ known: true });
    const result = await gate.runs.resume(run.runId);
    expect(result).toMatchObject({ status: "completed", value: { value: "CANCELLED" }, calls: [{ outcome: "cancelled", effectStatus: "none" }] });
    expect([stopped, await gate.jobs.list(), journal.runs.size]).toEqual([[{ id: 5 }], [], 1]);
  });

  test.each([["nobody knows", undefined, "unknown"], ["nothing was changed", { notApplied: true }, "none"]] as const)("a suspended run that is cancelled has its jobs stopped; %s, as the tool says", async (_what, answer, effectStatus) => {
    const stopped: unknown[] = [];
    const { open } = world([stoppable(stopped, answer)]);
    const gate = await open({ defaults: { suspendAfterMs: 0 } });
    const run = await gate.run("return await tools.t.build({})");
    const result = await gate.runs.cancel(run.runId);
    expect(result).toMatchObject({ status: "cancelled", calls: [{ outcome: "cancelled", effectStatus }] });
    expect(stopped).toEqual([{ id: 5 }]);
  });

  test("a tool that cannot stop its jobs, or fails to, is told so; a run under way that is cancelled stops them as well", async () => {
    for (const cancelJob of [undefined, () => { throw new Error("no"); }]) {
      const { open } = world([{ ...stoppable([], undefined), ...(cancelJob === undefined ? {} : { cancelJob }) }]);
      const gate = await open({ defaults: { suspendAfterMs: 0 } });
      const run = await gate.run("return await tools.t.build({})");
      await gate.jobs.cancel(`${run.runId}.0`);
      expect(await gate.runs.resume(run.runId)).toMatchObject({ status: "failed", calls: [{ outcome: "cancelled", effectStatus: "unknown" }] });
      await close();
    }
    const stopped: unknown[] = [];
    const { open } = world([stoppable(stopped, undefined)]);
    const gate = await open({ defaults: { suspendAfterMs: Infinity } });
    const abort = new AbortController();
    gate.onEvent((event) => { if (event.kind === "call-progressed") abort.abort(); });
    const result = await gate.run("return await tools.t.build({})", { signal: abort.signal });
    expect([result.status, stopped]).toEqual(["cancelled", [{ id: 5 }]]);
  });
});

describe("one write for a task and a business key", () => {
  let done: unknown[] = [];
  const tools = (): readonly TestTool[] => {
    done = [];
    return [
      { name: "create", effect: "write", businessKey: (args) => (args as { id: string }).id, handler: (args) => { done.push(args); return { made: args }; } },
      { name: "note", effect: "write", handler: (args) => { done.push(args); return done.length; } },
    ];
  };

  test("the same task submitted again gets the first run's outcome, and says so", async () => {
    const { open } = world(tools());
    const [first, second] = [await open(), await open()];
    const program = "return [await tools.t.create({ id: 'x' }), await tools.t.note({ n: 1 }), await tools.t.note({ n: 1 })]";
    const one = await first.run(program, { taskId: "task-1" });
    const two = await second.run(program, { taskId: "task-1" });
    expect(two.value).toMatchObject({ value: (one.value as { value: unknown }).value });
    expect(done).toHaveLength(3);
    expect(two.notices.join("\n")).toContain(`had already taken place as call ${one.runId}.0`);
    const other = await second.run("return await tools.t.create({ id: 'x', more: 1 }).catch((error) => error.code)", { taskId: "task-1" });
    expect(other.value).toMatchObject({ value: "IDEMPOTENCY_MISMATCH" });
    await second.run(program, { taskId: "task-2" });
    expect(done).toHaveLength(6);
  });
});

describe("one write for a task whose first run was pruned", () => {
  test("is not done again: one that took place is said to have, one in doubt waits for a person, one that failed is tried", async () => {
    const done: string[] = [];
    const write = (name: string, handler: () => unknown): TestTool => ({ name, effect: "write", handler: () => { done.push(name); return handler(); } });
    const { gate } = await createTestGate([
      write("works", () => ({ id: 7 })),
      write("doubt", () => { throw new Error("the connection was lost"); }),
      write("fails", () => { throw new ToolError({ code: "FULL", message: "no room", notApplied: true }); }),
    ], { checkers: [plainChecker()] });
    close = () => gate.close();
    const program = "return await Promise.all(['works', 'doubt', 'fails'].map((name) => tools.t[name]({}).then(() => 'ok', (error) => error.code + ' ' + error.message)))";
    const first = await gate.run(program, { taskId: "onboarding-7" });
    expect(await gate.runs.prune({ olderThanMs: -1 })).toMatchObject({ runs: 1 });
    const second = await gate.run(program, { taskId: "onboarding-7" });
    expect((second.value as { readonly value: readonly string[] }).value).toEqual([
      expect.stringMatching(new RegExp(`^EFFECT_ELSEWHERE .*already took place as call ${first.runId}.0, .*Nothing was done again`)),
      expect.stringMatching(new RegExp(`^EFFECT_UNKNOWN .*call ${first.runId}.1, .*callgate runs resolve ${first.runId}.1 `)),
      expect.stringMatching(/^FULL /),
    ]);
    expect(done.sort()).toEqual(["doubt", "fails", "fails", "works"]);
    await expect(gate.runs.resolve(`${first.runId}.0`, { happened: false })).rejects.toMatchObject({ code: "SIGNAL_REFUSED", message: expect.stringContaining("its effect is done") as string });
    await expect(gate.runs.resolve(`${first.runId}.9`, { happened: false })).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
    await expect(gate.runs.resolve(`${first.runId}.1`, { happened: false }, { principal: { tenant: "local", user: "somebody else", roles: [], claims: {} } })).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
    await gate.runs.resolve(`${first.runId}.1`, { happened: false });
    await gate.run(program, { taskId: "onboarding-7" });
    expect(done.sort()).toEqual(["doubt", "doubt", "fails", "fails", "fails", "works"]);
  });
});

describe("a task that is submitted again, and undoing", () => {
  function shop() {
    const log: string[] = [];
    const keys: string[] = [];
    const order: TestTool = {
      name: "order", effect: "write", idempotent: true, businessKey: (args) => (args as { ref: string }).ref,
      handler: (args, { idempotencyKey }) => { keys.push(idempotencyKey); log.push("order"); return { id: (args as { ref: string }).ref }; },
      compensate: () => { log.push("cancel"); },
    };
    const fail: TestTool = { name: "fail", effect: "write", handler: () => { throw new ToolError({ code: "NO", message: "no", notApplied: true }); } };
    return { log, keys, tools: [order, fail] };
  }
  const ordered = "return await tools.t.order({ ref: 'X1' })";
  const failing = "await tools.t.order({ ref: 'X1' }); await tools.t.fail({}); return 1";
  const named = (user: string) => ({ tenant: "local", user, roles: [], claims: {} });

  test("a second submission undoes nothing of the first", async () => {
    const { log, tools } = shop();
    const { open } = world(tools);
    const gate = await open();
    const first = await gate.run(ordered, { taskId: "a" });
    const second = await gate.run(failing, { taskId: "a" });
    expect(second).toMatchObject({ status: "failed" });
    expect(second.compensation?.undone ?? []).toEqual([]);
    expect(log).toEqual(["order"]);
    await gate.runs.rollback(first.runId);
    expect(log).toEqual(["order", "cancel"]);
  });

  test("nor does one of another user, who is not told what the first was answered", async () => {
    const { log, tools } = shop();
    const { open } = world(tools);
    const gate = await open();
    const first = await gate.run(ordered, { taskId: "b", principal: named("ann") });
    const second = await gate.run(failing, { taskId: "b", principal: named("bob") });
    expect(second).toMatchObject({ status: "failed", error: { code: "EFFECT_ELSEWHERE" } });
    expect(JSON.stringify(second)).not.toContain(first.runId);
    expect(log).toEqual(["order"]);
  });

  test("what was undone is made again, under a key of its own", async () => {
    const { log, keys, tools } = shop();
    const { open } = world(tools);
    const gate = await open();
    expect(await gate.run(failing, { taskId: "c" })).toMatchObject({ status: "failed", compensation: { remaining: [] } });
    expect(log).toEqual(["order", "cancel"]);
    const again = await gate.run(ordered, { taskId: "c" });
    expect(again).toMatchObject({ status: "completed", value: { value: { id: "X1" } } });
    expect(log).toEqual(["order", "cancel", "order"]);
    expect(await gate.run(ordered, { taskId: "c" })).toMatchObject({ status: "completed" });
    expect(log).toHaveLength(3);
    await gate.runs.rollback(again.runId);
    await gate.run(ordered, { taskId: "c" });
    expect(log).toEqual(["order", "cancel", "order", "cancel", "order"]);
    expect(new Set(keys).size).toBe(3);
  });

  test("work that goes on outside is asked about under the key that it was begun with", async () => {
    const begun: string[] = [];
    const asked: string[] = [];
    const build: TestTool = {
      name: "build", effect: "write", idempotent: true, businessKey: () => "house",
      handler: (_args, { idempotencyKey }) => { begun.push(idempotencyKey); return new BackgroundJob({}, { pollAfterMs: 100 }); },
      poll: (_token, { idempotencyKey }) => { asked.push(idempotencyKey); return { kind: "done", output: 1 }; },
      compensate: () => undefined,
    };
    const { open } = world([build]);
    const gate = await open({ defaults: { suspendAfterMs: 0 } });
    const made = async (): Promise<void> => {
      const { runId } = await gate.run("return await tools.t.build({})", { taskId: "f" });
      await sleepMs(150);
      expect(await gate.runs.resume(runId)).toMatchObject({ status: "completed" });
      await gate.runs.rollback(runId);
    };
    await made();
    await made();
    expect(new Set(begun).size).toBe(2);
    expect(asked).toEqual(begun);
  });

  test("one business key named twice in a run is one write, undone once", async () => {
    const { log, tools } = shop();
    const { open } = world(tools);
    await (await open()).run("await tools.t.order({ ref: 'X1' }); await tools.t.order({ ref: 'X1' }); await tools.t.fail({})", { taskId: "d" });
    expect(log).toEqual(["order", "cancel"]);
  });

  test("undoing in doubt is not taken for the write nor for its absence", async () => {
    const { tools } = shop();
    const [order, fail] = tools;
    const doubt = { ...order, idempotent: false, compensate: () => { throw new Error("the connection was lost"); } } as TestTool;
    const { open } = world([doubt, ...(fail === undefined ? [] : [fail])]);
    const gate = await open();
    await gate.run(failing, { taskId: "e" });
    expect(await gate.run(ordered, { taskId: "e" })).toMatchObject({ status: "failed", error: { code: "EFFECT_UNKNOWN", message: expect.stringContaining("whether undoing it took effect") as string } });
  });
});

describe("compensation", () => {
  function shop() {
    const log: string[] = [];
    const step = (name: string, init: Partial<TestTool> = {}): TestTool => ({
      name, effect: "write", handler: (args) => { log.push(`do ${name}`); return { did: args }; }, compensate: (args, output) => { log.push(`undo ${name} ${JSON.stringify([args, output])}`); }, ...init,
    });
    return { log, tools: [step("a"), step("b"), step("keep", { compensate: undefined } as never), step("fail", { handler: () => { throw new ToolError({ code: "NO", message: "no", notApplied: true }); } })] };
  }
  const program = "await tools.t.a({ n: 1 }); await tools.t.keep({}); await tools.t.b({ n: 2 }); await tools.t.fail({}); return 1";

  test("a run that fails is undone, last first; what cannot be is listed", async () => {
    const { log, tools } = shop();
    const { open, entries } = world(tools);
    const result = await (await open()).run(program);
    expect(result).toMatchObject({ status: "failed", compensation: { undone: [`${result.runId}.2`, `${result.runId}.0`], remaining: [{ callId: `${result.runId}.1`, tool: "t.keep", why: "its tool declares no way to undo it" }] } });
    expect(log.slice(3)).toEqual(['undo b [{"n":2},{"did":{"n":2}}]', 'undo a [{"n":1},{"did":{"n":1}}]']);
    expect(entries(result.runId).flatMap((entry) => (entry.kind === "call-issued" && entry.compensates !== undefined ? [entry.compensates] : []))).toEqual([2, 0]);
  });

  test("is left alone with onFailure keep, until it is rolled back; again, nothing is undone twice", async () => {
    const { log, tools } = shop();
    const { open } = world(tools);
    const gate = await open();
    const failed = await gate.run(program, { onFailure: "keep" });
    expect([failed.compensation, log.length]).toEqual([undefined, 3]);
    const back = await gate.runs.rollback(failed.runId);
    expect(back.compensation?.undone).toHaveLength(2);
    expect((await gate.runs.rollback(failed.runId)).compensation).toEqual({ ...back.compensation, undoneBefore: back.compensation?.undone });
    expect(log).toHaveLength(5);
  });

  test("undoing is gated like any write", async () => {
    const { log, tools } = shop();
    const { open } = world(tools);
    const first = await open();
    const failed = await first.run(program, { onFailure: "keep" });
    const second = await open({ policy: testPolicy((tool) => (tool === "t.b" ? "deny" : "allow"), "changed") });
    const { compensation } = await second.runs.rollback(failed.runId);
    expect(compensation).toMatchObject({ undone: [`${failed.runId}.0`] });
    expect(compensation?.remaining.map(({ tool }) => tool)).toEqual(["t.b", "t.keep"]);
    expect(log.filter((line) => line.startsWith("undo b"))).toEqual([]);
  });

  test("a suspended run that is cancelled is undone and ends as cancelled", async () => {
    const { log, tools } = shop();
    const { open } = world(tools);
    const gate = await open();
    const run = await gate.run("await tools.t.a({ n: 1 }); await waitFor('go'); return 1");
    expect(await gate.runs.cancel(run.runId)).toMatchObject({ status: "cancelled", compensation: { undone: [`${run.runId}.0`], remaining: [] } });
    expect(log).toHaveLength(2);
    await expect(gate.runs.cancel(run.runId)).rejects.toMatchObject({ code: "RUN_NOT_RESUMABLE" });
  });

  test("a run whose guest cannot be executed again is undone when its process is lost; what is in doubt is listed, and undone once a person knows", async () => {
    const { log, tools } = shop();
    const hang: TestTool = { name: "hang", effect: "write", handler: (_args, { signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("stopped")))), compensate: (args, output) => { log.push(`undo hang ${JSON.stringify([args, output])}`); } };
    const { open, entries, journal, lose } = world([...tools, hang]);
    const alive = (): GateInit => ({ drivers: [{ ...createQuickJsDriver({ workers: 1 }), replayable: false }], defaults: { settleGraceMs: 1 } });
    const [first, second] = [await open(alive()), await open(alive())];
    const lost = first.run("await tools.t.a({ n: 1 }); await tools.t.hang({ n: 2 }); return 1");
    await until(() => [...journal.runs.values()].some((run) => run.entries.filter(({ kind }) => kind === "call-issued").length === 2));
    const [runId = ""] = journal.runs.keys();
    lose(runId);
    const result = await second.runs.resume(runId);
    expect(result).toMatchObject({ status: "crashed", error: { code: "RUN_INTERRUPTED" }, effects: { done: ["t.a (call 0)"], unknown: ["t.hang (call 1, cancelled)"] }, compensation: { undone: [`${runId}.0`], remaining: [{ tool: "t.hang", why: "it is not known whether it took effect" }] } });
    await second.runs.resolve(`${runId}.1`, { happened: true, output: "made" });
    expect((await second.runs.rollback(runId)).compensation).toEqual({ undone: [`${runId}.1`, `${runId}.0`], undoneBefore: [`${runId}.0`], remaining: [] });
    expect(log).toEqual(["do a", 'undo a [{"n":1},{"did":{"n":1}}]', 'undo hang [{"n":2},"made"]']);
    expect(entries(runId).filter(({ kind }) => kind === "call-ended")).toHaveLength(4);
    expect((await lost).status).toBe("running");
  });
});

describe("workers", () => {
  test("three workers race for thirty runs of a lost process: each is driven once more, and no write twice", { timeout: 300_000 }, async () => {
    const done: number[] = [];
    const { open, journal } = world([{ name: "write", effect: "write", handler: (args) => { done.push((args as { n: number }).n); return 1; } }]);
    const first = await open({ defaults: { suspendAfterMs: 0 } });
    const runs = await Promise.all(Array.from({ length: 30 }, (_, n) => first.run(`await tools.t.write({ n: ${n} }); await waitFor("go"); await tools.t.write({ n: ${n} + 100 }); return ${n}`)));
    expect(runs.every(({ status }) => status === "suspended")).toBe(true);
    await first.close();
    // However short the lease is and however slow the machine: a process that lives keeps what it drives.
    const shortLease = { defaults: { leaseMs: 1 } };
    const gates = [await open(shortLease), await open(shortLease), await open(shortLease)];
    for (const { runId } of runs) await gates[0]?.runs.signal(runId, { name: "go" });
    const workers = gates.map((gate) => gate.work({ concurrency: 4 }));
    await until(() => [...journal.runs.values()].every(({ status }) => status === "completed"));
    await Promise.all(workers.map((worker) => worker.stop()));
    expect([...journal.runs.values()].map(({ epoch }) => epoch)).toEqual(runs.map(() => 2));
    expect(done.sort((a, b) => a - b)).toEqual([...Array.from({ length: 30 }, (_, n) => n), ...Array.from({ length: 30 }, (_, n) => n + 100)]);
  });

  test("a worker that stops leaves its run to another one, after what is under way", async () => {
    const done: string[] = [];
    const { open, journal } = world([{ name: "slow", effect: "write", handler: async (args) => { await sleepMs(150); done.push(JSON.stringify(args)); return 1; } }]);
    const first = await open();
    const run = await first.run("await waitFor('go'); await tools.t.slow({ n: 1 }); await tools.t.slow({ n: 2 }); return 'end'");
    await first.runs.signal(run.runId, { name: "go" });
    const worker = first.work();
    await until(() => journal.runs.get(run.runId)?.entries.some(({ kind }) => kind === "call-issued") === true);
    await worker.stop();
    expect([journal.runs.get(run.runId)?.status, done]).toEqual(["suspended", ['{"n":1}']]);
    expect(await (await open()).runs.resume(run.runId)).toMatchObject({ status: "completed", value: { value: "end" } });
    expect(done).toEqual(['{"n":1}', '{"n":2}']);
  });

  test("a run that a worker could not go on with is not kept from others: the next one does", async () => {
    const { open, journal } = world([]);
    const { runId } = await (await open()).run("return await waitFor('go')");
    const faults: unknown[] = [];
    const gate = await open({ onFault: (fault) => void faults.push(fault) });
    const readSignals = journal.readSignals.bind(journal);
    journal.readSignals = () => {
      journal.readSignals = readSignals;
      return Promise.reject(new CallgateError("JOURNAL_UNAVAILABLE", "the connection was lost"));
    };
    const worker = gate.work({ concurrency: 1 });
    await gate.runs.signal(runId, { name: "go" });
    await until(() => journal.runs.get(runId)?.status === "completed");
    await worker.stop();
    expect(faults).toMatchObject([{ code: "JOURNAL_UNAVAILABLE" }]);
  });

  test("a run whose end could not be written is ended by whoever goes on with it", async () => {
    const { open, journal } = world([{ name: "pay", effect: "write", handler: () => "paid" }]);
    const gate = await open();
    journal.before = (what) => {
      if (what !== "finish") return;
      journal.before = () => undefined;
      throw new CallgateError("JOURNAL_UNAVAILABLE", "no space left");
    };
    const { runId, status, notices, isUnrecorded } = await gate.run("return await tools.t.pay({})");
    expect(isUnrecorded).toBe(true);
    expect([status, notices.some((notice) => notice.includes("could not be written")), journal.runs.get(runId)?.status]).toEqual(["completed", true, "running"]);
    expect(await gate.runs.resume(runId)).toMatchObject({ status: "completed", value: { value: "paid" }, calls: [{ outcome: "ok" }] });
  });

  test("a run that takes its process down again and again at one point ends as crashed", async () => {
    const { open, journal } = world([{ name: "hang", handler: () => new Promise(() => undefined) }]);
    const gates = [];
    for (let turn = 0; turn < 6; turn++) gates.push(await open({ defaults: { suspendAfterMs: 0, settleGraceMs: 1 } }));
    const running = [gates[0]?.run("return await tools.t.hang({})")];
    await until(() => journal.runs.size === 1 && [...journal.runs.values()].some(({ entries }) => entries.some(({ kind }) => kind === "checked")));
    const [[runId, kept] = ["", undefined]] = journal.runs;
    for (let turn = 1; turn < 5; turn++) {
      if (kept !== undefined) kept.leaseUntilMs = 0;
      running.push(gates[turn]?.runs.resume(runId));
      await until(() => kept?.entries.filter(({ kind }) => kind === "resumed").length === turn);
    }
    if (kept !== undefined) kept.leaseUntilMs = 0;
    expect(await gates[5]?.runs.resume(runId)).toMatchObject({ status: "crashed", error: { code: "RUN_INTERRUPTED" } });
    await Promise.all(gates.map((gate) => gate.close()));
    for (const result of running) expect(["running", "crashed"]).toContain((await result)?.status);
  });
});
