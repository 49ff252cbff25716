import { describe, expect, onTestFinished, test } from "vitest";
import { durableWorld, until } from "./fixtures/durable-world.ts";
import type { TestTool } from "./fixtures/test-gate.ts";

/** Three writes that can be undone; undoing `b` waits until it is let go. */
function shop(ofB: Partial<TestTool> = {}) {
  const log: string[] = [];
  let letGo: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  const step = (name: string, undoing: () => Promise<void> | void, init: Partial<TestTool> = {}): TestTool => ({
    name, effect: "write", handler: () => name,
    compensate: async () => {
      log.push(`undo ${name}`);
      await undoing();
    },
    ...init,
  });
  const world = durableWorld([step("a", () => undefined), step("b", () => held, { idempotent: true, ...ofB }), step("c", () => undefined), { name: "hang", handler: (_args, { signal }) => new Promise((_resolve, reject) => { log.push("hang"); signal.addEventListener("abort", () => reject(new Error("stopped"))); }) }]);
  onTestFinished(async () => {
    letGo();
    await world.close();
  });
  return { ...world, log, letGo: () => letGo() };
}

const program = "await tools.t.a({}); await tools.t.b({}); await tools.t.c({}); return 1";

describe("an undoing that did not end well", () => {
  const lostAnswer = (): never => { throw new Error("connection lost"); };

  test("but took effect all the same, as its late end tells, is not done again", async () => {
    const { open, log, letGo, entries } = shop({ timeoutMs: 30 });
    const gate = await open();
    const { runId } = await gate.run(program, { onFailure: "keep" });
    expect((await gate.runs.rollback(runId)).compensation).toMatchObject({ undone: [`${runId}.2`, `${runId}.0`], remaining: [{ tool: "t.b" }] });
    letGo();
    await until(() => entries(runId).some(({ kind }) => kind === "call-late"));
    expect((await gate.runs.rollback(runId)).compensation).toEqual({ undone: [`${runId}.2`, `${runId}.1`, `${runId}.0`], undoneBefore: [`${runId}.2`, `${runId}.1`, `${runId}.0`], remaining: [] });
    expect(await gate.runs.resume(runId)).toMatchObject({ compensation: { remaining: [] } });
    expect(log).toEqual(["undo c", "undo b", "undo a"]);
  });

  test.each([[true, 1], [false, 2]])("and of which a person says that it happened (%s) is done %i times in all", async (happened, times) => {
    const { open, log } = shop({ compensate: () => (log.push("undo b"), log.length > 2 ? undefined : lostAnswer()) });
    const gate = await open();
    const { runId } = await gate.run(program, { onFailure: "keep" });
    expect((await gate.runs.rollback(runId)).compensation?.remaining).toMatchObject([{ callId: `${runId}.1` }]);
    await gate.runs.resolve(`${runId}.1000000001`, { happened });
    expect((await gate.runs.rollback(runId)).compensation).toMatchObject({ remaining: [] });
    expect(log.filter((line) => line === "undo b")).toHaveLength(times);
  });
});

