import { createHash } from "node:crypto";
import type { Lane, NamespaceDeclaration } from "@callgate/contract";
import { startCheckerThread } from "./checker-thread.ts";
import type { CheckerThread, ThreadAnswer } from "./checker-thread.ts";
import type { NamespaceMessage } from "./worker/messages.ts";

/** Loading all declarations of a large catalog for the first time takes longer than any check. */
const warmTimeoutMs = 60_000;
/** What a new thread may take on top before it is at a program: starting, and reading the language's declarations. */
const startupMs = 10_000;

export interface ThreadKeeperOptions {
  readonly timeoutMs: number;
  readonly memoryMiB: number;
  readonly recycleMiB: number;
  readonly recycleChecks: number;
}

interface Asked {
  readonly text: string;
  readonly lane: Lane;
  readonly namespaces: readonly NamespaceDeclaration[];
}

/** Keeps one working thread, whatever happens to it. Requests are made one at a time. */
export interface ThreadKeeper {
  check(asked: Asked, signal: AbortSignal): Promise<ThreadAnswer>;
  warm(namespaces: readonly NamespaceDeclaration[]): Promise<ThreadAnswer>;
  close(): Promise<void>;
}

export function createThreadKeeper({ timeoutMs, memoryMiB, recycleMiB, recycleChecks }: ThreadKeeperOptions): ThreadKeeper {
  const messages = createNamespaceMessages();
  let thread: CheckerThread | undefined;
  let spare: { readonly thread: CheckerThread; ready: boolean } | undefined;
  let closed = false;

  const warmThread = (target: CheckerThread, namespaces: readonly NamespaceDeclaration[]): Promise<ThreadAnswer> => target.ask({ kind: "warm", namespaces: messages(target, namespaces) }, { timeoutMs: warmTimeoutMs });

  /** The spare one as soon as it is warm, else the one at hand, else a new one. */
  const current = (): CheckerThread => {
    if (spare?.ready === true) {
      if (thread?.isAlive === true) thread.end().catch(() => undefined);
      thread = spare.thread;
      spare = undefined;
    }
    if (thread === undefined || !thread.isAlive) thread = startCheckerThread(memoryMiB);
    return thread;
  };

  /** Warms a thread beside the one that works. */
  const replace = (namespaces: readonly NamespaceDeclaration[]): void => {
    if (spare !== undefined || closed) return;
    const made = { thread: startCheckerThread(memoryMiB), ready: false };
    spare = made;
    warmThread(made.thread, namespaces)
      .then(({ kind }) => {
        if (kind === "warmed") made.ready = true;
        else if (spare === made) spare = undefined;
      })
      .catch(() => undefined);
  };

  return {
    async check({ text, lane, namespaces }, signal) {
      const target = current();
      const answer = await target.ask({ kind: "check", text, lane, namespaces: messages(target, namespaces) }, { timeoutMs: timeoutMs + (target.answered === 0 ? startupMs : 0), signal });
      if (answer.kind === "overflow" || answer.kind === "fault") await target.end();
      else if (answer.kind === "report" && (answer.heapMiB > recycleMiB || target.answered >= recycleChecks)) replace(namespaces);
      return answer;
    },
    warm: (namespaces) => warmThread(current(), namespaces),
    async close() {
      closed = true;
      await Promise.all([thread?.end(), spare?.thread.end()]);
    },
  };
}

/** Namespaces as a thread needs them: with their text only the first time. */
function createNamespaceMessages(): (target: CheckerThread, namespaces: readonly NamespaceDeclaration[]) => NamespaceMessage[] {
  const keys = new WeakMap<NamespaceDeclaration, string>();
  const keyOf = (declaration: NamespaceDeclaration): string => {
    const kept = keys.get(declaration);
    if (kept !== undefined) return kept;
    const hash = createHash("sha256").update(`${declaration.namespace}\n${declaration.digest}\n`);
    for (const { name, effect } of declaration.tools) hash.update(`${name} ${effect}\n`);
    const key = hash.digest("base64url");
    keys.set(declaration, key);
    return key;
  };
  return (target, namespaces) =>
    namespaces.map((declaration) => {
      const { namespace, text, tools } = declaration;
      const key = keyOf(declaration);
      if (target.known.has(key)) return { key, namespace };
      target.known.add(key);
      return { key, namespace, load: { text, tools: tools.map(({ name, effect }) => [name, effect] as const) } };
    });
}
