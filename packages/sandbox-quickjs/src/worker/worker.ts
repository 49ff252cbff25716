// Entry of a worker thread: guests of many runs, one at a time on the CPU, each in an engine of its own.
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import type { PreparedEngine } from "./engine.ts";
import { createEngines } from "./engine.ts";
import type { Guest, Stretch } from "./guest.ts";
import { createGuest } from "./guest.ts";
import type { HostMessage, StretchMessage, WorkerStart } from "./messages.ts";
import { cells } from "./messages.ts";

interface Live {
  readonly guest: Guest;
  readonly engine: PreparedEngine;
}

/**
 * How long to look for the next message before sleeping. Waking a sleeping thread is most of what a sequential call
 * costs (research: 0.13 → 0.096 ms).
 */
const spinMs = 0.1;

function main(): void {
  const port = parentPort;
  if (port === null) return;
  const { module, control } = workerData as WorkerStart;
  const cell = new Int32Array(control);
  const engines = createEngines(module);
  const guests = new Map<number, Live>();

  const report = (key: number, stretch: Stretch): void => {
    const live = guests.get(key);
    if (stretch.end !== undefined && live !== undefined) {
      guests.delete(key);
      engines.release(live.engine, live.guest.healthy);
    }
    port.postMessage({ key, ...stretch } satisfies StretchMessage);
  };

  const onCpu = (key: number, enter: () => Stretch): void => {
    Atomics.store(cell, cells.running, key);
    Atomics.add(cell, cells.stretch, 1);
    let stretch: Stretch;
    try {
      stretch = enter();
    } catch (thrown) {
      // No memory for an instance, or a fault of ours: this guest ends, the worker goes on.
      const message = `The sandbox could not be prepared: ${thrown instanceof Error ? thrown.message : "unknown"}`;
      stretch = { calls: [], outputs: [], delivered: 0, cpuMs: 0, end: { kind: "crashed", message } };
    }
    Atomics.store(cell, cells.running, 0);
    report(key, stretch);
  };

  const start = (message: HostMessage & { kind: "start" }): void => {
    if (message.forget !== undefined) engines.forget(message.forget);
    if (message.modulesJson !== undefined) engines.defineModules(message.modulesDigest, message.modulesJson);
    const cancelCell = cells.cancel + message.slot;
    const cancelled = (): boolean => {
      Atomics.add(cell, cells.heartbeat, 1);
      return Atomics.load(cell, cancelCell) === 1;
    };
    onCpu(message.key, () => {
      const engine = engines.prepare(message.modulesDigest, message.limits.memoryMiB);
      const guest = createGuest(engine, { code: message.code, seed: message.seed, startMs: message.startMs, limits: message.limits, cancelled });
      guests.set(message.key, { guest, engine });
      return guest.start();
    });
  };

  const handle = (message: HostMessage): void => {
    if (message.kind === "start") return start(message);
    const live = guests.get(message.key);
    if (live === undefined) return;
    if (message.kind === "deliver") return onCpu(message.key, () => live.guest.deliver(message.completions));
    report(message.key, { calls: [], outputs: [], delivered: 0, cpuMs: 0, end: { kind: "cancelled" } });
  };

  port.on("message", (message: HostMessage) => {
    handle(message);
    for (let until = performance.now() + spinMs; guests.size > 0 && performance.now() < until; ) {
      const next = receiveMessageOnPort(port) as { message: HostMessage } | undefined;
      if (next === undefined) continue;
      handle(next.message);
      until = performance.now() + spinMs;
    }
  });
  port.postMessage({ key: 0, calls: [], outputs: [], delivered: 0, cpuMs: 0 } satisfies StretchMessage);
}

main();
