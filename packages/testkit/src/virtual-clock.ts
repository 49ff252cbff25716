import type { Clock } from "@callgate/contract";

/** A clock that moves only when told to. */
export interface VirtualClock extends Clock {
  /** Moves time on, firing what falls due in its order; promises settle between two timers. Resolves when all is quiet. */
  advance(ms: number): Promise<void>;
  /** Sets the wall clock on by so much, or back; no other time passes. */
  setWallClockOn(ms: number): void;
  /** How long until the next timer is due, in milliseconds; undefined when none is. */
  readonly nextDueInMs: number | undefined;
  /** Timers that were scheduled and neither fired nor cancelled: 0 when nothing leaks. */
  readonly pendingTimers: number;
}

interface Timer {
  readonly dueMs: number;
  readonly fire: () => void;
}

/** @param startMs what `now()` says at first */
export function virtualClock(startMs = Date.UTC(2030, 0, 1)): VirtualClock {
  let elapsedMs = 0;
  let setOnMs = 0;
  const timers = new Set<Timer>();

  return {
    now: () => startMs + elapsedMs + setOnMs,
    // Of one base with the wall clock, as of every clock of a test: they stand for one machine.
    monotonic: () => startMs + elapsedMs,
    setWallClockOn(ms) {
      setOnMs += ms;
    },
    schedule(delayMs, fire) {
      const timer: Timer = { dueMs: elapsedMs + Math.max(0, delayMs), fire };
      timers.add(timer);
      return { cancel: () => void timers.delete(timer) };
    },
    async advance(ms) {
      const untilMs = elapsedMs + ms;
      await quiet();
      for (let timer = nextDue(timers, untilMs); timer !== undefined; timer = nextDue(timers, untilMs)) {
        elapsedMs = timer.dueMs;
        timers.delete(timer);
        timer.fire();
        await quiet();
      }
      elapsedMs = untilMs;
    },
    get nextDueInMs() {
      const next = nextDue(timers, Number.POSITIVE_INFINITY);
      return next === undefined ? undefined : next.dueMs - elapsedMs;
    },
    get pendingTimers() {
      return timers.size;
    },
  };
}

/** The earliest timer due by then; of equal ones the first scheduled, for a set keeps its order. */
function nextDue(timers: ReadonlySet<Timer>, untilMs: number): Timer | undefined {
  let next: Timer | undefined;
  for (const timer of timers) if (timer.dueMs <= untilMs && (next === undefined || timer.dueMs < next.dueMs)) next = timer;
  return next;
}

/** Lets everything that waits on nothing but promises run. */
function quiet(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
