import type { Gate, Journal, JournalEntry, RunResult } from "@callgate/contract";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inIssueOrder } from "./fixtures/in-issue-order.ts";
import { createTestGate } from "./fixtures/test-gate.ts";
import type { TestGate, TestTool } from "./fixtures/test-gate.ts";

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Calls that reached a tool: a replay must add none. */
let reached = 0;
let failing = 0;

const tools: readonly TestTool[] = [
  { name: "read", handler: async (args) => { reached += 1; const { n, ms } = args as { n: number; ms?: number }; await sleep(ms ?? 0); return { n }; } },
  { name: "write", effect: "write", handler: async (args) => { reached += 1; await sleep((args as { ms?: number }).ms ?? 0); return { written: args }; } },
  { name: "flaky", handler: async (args) => { reached += 1; failing += 1; await sleep((args as { ms?: number }).ms ?? 0); if (failing % 3 !== 0) throw new Error(`failure ${failing}`); return { failing }; } },
];

/** What a test does to the recorded entries before they are read for a replay. */
let tamper: (entries: readonly JournalEntry[]) => readonly JournalEntry[] = (entries) => entries;

function tampering(journal: Journal): Journal {
  return { ...journal, readEntries: async (tenant, runId, options) => tamper(await journal.readEntries(tenant, runId, options)) };
}

