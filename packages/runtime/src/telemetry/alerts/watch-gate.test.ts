import { afterEach, expect, test } from "vitest";
import { durableWorld, sleepMs } from "../../run/fixtures/durable-world.ts";
import type { Alert } from "./alert-rules.ts";
import { watchGate, watchJournal } from "./watch-gate.ts";
import type { Watch } from "./watch-gate.ts";

const worlds: ReturnType<typeof durableWorld>[] = [];
const watches: Watch[] = [];
afterEach(async () => {
  for (const watch of watches.splice(0)) watch.stop();
  await Promise.all(worlds.splice(0).map((world) => world.close()));
});

function world() {
  const made = durableWorld([
    { name: "slow", timeoutMs: 5, handler: async () => await sleepMs(10_000) },
    { name: "ask_pay", effect: "write", handler: () => 1 },
    { name: "ok", handler: () => 1 },
  ]);
  worlds.push(made);
  return made;
}

const slow = "for (let n = 0; n < 5; n += 1) try { await tools.t.slow({}) } catch {}";

test("a gate tells what a person should look at as it happens", async () => {
  const gate = await world().open();
  const alerts: Alert[] = [];
  watches.push(watchGate(gate, { onAlert: (alert) => void alerts.push(alert) }));
  const { runId } = await gate.run(slow);
  expect(alerts).toMatchObject([{ ruleId: "timeouts", subject: "t", value: 5, threshold: 5, runId, callId: `${runId}.4` }]);
});

test("the journal tells it of every process, once, and of what was there before only what is recent enough", async () => {
  const made = world();
  const [one, two, watching] = [await made.open(), await made.open(), await made.open()];
  await one.run(slow);
  const [old, fresh]: Alert[][] = [[], []];
  const quiet = watchJournal(watching, { sinceMs: Date.now() + 60_000, onAlert: (alert) => void old?.push(alert) });
  const loud = watchJournal(watching, { sinceMs: 0, onAlert: (alert) => void fresh?.push(alert) });
  watches.push(quiet, loud);
  await Promise.all([quiet.look(), loud.look()]);
  await Promise.all([quiet.look(), loud.look()]);
  expect([old, fresh?.map(({ ruleId }) => ruleId)]).toEqual([[], ["timeouts"]]);
  await Promise.all(Array.from({ length: 10 }, () => two.call("t.slow", {})));
  await loud.look();
  expect(fresh?.map(({ ruleId }) => ruleId)).toEqual(["timeouts", "failures"]);
});

test("a journal that cannot be read is told, and looked at again", async () => {
  const gate = await world().open();
  const faults: string[] = [];
  const broken = { ...gate, runs: { ...gate.runs, list: () => Promise.reject(new Error("the disk is gone")) } };
  const watch = watchJournal(broken, { sinceMs: 0, lookEveryMs: 5, onAlert: () => undefined, onFault: (message) => void faults.push(message) });
  watches.push(watch);
  while (faults.length < 3) await sleepMs(5);
  expect(new Set(faults)).toEqual(new Set(["the disk is gone"]));
});
