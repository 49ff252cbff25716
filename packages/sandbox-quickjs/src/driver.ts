import { availableParallelism } from "node:os";
import type { GuestCompletion, LimitName, SandboxDriver } from "@callgate/contract";
import { CallgateError } from "@callgate/contract";
import { loadEngine } from "./host/engine-file.ts";
import { createLiveGuest } from "./host/live-guest.ts";
import { createPool } from "./host/pool.ts";

export interface QuickJsDriverOptions {
  /** Threads kept. Default: one per core. While programs compute for long, up to as many again are started. */
  readonly workers?: number;
  /** Programs under way at once, most of them waiting for tools; more wait in a queue. Default 128. */
  readonly maxGuests?: number;
}

const enforced: readonly LimitName[] = ["cpuMs", "memoryMiB", "stackKiB", "argumentBytes", "callResultBytes", "consoleBytes", "resultBytes"];

/**
 * The embedded sandbox for JavaScript: QuickJS compiled to WebAssembly, in worker threads, nothing but npm.
 *
 * Each guest has a linear memory of its own, with a fixed maximum, restored to the state before any program between
 * two runs (docs/decisions on restoring memory). A worker runs one guest's CPU at a time; a guest that computes for
 * long has others moved away from its thread, and one that does not answer at its CPU limit or at a cancel is ended
 * with its thread, while the other guests of that thread are run again elsewhere from their recorded answers.
 *
 * `memoryMiB` below 16 acts as 16 and `stackKiB` above 256 as 256: the engine's own bounds.
 * Throws `CallgateError` DRIVER_FAILED when the engine's file is not the build this was made for.
 */
export function createQuickJsDriver(options: QuickJsDriverOptions = {}): SandboxDriver {
  const { workers = Math.max(1, availableParallelism()), maxGuests = 128 } = options;
  if (!Number.isInteger(workers) || workers < 1 || !Number.isInteger(maxGuests) || maxGuests < 1) {
    throw new CallgateError("CONFIG_INVALID", "Cannot create the QuickJS driver: workers and maxGuests must be whole numbers from 1");
  }
  const pool = createPool({ workers, maxGuests, module: loadEngine() });
  let closing: Promise<void> | undefined;

  return {
    name: "quickjs",
    languages: ["javascript", "typescript"],
    replayable: true,
    sessions: false,
    artifacts: false,
    limits: enforced,
    start(job, host) {
      if (closing !== undefined) throw new CallgateError("CLOSED", "Cannot start a program: the sandbox was closed");
      const guest = createLiveGuest(job, host);
      let outbox: GuestCompletion[] = [];
      const flush = (): void => {
        const completions = outbox;
        outbox = [];
        if (completions.length === 0 || guest.isEnded) return;
        guest.record(completions);
        pool.post(guest, (key) => ({ kind: "deliver", key, completions }));
      };
      pool.add(guest);
      return {
        // What is handed over in one turn of the host's loop goes to the thread as one message.
        deliver(completions) {
          if (guest.isEnded || completions.length === 0) return;
          if (outbox.length === 0) queueMicrotask(flush);
          outbox.push(...completions);
        },
        cancel: () => {
          if (!guest.isEnded) pool.cancel(guest);
        },
        ended: guest.ended,
      };
    },
    close() {
      closing ??= pool.close();
      return closing;
    },
  };
}