describe("two rollbacks at once", () => {
  test("one undoes, once; the other is told which process does, and what to do", async () => {
    const { open, log, letGo } = shop();
    const [first, second] = [await open(), await open()];
    const { runId } = await first.run(program, { onFailure: "keep" });
    const undoing = first.runs.rollback(runId);
    await until(() => log.includes("undo b"));
    await expect(second.runs.rollback(runId)).rejects.toMatchObject({ code: "RUN_HELD", message: expect.stringContaining(`process ${process.pid} of this machine`) as string, details: { runId, pid: process.pid } });
    await expect(first.runs.rollback(runId)).rejects.toMatchObject({ code: "RUN_HELD" });
    letGo();
    expect((await undoing).compensation).toEqual({ undone: [`${runId}.2`, `${runId}.1`, `${runId}.0`], remaining: [] });
    expect(log).toEqual(["undo c", "undo b", "undo a"]);
    const again = await second.runs.rollback(runId);
    const all = [`${runId}.2`, `${runId}.1`, `${runId}.0`];
    expect([again.compensation, again.notices]).toEqual([{ undone: all, undoneBefore: all, remaining: [] }, [`Nothing is left to undo. Undone before: ${all.join(", ")}`]]);
    expect(log).toHaveLength(3);
  });

  test("and while a cancel undoes, neither another cancel nor a rollback does: both are told", async () => {
    const { open, log, letGo } = shop();
    const [first, second] = [await open(), await open()];
    const { runId } = await first.run(`${program.replace("return 1", "await waitFor('go')")}`);
    const cancelling = first.runs.cancel(runId);
    await until(() => log.includes("undo b"));
    for (const gate of [first, second]) for (const verb of ["cancel", "rollback"] as const) await expect(gate.runs[verb](runId)).rejects.toMatchObject({ code: "RUN_HELD", message: expect.stringContaining("is being cancelled") as string });
    letGo();
    expect((await cancelling).compensation).toMatchObject({ remaining: [] });
    expect(log).toEqual(["undo c", "undo b", "undo a"]);
  });

  test("one whose process is lost is finished by a worker; the slow process undoes nothing more and says why", async () => {
    const { open, log, letGo, lose, journal, entries } = shop();
    const [first, second] = [await open(), await open()];
    const { runId } = await first.run(program, { onFailure: "keep" });
    const fenced = expect(first.runs.rollback(runId)).rejects.toMatchObject({ code: "RUN_FENCED" });
    await until(() => log.includes("undo b"));
    lose(runId);
    const worker = second.work();
    await until(() => log.filter((line) => line === "undo b").length === 2); // It is idempotent, so it is done again.
    letGo();
    await until(() => journal.runs.get(runId)?.undoing === false);
    await worker.stop();
    await fenced;
    expect(log).toEqual(["undo c", "undo b", "undo b", "undo a"]);
    expect(entries(runId).filter((entry) => entry.kind === "call-ended" && entry.seq >= 1_000_000_000)).toHaveLength(3);
    expect(entries(runId)).toContainEqual(expect.objectContaining({ kind: "resumed", reason: "taken_over", epoch: 3 }));
    expect((await second.runs.rollback(runId)).compensation).toMatchObject({ remaining: [] });
  });

  test("one that a person stops is given back, and goes on when it is asked for again", async () => {
    const { open, log, letGo, journal } = shop();
    const gate = await open();
    const { runId } = await gate.run(program, { onFailure: "keep" });
    const stopping = new AbortController();
    const undoing = gate.runs.rollback(runId, { signal: stopping.signal });
    await until(() => log.includes("undo b"));
    stopping.abort();
    letGo();
    expect((await undoing).compensation?.undone).toEqual([`${runId}.2`]);
    expect(journal.runs.get(runId)?.undoing).toBe(false);
    expect(await journal.claim({ leaseMs: 1 })).toBeUndefined();
    const { compensation, notices } = await gate.runs.rollback(runId);
    expect(compensation?.undone).toContain(`${runId}.0`);
    // What was under way when it was stopped may have come to its end all the same.
    expect(compensation?.undoneBefore).toContain(`${runId}.2`);
    expect(notices).toEqual([expect.stringMatching(/^Undone, last first: .*\.0$/), expect.stringMatching(/^Undone before: .*\.2/)]);
  });

  test("a cancel whose process is lost half way is finished by a worker: the program does not go on", async () => {
    const { open, log, letGo, lose, journal } = shop();
    const [first, second] = [await open(), await open()];
    const { runId } = await first.run("await tools.t.a({}); await tools.t.b({}); await waitFor('go'); await tools.t.c({}); return 1");
    const cancelling = expect(first.runs.cancel(runId)).rejects.toMatchObject({ code: "RUN_FENCED" });
    await until(() => log.includes("undo b"));
    lose(runId);
    const worker = second.work();
    await until(() => log.filter((line) => line === "undo b").length === 2);
    letGo();
    await until(() => journal.runs.get(runId)?.status === "cancelled");
    await worker.stop();
    await cancelling;
    expect(log).toEqual(["undo b", "undo b", "undo a"]);
    expect((await second.runs.resume(runId)).status).toBe("cancelled");
  });

  test("a run that was cancelled where it ran, and whose process was lost while it was undone, does not go on, though its program would", async () => {
    const { open, log, letGo, lose, journal } = shop({ handler: () => "b" });
    const [first, second] = [await open(), await open()];
    const stopping = new AbortController();
    const running = first.run("await tools.t.a({}); await tools.t.b({}); try { await tools.t.hang({}) } catch {} await tools.t.c({}); return 1", { signal: stopping.signal });
    await until(() => log.includes("hang"));
    stopping.abort();
    await until(() => log.includes("undo b"));
    const [runId = ""] = journal.runs.keys();
    lose(runId);
    const worker = second.work();
    await until(() => log.filter((line) => line === "undo b").length === 2 || journal.runs.get(runId)?.finish !== undefined);
    letGo();
    await until(() => journal.runs.get(runId)?.finish !== undefined);
    await worker.stop();
    await running;
    expect([log, journal.runs.get(runId)?.status]).toEqual([["hang", "undo b", "undo b", "undo a"], "cancelled"]);
  });

  test("a run that has not ended is not rolled back", async () => {
    const { open } = shop();
    const gate = await open();
    const { runId } = await gate.run("await tools.t.a({}); await waitFor('go')");
    await expect(gate.runs.rollback(runId)).rejects.toMatchObject({ code: "RUN_NOT_RESUMABLE", message: expect.stringContaining(`callgate runs resume ${runId}`) as string });
  });

  test("undoing that takes its process down again and again is left to a person", async () => {
    const { open, log, letGo, lose, journal } = shop();
    const gates = [];
    for (let turn = 0; turn < 6; turn += 1) gates.push(await open({ defaults: { settleGraceMs: 1 } }));
    const { runId } = (await gates[0]?.run(program, { onFailure: "keep" })) ?? { runId: "" };
    const lost = expect(gates[0]?.runs.rollback(runId)).rejects.toMatchObject({ code: "RUN_FENCED" });
    const times = (): number => log.filter((line) => line === "undo b").length;
    await until(() => times() === 1);
    for (const [turn, gate] of gates.slice(1).entries()) {
      lose(runId);
      gate.work({ concurrency: 1 });
      if (turn < 4) await until(() => times() === turn + 2);
    }
    await until(() => journal.runs.get(runId)?.undoing === false);
    expect(times()).toBe(5);
    letGo();
    await lost;
  });
});
