import { getEventListeners } from "node:events";
import { virtualClock } from "@callgate/testkit";
import { describe, expect, test } from "vitest";
import { race } from "./race.ts";
import type { Raced } from "./race.ts";

function harness() {
  const clock = virtualClock();
  const abort = new AbortController();
  const late: Raced<unknown>[] = [];
  const options = { clock, timeoutMs: 100, signal: abort.signal, late: (end: Raced<unknown>) => void late.push(end) };
  const quiet = () => ({ timers: clock.pendingTimers, listeners: getEventListeners(abort.signal, "abort").length });
  return { clock, abort, late, options, quiet };
}

describe("race", () => {
  test("gives what the work gives, and leaves nothing behind", async () => {
    const { options, quiet, late } = harness();
    expect(await race(() => 7, options)).toEqual({ kind: "value", value: 7 });
    expect(quiet()).toEqual({ timers: 0, listeners: 0 });
    expect(late).toEqual([]);
  });

  test("turns what is thrown, at once or later, into a value", async () => {
    const { options } = harness();
    const throwing = () => {
      throw new Error("at once");
    };
    expect(await race(throwing, options)).toMatchObject({ kind: "threw", error: { message: "at once" } });
    expect(await race(() => Promise.reject(new Error("later")), options)).toMatchObject({ kind: "threw", error: { message: "later" } });
  });

  test("times out at its deadline, tells the work, and hears of its late end once", async () => {
    const { clock, options, late, quiet } = harness();
    let finish: (value: string) => void = () => undefined;
    let signal: AbortSignal | undefined;
    const ended = race((inner) => {
      signal = inner.signal;
      return new Promise<string>((resolve) => (finish = resolve));
    }, options);
    await clock.advance(99);
    expect(signal?.aborted).toBe(false);
    await clock.advance(1);
    expect(await ended).toEqual({ kind: "timed_out" });
    expect([signal?.aborted, quiet()]).toEqual([true, { timers: 0, listeners: 0 }]);
    finish("late");
    await clock.advance(0);
    expect(late).toEqual([{ kind: "value", value: "late" }]);
  });

  test("is cancelled with its signal, and a rejection that follows is late, not unhandled", async () => {
    const { clock, abort, options, late, quiet } = harness();
    const ended = race(({ signal }) => new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("stopped")))), options);
    abort.abort();
    expect(await ended).toEqual({ kind: "cancelled" });
    await clock.advance(0);
    expect(late).toMatchObject([{ kind: "threw", error: { message: "stopped" } }]);
    expect(quiet()).toEqual({ timers: 0, listeners: 0 });
  });

  test("does not start on an aborted signal", async () => {
    const { options } = harness();
    let started = false;
    expect(await race(() => (started = true), { ...options, signal: AbortSignal.abort() })).toEqual({ kind: "cancelled" });
    expect(started).toBe(false);
  });
});
