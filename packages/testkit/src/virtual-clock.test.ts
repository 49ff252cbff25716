import { describe, expect, test } from "vitest";
import { virtualClock } from "./virtual-clock.ts";

describe("virtualClock", () => {
  test("stands still until it is told to move", async () => {
    const clock = virtualClock(1000);
    await clock.advance(0);
    expect([clock.now(), clock.monotonic()]).toEqual([1000, 1000]);
    await clock.advance(5);
    expect([clock.now(), clock.monotonic()]).toEqual([1005, 1005]);
  });

  test("is two clocks: the wall clock is set, and no time passes by it", async () => {
    const clock = virtualClock(1000);
    let fired = false;
    clock.schedule(10, () => (fired = true));
    clock.setWallClockOn(3_600_000);
    await clock.advance(9);
    expect([clock.now(), clock.monotonic(), fired]).toEqual([3_601_009, 1009, false]);
    clock.setWallClockOn(-3_600_000);
    expect([clock.now(), clock.monotonic()]).toEqual([1009, 1009]);
  });

  test("fires what falls due in order, at its own time, also what is scheduled meanwhile", async () => {
    const clock = virtualClock(0);
    const seen: string[] = [];
    clock.schedule(20, () => seen.push(`b@${clock.now()}`));
    clock.schedule(10, () => {
      seen.push(`a@${clock.now()}`);
      clock.schedule(5, () => seen.push(`c@${clock.now()}`));
    });
    clock.schedule(31, () => seen.push("never"));
    await clock.advance(30);
    expect(seen).toEqual(["a@10", "c@15", "b@20"]);
    expect(clock.pendingTimers).toBe(1);
  });

  test("forgets a cancelled timer", async () => {
    const clock = virtualClock();
    let fired = false;
    clock.schedule(1, () => (fired = true)).cancel();
    expect(clock.pendingTimers).toBe(0);
    await clock.advance(10);
    expect(fired).toBe(false);
  });
});
