import { Worker } from "node:worker_threads";
import type { WasmModule } from "../engine/web-assembly.ts";
import type { HostMessage, StretchMessage, WorkerStart } from "../worker/messages.ts";
import { cells, controlBytes, maxSlots } from "../worker/messages.ts";

export interface WorkerEvents {
  onStretch(message: StretchMessage): void;
  /** The thread is gone although nobody ended it. `running` is the key of the guest that was on the CPU, or 0. */
  onLost(running: number, message: string): void;
}

/** What of the thread can be seen without asking it. */
export interface WorkerGlance {
  readonly running: number;
  readonly stretch: number;
  readonly heartbeat: number;
}

/** The host's end of one worker thread. */
export interface WorkerThread {
  post(message: HostMessage): void;
  glance(): WorkerGlance;
  /** A slot for the cancel cell of a guest, or undefined when all are taken. */
  takeSlot(): number | undefined;
  freeSlot(slot: number): void;
  /** Asks the guest of `slot` to stop while it computes. */
  signalCancel(slot: number): void;
  /** Whether the thread keeps the process alive. */
  hold(alive: boolean): void;
  /** Resolves when the thread is gone, whatever it was doing. */
  end(): Promise<void>;
}

/** Works from source and from dist: the entry has the extension of this file. */
const workerUrl = new URL(`../worker/worker${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url);

/** Starts a thread. It shares nothing with the host but `control` and the compiled engine. */
export function startWorkerThread(module: WasmModule, events: WorkerEvents): WorkerThread {
  const control = new SharedArrayBuffer(controlBytes);
  const cell = new Int32Array(control);
  const freeSlots = Array.from({ length: maxSlots }, (_, index) => maxSlots - 1 - index);
  const worker = new Worker(workerUrl, {
    workerData: { module, control } satisfies WorkerStart,
    name: "callgate-quickjs",
    // The engine's own recursion is bounded at 256 KiB of its stack; the frames beneath it need room on this one. What a
    // guest makes is in the engine's memory: left to itself the thread's young generation grows to 100 MiB of garbage.
    resourceLimits: { stackSizeMb: 16, maxYoungGenerationSizeMb: 8 },
    // No secret of the host's environment is even in the thread's memory as a value.
    env: {},
    execArgv: [],
    stdin: false,
  });
  let ended = false;
  let failure = "the worker thread stopped";
  worker.on("message", (message: StretchMessage) => {
    if (!ended) events.onStretch(message);
  });
  worker.on("error", (error) => {
    failure = error instanceof Error ? error.message : "unknown";
  });
  worker.on("exit", () => {
    if (ended) return;
    ended = true;
    events.onLost(Atomics.load(cell, cells.running), failure);
  });
  return {
    post(message) {
      if (!ended) worker.postMessage(message);
    },
    glance: () => ({ running: Atomics.load(cell, cells.running), stretch: Atomics.load(cell, cells.stretch), heartbeat: Atomics.load(cell, cells.heartbeat) }),
    takeSlot() {
      const slot = freeSlots.pop();
      if (slot !== undefined) Atomics.store(cell, cells.cancel + slot, 0);
      return slot;
    },
    freeSlot(slot) {
      freeSlots.push(slot);
    },
    signalCancel(slot) {
      Atomics.store(cell, cells.cancel + slot, 1);
    },
    hold(alive) {
      if (alive) worker.ref();
      else worker.unref();
    },
    async end() {
      ended = true;
      await worker.terminate();
    },
  };
}
