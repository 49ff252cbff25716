import { createHash } from "node:crypto";
import { CallgateError } from "@callgate/contract";
import type { Checker, CheckReport, CheckRequest, NamespaceDeclaration } from "@callgate/contract";
import { startCheckerThread } from "./checker-thread.ts";
import type { CheckerThread, ThreadAnswer } from "./checker-thread.ts";
import type { NamespaceMessage } from "./worker/messages.ts";

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

/** Loading all declarations of a large catalog for the first time takes longer than any check. */
const warmTimeoutMs = 60_000;

/**
 * The checker of TypeScript and JavaScript: a real type check against the tools' declarations, in a worker thread.
 *
 * Programs are checked one after the other. The thread is started by the first check or `warm`, does not keep the
 * process alive, and is replaced by one that was warmed beside it when it has grown or served long enough; whatever
 * happens to it, the next program finds a working one.
 *
 * Errors of `check`: CHECKER_FAILED when the thread died twice on one program; CLOSED after `close`; the reason of the
 * signal. A text that is too deep or takes too long is a `rejected` report.
 * Cost, warm: 3 ms for 10 lines to 13 ms for 60, whatever the number of tools; 300 ms for the first.
 */
export function createTypeScriptChecker(options: TypeScriptCheckerOptions = {}): Checker {
  const { timeoutMs = 10_000, memoryMiB = 768, recycleMiB = 400, recycleChecks = 1_000 } = options;
  const keys = new WeakMap<NamespaceDeclaration, string>();
  let thread: CheckerThread | undefined;
  let lastNamespaces: readonly NamespaceDeclaration[] = [];
  let next: Promise<CheckerThread> | undefined;
  let queue: Promise<unknown> = Promise.resolve();
  let closed = false;

  const messagesFor = (target: CheckerThread, namespaces: readonly NamespaceDeclaration[]): NamespaceMessage[] =>
    namespaces.map((declaration) => {
      const key = keyOf(declaration, keys);
      if (target.known.has(key)) return { key, namespace: declaration.namespace };
      target.known.add(key);
      return { key, namespace: declaration.namespace, load: { text: declaration.text, tools: declaration.tools.map(({ name, effect }) => [name, effect] as const) } };
    });

  const current = (): CheckerThread => {
    if (thread === undefined || !thread.isAlive) thread = startCheckerThread(memoryMiB);
    return thread;
  };

  /** Warms a thread beside the one that works, and takes it when it is ready. */
  const replace = (): void => {
    if (next !== undefined || closed) return;
    const made = startCheckerThread(memoryMiB);
    next = made.ask({ kind: "warm", namespaces: messagesFor(made, lastNamespaces) }, { timeoutMs: warmTimeoutMs }).then(() => made);
    next
      .then(async (ready) => {
        await inTurn(async () => {
          next = undefined;
          const old = thread;
          thread = ready.isAlive && !closed ? ready : undefined;
          await old?.end();
          if (closed) await ready.end();
        });
      })
      .catch(() => undefined);
  };

  const inTurn = <Value>(work: () => Promise<Value>): Promise<Value> => {
    const turn = queue.then(work);
    queue = turn.catch(() => undefined);
    return turn;
  };

  const checkOnce = async (request: CheckRequest, signal: AbortSignal): Promise<ThreadAnswer> => {
    const target = current();
    const answer = await target.ask({ kind: "check", text: request.text, lane: request.lane, namespaces: messagesFor(target, request.namespaces) }, { timeoutMs, signal });
    if (answer.kind === "overflow" || answer.kind === "fault") {
      thread = undefined;
      await target.end();
    } else if (answer.kind === "report" && (answer.heapMiB > recycleMiB || target.answered >= recycleChecks)) replace();
    return answer;
  };

  return {
    language: "typescript",
    check: (request, signal) =>
      inTurn(async () => {
        if (closed) throw new CallgateError("CLOSED", "The checker was closed");
        signal.throwIfAborted();
        lastNamespaces = request.namespaces;
        const startedMs = performance.now();
        const tooLarge = sizeFault(request, startedMs);
        if (tooLarge !== undefined) return tooLarge;
        let answer = await checkOnce(request, signal);
        // Memory that earlier programs left behind is not this one's fault.
        if (answer.kind === "died" && !closed) answer = await checkOnce(request, signal);
        return reportOf(answer, { signal, timeoutMs, startedMs });
      }),
    warm: (namespaces) =>
      inTurn(async () => {
        if (closed) throw new CallgateError("CLOSED", "The checker was closed");
        lastNamespaces = namespaces;
        const target = current();
        const answer = await target.ask({ kind: "warm", namespaces: messagesFor(target, namespaces) }, { timeoutMs: warmTimeoutMs });
        if (answer.kind !== "warmed") throw new CallgateError("CHECKER_FAILED", "Cannot load the tools' declarations: the TypeScript checker did not answer", { details: { reason: describe(answer) } });
      }),
    async close() {
      closed = true;
      const spare = next;
      await Promise.all([thread?.end(), spare?.then((ready) => ready.end())]);
      await queue;
    },
  };
}

function keyOf(declaration: NamespaceDeclaration, keys: WeakMap<NamespaceDeclaration, string>): string {
  const kept = keys.get(declaration);
  if (kept !== undefined) return kept;
  const hash = createHash("sha256").update(`${declaration.namespace}\n${declaration.digest}\n`);
  for (const { name, effect } of declaration.tools) hash.update(`${name} ${effect}\n`);
  const key = hash.digest("base64url");
  keys.set(declaration, key);
  return key;
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
