import { Worker } from "node:worker_threads";
import type { CheckerAnswer, CheckerRequest } from "./worker/messages.ts";

/** How the thread answered, or that it is gone. */
export type ThreadAnswer = CheckerAnswer | { readonly kind: "timed_out" } | { readonly kind: "aborted" } | { readonly kind: "died"; readonly message: string };

type Unnumbered<Request> = Request extends unknown ? Omit<Request, "id"> : never;

/** One worker thread with one request under way at a time. */
export interface CheckerThread {
  /** Keys of the namespaces it has been given. */
  readonly known: Set<string>;
  /** Requests it has answered. */
  readonly answered: number;
  readonly isAlive: boolean;
  /** Sends a request. Past `timeoutMs`, or when `signal` is aborted, the thread is ended: nothing else stops a compiler. */
  ask(request: Unnumbered<CheckerRequest>, options: { readonly timeoutMs: number; readonly signal?: AbortSignal }): Promise<ThreadAnswer>;
  end(): Promise<void>;
}

/** Works from source and from dist: the entry has the extension of this file. */
const workerUrl = new URL(`./worker/check-worker${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url);

/**
 * Starts a checker's thread.
 *
 * @param memoryMiB of its heap; past it the thread dies, and only the thread
 */
export function startCheckerThread(memoryMiB: number): CheckerThread {
  const worker = startWorker(memoryMiB);
  let alive = true;
  let answered = 0;
  let nextId = 1;
  let failure = "the worker thread stopped";
  let waiting: { readonly id: number; settle(answer: ThreadAnswer): void } | undefined;
  worker.on("message", (answer: CheckerAnswer) => {
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
    get answered() {
      return answered;
    },
    get isAlive() {
      return alive;
    },
    ask(request, { timeoutMs, signal }) {
      const id = nextId++;
      return new Promise((resolve) => {
        const stop = (answer: ThreadAnswer): void => {
          settle(answer);
          end().catch(() => undefined);
        };
        const onAbort = (): void => stop({ kind: "aborted" });
        const timer = setTimeout(() => stop({ kind: "timed_out" }), timeoutMs);
        const settle = (answer: ThreadAnswer): void => {
          clearTimeout(timer);
          signal?.removeEventListener("abort", onAbort);
          waiting = undefined;
          answered += 1;
          worker.unref();
          resolve(answer);
        };
        waiting = { id, settle };
        if (!alive) return settle({ kind: "died", message: failure });
        worker.ref();
        signal?.addEventListener("abort", onAbort, { once: true });
        worker.postMessage({ ...request, id });
      });
    },
    end,
  };
}

function startWorker(memoryMiB: number): Worker {
  const worker = new Worker(workerUrl, {
    name: "callgate-check-typescript",
    // Four times the stack on which the compiler reads 2,000 open brackets; the pre-scan lets 250 through.
    resourceLimits: { maxOldGenerationSizeMb: memoryMiB, maxYoungGenerationSizeMb: 32, stackSizeMb: 16 },
    env: {},
    execArgv: [],
    stdin: false,
  });
  // An idle checker must not keep a process alive.
  worker.unref();
  return worker;
}
