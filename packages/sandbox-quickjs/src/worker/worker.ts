// Entry of a worker thread: guests of many runs, one at a time on the CPU, each in an engine of its own.
import type { MessagePort } from "node:worker_threads";
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import type { Engines, PreparedEngine } from "./engine.ts";
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

interface WorkerState {
  readonly port: MessagePort;
  readonly cell: Int32Array;
  readonly engines: Engines;
  readonly guests: Map<number, Live>;
}

const nothing = { calls: [], outputs: [], delivered: 0, cpuMs: 0 } as const;

/** The host hears of an end first: it need not wait until the memory is restored. */
function report({ guests, engines, port }: WorkerState, key: number, stretch: Stretch): void {
  const live = guests.get(key);
  port.postMessage({ key, ...stretch } satisfies StretchMessage);
  if (stretch.end === undefined || live === undefined) return;
  guests.delete(key);
  engines.release(live.engine, live.guest.isHealthy);
}

function onCpu(state: WorkerState, key: number, enter: () => Stretch): void {
  const { cell } = state;
  Atomics.store(cell, cells.running, key);
  Atomics.add(cell, cells.stretch, 1);
  let stretch: Stretch;
  try {
    stretch = enter();
  } catch (thrown) {
    // No memory for an instance, or a fault of ours: this guest ends, the worker goes on.
    const message = `The sandbox could not be prepared: ${thrown instanceof Error ? thrown.message : "unknown"}`;
    stretch = { ...nothing, end: { kind: "crashed", message } };
  }
  Atomics.store(cell, cells.running, 0);
  report(state, key, stretch);
}

function start(state: WorkerState, message: HostMessage & { kind: "start" }): void {
  const { engines, cell } = state;
  const { key, modulesDigest, modulesJson, forget, code, seed, startMs, limits, places } = message;
  if (forget !== undefined) engines.forget(forget);
  if (modulesJson !== undefined) engines.defineModules(modulesDigest, modulesJson);
  const cancelCell = cells.cancel + message.slot;
  const cancelled = (): boolean => {
    Atomics.add(cell, cells.heartbeat, 1);
    return Atomics.load(cell, cancelCell) === 1;
  };
  onCpu(state, key, () => {
    const engine = engines.prepare(modulesDigest, limits.memoryMiB);
    const guest = createGuest(engine, { code, seed, startMs, limits, ...(places === undefined ? {} : { places }), cancelled, part: (part) => state.port.postMessage({ key, ...part } satisfies StretchMessage) });
    state.guests.set(key, { guest, engine });
    return guest.start();
  });
}

function handle(state: WorkerState, message: HostMessage): void {
  if (message.kind === "start") return start(state, message);
  const live = state.guests.get(message.key);
  if (live === undefined) return;
  if (message.kind === "deliver") return onCpu(state, message.key, () => live.guest.deliver(message.completions));
  report(state, message.key, { ...nothing, end: { kind: "cancelled" } });
}

function main(): void {
  const port = parentPort;
  if (port === null) return;
  const { module, control } = workerData as WorkerStart;
  const state: WorkerState = { port, cell: new Int32Array(control), engines: createEngines(module), guests: new Map() };
  port.on("message", (message: HostMessage) => {
    handle(state, message);
    for (let until = performance.now() + spinMs; state.guests.size > 0 && performance.now() < until; ) {
      const next = receiveMessageOnPort(port) as { message: HostMessage } | undefined;
      if (next === undefined) continue;
      handle(state, next.message);
      until = performance.now() + spinMs;
    }
  });
}

main();
