import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock, ReconcileAnswer } from "@callgate/contract";
import { expect, onTestFinished, test } from "vitest";
import { openJournal } from "../journal/fixtures/open-journal.ts";
import { systemClock } from "../lib/system-clock.ts";
import { until } from "./fixtures/durable-world.ts";
import { plainChecker } from "./fixtures/plain-checker.ts";
import { createTestGate } from "./fixtures/test-gate.ts";

/** The machine's time, whose wall clock can be set on. */
function settableClock(): Clock & { setOn(ms: number): void } {
  const host = systemClock();
  let setOnMs = 0;
  return { ...host, now: () => host.now() + setOnMs, setOn: (ms) => void (setOnMs += ms) };
}

test("a wall clock that is set on while a write is under way gives its run to nobody: the write is settled by who makes it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "callgate-set-clock-"));
  const clock = settableClock();
  const log: string[] = [];
  let arrive: () => void = () => undefined;
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  const pay = {
    name: "pay",
    effect: "write",
    timeoutMs: 600_000,
    async handler() {
      log.push("under way");
      await arrived;
      log.push("paid");
      return 40;
    },
    // The bank knows nothing of it yet, and so says that it did not happen.
    reconcile(): Promise<ReconcileAnswer<number>> {
      log.push("asked the bank");
      return Promise.resolve({ kind: "did_not_happen" });
    },
  } as const;
  const open = () => createTestGate([pay], { checkers: [plainChecker()], clock, wrapJournal: () => journals[opened++] ?? expect.fail() });
  const journals = [await openJournal(folder, {}, clock), await openJournal(folder, {}, clock)];
  let opened = 0;
  const [{ gate: first }, { gate: second }] = [await open(), await open()];
  onTestFinished(async () => {
    arrive();
    await Promise.all([first, second].map((gate) => gate.close()));
    rmSync(folder, { recursive: true });
  });
  const running = first.run("return await tools.t.pay({})");
  await until(() => log.includes("under way"));
  clock.setOn(3_600_000);
  const worker = second.work({ concurrency: 1 });
  // So many looks for work, each of which would have taken it.
  for (let look = 0; look < 20; look += 1) expect(await journals[1]?.claim({ leaseMs: 30_000 })).toBeUndefined();
  arrive();
  expect(await running).toMatchObject({ status: "completed", value: { value: 40 }, calls: [{ effectStatus: "done" }] });
  await worker.stop();
  expect(log).toEqual(["under way", "paid"]);
});
