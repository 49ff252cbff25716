import type { GateEvent } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { createEventHub } from "./event-hub.ts";

const event = (atMs: number): GateEvent => ({ kind: "journal-degraded", atMs, message: "" });

async function collect(stream: AsyncIterable<GateEvent>): Promise<number[]> {
  const seen: number[] = [];
  for await (const { atMs } of stream) seen.push(atMs);
  return seen;
}

describe("createEventHub", () => {
  test("hands every event to every consumer, in order, from the call of events() on", async () => {
    const hub = createEventHub();
    hub.emit(event(0));
    const streams = [collect(hub.events()), collect(hub.events())];
    const late = hub.events();
    for (const atMs of [1, 2, 3]) hub.emit(event(atMs));
    await Promise.resolve();
    hub.close();
    hub.emit(event(4));
    expect(await Promise.all([...streams, collect(late)])).toEqual([[1, 2, 3], [1, 2, 3], [1, 2, 3]]);
    expect(await collect(hub.events())).toEqual([]);
  });

  test("keeps a bounded number of events for a consumer that is behind: the newest", async () => {
    const hub = createEventHub({ bufferSize: 3 });
    const stream = hub.events();
    for (let atMs = 0; atMs < 10; atMs++) hub.emit(event(atMs));
    hub.close();
    expect(await collect(stream)).toEqual([7, 8, 9]);
  });

  test("forgets a consumer that stops early", async () => {
    const hub = createEventHub();
    const stream = hub.events();
    hub.emit(event(1));
    hub.emit(event(2));
    for await (const first of stream) {
      expect(first.atMs).toBe(1);
      break;
    }
    expect(await collect(stream)).toEqual([]);
  });

  test("a listener that throws hurts nobody, and unsubscribing works for the same listener twice", () => {
    const faults: unknown[] = [];
    const hub = createEventHub({ onFault: (fault) => void faults.push(fault) });
    const seen: number[] = [];
    const listener = ({ atMs }: GateEvent): void => void seen.push(atMs);
    hub.onEvent(() => { throw new Error("bad listener"); });
    const stop = hub.onEvent(listener);
    hub.onEvent(listener);
    hub.emit(event(1));
    stop();
    hub.emit(event(2));
    expect(seen).toEqual([1, 1, 2]);
    expect(faults.length).toBe(2);
  });
});
