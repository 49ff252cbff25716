import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { createInner, createSharedStops } from "./stop.ts";

describe("createSharedStops", () => {
  test("thousands who follow one signal cost it one listener, and those who left are not told", () => {
    const stops = createSharedStops();
    const run = new AbortController();
    const told: number[] = [];
    const leave = Array.from({ length: 1_000 }, (_, index) => stops.of(run.signal).listen(() => void told.push(index)));
    expect(getEventListeners(run.signal, "abort")).toHaveLength(1);
    for (const one of leave.slice(0, 998)) one();
    run.abort(new Error("over"));
    expect(told).toEqual([998, 999]);
    for (const one of leave) one();
    expect(getEventListeners(run.signal, "abort")).toHaveLength(0);
    expect(stops.of(run.signal)).toMatchObject({ aborted: true, reason: { message: "over" } });
  });

  test("stops with all, also what comes after, and its signal says the same", () => {
    const stops = createSharedStops();
    const [early, other] = [new AbortController(), new AbortController()];
    const stop = stops.of(early.signal);
    let told = 0;
    const leave = stop.listen(() => (told += 1));
    const { signal } = stop;
    expect([stop.aborted, signal.aborted]).toEqual([false, false]);
    stops.stopAll(new Error("closed"));
    expect([told, stop.aborted, signal.aborted, stops.allStopped]).toEqual([1, true, true, true]);
    expect(signal.reason).toMatchObject({ message: "closed" });
    expect(stops.of(other.signal)).toMatchObject({ aborted: true, reason: { message: "closed" } });
    leave();
    stop.release();
    for (const { signal: parent } of [early, other]) expect(getEventListeners(parent, "abort")).toHaveLength(0);
  });

  test("a signal that nobody asked for is never made; one that was asked for is let go of", () => {
    const stops = createSharedStops();
    const run = new AbortController();
    const stop = stops.of(run.signal);
    stop.release();
    expect(getEventListeners(run.signal, "abort")).toHaveLength(0);
    expect(stop.signal).toBe(stop.signal);
    expect(getEventListeners(run.signal, "abort")).toHaveLength(1);
    stop.release();
    expect(getEventListeners(run.signal, "abort")).toHaveLength(0);
  });
});

test("a signal that is asked for after the stop has aborted, with its reason", () => {
  const inner = createInner();
  inner.abort("late");
  inner.abort("later");
  expect(inner).toMatchObject({ aborted: true, signal: { aborted: true, reason: "late" } });
});
