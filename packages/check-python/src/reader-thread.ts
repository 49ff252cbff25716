import { Worker } from "node:worker_threads";
import type { ReaderAnswer, ReaderRequest, ReaderSettings } from "./worker/messages.ts";

/** How the thread answered, or that it is gone. */
export type ReaderThreadAnswer = ReaderAnswer | { readonly kind: "timed_out" } | { readonly kind: "died"; readonly message: string };

type Unnumbered<Request> = Request extends unknown ? Omit<Request, "id"> : never;

/** The worker thread that reads and judges programs; one request under way at a time. */
export interface ReaderThread {
  /** Keys of the namespaces it has been given. */
  readonly known: Set<string>;
  readonly isAlive: boolean;
  /** Past `timeoutMs`, longer for the first request, the thread is ended. */
  ask(request: Unnumbered<ReaderRequest>, timeoutMs: number): Promise<ReaderThreadAnswer>;
  end(): Promise<void>;
}

/** What a new thread may take on top before it is at a program. */
const startupMs = 10_000;

/** Works from source and from dist: the entry has the extension of this file. */
const workerUrl = new URL(`./worker/reader-worker${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url);

export function startReaderThread(settings: ReaderSettings): ReaderThread {
  const worker = new Worker(workerUrl, { name: "callgate-check-python", workerData: settings, resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 }, env: {}, execArgv: [], stdin: false });
  // An idle checker must not keep a process alive.
  worker.unref();
  let alive = true;
  let nextId = 1;
  let failure = "the worker thread stopped";
  let waiting: { readonly id: number; settle(answer: ReaderThreadAnswer): void } | undefined;
  worker.on("message", (answer: ReaderAnswer) => {
    if (waiting?.id === answer.id) waiting.settle(answer);
  });
  worker.on("error", (error) => {
    failure = error instanceof Error ? error.message : "unknown";
  });
  worker.on("exit", () => {
    alive = false;
    waiting?.settle({ kind: "died", message: failure });
  });
  const end = async (): Promise<void> => {
    alive = false;
    await worker.terminate();
  };
  return {
    known: new Set(),
    get isAlive() {
      return alive;
    },
    ask(request, timeoutMs) {
      const id = nextId++;
      return new Promise((resolve) => {
        const settle = (answer: ReaderThreadAnswer): void => {
          clearTimeout(timer);
          waiting = undefined;
          worker.unref();
          resolve(answer);
        };
        const timer = setTimeout(() => {
          settle({ kind: "timed_out" });
          end().catch(() => undefined);
        }, timeoutMs + (id === 1 ? startupMs : 0));
        waiting = { id, settle };
        if (!alive) return settle({ kind: "died", message: failure });
        worker.ref();
        worker.postMessage({ ...request, id });
      });
    },
    end,
  };
}
