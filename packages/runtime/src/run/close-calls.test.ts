import { BackgroundJob, CallgateError } from "@callgate/contract";
import type { Gate, ReconcileAnswer } from "@callgate/contract";
import { createQuickJsDriver } from "@callgate/sandbox-quickjs";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { durableWorld, until } from "./fixtures/durable-world.ts";
import type { GateInit } from "./fixtures/durable-world.ts";
import type { TestTool } from "./fixtures/test-gate.ts";

type Answer = ReconcileAnswer | Error;

/** A process that is lost in a write whose tool answers so when it is asked afterwards. */
async function lostInWrite(answer: Answer, { init = {}, extra = {} }: { readonly init?: GateInit; readonly extra?: Partial<TestTool> } = {}) {
  const log: string[] = [];
  const pay: TestTool = {
    name: "pay",
    effect: "write",
    handler: (_args, { signal }) => new Promise((_resolve, reject) => { log.push("pay"); signal.addEventListener("abort", () => reject(new Error("stopped"))); }),
    reconcile: (args, { idempotencyKey }) => {
      log.push(`ask ${JSON.stringify(args)} ${idempotencyKey.length > 20 ? "by its key" : ""}`);
      if (answer instanceof Error) throw answer;
      return answer;
    },
    compensate: (_args, output) => void log.push(`undo ${JSON.stringify(output)}`),
    cancelJob: (token) => (log.push(`stop ${JSON.stringify(token)}`), { notApplied: true }),
    ...extra,
  };
  const { open, entries, journal, lose, close } = durableWorld([pay]);
  onTestFinished(async () => void (await close()));
  const options: GateInit = { defaults: { settleGraceMs: 1, suspendAfterMs: 20 }, ...init };
  const [first, second] = [await open(options), await open(options)];
  const running = first.run("await tools.t.pay({ n: 1 }); return 1");
  running.catch(() => undefined);
  await until(() => log.includes("pay"));
  const [runId = ""] = journal.runs.keys();
  return { third: () => open(options), gate: second, runId, log, entries: () => entries(runId), lose: () => lose(runId), journal };
}

const driver = createQuickJsDriver({ workers: 1 });
afterAll(() => driver.close());
const alive = (): GateInit => ({ drivers: [{ ...driver, replayable: false, close: () => Promise.resolve() }] });

/** The two ways in which a run ends without its guest. */
const endings: readonly (readonly [string, "crashed" | "cancelled", () => GateInit, (gate: Gate, runId: string) => ReturnType<Gate["runs"]["resume"]>])[] = [
  ["of a guest that cannot be executed again", "crashed", alive, (gate, runId) => gate.runs.resume(runId)],
  ["that is cancelled while its process is lost", "cancelled", () => ({}), (gate, runId) => gate.runs.cancel(runId)],
];

const asked = 'ask {"n":1} by its key';

describe.each(endings)("a lost run %s", (_name, status, init, end) => {
  test.each<readonly [string, Answer, { readonly effects: object; readonly compensation: object; readonly log: readonly string[] }]>([
    ["happened", { kind: "happened", output: { id: "p1" } }, { effects: { done: ["t.pay (call 0)"], unknown: [] }, compensation: { remaining: [] }, log: [asked, 'undo {"id":"p1"}'] }],
    ["did not happen", { kind: "did_not_happen" }, { effects: { done: [], unknown: [] }, compensation: { undone: [], remaining: [] }, log: [asked] }],
    ["is not known", { kind: "unknown" }, { effects: { done: [], unknown: ["t.pay (call 0, cancelled)"] }, compensation: { undone: [], remaining: [{ tool: "t.pay", why: "it is not known whether it took effect" }] }, log: [asked] }],
    ["is not known, for its tool fails", new Error("no connection"), { effects: { unknown: ["t.pay (call 0, cancelled)"] }, compensation: { remaining: [{ tool: "t.pay" }] }, log: [asked] }],
    ["goes on outside, where it is stopped", { kind: "goes_on", job: new BackgroundJob({ id: 7 }) }, { effects: { done: [], unknown: [] }, compensation: { undone: [], remaining: [] }, log: [asked, 'stop {"id":7}'] }],
  ])("asks the tool of a write in doubt (reconcile), which %s", async (_what, answer, expected) => {
    const { gate, runId, lose, log, entries } = await lostInWrite(answer, { init: init() });
    lose();
    const result = await end(gate, runId);
    expect(result).toMatchObject({ status, effects: expected.effects, compensation: expected.compensation });
    expect(log).toEqual(["pay", ...expected.log]);
    expect(entries().filter((entry) => entry.kind === "call-ended" && entry.seq === 0)).toHaveLength(1);
  });

  test("does not ask where a person has said what became of it", async () => {
    const { gate, runId, lose, log } = await lostInWrite({ kind: "did_not_happen" }, { init: init() });
    lose();
    await gate.runs.resolve(`${runId}.0`, { happened: true, output: "said" });
    expect(await end(gate, runId)).toMatchObject({ status, effects: { done: ["t.pay (call 0, cancelled)"] }, compensation: { undone: [`${runId}.0`] } });
    expect(log).toEqual(["pay", 'undo "said"']);
  });
});

test("a run that is suspended, for its tool did not know what became of a write, asks again when it is cancelled", async () => {
  const answers: ReconcileAnswer[] = [{ kind: "unknown" }, { kind: "happened", output: 9 }];
  const { gate, runId, lose, log } = await lostInWrite({ kind: "unknown" }, { extra: { reconcile: () => answers.shift() ?? { kind: "unknown" } } });
  lose();
  expect(await gate.runs.resume(runId)).toMatchObject({ status: "suspended", waits: [{ kind: "resolution" }] });
  expect(await gate.runs.cancel(runId)).toMatchObject({ status: "cancelled", compensation: { undone: [`${runId}.0`], remaining: [] } });
  expect(log).toEqual(["pay", "undo 9"]);
});

test("a process that is lost while it closes a run leaves the rest of it: what was answered is not asked again", async () => {
  const { gate, third, runId, lose, log, journal } = await lostInWrite({ kind: "happened", output: 1 }, { init: alive() });
  lose();
  journal.before = (what, _lease, entries) => {
    if (what !== "append" || !entries.some(({ kind }) => kind === "call-issued")) return;
    journal.before = () => undefined;
    throw new CallgateError("JOURNAL_UNAVAILABLE", "the connection was lost");
  };
  const tried = await gate.runs.resume(runId).catch((fault: unknown) => fault);
  lose();
  expect([await (await third()).runs.resume(runId), tried]).toMatchObject([{ status: "crashed", effects: { done: ["t.pay (call 0)"] } }, {}]);
  expect(log.filter((line) => line.startsWith("ask"))).toHaveLength(1);
});
