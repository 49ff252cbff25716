import type { Worker } from "node:worker_threads";
import { boundTime } from "./time-bound.ts";
import type { CheckTime, TimedOut } from "./time-bound.ts";

/** What goes to the thread and what comes back, told apart by `kind`; an answer has the `id` of its request. */
interface Message {
  readonly kind: string;
  readonly id: number;
}

/** How the thread answered, or that it is gone. */
export type ThreadAnswer<Answer> = Answer | TimedOut | { readonly kind: "aborted" } | { readonly kind: "died"; readonly message: string };

type Unnumbered<Request> = Request extends unknown ? Omit<Request, "id"> : never;

/** One worker thread with one request under way at a time. */
export interface CheckerThread<Request extends Message, Answer extends Message> {
  /** Keys of the namespaces it has been given. */
  readonly known: Set<string>;
  /** Requests it has answered. */
  readonly answered: number;
  readonly isAlive: boolean;
  /** False while it is asked something. */
  readonly isIdle: boolean;
  /** Sends a request. Past its time, or when `signal` is aborted, the thread is ended: nothing else stops a compiler. */
  ask(request: Unnumbered<Request>, options: { readonly time: CheckTime; readonly signal?: AbortSignal }): Promise<ThreadAnswer<Answer>>;
  end(): Promise<void>;
}

/** What a new thread may take on top before it is at a program: starting, and reading what its language declares. */
const threadStartupMs = 10_000;

/** The time of a request to a thread: of its first one, which also pays for starting it, more. */
export function timeFor({ answered }: { readonly answered: number }, { cpuMs, wallMs }: CheckTime): CheckTime {
  return answered > 0 ? { cpuMs, wallMs } : { cpuMs: cpuMs + threadStartupMs, wallMs: wallMs + threadStartupMs };
}

/** Speaks with a checker's thread. An idle one does not keep the process alive. */
export function superviseThread<Request extends Message, Answer extends Message>(worker: Worker): CheckerThread<Request, Answer> {
  worker.unref();
  let alive = true;
  let answered = 0;
  let nextId = 1;
  let failure = "the worker thread stopped";
  let waiting: { readonly id: number; settle(answer: ThreadAnswer<Answer>): void } | undefined;
  worker.on("message", (answer: Answer) => {
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
    get isIdle() {
      return waiting === undefined;
    },
    ask(request, { time, signal }) {
      const id = nextId++;
      return new Promise((resolve) => {
        const stop = (answer: ThreadAnswer<Answer>): void => {
          settle(answer);
          end().catch(() => undefined);
        };
        const onAbort = (): void => stop({ kind: "aborted" });
        const unwatch = boundTime(time, () => cpuMsOf(worker), stop);
        const settle = (answer: ThreadAnswer<Answer>): void => {
          unwatch();
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

/** CPU time of the thread so far; Node tells since 24.6, also while the thread is busy. */
async function cpuMsOf(worker: Worker): Promise<number | undefined> {
  if (typeof worker.cpuUsage !== "function") return undefined;
  const { user, system } = await worker.cpuUsage();
  return (user + system) / 1000;
}
