import type { Worker } from "node:worker_threads";

/** What goes to the thread and what comes back, told apart by `kind`; an answer has the `id` of its request. */
interface Message {
  readonly kind: string;
  readonly id: number;
}

/** How the thread answered, or that it is gone. */
export type ThreadAnswer<Answer> = Answer | { readonly kind: "timed_out" } | { readonly kind: "aborted" } | { readonly kind: "died"; readonly message: string };

type Unnumbered<Request> = Request extends unknown ? Omit<Request, "id"> : never;

/** One worker thread with one request under way at a time. */
export interface CheckerThread<Request extends Message, Answer extends Message> {
  /** Keys of the namespaces it has been given. */
  readonly known: Set<string>;
  /** Requests it has answered. */
  readonly answered: number;
  readonly isAlive: boolean;
  /** Sends a request. Past `timeoutMs`, or when `signal` is aborted, the thread is ended: nothing else stops a compiler. */
  ask(request: Unnumbered<Request>, options: { readonly timeoutMs: number; readonly signal?: AbortSignal }): Promise<ThreadAnswer<Answer>>;
  end(): Promise<void>;
}

/** What a new thread may take on top before it is at a program: starting, and reading what its language declares. */
export const threadStartupMs = 10_000;

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
    ask(request, { timeoutMs, signal }) {
      const id = nextId++;
      return new Promise((resolve) => {
        const stop = (answer: ThreadAnswer<Answer>): void => {
          settle(answer);
          end().catch(() => undefined);
        };
        const onAbort = (): void => stop({ kind: "aborted" });
        const timer = setTimeout(() => stop({ kind: "timed_out" }), timeoutMs);
        const settle = (answer: ThreadAnswer<Answer>): void => {
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
