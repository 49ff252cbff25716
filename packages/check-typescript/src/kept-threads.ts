import type { CheckerThread } from "@callgate/runtime/check-parts";
import type { CheckerAnswer, CheckerRequest } from "./worker/messages.ts";

type Thread = CheckerThread<CheckerRequest, CheckerAnswer>;

/** Long enough for the next gate of a program that opens one after the other, and for a test's. */
const keptMs = 30_000;

/** By what a thread was started with; one of each. They are the process's, for loading the compiler is. */
const kept = new Map<string, { readonly thread: Thread; readonly timer: NodeJS.Timeout }>();

/** A warm thread that a closed checker left behind, if one was started with the same. */
export function takeThread(startedWith: string): Thread | undefined {
  const found = kept.get(startedWith);
  if (found === undefined) return undefined;
  kept.delete(startedWith);
  clearTimeout(found.timer);
  return found.thread.isAlive ? found.thread : undefined;
}

/**
 * Keeps the thread of a closed checker for the next one: loading the compiler and what it knows of the language costs a
 * hundred times what a check does. A thread runs no code of programs, and a check sees the declarations it names alone.
 * After half a minute, or where one is kept already, the thread ends; until then it keeps no process alive.
 */
export async function keepThread(startedWith: string, thread: Thread): Promise<void> {
  if (!thread.isAlive || !thread.isIdle || kept.has(startedWith)) return await thread.end();
  const timer = setTimeout(() => {
    kept.delete(startedWith);
    thread.end().catch(() => undefined);
  }, keptMs).unref();
  kept.set(startedWith, { thread, timer });
}