describe("runs.replay", () => {
  let t: TestGate;
  let gate: Gate;
  beforeAll(async () => {
    t = await createTestGate(tools, { wrapJournal: tampering, defaults: { budgetTokens: 200_000 } });
    gate = t.gate;
    await gate.run("return 0");
  });
  afterAll(async () => {
    await gate.close();
  });

  async function replayed(program: string): Promise<{ readonly live: RunResult; readonly again: RunResult; readonly divergence: unknown }> {
    const live = await gate.run(program);
    const before = reached;
    const { result, divergence } = await gate.runs.replay(live.runId);
    expect(reached).toBe(before);
    return { live, again: result, divergence };
  }

  /** All that must be the same. */
  function substance({ status, value, error, text, console: printed }: RunResult): unknown {
    return { status, value: value?.kind === "whole" ? value.value : value?.outline, error, text, console: printed };
  }

  test.each([
    ["clock, seed and ids", "const a = [Date.now(), Math.random(), crypto.randomUUID()]; await tools.t.read({ n: 1, ms: 20 }); return [...a, new Date().getTime(), Math.random()]"],
    ["a race that the later call wins", "return await Promise.race([tools.t.read({ n: 1, ms: 80 }), tools.t.read({ n: 2, ms: 5 })])"],
    ["timers against calls", "const timeout = new Promise((resolve) => setTimeout(() => resolve('late'), 15)); return await Promise.race([tools.t.read({ n: 1, ms: 120 }), timeout])"],
    ["retries of a tool that fails", "let tries = 0; while (true) { tries++; try { return { tries, r: await tools.t.flaky({}) } } catch (error: any) { console.log(error.code, error.message); if (tries > 5) throw error; } }"],
    ["an uncaught error", "const r = await tools.t.read({ n: 1 }); console.log(r); throw new TypeError('no way')"],
    ["built-ins", "const found = await tools.search('write'); const all = await tools.describe(['t.read', 't.nope']); return [found.length, all.length]"],
    ["an error of a built-in that is caught", "try { return await results.read('result://run_nope/1') } catch (error: any) { return error.code }"],
    ["a value of every kind", "return { d: new Date(0), m: new Map([[1, new Set([2n])]]), n: NaN, u: undefined, b: new Uint8Array([1, 2]) }"],
    ["writes that nobody awaited", "void tools.t.write({ ms: 10 }); return 1"],
    ["setInterval", "let n = 0; await new Promise<void>((resolve) => { const id = setInterval(() => { n++; if (n === 3) { clearInterval(id); resolve(); } }, 3); }); return n"],
  ])("repeats %s", async (_name, program) => {
    const { live, again, divergence } = await replayed(program);
    expect(divergence).toBeUndefined();
    expect(substance(again)).toEqual(substance(live));
    expect(again.calls.map(({ tool, outcome }) => [tool, outcome])).toEqual(live.calls.map(({ tool, outcome }) => [tool, outcome]));
  });

  test("code-mode 8: two parallel branches of two calls of one tool get their own answers; in issue order they do not", async () => {
    const program = `
const A = (async () => { await tools.t.read({ n: 1, ms: 60 }); return await tools.t.read({ n: 11 }) })();
const B = (async () => { await tools.t.read({ n: 2, ms: 5 }); return await tools.t.read({ n: 22 }) })();
const [a, b] = (await Promise.all([A, B])) as any[];
return a.n * 100 + b.n`;
    const { live, again, divergence } = await replayed(program);
    expect(live.value).toMatchObject({ value: 1122 });
    expect(divergence).toBeUndefined();
    expect(again.value).toMatchObject({ value: 1122 });
    tamper = inIssueOrder;
    const control = await gate.runs.replay(live.runId);
    tamper = (entries) => entries;
    expect(control.result.status).toBe("diverged");
    expect(control.divergence?.message).toContain("Call 2 (t.read) has other arguments");
  });

  test("code-mode 8: 20 parallel calls with shuffled latencies replay equal 50 times", async () => {
    const program = `
const order: number[] = [];
const all = await Promise.all(Array.from({ length: 20 }, async (_, i) => { const r: any = await tools.t.read({ n: i, ms: (i * 7) % 20 }); order.push(r.n); return r.n }));
return { order, all, at: Date.now(), r: Math.random() }`;
    const live = await gate.run(program);
    for (let turn = 0; turn < 50; turn++) {
      const { result, divergence } = await gate.runs.replay(live.runId);
      expect(divergence).toBeUndefined();
      expect(substance(result)).toEqual(substance(live));
    }
  });

  /** A random program of branches, races, loops, retries and timers, which notes the order in which things happen. */
  const step = fc.letrec<{ step: string; block: string }>((tie) => ({
    step: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.record({ n: fc.nat(99), ms: fc.nat(12) }).map(({ n, ms }) => `note(await tools.t.read({ n: ${n}, ms: ${ms} }));`),
      fc.nat(8).map((ms) => `await new Promise((resolve) => setTimeout(resolve, ${ms})); note('timer');`),
      fc.nat(6).map((ms) => `try { note(await tools.t.flaky({ ms: ${ms} })); } catch (error: any) { note(error.message); }`),
      fc.nat(9).map((n) => `note(await tools.t.write({ n: ${n}, key: Math.random() }));`),
      fc.array(tie("block"), { minLength: 2, maxLength: 4 }).map((blocks) => `await Promise.all([${blocks.map((block) => `(async () => { ${block} })()`).join(", ")}]);`),
      fc.array(tie("block"), { minLength: 2, maxLength: 3 }).map((blocks) => `await Promise.race([${blocks.map((block) => `(async () => { ${block} })()`).join(", ")}]);`),
      tie("block").map((block) => `for (let i = 0; i < 2; i++) { ${block} }`),
    ),
    block: fc.array(tie("step"), { minLength: 1, maxLength: 3 }).map((steps) => steps.join(" ")),
  }));
  const randomProgram = step.block.map((block) => `const notes: string[] = []; const note = (what: unknown) => { notes.push(JSON.stringify(what) + Date.now() + Math.random()); };\n${block}\nreturn notes;`);

  test("200 random programs with shuffled latencies replay equal; in issue order some do not", async () => {
    let reordered = 0;
    let controlFailed = 0;
    await fc.assert(
      fc.asyncProperty(randomProgram, async (program) => {
        const { live, again, divergence } = await replayed(program);
        expect(live.status, JSON.stringify(live.diagnostics)).toBe("completed");
        expect(divergence).toBeUndefined();
        expect(substance(again)).toEqual(substance(live));
        tamper = inIssueOrder;
        const control = await gate.runs.replay(live.runId);
        tamper = (entries) => entries;
        const entries = await t.journal.readEntries("local", live.runId);
        const seqs = entries.flatMap((entry) => (entry.kind === "delivered" ? [entry.seq] : []));
        if (seqs.every((seq, index) => index === 0 || seq > (seqs[index - 1] ?? 0))) return;
        reordered += 1;
        if (control.divergence !== undefined) controlFailed += 1;
      }),
      { numRuns: 200 },
    );
    expect(reordered).toBeGreaterThan(20);
    expect(controlFailed).toBeGreaterThan(10);
  }, 300_000);

  describe("divergence", () => {
    /** Replays a record in which the program is another one, as if the sandbox or its library had changed. */
    async function replayAs(program: string, changed: string): Promise<{ readonly result: RunResult; readonly divergence?: { readonly seq: number; readonly message: string; readonly recorded: unknown; readonly replayed: unknown } }> {
      const live = await gate.run(program);
      const other = await gate.run(changed);
      const entries = await t.journal.readEntries("local", other.runId, { clear: true });
      const code = entries.find((entry) => entry.kind === "checked")?.code;
      tamper = (recorded) => recorded.map((entry) => (entry.kind === "checked" && code !== undefined ? { ...entry, code } : entry));
      const replay = await gate.runs.replay(live.runId).finally(() => { tamper = (same) => same; });
      expect(replay.result.status).toBe("diverged");
      expect(replay.result.error).toMatchObject({ code: "REPLAY_DIVERGED", details: { seq: replay.divergence?.seq } });
      const run = (await gate.runs.show(replay.result.runId))?.run;
      expect(run).toMatchObject({ kind: "replay", replayOf: live.runId, status: "diverged" });
      return replay as never;
    }
    const two = "const a = await tools.t.read({ n: 1 }); const b = await tools.t.read({ n: 2 }); return [a, b]";

    test("other arguments are found at the call, with both sides", async () => {
      const { divergence } = await replayAs(two, two.replace("n: 2", "n: 3"));
      expect(divergence).toMatchObject({ seq: 1, message: "Call 1 (t.read) has other arguments than in the recorded run", recorded: { tool: "t.read", args: { n: 2 } }, replayed: { tool: "t.read" } });
    });

    test("another tool", async () => {
      const { divergence } = await replayAs(two, two.replace("t.read({ n: 2 })", "t.flaky({}).catch(() => 0)"));
      expect(divergence).toMatchObject({ seq: 1, message: "Call 1 was t.read in the recorded run and is t.flaky now" });
    });

    test("a call in place of a timer", async () => {
      const { divergence } = await replayAs("await new Promise((resolve) => setTimeout(resolve, 5)); return 1", "const r = await tools.t.read({ n: 1 }); return r");
      expect(divergence).toMatchObject({ seq: 0, message: "Call 0 was a timer of 5 ms in the recorded run and is t.read now" });
    });

    test("one call too many, and one too few", async () => {
      expect((await replayAs("return 1", "const r = await tools.t.read({ n: 1 }); return r")).divergence).toMatchObject({ seq: 0, recorded: null, replayed: { tool: "t.read" } });
      expect((await replayAs(two, "const a = await tools.t.read({ n: 1 }); return [a]")).divergence).toMatchObject({ seq: 1, message: "The recorded run made call 1 (t.read); the replayed program ended without it" });
    });

    test("a program that waits without the call the record has next", async () => {
      const { divergence } = await replayAs("const [a, b] = await Promise.all([tools.t.read({ n: 1, ms: 30 }), tools.t.read({ n: 2 })]); return [a, b]", "const a = await tools.t.read({ n: 1, ms: 30 }); return a");
      expect(divergence).toMatchObject({ seq: 1, message: expect.stringContaining("waits without it") as string });
    });

    test("another value, and another end", async () => {
      expect((await replayAs("return 1", "return 2")).divergence).toMatchObject({ message: "The replayed program returned another value than the recorded run" });
      expect((await replayAs("return 1", "throw new Error('x')")).divergence?.message).toContain("ended as completed, the replay as failed PROGRAM_THREW");
    });
  });

  test("a run that was cut short is repeated as far as its record goes", async () => {
    const limited = await gate.run("const a = await tools.t.read({ n: 1 }); await new Promise((resolve) => setTimeout(resolve, 60_000)); return a", { limits: { wallMs: 150 } });
    expect(await gate.runs.replay(limited.runId)).toMatchObject({ result: { status: "limit", error: { details: { limit: "wallMs" } } } });
    const controller = new AbortController();
    const running = gate.run("console.log('before'); const a = await tools.t.read({ n: 1, ms: 60_000 }); return a", { signal: controller.signal });
    while (!t.events.some((event) => event.kind === "run-printed" && event.entries[0]?.text === "before")) await sleep(5);
    controller.abort();
    const { result, divergence } = await gate.runs.replay((await running).runId);
    expect(divergence).toBeUndefined();
    expect(result).toMatchObject({ status: "cancelled", console: [{ text: "before" }] });
  });

  test("a missing value is REPLAY_UNAVAILABLE and named; a direct call and an erased run have nothing to replay", async () => {
    const live = await gate.run("const a = await tools.t.read({ n: 1 }); return a");
    tamper = (entries) => entries.map((entry) => (entry.kind === "call-ended" && entry.result !== undefined ? { ...entry, result: { digest: entry.result.digest, summary: null } } : entry));
    await expect(gate.runs.replay(live.runId)).rejects.toMatchObject({ code: "REPLAY_UNAVAILABLE", message: expect.stringContaining("the result of call 0 (t.read) is not kept") as string });
    tamper = (entries) => entries;
    const call = await gate.call("t.read", { n: 1 });
    await expect(gate.runs.replay(call.runId)).rejects.toMatchObject({ code: "REPLAY_UNAVAILABLE" });
    await gate.runs.erase(live.runId);
    await expect(gate.runs.replay(live.runId)).rejects.toMatchObject({ code: "REPLAY_UNAVAILABLE", message: expect.stringContaining("erased") as string });
    await expect(gate.runs.replay("run_nope")).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
    await expect(gate.runs.replay(live.runId, { principal: { tenant: "other", user: "local", roles: [], claims: {} } })).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
  });
});
