import { virtualClock } from "@callgate/testkit";
import { describe, expect, test } from "vitest";
import { createPollingQueue } from "./polling-queue.ts";

const hint = (runId: string) => ({ tenant: "acme", runId });

describe("createPollingQueue", () => {
  test("with nothing to do one hand looks every second, however many there are", async () => {
    const clock = virtualClock();
    const queue = createPollingQueue({ clock });
    let looks = 0;
    const working = queue.work(() => { looks += 1; return Promise.resolve(); }, { concurrency: 8 });
    await clock.advance(10_000);
    expect(looks).toBe(11);
    await working.stop();
    await clock.advance(10_000);
    expect([looks, clock.pendingTimers]).toEqual([11, 0]);
  });

  test("where one hand finds something the next one looks at once, until all are busy or nothing is left", async () => {
    const clock = virtualClock();
    const queue = createPollingQueue({ clock });
    let due = 0;
    const busy: (() => void)[] = [];
    const working = queue.work(async (_hint, more) => {
      if (due === 0) return;
      due -= 1;
      more();
      await new Promise<void>((resolve) => busy.push(resolve));
    }, { concurrency: 3 });
    due = 5;
    await clock.advance(1_000);
    expect([busy.length, due]).toEqual([3, 2]);
    busy[0]?.();
    busy[1]?.();
    await clock.advance(0);
    expect([busy.length, due]).toEqual([5, 0]);
    for (const end of busy) end();
    await working.stop();
  });

  test("hears every hint at once, and none after it was stopped", async () => {
    const clock = virtualClock();
    const queue = createPollingQueue({ clock });
    const heard: unknown[] = [];
    const working = queue.work((given) => { if (given !== undefined) heard.push(given.runId); return Promise.resolve(); }, { concurrency: 1 });
    await Promise.all([queue.wake(hint("a")), queue.wake(hint("b"))]);
    await clock.advance(0);
    expect(heard).toEqual(["a", "b"]);
    await queue.close();
    await queue.wake(hint("c"));
    await working.stop();
    expect(heard).toEqual(["a", "b"]);
  });
});
