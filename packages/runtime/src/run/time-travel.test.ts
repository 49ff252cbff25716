import type { ApprovalQuestion, Approver, Gate } from "@callgate/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testPolicy } from "@callgate/testkit";
import { keepingApprover } from "../approval/approvers.ts";
import { createTestGate } from "./fixtures/test-gate.ts";
import type { TestGate, TestTool } from "./fixtures/test-gate.ts";

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Calls that reached a tool, by name. */
const reached: string[] = [];
let counter = 0;
const person = { type: "object", properties: { id: { type: "number" }, email: { type: "string" }, pin: { type: "string" } }, required: ["id", "email", "pin"] } as const;
const tools: readonly TestTool[] = [
  { name: "read", handler: async (args) => { reached.push("read"); const { n, ms } = args as { n: number; ms?: number }; await sleep(ms ?? 0); return { n }; } },
  { name: "next", handler: () => { reached.push("next"); counter += 1; return { counter }; } },
  { name: "write", effect: "write", handler: (args) => { reached.push("write"); return { written: args }; } },
  { name: "fail", handler: () => { reached.push("fail"); throw new Error("no"); } },
  { name: "person", output: person, sensitive: ["/output/pin"], handler: () => { reached.push("person"); return { id: 1, email: "ada@example.com", pin: "q7" }; } },
  { name: "vault", output: { type: "object", properties: { code: { type: "number" } }, required: ["code"] }, sensitive: ["/output/code"], handler: () => ({ code: 884422 }) },
  { name: "mail", effect: "write", sensitive: ["/input/pin"], input: { type: "object", properties: { to: { type: "string" }, text: { type: "string" }, pin: { type: "string" } }, required: ["to", "text"] }, handler: (args) => { reached.push("mail"); return args; } },
];

const asked: ApprovalQuestion[] = [];
const approver: Approver = {
  ask(question) {
    asked.push(question);
    return Promise.resolve({ kind: "approved", by: "ada" });
  },
};

