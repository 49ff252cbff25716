import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { keepThread, takeThread } from "./kept-threads.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function fakeThread(state: { isIdle?: boolean; isAlive?: boolean } = {}) {
  const ended = { times: 0 };
  const thread = {
    known: new Set<string>(),
    answered: 1,
    isAlive: state.isAlive ?? true,
    isIdle: state.isIdle ?? true,
    ask: () => Promise.reject(new Error("nothing is asked of it here")),
    end: () => {
      ended.times += 1;
      return Promise.resolve();
    },
  };
  return { thread, ended };
}

describe("kept threads", () => {
  test("are taken once, by who starts one with the same", async () => {
    const { thread, ended } = fakeThread();
    await keepThread("a", thread);
    expect(takeThread("b")).toBeUndefined();
    expect(takeThread("a")).toBe(thread);
    expect(takeThread("a")).toBeUndefined();
    vi.advanceTimersByTime(60_000);
    expect(ended.times).toBe(0);
  });

  test("one of each: the second ends, and so does one at work or that nobody takes", async () => {
    const [first, second, busy] = [fakeThread(), fakeThread(), fakeThread({ isIdle: false })];
    await keepThread("c", first.thread);
    await keepThread("c", second.thread);
    await keepThread("d", busy.thread);
    expect([first.ended.times, second.ended.times, busy.ended.times]).toEqual([0, 1, 1]);
    vi.advanceTimersByTime(30_000);
    expect(first.ended.times).toBe(1);
    expect(takeThread("c")).toBeUndefined();
  });
});
