import type { Clock } from "@callgate/contract";
import { linkedAbort } from "./linked-abort.ts";

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
  /** Left out, only the deadline ends it. */
  readonly signal?: AbortSignal;
  /** Hears once of work that ended after the race was lost. Must not throw. */
  readonly late?: (end: Extract<Raced<Value>, { kind: "value" | "threw" }>) => void;
}

/**
 * Runs `work` until it ends, its time is over, or `signal` aborts, whichever is first. `work` gets a signal that aborts
 * in the two latter cases. Never rejects; leaves no timer and no listener behind.
 */
export function race<Value>(work: (signal: AbortSignal) => Promise<Value> | Value, options: RaceOptions<Value>): Promise<Raced<Value>> {
  if (options.signal?.aborted === true) return Promise.resolve({ kind: "cancelled" });
  return new Promise((resolve) => {
    const inner = options.signal === undefined ? linkedAbort() : linkedAbort(options.signal);
    let open = true;
    const { timeoutMs } = options;
    const expired = (): void => {
      settle({ kind: "timed_out" });
      inner.abort(new DOMException(`No answer within ${timeoutMs} ms`, "TimeoutError"));
    };
    const timer = timeoutMs === undefined ? undefined : options.clock.schedule(timeoutMs, expired);
    const cancelled = (): void => {
      settle({ kind: "cancelled" });
    };
    inner.signal.addEventListener("abort", cancelled, { once: true });

    function settle(end: Raced<Value>): void {
      if (!open) {
        if (end.kind === "value" || end.kind === "threw") options.late?.(end);
        return;
      }
      open = false;
      timer?.cancel();
      inner.signal.removeEventListener("abort", cancelled);
      inner.unlink();
      resolve(end);
    }

    // The work starts in this very tick; an async wrapper turns what it throws at once into a rejection.
    (async () => work(inner.signal))().then(
      (value) => {
        settle({ kind: "value", value });
      },
      (error: unknown) => {
        settle({ kind: "threw", error });
      },
    );
  });
}
