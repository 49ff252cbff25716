/** When a server that failed may be started again. */
export interface Backoff {
  /** Milliseconds until the next start is allowed; 0 now. */
  waitMs(): number;
  /** It started and works. */
  started(): void;
  /** It could not be started. */
  failed(): void;
  /** It ended after it had started. */
  died(): void;
}

/** First wait after a failed start; doubles to the maximum. */
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 30_000;
/** A server that lived this long was sound. */
const STABLE_MS = 5_000;

/** Waits double with each failure. One death after a good start costs no wait; dying again soon after does. */
export function createBackoff(now: () => number): Backoff {
  let failures = 0;
  let notBeforeMs = -Infinity;
  let startedMs = -Infinity;
  const fail = (): void => {
    notBeforeMs = now() + Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** failures);
    failures++;
  };
  return {
    waitMs: () => Math.max(0, notBeforeMs - now()),
    started: () => {
      startedMs = now();
    },
    failed: fail,
    died: () => {
      if (now() - startedMs >= STABLE_MS) failures = 0;
      if (failures > 0) fail();
      else failures = 1;
    },
  };
}
