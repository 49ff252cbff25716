import { Worker } from "node:worker_threads";
import type { Lane, NamespaceDeclaration, SessionBlockCheck, UnavailableNamespace } from "@callgate/contract";
import { createNamespaceMessages, superviseThread, threadEnvironment, timeFor } from "@callgate/runtime/check-parts";
import type { CheckerThread, CheckTime, ThreadAnswer } from "@callgate/runtime/check-parts";
import { keepThread, takeThread } from "./kept-threads.ts";
import type { NodeWorld } from "./program/node-world.ts";
import type { CheckerAnswer, CheckerRequest } from "./worker/messages.ts";

type Thread = CheckerThread<CheckerRequest, CheckerAnswer>;
export type CompilerAnswer = ThreadAnswer<CheckerAnswer>;

/** Loading all declarations of a large catalog for the first time takes longer than any check. */
const warmTime: CheckTime = { cpuMs: 60_000, wallMs: 300_000 };

/** Works from source and from dist: the entry has the extension of this file. */
const workerUrl = new URL(`./worker/check-worker${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url);

export interface ThreadKeeperOptions {
  readonly time: CheckTime;
  readonly memoryMiB: number;
  readonly recycleMiB: number;
  readonly recycleChecks: number;
  readonly node: NodeWorld | undefined;
}

interface Asked {
  readonly text: string;
  readonly lane: Lane;
  readonly namespaces: readonly NamespaceDeclaration[];
  readonly unavailable?: readonly UnavailableNamespace[];
  readonly block?: SessionBlockCheck;
}

/** Keeps one working thread, whatever happens to it. Requests are made one at a time. */
export interface ThreadKeeper {
  check(asked: Asked, signal: AbortSignal): Promise<CompilerAnswer>;
  warm(namespaces: readonly NamespaceDeclaration[]): Promise<CompilerAnswer>;
  close(): Promise<void>;
}

export function createThreadKeeper({ time, memoryMiB, recycleMiB, recycleChecks, node }: ThreadKeeperOptions): ThreadKeeper {
  const messages = createNamespaceMessages();
  const startedWith = JSON.stringify({ memoryMiB, node });
  let thread: Thread | undefined;
  let spare: { readonly thread: Thread; ready: boolean } | undefined;
  let closed = false;

  const warmThread = (target: Thread, namespaces: readonly NamespaceDeclaration[]): Promise<CompilerAnswer> => target.ask({ kind: "warm", namespaces: messages(target.known, namespaces) }, { time: warmTime });

  /** The spare one as soon as it is warm, else the one at hand, else a new one. */
  const current = (): Thread => {
    if (spare?.ready === true) {
      if (thread?.isAlive === true) thread.end().catch(() => undefined);
      thread = spare.thread;
      spare = undefined;
    }
    if (thread === undefined || !thread.isAlive) thread = takeThread(startedWith) ?? startThread(memoryMiB, node);
    return thread;
  };

  /** Warms a thread beside the one that works. */
  const replace = (namespaces: readonly NamespaceDeclaration[]): void => {
    if (spare !== undefined || closed) return;
    const made = { thread: startThread(memoryMiB, node), ready: false };
    spare = made;
    warmThread(made.thread, namespaces)
      .then(({ kind }) => {
        if (kind === "warmed") made.ready = true;
        else if (spare === made) spare = undefined;
      })
      .catch(() => undefined);
  };

  return {
    async check({ text, lane, namespaces, unavailable, block }, signal) {
      const target = current();
      const answer = await target.ask({ kind: "check", text, lane, ...(block === undefined ? {} : { known: block.known }), ...(unavailable === undefined ? {} : { unavailable }), namespaces: messages(target.known, namespaces) }, { time: timeFor(target, time), signal });
      if (answer.kind === "overflow" || answer.kind === "fault") await target.end();
      else if (answer.kind === "report" && (answer.heapMiB > recycleMiB || target.answered >= recycleChecks)) replace(namespaces);
      return answer;
    },
    warm: (namespaces) => warmThread(current(), namespaces),
    async close() {
      closed = true;
      // Where a spare one was on its way, this one has served long enough.
      if (spare !== undefined) await Promise.all([thread?.end(), spare.thread.end()]);
      else if (thread !== undefined) await keepThread(startedWith, thread);
    },
  };
}

/** @param memoryMiB of its heap; past it the thread dies, and only the thread */
function startThread(memoryMiB: number, node: NodeWorld | undefined): Thread {
  return superviseThread(
    new Worker(workerUrl, {
      name: "callgate-check-typescript",
      workerData: { node },
      // Four times the stack on which the compiler reads 2,000 open brackets; the pre-scan lets 250 through.
      resourceLimits: { maxOldGenerationSizeMb: memoryMiB, maxYoungGenerationSizeMb: 32, stackSizeMb: 16 },
      env: threadEnvironment(),
      execArgv: [],
      stdin: false,
    }),
  );
}
