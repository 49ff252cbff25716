import type { HttpBounds } from "./http-bounds.ts";

/** Watches one request: its three clocks, and the caller's signal. */
export interface RequestTimer {
  /** Aborts when a clock runs out or the caller gives up. */
  readonly signal: AbortSignal;
  /** The head of the answer has come: from here on the pause between two pieces counts. */
  begun(): void;
  /** A piece of the body has come. */
  received(): void;
  /** Why it was aborted, as one clause; undefined while it was not, or by the caller. */
  overdue(): string | undefined;
  /** Everything has come, or nothing more is wanted. Idempotent. */
  end(): void;
}

export function createRequestTimer(bounds: HttpBounds, callerSignal: AbortSignal | undefined): RequestTimer {
  const controller = new AbortController();
  let overdue: string | undefined;
  const late = (what: string) => (): void => {
    overdue ??= what;
    controller.abort();
  };
  const giveUp = (): void => controller.abort(callerSignal?.reason);
  if (callerSignal?.aborted === true) giveUp();
  else callerSignal?.addEventListener("abort", giveUp, { once: true });
  const total = timer(bounds.totalMs, late(`was not complete within ${bounds.totalMs} ms`));
  let piece = timer(bounds.firstByteMs, late(`did not begin within ${bounds.firstByteMs} ms`));
  const next = (): void => {
    clearTimeout(piece);
    piece = timer(bounds.idleMs, late(`paused for more than ${bounds.idleMs} ms`));
  };
  return {
    signal: controller.signal,
    begun: next,
    received: next,
    overdue: () => overdue,
    end() {
      clearTimeout(total);
      clearTimeout(piece);
      callerSignal?.removeEventListener("abort", giveUp);
    },
  };
}

/** No timer for a bound that never comes. */
function timer(ms: number, fire: () => void): NodeJS.Timeout | undefined {
  return ms > 0x7fff_ffff ? undefined : setTimeout(fire, ms).unref();
}
