import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { noBubblewrap, openCrmGate } from "./fixtures/crm-gate.ts";
import { localPrincipal } from "./index.ts";
import type { Gate, RunOptions, RunResult } from "./index.ts";

const why = noBubblewrap === undefined ? "" : ` (skipped: ${noBubblewrap})`;

const valueOf = ({ value, error, diagnostics }: RunResult): unknown => (value?.kind === "whole" ? value.value : [error, diagnostics]);

/** Resolves when somebody says `ready`. */
function whenSaid(): { readonly said: Promise<void>; readonly onOutput: NonNullable<RunOptions["onOutput"]> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { said: promise, onOutput: (entries) => entries.some(({ text }) => text.includes("ready")) && resolve() };
}

describe.skipIf(noBubblewrap !== undefined)(`sessions, through a gate${why}`, { timeout: 120_000 }, () => {
  let gate: Gate;
  let written: unknown[];
  let close: () => Promise<void>;
  beforeAll(async () => {
    ({ gate, written, close } = await openCrmGate());
  });
  afterAll(() => close());
  const block = (session: string, text: string, options: RunOptions = {}): Promise<RunResult> => gate.run(text, { session, ...options });

  test.each([
    ["python", ["from tools import crm\nc = crm.get_customer(id=7)\nopen('kept.txt', 'w').write('x')", "crm.rename(id=c['id'], name=c['name'] + '!')\nimport os\n[c['name'], os.path.exists('kept.txt')]"]],
    ["node", ['import { writeFileSync } from "node:fs";\nimport { crm } from "tools";\nconst c = await crm.get_customer({ id: 7 });\nwriteFileSync("kept.txt", "x");', 'await crm.rename({ id: c.id, name: c.name + "!" });\nimport { existsSync } from "node:fs";\n[c.name, existsSync("kept.txt")]']],
  ])("%s: what a block defined and wrote is there in the next one, its tools go through the broker, and each block is on record", async (language, [first = "", second = ""]) => {
    const { sessionId, phase } = gate.sessions.open({ language });
    expect(phase).toBe("idle");
    written.length = 0;
    const one = await block(sessionId, first);
    expect(one, JSON.stringify(one.diagnostics)).toMatchObject({ status: "completed", session: { sessionId, generation: 1, block: 1, stateKept: true }, calls: [{ tool: "crm.get_customer", outcome: "ok" }] });
    const two = await block(sessionId, second);
    expect(valueOf(two)).toEqual(["Ada", true]);
    expect(written).toEqual([{ id: 7, name: "Ada!" }]);
    const shown = await gate.runs.show(two.runId);
    expect(shown?.run).toMatchObject({ status: "completed", language, session: { sessionId, generation: 1, block: 2 } });
    expect(shown?.entries.some(({ kind }) => kind === "call-ended")).toBe(true);
    await expect(gate.runs.replay(two.runId)).rejects.toMatchObject({ code: "REPLAY_UNAVAILABLE" });
    expect(await gate.sessions.close(sessionId)).toMatchObject({ phase: "ended", blocks: 2, loss: { reason: "closed" } });
  });

  test("shell: variables, functions and the folder are kept; an exit code is the block's end", async () => {
    const { sessionId } = gate.sessions.open({ language: "shell" });
    await block(sessionId, "x=41; mkdir deep; cd deep; say() { echo \"x is $x in ${PWD##*/}\"; }");
    expect(await block(sessionId, "say; (exit 3)")).toMatchObject({ status: "failed", error: { code: "EXIT_CODE" }, console: [{ text: "x is 41 in deep" }], session: { block: 2, stateKept: true } });
    await gate.sessions.close(sessionId);
  });

  test("a block is checked: what blocks before it defined is known, what nobody defined is not, and nothing of a refused block runs", async () => {
    const { sessionId } = gate.sessions.open({ language: "python" });
    await block(sessionId, "total = 3\nprices = [1, 2]");
    expect(valueOf(await block(sessionId, "total = total + 1\n[total, sum(prices)]"))).toEqual([4, 3]);
    expect(await block(sessionId, "total = 0\nunheard_of")).toMatchObject({ status: "rejected", diagnostics: [{ line: 2 }], session: { stateKept: true } });
    expect(await block(sessionId, "from tools import crm\ncrm.rename(id=1, name='x')", { lane: "query" })).toMatchObject({ status: "rejected" });
    expect(valueOf(await block(sessionId, "total"))).toBe(4);
    await gate.sessions.close(sessionId);
    const node = gate.sessions.open({ language: "node" });
    await block(node.sessionId, "interface Line { text: string }\nconst lines: Line[] = [{ text: 'a' }];");
    expect(valueOf(await block(node.sessionId, "lines.push({ text: 'b' });\nlines.length"))).toBe(2);
    expect(await block(node.sessionId, "const a = 1;\nthrow new Error('at two')")).toMatchObject({ status: "failed", error: { line: 2, message: expect.stringContaining("at two") as string }, session: { stateKept: true } });
    await gate.sessions.close(node.sessionId);
  });

  test("one block at a time, in order; one that waits can be cancelled and has not run", async () => {
    const { sessionId } = gate.sessions.open({ language: "python" });
    const stop = new AbortController();
    const { said, onOutput } = whenSaid();
    const first = block(sessionId, "order = [1]\nprint('ready')\nimport time\ntime.sleep(0.5)", { onOutput });
    const dropped = block(sessionId, "order.append('never')", { signal: stop.signal });
    const last = block(sessionId, "order.append(2)\norder");
    await said;
    expect(gate.sessions.show(sessionId)).toMatchObject({ phase: "busy", queued: 2 });
    stop.abort();
    expect(await dropped).toMatchObject({ status: "cancelled", session: { stateKept: true } });
    expect((await first).status).toBe("completed");
    expect(valueOf(await last)).toEqual([1, 2]);
    await gate.sessions.close(sessionId);
  });

  test("a block that takes the interpreter with it says that the state is gone; what waited for that state is not run", async () => {
    const { sessionId } = gate.sessions.open({ language: "python" });
    await block(sessionId, "x = 1");
    const { said, onOutput } = whenSaid();
    const fatal = block(sessionId, "print('ready')\nimport os, time\ntime.sleep(0.2)\nos._exit(3)", { onOutput });
    const waiting = block(sessionId, "x + 1");
    await said;
    expect(await fatal).toMatchObject({ session: { generation: 1, block: 2, stateKept: false, loss: { reason: "exited" } }, notices: [expect.stringContaining("gone")] });
    const lost = await waiting;
    expect(lost).toMatchObject({ status: "cancelled", error: { message: expect.stringContaining("gone") as string } });
    expect((await gate.runs.show(lost.runId))?.run).toMatchObject({ status: "cancelled", session: { sessionId } });
    // Fresh, and the check knows that x is gone with it.
    expect((await block(sessionId, "x + 1")).status).toBe("rejected");
    expect(await block(sessionId, "y = 2\ny")).toMatchObject({ status: "completed", session: { generation: 2, stateKept: true } });
    await gate.sessions.close(sessionId);
  });

  test("an interrupt ends a block and keeps the state; the wall clock and a cancel do so where the block lets itself be", async () => {
    const { sessionId } = gate.sessions.open({ language: "python" });
    await block(sessionId, "x = 1");
    const { said, onOutput } = whenSaid();
    const long = block(sessionId, "x = 2\nprint('ready', flush=True)\nimport time\ntime.sleep(60)", { onOutput });
    await said;
    expect(gate.sessions.interrupt(sessionId)).toBe(true);
    expect(await long).toMatchObject({ status: "failed", error: { message: expect.stringContaining("KeyboardInterrupt") as string }, session: { stateKept: true } });
    expect(gate.sessions.interrupt(sessionId)).toBe(false);
    expect(await block(sessionId, "import time\nx = 3\ntime.sleep(60)", { limits: { wallMs: 1_500 } })).toMatchObject({ status: "limit", error: { details: { limit: "wallMs" } } });
    expect(gate.sessions.show(sessionId)?.phase).toBe("idle");
    await gate.sessions.close(sessionId);
  });

  test("restart begins with nothing, close ends for good and may be repeated, an end by idleness is said", async () => {
    const { sessionId } = gate.sessions.open({ language: "python", idleMs: 60_000 });
    await block(sessionId, "x = 1");
    expect(await gate.sessions.restart(sessionId)).toMatchObject({ generation: 2, loss: { reason: "restarted" } });
    expect((await block(sessionId, "x")).status).toBe("rejected");
    await gate.sessions.close(sessionId);
    await gate.sessions.close(sessionId);
    await expect(block(sessionId, "1")).rejects.toMatchObject({ code: "SESSION_ENDED", message: expect.stringContaining("closed") as string });
    await expect(gate.sessions.restart(sessionId)).rejects.toMatchObject({ code: "SESSION_ENDED" });
    const idle = gate.sessions.open({ language: "shell", idleMs: 100 });
    while (gate.sessions.show(idle.sessionId)?.phase !== "ended") await new Promise((wake) => setTimeout(wake, 20));
    await expect(block(idle.sessionId, "true")).rejects.toMatchObject({ code: "SESSION_ENDED", message: expect.stringContaining("100 ms") as string });
  });

  test("a session is its owner's, its name is taken, its language is one", async () => {
    const ada = { ...localPrincipal, user: "ada" };
    const { sessionId } = gate.sessions.open({ language: "python", sessionId: "analysis", principal: ada });
    expect(() => gate.sessions.open({ sessionId: "analysis", principal: ada })).toThrow(/already/);
    expect(() => gate.sessions.open({ sessionId: "../x" })).toThrow(expect.objectContaining({ code: "USAGE" }));
    expect(() => gate.sessions.open({ idleMs: 0 })).toThrow(expect.objectContaining({ code: "USAGE" }));
    expect([gate.sessions.show(sessionId), gate.sessions.show(sessionId, { principal: ada })?.sessionId]).toEqual([undefined, sessionId]);
    await expect(block(sessionId, "1")).rejects.toMatchObject({ code: "SESSION_ENDED" });
    await expect(block(sessionId, "1", { principal: ada, language: "shell" })).rejects.toMatchObject({ code: "USAGE" });
    expect(valueOf(await block(sessionId, "1", { principal: ada }))).toBe(1);
    await gate.sessions.close(sessionId, { principal: ada });
  });
});