describe("time travel", () => {
  let t: TestGate;
  let gate: Gate;
  beforeAll(async () => {
    t = await createTestGate(tools, { defaults: { budgetTokens: 200_000 }, approver });
    gate = t.gate;
  });
  afterAll(async () => {
    await gate.close();
  });

  /** Calls that reach a tool while `work` does. */
  async function reachedBy<Result>(work: () => Promise<Result>): Promise<{ readonly came: Result; readonly called: readonly string[] }> {
    const before = reached.length;
    const came = await work();
    return { came, called: reached.slice(before) };
  }

  const program = `
const a = await tools.t.read({ n: 1 });
console.log("read", a.n);
const b = await tools.t.write({ n: a.n + 1 });
return { a, b };`;

  describe("steps", () => {
    test("tell each call with its place, arguments, answer and what was printed by then, and call nothing", async () => {
      const live = await gate.run(program);
      const { came, called } = await reachedBy(() => gate.runs.steps(live.runId));
      expect(called).toEqual([]);
      expect(came.steps).toMatchObject([
        { seq: 0, kind: "tool", name: "t.read", line: 2, excerpt: "const a = await tools.t.read({ n: 1 });", args: { n: 1 }, answer: { kind: "value", value: { n: 1 } }, answeredAs: 0, printed: [], was: { effect: "read", outcome: "ok", effectStatus: "none" } },
        { seq: 1, kind: "tool", name: "t.write", line: 4, args: { n: 2 }, answer: { kind: "value", value: { written: { n: 2 } } }, printed: [{ text: "read 1" }], was: { effect: "write", outcome: "ok", effectStatus: "done" } },
      ]);
      expect(came.end).toMatchObject({ status: "completed", value: { a: { n: 1 } }, printed: [] });
      expect((await gate.runs.list()).some(({ replayOf }) => replayOf === live.runId)).toBe(false);
    });

    test("hold timers, built-ins, errors and the order of answers", async () => {
      const live = await gate.run(`
const [slow, fast] = await Promise.all([tools.t.read({ n: 1, ms: 40 }), tools.t.read({ n: 2 })]);
await new Promise((resolve) => setTimeout(resolve, 3));
const found = await tools.search("write");
try { await tools.t.fail({}); } catch (error) { console.log("failed"); }
return [slow, fast, found.length];`);
      const { steps, end } = await gate.runs.steps(live.runId);
      expect(steps.map(({ name, answeredAs, line }) => [name, answeredAs, line])).toEqual([["t.read", 1, 2], ["t.read", 0, 2], ["setTimeout", 2, undefined], ["search", 3, 4], ["t.fail", 4, 5]]);
      expect(steps[4]).toMatchObject({ answer: { kind: "error", code: "TOOL_FAILED" }, was: { outcome: "failed" } });
      expect(end.printed).toMatchObject([{ text: "failed" }]);
    });

    test("hide what a tool calls sensitive", async () => {
      const live = await gate.run("return (await tools.t.person({})).id");
      expect(JSON.stringify(await gate.runs.steps(live.runId))).not.toContain("q7");
    });

    test("need a program of the caller's own", async () => {
      await expect(gate.runs.steps("run_nope")).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
      const call = await gate.call("t.read", { n: 1 });
      await expect(gate.runs.steps(call.runId)).rejects.toMatchObject({ code: "REPLAY_UNAVAILABLE" });
    });
  });

  describe("edit", () => {
    test("answers what was called before from the record, and calls nothing", async () => {
      const live = await gate.run(program);
      const { came, called } = await reachedBy(() => gate.runs.edit(live.runId, { program: program.replace("return { a, b }", "return [a.n, b.written.n, 'edited']") }));
      expect(called).toEqual([]);
      expect(came).toMatchObject({ result: { status: "completed", value: { value: [1, 2, "edited"] } }, unused: [] });
      expect(came.result.calls).toMatchObject([{ tool: "t.read", effectStatus: "none", recorded: { runId: live.runId, effectStatus: "none" } }, { tool: "t.write", effectStatus: "none", recorded: { effectStatus: "done" } }]);
      const shown = await gate.runs.show(came.result.runId);
      expect(shown?.run).toMatchObject({ kind: "program", replayOf: live.runId, edits: { runId: live.runId, newCalls: "stop" } });
    });

    test("stops at the first new call and says which; what is not made any more is told", async () => {
      const live = await gate.run(program);
      const { came, called } = await reachedBy(() => gate.runs.edit(live.runId, { program: program.replace("a.n + 1", "a.n + 5") }));
      expect(called).toEqual([]);
      expect(came.newCall).toEqual({ seq: 1, tool: "t.write", args: { n: 6 }, line: 4, column: expect.any(Number) as number });
      expect(came.result).toMatchObject({ status: "diverged", error: { code: "NEW_CALL", line: 4, message: expect.stringContaining("Nothing was called") as string } });
      expect(came.unused).toMatchObject([{ seq: 1, tool: "t.write", args: { n: 2 } }]);
    });

    test("the nth of equal calls gets the nth answer", async () => {
      const live = await gate.run("const a = await tools.t.next({}); const b = await tools.t.next({}); return [a.counter, b.counter]");
      const edited = await gate.runs.edit(live.runId, { program: "const all = []; for (let i = 0; i < 2; i++) all.push((await tools.t.next({})).counter); return all" });
      expect(edited.result.value).toEqual(live.value === undefined ? undefined : { ...live.value, handle: edited.result.value?.handle });
      const third = await gate.runs.edit(live.runId, { program: "for (let i = 0; i < 3; i++) await tools.t.next({}); return 1" });
      expect(third.newCall).toMatchObject({ seq: 2, tool: "t.next" });
    });

    test("clock, random numbers, races and timers come out as they did", async () => {
      const race = "const late = new Promise((resolve) => setTimeout(() => resolve('late'), 15)); const won = await Promise.race([tools.t.read({ n: 1, ms: 120 }), late]); return [won, Date.now(), Math.random()]";
      const live = await gate.run(race);
      const edited = await gate.runs.edit(live.runId, { program: `${race} // changed` });
      expect(edited.result.value).toMatchObject({ kind: "whole", value: (live.value as { readonly value: unknown }).value });
    });

    test("a new timer takes its place by the program's clock, and no time passes for it", async () => {
      const live = await gate.run("return await tools.t.read({ n: 1, ms: 30 })");
      const with5 = (ms: number) => `const late = new Promise((resolve) => setTimeout(() => resolve("late"), ${ms})); return await Promise.race([tools.t.read({ n: 1, ms: 30 }), late])`;
      expect((await gate.runs.edit(live.runId, { program: with5(1) })).result.value).toMatchObject({ value: "late" });
      const startedMs = performance.now();
      expect((await gate.runs.edit(live.runId, { program: `${with5(60_000)}` })).result.value).toMatchObject({ value: { n: 1 } });
      expect((await gate.runs.edit(live.runId, { program: "await sleep(50_000); return 1" })).result.value).toMatchObject({ value: 1 });
      expect(performance.now() - startedMs).toBeLessThan(40_000);
    });

    test("allow makes new calls as the policy says; ask asks a person first, also for a read", async () => {
      const live = await gate.run(program);
      const changed = program.replace("a.n + 1", "a.n + 5");
      const allowed = await reachedBy(() => gate.runs.edit(live.runId, { program: changed, newCalls: "allow" }));
      expect(allowed.called).toEqual(["write"]);
      expect(allowed.came.result).toMatchObject({ status: "completed", calls: [{ recorded: {} }, { tool: "t.write", effectStatus: "done" }] });
      const before = asked.length;
      const read = await reachedBy(() => gate.runs.edit(live.runId, { program: `${program.replace("return { a, b }", "return await tools.t.read({ n: 77 })")}`, newCalls: "ask" }));
      expect(read.called).toEqual(["read"]);
      expect(asked.slice(before)).toMatchObject([{ tool: "t.read", ruleId: "edit:ask" }]);
      expect(read.came.result.value).toMatchObject({ value: { n: 77 } });
    });

    test("simulate makes new reads and answers new writes by placeholders", async () => {
      const live = await gate.run(program);
      const changed = program.replace("a.n + 1", "(await tools.t.read({ n: 50 })).n");
      const { came, called } = await reachedBy(() => gate.runs.edit(live.runId, { program: changed, newCalls: "simulate" }));
      expect(called).toEqual(["read"]);
      expect(came.result).toMatchObject({ status: "completed", calls: [{ tool: "t.read", recorded: {} }, { tool: "t.read" }, { tool: "t.write", effectStatus: "none", simulated: expect.any(String) as string }] });
      expect((await gate.runs.show(came.result.runId))?.run).toMatchObject({ kind: "rehearsal", edits: { newCalls: "simulate" } });
    });

    test("placeholders of a rehearsal stay placeholders: nothing new is made for real with them, from a run, its edit or its recording", async () => {
      const ticket = 'const a = await tools.t.write({ n: 1 });';
      const rehearsed = await gate.run(ticket, { rehearse: true });
      const changed = `${ticket} const seen = await tools.t.read({ n: a.written.n ?? 2, of: a }); await tools.t.mail({ to: "ada", text: JSON.stringify(a) }); return seen;`.replace("a.written.n ?? 2", "2");
      const { came, called } = await reachedBy(async () => {
        const again = await gate.runs.edit(rehearsed.runId, { program: changed, newCalls: "simulate" });
        const stopped = await gate.runs.edit(rehearsed.runId, { program: `${ticket} return 1` });
        const recording = await gate.runs.recording(rehearsed.runId);
        for (const newCalls of ["allow", "ask"] as const) for (const from of [rehearsed.runId, again.result.runId, stopped.result.runId, recording]) await expect(gate.runs.edit(from, { program: changed, newCalls })).rejects.toMatchObject({ code: "REHEARSED_ANSWERS", message: expect.stringContaining("simulate") as string });
        return { again, stopped };
      });
      // The read is about a placeholder: nothing real is asked about it.
      expect(called).toEqual([]);
      const simulated = expect.any(String) as string;
      expect(came.again.result.calls).toMatchObject([{ tool: "t.write", simulated, recorded: {} }, { tool: "t.read", simulated }, { tool: "t.mail", simulated }]);
      expect(came.stopped.result).toMatchObject({ status: "completed", calls: [{ simulated }] });
    });

    test("can be replayed and edited again", async () => {
      const live = await gate.run(program);
      const first = await gate.runs.edit(live.runId, { program: program.replace("a.n + 1", "a.n + 5"), newCalls: "allow" });
      expect((await gate.runs.replay(first.result.runId)).divergence).toBeUndefined();
      const { came, called } = await reachedBy(() => gate.runs.edit(first.result.runId, { program: program.replace("a.n + 1", "a.n + 5").replace("return { a, b }", "return b.written") }));
      expect(called).toEqual([]);
      expect(came.result.value).toMatchObject({ value: { n: 6 } });
    });

    test("one that waits for a person is suspended, and goes on with the recorded answers that are left", async () => {
      const kept = await createTestGate(tools, { policy: testPolicy((tool) => (tool === "t.write" ? "ask" : "allow")), approver: keepingApprover(), defaults: { suspendAfterMs: 50 } });
      const live = await kept.gate.run("const a = await tools.t.read({ n: 1 }); const b = await tools.t.read({ n: 2 }); return [a, b]");
      const before = reached.length;
      const edited = await kept.gate.runs.edit(live.runId, { program: "const a = await tools.t.read({ n: 1 }); const w = await tools.t.write({ n: 3 }); const b = await tools.t.read({ n: 2 }); return [a, w, b]", newCalls: "allow" });
      expect(edited.result).toMatchObject({ status: "suspended" });
      const [asked] = await kept.gate.approvals.list();
      await kept.gate.approvals.answer(asked?.question.approvalId ?? "", { approved: true, by: "bea" });
      const done = await kept.gate.runs.resume(edited.result.runId);
      expect(done).toMatchObject({ status: "completed", value: { value: [{ n: 1 }, { written: { n: 3 } }, { n: 2 }] }, calls: [{ recorded: {} }, { effectStatus: "done" }, { recorded: { runId: live.runId } }] });
      expect(reached.slice(before)).toEqual(["write"]);
      await kept.gate.close();
    });

    test("a program the check refuses runs nothing", async () => {
      const live = await gate.run(program);
      expect((await gate.runs.edit(live.runId, { program: "return tools.nope.x()" })).result.status).toBe("rejected");
    });
  });

  test("a replay tells the effects of then as those of then", async () => {
    const live = await gate.run(program);
    const { result } = await gate.runs.replay(live.runId);
    expect(result.calls).toMatchObject([{ tool: "t.read" }, { tool: "t.write", effectStatus: "none", recorded: { runId: live.runId, effectStatus: "done" } }]);
  });

  describe("diff", () => {
    test("aligns calls by arguments, then by tool, and shows the programs' difference", async () => {
      const a = await gate.run(program);
      const b = await gate.run(program.replace("a.n + 1", "a.n + 5").replace("return { a, b }", "const c = await tools.t.read({ n: 9 }); return { a, b, c }"));
      const diff = await gate.runs.diff(a.runId, b.runId);
      expect(diff.isEqual).toBe(false);
      expect(diff.program).toContain("+const b = await tools.t.write({ n: a.n + 5 });");
      expect(diff.calls).toMatchObject([
        { tool: "t.read", differences: [], a: { seq: 0 }, b: { seq: 0 } },
        { tool: "t.write", differences: ["arguments", "answer"], a: { args: { n: 2 } }, b: { args: { n: 6 } } },
        { tool: "t.read", differences: [], b: { args: { n: 9 } } },
      ]);
      expect(diff.calls[2]).not.toHaveProperty("a");
      expect(diff.isValueEqual).toBe(false);
      expect((await gate.runs.diff(a.runId, (await gate.run(program)).runId)).isEqual).toBe(true);
    });

    test("a run and its edit differ in nothing but what was changed", async () => {
      const a = await gate.run(program);
      const { result } = await gate.runs.edit(a.runId, { program: `${program}\n// more` });
      expect(await gate.runs.diff(a.runId, result.runId)).toMatchObject({ isProgramEqual: false, isValueEqual: true, calls: [{ differences: [] }, { differences: [], b: { isRecorded: true } }] });
    });
  });

  describe("recording", () => {
    const greeting = 'const p = await tools.t.person({}); console.log("to", p.email); await tools.t.mail({ to: p.email, text: `Dear ${p.email.split("@")[0]}, ${p.pin}`, pin: p.pin }); return p.email.length';

    test("holds placeholders for what is sensitive, and what the program makes of those", async () => {
      const live = await gate.run(greeting);
      const { came: recording, called } = await reachedBy(() => gate.runs.recording(live.runId));
      expect(called).toEqual([]);
      const text = JSON.stringify(recording);
      expect(text).not.toContain("ada");
      expect(text).not.toContain("q7");
      expect(recording).toMatchObject({ format: 1, placeholders: 2, tools: [{ name: "t.mail" }, { name: "t.person" }], end: { status: "completed", value: "person-1@example.invalid".length, console: ["to person-1@example.invalid"] } });
      expect(recording.answers[1]).toMatchObject({ kind: "tool", tool: "t.mail", args: { value: { to: "person-1@example.invalid", text: "Dear person-1, <sensitive-1>", pin: "<sensitive-1>" } } });
    });

    test("holds no sensitive number, neither where the program has it as a literal nor in what it returns, prints and passes on", async () => {
      const live = await gate.run('const { code } = await tools.t.vault({}); console.log(`code ${code}`); const sent = await tools.t.mail({ to: "desk", text: `it is ${code}` }); return [code === 884422, code === 884_422, 18844220, code, sent];');
      expect(live).toMatchObject({ status: "completed", value: { value: [true, true, 18844220, expect.anything(), expect.anything()] } });
      const recording = await gate.runs.recording(live.runId);
      expect(JSON.stringify(recording).replaceAll("18844220", "").replaceAll("_", "")).not.toContain("884422");
      expect(recording.end).toMatchObject({ status: "completed", value: [true, true, 18844220, expect.any(Number), expect.anything()] });
      expect(await gate.runs.edit(recording, {})).toMatchObject({ unused: [], result: { status: "completed" } });
    });

    test("is answered from by a gate that has nothing of the run", async () => {
      const live = await gate.run(greeting);
      const recording = await gate.runs.recording(live.runId);
      const other = await createTestGate(tools);
      const { came, called } = await reachedBy(() => other.gate.runs.edit(JSON.parse(JSON.stringify(recording)) as typeof recording, {}));
      await other.gate.close();
      expect(called).toEqual([]);
      expect(came).toMatchObject({ unused: [], result: { status: "completed", value: { value: recording.end.value }, console: [{ text: recording.end.console[0] }] } });
    });

    test("has the calls of the program, not those that undid them afterwards", async () => {
      const undoable = await createTestGate([{ name: "pay", effect: "write", handler: () => "paid", compensate: () => undefined }]);
      const { runId } = await undoable.gate.run("return await tools.t.pay({})");
      expect((await undoable.gate.runs.rollback(runId)).compensation?.undone).toHaveLength(1);
      const recording = await undoable.gate.runs.recording(runId);
      expect(recording.answers).toHaveLength(1);
      expect(await undoable.gate.runs.edit(recording, {})).toMatchObject({ unused: [], result: { status: "completed" } });
      await undoable.gate.close();
    });

    test("is refused where placeholders change the way, where the program holds the secret, and for what did not end by itself", async () => {
      const other = await gate.run('const p = await tools.t.person({}); if (p.pin === "q7") await tools.t.read({ n: 1 }); return 1');
      await expect(gate.runs.recording(other.runId)).rejects.toMatchObject({ code: "RECORDING_INVALID", message: expect.stringContaining("does something else") as string });
      const held = await gate.run('await tools.t.mail({ to: "x", text: "y", pin: "12" }); return 1');
      await expect(gate.runs.recording(held.runId)).rejects.toMatchObject({ code: "RECORDING_INVALID", message: expect.stringContaining("holds a sensitive value") as string });
      const limited = await gate.run("await new Promise((resolve) => setTimeout(resolve, 60_000)); return 1", { limits: { wallMs: 100 } });
      await expect(gate.runs.recording(limited.runId)).rejects.toMatchObject({ code: "RECORDING_INVALID" });
    });

    test("that is none is refused with the place", async () => {
      await expect(gate.runs.edit({ format: 2 } as never, {})).rejects.toMatchObject({ code: "RECORDING_INVALID", message: expect.stringContaining("format") as string });
    });
  });
});
