import type { Clock } from "@callgate/contract";
import { createInner, stopOf } from "./stop.ts";
import type { Inner, Stop } from "./stop.ts";

/** How work under a deadline came out. After the last two the work may still go on; `late` hears of its end. */
export type Raced<Value> =
  | { readonly kind: "value"; readonly value: Value }
  | { readonly kind: "threw"; readonly error: unknown }
  | { readonly kind: "timed_out" }
  | { readonly kind: "cancelled" };

export interface RaceOptions<Value> {
  readonly clock: Clock;
  /** Left out, only `signal` ends the wait. */
  readonly timeoutMs?: number;
  /** Left out, and `stop` as well, only the deadline ends it. */
  readonly signal?: AbortSignal;
  /** Instead of a signal. */
  readonly stop?: Stop;
  /** Hears once of work that ended after the race was lost. Must not throw. */
  readonly late?: (end: Extract<Raced<Value>, { kind: "value" | "threw" }>) => void;
}

/** The time of a race, for the work that is under it. */
export interface Deadline {
  /** Waits for a person: what that takes is not counted (DESIGN P9). */
  pausedDuring<Waited>(wait: () => Promise<Waited>): Promise<Waited>;
}

/**
 * Runs `work` until it ends, its time is over, or it is told to stop, whichever is first. `work` gets a signal that aborts
 * in the two latter cases. Never rejects; leaves no timer and no listener behind.
 */
export function race<Value>(work: (inner: Inner, deadline: Deadline) => Promise<Value> | Value, options: RaceOptions<Value>): Promise<Raced<Value>> {
  const { clock, timeoutMs, signal, stop = signal === undefined ? undefined : stopOf(signal) } = options;
  if (stop?.aborted === true) return Promise.resolve({ kind: "cancelled" });
  return new Promise((resolve) => {
    const inner = createInner();
    let open = true;
    const expired = (): void => {
      settle({ kind: "timed_out" });
      inner.abort(new DOMException(`No answer within ${timeoutMs} ms`, "TimeoutError"));
    };
    let timer = timeoutMs === undefined ? undefined : clock.schedule(timeoutMs, expired);
    let [leftMs, since, waits] = [timeoutMs ?? 0, clock.monotonic(), 0];
    const deadline: Deadline = {
      async pausedDuring(wait) {
        if (waits++ === 0) {
          timer?.cancel();
          leftMs -= clock.monotonic() - since;
        }
        try {
          return await wait();
        } finally {
          waits -= 1;
          since = clock.monotonic();
          if (waits === 0 && open && timeoutMs !== undefined) timer = clock.schedule(Math.max(0, leftMs), expired);
        }
      },
    };
    const leave = stop?.listen(() => {
      settle({ kind: "cancelled" });
      inner.abort(stop.reason);
    });

    function settle(end: Raced<Value>): void {
      if (!open) {
        if (end.kind === "value" || end.kind === "threw") options.late?.(end);
        return;
      }
      open = false;
      timer?.cancel();
      leave?.();
      resolve(end);
    }

    const ended = (value: Value): void => settle({ kind: "value", value });
    const threw = (error: unknown): void => settle({ kind: "threw", error });
    try {
      // The work starts in this very tick.
      const working = work(inner, deadline);
      if (working instanceof Promise) working.then(ended, threw);
      else Promise.resolve(working).then(ended, threw);
    } catch (error) {
      Promise.reject(error).catch(threw);
    }
  });
}
