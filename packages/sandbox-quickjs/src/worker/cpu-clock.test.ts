import { afterEach, expect, test, vi } from "vitest";
import { createCpuClock } from "./cpu-clock.ts";

afterEach(() => vi.restoreAllMocks());

/** A thread that is seldom let onto the CPU: the wall's time and its own go on by hand. */
function thread() {
  const now = { wallMs: 1_000, cpuMs: 50 };
  vi.spyOn(performance, "now").mockImplementation(() => now.wallMs);
  vi.spyOn(process, "threadCpuUsage").mockImplementation(() => ({ user: now.cpuMs * 900, system: now.cpuMs * 100 }));
  return (wallMs: number, cpuMs: number) => {
    now.wallMs += wallMs;
    now.cpuMs += cpuMs;
  };
}

test("waiting for the CPU is nobody's CPU: neither in stretches that end before the engine asks, nor in one that it asks about", () => {
  const pass = thread();
  const clock = createCpuClock(10_000);
  for (let stretch = 0; stretch < 20; stretch += 1) {
    clock.begin();
    pass(900, 2);
    clock.end();
    pass(500, 7);
  }
  expect(clock.endedMs()).toBe(40);
  clock.begin();
  pass(30_000, 100);
  expect(clock.isOver()).toBe(false);
  pass(30_000, 9_900);
  expect(clock.isOver()).toBe(true);
  expect(clock.end()).toBe(10_040);
});
