import { CallgateError } from "@callgate/contract";
import type { Checker, CheckReport } from "@callgate/contract";
import { createTurns, rejectTooLarge, rejectWhole, timedOutText } from "@callgate/runtime/check-parts";
import { createThreadKeeper } from "./thread-keeper.ts";
import type { CompilerAnswer } from "./thread-keeper.ts";

export interface TypeScriptCheckerOptions {
  /** What one check may compute (where Node tells, since 24.6); past it the program is rejected with CHECK_TIMEOUT. Default 10,000. */
  readonly cpuMs?: number;
  /** Wall time of one check, likewise: far more, for a busy machine is not the program's fault. Default 60,000. */
  readonly timeoutMs?: number;
  /** Heap of the worker thread. Default 768. */
  readonly memoryMiB?: number;
  /** The worker is replaced when it holds more than this after a check. Default 400. */
  readonly recycleMiB?: number;
  /** The worker is replaced after so many checks. Default 1,000. */
  readonly recycleChecks?: number;
  /**
   * For programs that run in real Node: its modules and those packages may be imported, and its globals are there. What
   * is done with them is checked where `typesFolder` is the folder of `@types/node`; packages never are. Default: the
   * embedded sandbox, which has none of that.
   */
  readonly node?: { readonly packages?: readonly string[]; readonly typesFolder?: string };
}

/**
 * The checker of TypeScript and JavaScript: a real type check against the tools' declarations, in a worker thread. With
 * `node` it is that of the language `node`.
 *
 * Programs are checked one after the other. The thread is started by the first check or `warm`, does not keep the
 * process alive, and is replaced by one that was warmed beside it when it has grown or served long enough; whatever
 * happens to it, the next program finds a working one. Closing leaves it for half a minute to the next checker of the
 * process, which then is warm.
 *
 * Errors of `check`: CHECKER_FAILED when the thread died twice on one program; CLOSED after `close`; the reason of the
 * signal. A text that is too deep or takes too long is a `rejected` report.
 * Cost, warm: some milliseconds for ten lines, whatever the number of tools (bench/check.ts); the first check pays for
 * reading the language's own declarations.
 */
export function createTypeScriptChecker(options: TypeScriptCheckerOptions = {}): Checker {
  const { cpuMs = 10_000, timeoutMs = 60_000, memoryMiB = 768, recycleMiB = 400, recycleChecks = 1_000 } = options;
  const node = options.node === undefined ? undefined : { packages: options.node.packages ?? [], typesFolder: options.node.typesFolder };
  const keeper = createThreadKeeper({ time: { cpuMs, wallMs: timeoutMs }, memoryMiB, recycleMiB, recycleChecks, node });
  const turns = createTurns();

  return {
    language: node === undefined ? "typescript" : "node",
    check: (request, signal) =>
      turns.take(async () => {
        signal.throwIfAborted();
        const startedMs = performance.now();
        const tooLarge = rejectTooLarge(request, startedMs);
        if (tooLarge !== undefined) return tooLarge;
        let answer = await keeper.check(request, signal);
        // Memory that earlier programs left behind is not this one's fault.
        if (answer.kind === "died" && !turns.isOver) answer = await keeper.check(request, signal);
        return reportOf(answer, { signal, startedMs });
      }),
    warm: (namespaces) =>
      turns.take(async () => {
        const answer = await keeper.warm(namespaces);
        if (answer.kind !== "warmed") throw new CallgateError("CHECKER_FAILED", "Cannot load the tools' declarations: the TypeScript checker did not answer", { details: { reason: describe(answer) } });
      }),
    async close() {
      turns.end();
      await keeper.close();
      await turns.idle();
    },
  };
}

function reportOf(answer: CompilerAnswer, { signal, startedMs }: { readonly signal: AbortSignal; readonly startedMs: number }): CheckReport {
  switch (answer.kind) {
    case "report":
      return { ...answer.report, durationMs: performance.now() - startedMs };
    case "overflow":
      return rejectWhole("TOO_DEEP", "The program is nested too deep to be read; split it into statements or functions", startedMs);
    case "timed_out":
      return rejectWhole("CHECK_TIMEOUT", timedOutText(answer, "Its types are too complicated: make it shorter, and leave out generic types"), startedMs);
    case "aborted":
      throw signal.reason;
    case "warmed":
    case "died":
    case "fault":
      throw new CallgateError("CHECKER_FAILED", "The TypeScript checker failed on this program; it works again for the next one", { details: { reason: describe(answer) } });
  }
}

function describe(answer: CompilerAnswer): string {
  return "message" in answer ? answer.message : answer.kind;
}
