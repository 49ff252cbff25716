import { SafeMap, SafeTypeError, apply, defineGlobal, isFinite, mapDelete, mapGet, mapSet, SafePromise, promiseThen } from "./intrinsics.ts";
import type { Calls } from "./calls.ts";

const maxDelayMs = 2_147_483_647;

/**
 * setTimeout and its family. A timer is a call of the host like any other: its completion is recorded and replayed.
 * An error thrown by a callback has nobody to catch it: `fail` ends the run with it.
 */
export function installTimers(calls: Calls, fail: (error: unknown) => void): void {
  /** Timer id → seq of the call it waits for. */
  const open = new SafeMap<number, number>();
  let nextId = 1;

  const run = (callback: () => unknown): void => {
    try {
      callback();
    } catch (thrown) {
      fail(thrown);
    }
  };

  const schedule = (callback: unknown, delay: unknown, { repeat, args }: { readonly repeat: boolean; readonly args: readonly unknown[] }): number => {
    if (typeof callback !== "function") throw new SafeTypeError("A timer needs a function to call");
    const delayMs = clampDelay(delay);
    const id = nextId;
    nextId += 1;
    const arm = (): void => {
      mapSet(open, id as never, calls.issueTimer(delayMs, fire) as never);
    };
    const fire = (): void => {
      if (!repeat) mapDelete(open, id as never);
      run(() => apply(callback, undefined, args));
      if (repeat && mapGet(open, id as never) !== undefined) arm();
    };
    arm();
    return id;
  };

  const clear = (id: unknown): void => {
    const seq = mapGet(open, id as never) as number | undefined;
    if (seq === undefined) return;
    mapDelete(open, id as never);
    calls.forget(seq);
  };

  defineGlobal("setTimeout", function setTimeout(callback: unknown, delay?: unknown, ...args: unknown[]) {
    return schedule(callback, delay, { repeat: false, args });
  });
  defineGlobal("setInterval", function setInterval(callback: unknown, delay?: unknown, ...args: unknown[]) {
    return schedule(callback, delay, { repeat: true, args });
  });
  defineGlobal("clearTimeout", function clearTimeout(id: unknown) {
    clear(id);
  });
  defineGlobal("clearInterval", function clearInterval(id: unknown) {
    clear(id);
  });
  const settled = SafePromise.resolve();
  defineGlobal("queueMicrotask", function queueMicrotask(callback: unknown) {
    if (typeof callback !== "function") throw new SafeTypeError("queueMicrotask needs a function to call");
    // oxlint-disable-next-line typescript/no-floating-promises -- `run` catches: the promise made here cannot reject
    promiseThen(settled, (() => run(callback as () => unknown)) as never);
  });
}

function clampDelay(delay: unknown): number {
  const delayMs = typeof delay === "number" ? delay : typeof delay === "string" ? +delay : 0;
  if (!isFinite(delayMs) || delayMs < 0) return 0;
  return delayMs > maxDelayMs ? maxDelayMs : delayMs;
}
