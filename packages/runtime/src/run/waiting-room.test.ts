import { virtualClock } from "@callgate/testkit";
import type { RunSignal } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { createWaitingRoom } from "./waiting-room.ts";

describe("createWaitingRoom", () => {
  test("a run is not left before the journal has said that nothing came before its wait", async () => {
    const reads: ((signals: readonly RunSignal[]) => void)[] = [];
    let looked = 0;
    const clock = virtualClock();
    const room = createWaitingRoom({ clock, readSignals: () => new Promise((resolve) => reads.push(resolve)), taken: new Map(), looked: () => (looked += 1) });
    const had: unknown[] = [];
    const add = (seq: number, name: string): void => room.add({ wait: { kind: "event", seq, name, occurrence: 0 }, isTimer: false, over: (said) => had.push(said) });
    add(0, "a");
    expect(room.canBeLeft(clock.now())).toBe(false);
    reads[0]?.([]);
    await clock.advance(0);
    expect([looked, room.canBeLeft(clock.now())]).toEqual([1, true]);
    // One that comes later is looked for anew.
    add(1, "b");
    expect(room.canBeLeft(clock.now())).toBe(false);
    const said: RunSignal = { kind: "event", name: "b", payload: { digest: "sha256:", summary: null }, by: "carol", atMs: 1 };
    reads[1]?.([said]);
    await clock.advance(0);
    expect([had, room.canBeLeft(clock.now())]).toEqual([[said], true]);
    room.drop();
  });

  test("a journal that cannot be read keeps nobody here", async () => {
    const clock = virtualClock();
    const room = createWaitingRoom({ clock, readSignals: () => Promise.reject(new Error("gone")), taken: new Map(), looked: () => undefined });
    room.add({ wait: { kind: "event", seq: 0, name: "a", occurrence: 0 }, isTimer: false, over: () => undefined });
    await clock.advance(0);
    expect(room.canBeLeft(clock.now())).toBe(true);
    room.drop();
  });
});
