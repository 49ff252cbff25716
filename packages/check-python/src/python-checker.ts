import { Worker } from "node:worker_threads";
import { CallgateError } from "@callgate/contract";
import type { Checker, CheckReport, CheckRequest } from "@callgate/contract";
import { createNamespaceMessages, createTurns, rejectTooLarge, rejectWhole, superviseThread, threadEnvironment, timedOutText, timeFor } from "@callgate/runtime/check-parts";
import type { CheckerThread, CheckTime, ThreadAnswer } from "@callgate/runtime/check-parts";
import { createServerKeeper } from "./server/server-keeper.ts";
import { withoutWrappers } from "./program/function-module.ts";
import { modulesIn } from "./program/modules-in.ts";
import type { ServerAnswer, ServerKeeper } from "./server/server-keeper.ts";
import type { ReaderAnswer, ReaderRequest, ReaderSettings } from "./worker/messages.ts";

/** Works from source and from dist: the entry has the extension of this file. */
const workerUrl = new URL(`./worker/reader-worker${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url);

type ReaderThread = CheckerThread<ReaderRequest, ReaderAnswer>;

export interface PythonCheckerOptions {
  /** Version of the guest's Python; newer syntax and modules are refused. Default `3.11`. */
  readonly pythonVersion?: string;
  /** Modules the guest has beside its standard library, by their first name: `pandas`. Default none. */
  readonly modules?: readonly string[];
  /** Folders whose own modules and packages may be imported as well; looked at anew by each check. Default none. */
  readonly folders?: readonly string[];
  /** Modules of functions the guest has, name to text: calls of them are checked like those of tools. Default none. */
  readonly functions?: Readonly<Record<string, string>>;
  /** What one check may compute (where the system tells: Linux); past it the program is rejected with CHECK_TIMEOUT. Default 10,000. */
  readonly cpuMs?: number;
  /** Wall time of one check, likewise: far more, for a busy machine is not the program's fault. Default 60,000. */
  readonly timeoutMs?: number;
  /** Heap of the pyright process. Default 384. */
  readonly memoryMiB?: number;
  /** The process is replaced when it is larger than this after a check (where the system tells). Default 450. */
  readonly recycleMiB?: number;
  /** The process is replaced after so many checks. Default 1,000. */
  readonly recycleChecks?: number;
}

/**
 * The checker of Python: pyright against the tools' stubs, in a process of its own, and a reading of the program in a
 * worker thread for what pyright does not say (imports, reach, ending, advice).
 *
 * Programs are checked one after the other. Process and thread are started by the first check or `warm`, do not keep the
 * host alive, and are replaced when they die, hang or have grown; whatever happens to them, the next program finds working
 * ones. The process has an empty environment and finds no Python to run; it reads its own folder of stubs only.
 *
 * Errors of `check`: CHECKER_FAILED when the process died twice on one program; CLOSED after `close`; the reason of the
 * signal. A text that takes too long is a `rejected` report.
 * Cost, warm: tens of milliseconds for ten lines (bench/check.ts); the first check starts the process.
 */
export function createPythonChecker(options: PythonCheckerOptions = {}): Checker {
  const { pythonVersion = "3.11", modules = [], folders = [], functions = {}, cpuMs = 10_000, timeoutMs = 60_000, memoryMiB = 384, recycleMiB = 450, recycleChecks = 1_000 } = options;
  const sources = Object.entries(functions).map(([module, text]) => ({ module, text: withoutWrappers(text) }));
  const time: CheckTime = { cpuMs, wallMs: timeoutMs };
  const server = createServerKeeper({ pythonVersion, functions: sources, time, memoryMiB, recycleMiB, recycleChecks });
  const messagesFor = createNamespaceMessages();
  let reader: ReaderThread | undefined;
  const turns = createTurns();

  const thread = (): ReaderThread => {
    if (reader?.isAlive !== true) reader = startReader({ pythonVersion, modules, functions: sources });
    return reader;
  };
  const within = (target: ReaderThread): { readonly time: CheckTime } => ({ time: timeFor(target, time) });
  const checkOnce = async ({ text, namespaces, unavailable = [], lane, block }: CheckRequest, signal: AbortSignal): Promise<CheckReport | ServerAnswer | ThreadAnswer<ReaderAnswer>> => {
    const target = thread();
    const read = await target.ask({ kind: "read", text, namespaces: messagesFor(target.known, namespaces), unavailable, modules: folders.flatMap(modulesIn), ...(block === undefined ? {} : { known: block.known }) }, within(target));
    if (read.kind !== "read") return read;
    const answer = await diagnoseTwice(server, { text: read.checkable, namespaces }, signal);
    if (answer.kind !== "found") return answer;
    const judged = await target.ask({ kind: "judge", findings: answer.findings.slice(0, maxFindings), lane }, within(target));
    return judged.kind === "report" ? judged.report : judged;
  };

  return {
    language: "python",
    check: (request, signal) =>
      turns.take(async () => {
        signal.throwIfAborted();
        const startedMs = performance.now();
        const tooLarge = rejectTooLarge(request, startedMs);
        if (tooLarge !== undefined) return tooLarge;
        const outcome = await checkOnce(request, signal);
        if (outcome.kind === "ok" || outcome.kind === "rejected") return { ...outcome, durationMs: performance.now() - startedMs };
        if (outcome.kind === "timed_out") return rejectWhole("CHECK_TIMEOUT", timedOutText(outcome, "Make it shorter"), startedMs);
        signal.throwIfAborted();
        throw new CallgateError("CHECKER_FAILED", "The Python checker failed on this program; it works again for the next one", { details: { reason: "message" in outcome ? outcome.message : outcome.kind } });
      }),
    warm: (namespaces) =>
      turns.take(async () => {
        const answer = await diagnoseTwice(server, { text: "result = len([1])\nresult\n", namespaces }, new AbortController().signal);
        if (answer.kind !== "found") throw new CallgateError("CHECKER_FAILED", "Cannot load the tools' stubs: pyright did not answer", { details: { reason: "message" in answer ? answer.message : answer.kind } });
        const target = thread();
        await target.ask({ kind: "read", text: "1", namespaces: messagesFor(target.known, namespaces), unavailable: [], modules: [] }, within(target));
      }),
    async close() {
      turns.end();
      await Promise.all([server.close(), reader?.end()]);
      await turns.idle();
      // What was under way may have started others.
      await Promise.all([server.close(), reader?.end()]);
    },
  };
}

/** Memory that earlier programs left behind is not this one's fault: a process that died gets the program once more. */
async function diagnoseTwice(server: ServerKeeper, { text, namespaces }: Pick<CheckRequest, "text" | "namespaces">, signal: AbortSignal): Promise<ServerAnswer> {
  const answer = await server.diagnose(text, namespaces, signal);
  return answer.kind === "died" ? await server.diagnose(text, namespaces, signal) : answer;
}

/** More findings than anyone reads; a text of errors has as many as it has lines. */
const maxFindings = 500;

function startReader(settings: ReaderSettings): ReaderThread {
  return superviseThread(
    new Worker(workerUrl, { name: "callgate-check-python", workerData: settings, resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 }, env: threadEnvironment(), execArgv: [], stdin: false }),
  );
}
