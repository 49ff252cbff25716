import { CallgateError } from "@callgate/contract";
import type { Checker, CheckReport, CheckRequest } from "@callgate/contract";
import type { ThreadAnswer } from "./checker-thread.ts";
import { createThreadKeeper } from "./thread-keeper.ts";

export interface TypeScriptCheckerOptions {
  /** Wall time of one check; past it the program is rejected with CHECK_TIMEOUT. Default 10,000. */
  readonly timeoutMs?: number;
  /** Heap of the worker thread. Default 768. */
  readonly memoryMiB?: number;
  /** The worker is replaced when it holds more than this after a check. Default 400. */
  readonly recycleMiB?: number;
  /** The worker is replaced after so many checks. Default 1,000. */
  readonly recycleChecks?: number;
}

/**
 * The checker of TypeScript and JavaScript: a real type check against the tools' declarations, in a worker thread.
 *
 * Programs are checked one after the other. The thread is started by the first check or `warm`, does not keep the
 * process alive, and is replaced by one that was warmed beside it when it has grown or served long enough; whatever
 * happens to it, the next program finds a working one.
 *
 * Errors of `check`: CHECKER_FAILED when the thread died twice on one program; CLOSED after `close`; the reason of the
 * signal. A text that is too deep or takes too long is a `rejected` report.
 * Cost, warm: some milliseconds for ten lines, whatever the number of tools (bench/check.ts); the first check pays for
 * reading the language's own declarations.
 */
export function createTypeScriptChecker(options: TypeScriptCheckerOptions = {}): Checker {
  const { timeoutMs = 10_000, memoryMiB = 768, recycleMiB = 400, recycleChecks = 1_000 } = options;
  const keeper = createThreadKeeper({ timeoutMs, memoryMiB, recycleMiB, recycleChecks });
  let queue: Promise<unknown> = Promise.resolve();
  let closed = false;

  const inTurn = <Value>(work: () => Promise<Value>): Promise<Value> => {
    const turn = queue.then(() => {
      if (closed) throw new CallgateError("CLOSED", "The checker was closed");
      return work();
    });
    queue = turn.catch(() => undefined);
    return turn;
  };

  return {
    language: "typescript",
    check: (request, signal) =>
      inTurn(async () => {
        signal.throwIfAborted();
        const startedMs = performance.now();
        const tooLarge = sizeFault(request, startedMs);
        if (tooLarge !== undefined) return tooLarge;
        let answer = await keeper.check(request, signal);
        // Memory that earlier programs left behind is not this one's fault.
        if (answer.kind === "died" && !closed) answer = await keeper.check(request, signal);
        return reportOf(answer, { signal, timeoutMs, startedMs });
      }),
    warm: (namespaces) =>
      inTurn(async () => {
        const answer = await keeper.warm(namespaces);
        if (answer.kind !== "warmed") throw new CallgateError("CHECKER_FAILED", "Cannot load the tools' declarations: the TypeScript checker did not answer", { details: { reason: describe(answer) } });
      }),
    async close() {
      closed = true;
      await keeper.close();
      await queue;
    },
  };
}

function rejected(code: string, message: string, startedMs: number): CheckReport {
  return { kind: "rejected", diagnostics: [{ severity: "error", code, message, line: 1, column: 1 }], repairs: [], durationMs: performance.now() - startedMs };
}

function sizeFault({ text, limits }: CheckRequest, startedMs: number): CheckReport | undefined {
  const bytes = Buffer.byteLength(text);
  return bytes > limits.sourceBytes ? rejected("SOURCE_TOO_LARGE", `The program has ${bytes} bytes; at most ${limits.sourceBytes} are accepted (limit sourceBytes)`, startedMs) : undefined;
}

function reportOf(answer: ThreadAnswer, { signal, timeoutMs, startedMs }: { readonly signal: AbortSignal; readonly timeoutMs: number; readonly startedMs: number }): CheckReport {
  switch (answer.kind) {
    case "report":
      return { ...answer.report, durationMs: performance.now() - startedMs };
    case "overflow":
      return rejected("TOO_DEEP", "The program is nested too deep to be read; split it into statements or functions", startedMs);
    case "timed_out":
      return rejected("CHECK_TIMEOUT", `The program could not be checked within ${timeoutMs} ms; its types are too complicated. Make it shorter, and leave out generic types`, startedMs);
    case "aborted":
      throw signal.reason;
    case "warmed":
    case "died":
    case "fault":
      throw new CallgateError("CHECKER_FAILED", "The TypeScript checker failed on this program; it works again for the next one", { details: { reason: describe(answer) } });
  }
}

function describe(answer: ThreadAnswer): string {
  return "message" in answer ? answer.message : answer.kind;
}
