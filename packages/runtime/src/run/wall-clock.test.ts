import { virtualClock } from "@callgate/testkit";
import { describe, expect, test } from "vitest";
import { startWallClock } from "./wall-clock.ts";

describe("startWallClock", () => {
  function start(wallMs: number) {
    const clock = virtualClock(0);
    let expiredAtMs: number | undefined;
    const wall = startWallClock(clock, wallMs, () => {
      expiredAtMs = clock.monotonic();
    });
    return { clock, wall, expiredAtMs: () => expiredAtMs };
  }

  test("expires once its time is over", async () => {
    const { clock, expiredAtMs } = start(100);
    await clock.advance(99);
    expect(expiredAtMs()).toBeUndefined();
    await clock.advance(1);
    expect(expiredAtMs()).toBe(100);
    expect(clock.pendingTimers).toBe(0);
  });

  test("code-mode 4: stands still while a person is asked, for ten minutes and however many questions overlap", async () => {
    const { clock, wall, expiredAtMs } = start(100);
    await clock.advance(40);
    wall.pause("a");
    await clock.advance(300_000);
    wall.pause("b");
    wall.resume("a");
    await clock.advance(300_000);
    expect(expiredAtMs()).toBeUndefined();
    expect(clock.pendingTimers).toBe(0);
    wall.resume("b");
    wall.resume("b");
    await clock.advance(59);
    expect(expiredAtMs()).toBeUndefined();
    await clock.advance(1);
    expect(expiredAtMs()).toBe(600_100);
  });

  test("leaves no timer once it is stopped, also when a question is answered later", async () => {
    const { clock, wall, expiredAtMs } = start(100);
    wall.pause("a");
    wall.stop();
    wall.resume("a");
    await clock.advance(1_000);
    expect(expiredAtMs()).toBeUndefined();
    expect(clock.pendingTimers).toBe(0);
  });
});
