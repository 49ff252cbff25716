import type { Clock } from "@callgate/contract";

/** A clock that is set by hand and whose timers never fire: the time of a process that is busy or stopped. */
export interface PausedClock extends Clock {
  set(nowMs: number): void;
  /** Sets the wall clock on by so much, or back; no other time passes. */
  setWallClockOn(ms: number): void;
}

export function pausedClock(startMs = 1_900_000_000_000): PausedClock {
  let [nowMs, setOnMs] = [startMs, 0];
  return {
    now: () => nowMs + setOnMs,
    monotonic: () => nowMs,
    schedule: () => ({ cancel: () => undefined }),
    set(to) {
      nowMs = to;
    },
    setWallClockOn(ms) {
      setOnMs += ms;
    },
  };
}
