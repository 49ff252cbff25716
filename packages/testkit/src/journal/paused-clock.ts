import type { Clock } from "@callgate/contract";

/** A clock that is set by hand and whose timers never fire: the time of a process that is busy or stopped. */
export interface PausedClock extends Clock {
  set(nowMs: number): void;
}

export function pausedClock(startMs = 1_900_000_000_000): PausedClock {
  let nowMs = startMs;
  return {
    now: () => nowMs,
    monotonic: () => nowMs,
    schedule: () => ({ cancel: () => undefined }),
    set(to) {
      nowMs = to;
    },
  };
}
