import type { Clock, GuestCompletion } from "@callgate/contract";
import type { Answered } from "./answered.ts";
import type { RunLog } from "./run-log.ts";

/**
 * Hands completions to a guest in rounds: all that are ready in one message, and in one transaction of the journal
 * (DESIGN D7). Their order in the record is the order in which the guest takes them, one at a time.
 *
 * The record is asked for before the delivery and not waited for: entries of a run are kept in order, and the intent of a
 * write is on disk with all before it, so no effect can come of a completion whose record is lost.
 */
export interface Pump {
  ready(answered: Answered): void;
  /** Nothing is delivered or recorded any more. */
  stop(): void;
  /** Completions handed over so far, those of earlier stretches included. */
  readonly delivered: number;
  /** Whether all that is ready was handed over. */
  readonly isEmpty: boolean;
}

export interface PumpOptions {
  readonly clock: Clock;
  readonly log: RunLog;
  /** The guest's clock never goes back. */
  readonly startMs: number;
  /** Completions that were handed over in earlier stretches of the run. Default 0. */
  readonly delivered?: number;
  readonly deliver: (completions: readonly GuestCompletion[]) => void;
}

/** So many are a round of their own: the guest takes them while the host makes the next ready. */
const completionsInRound = 16;

export function createPump({ clock, log, startMs, delivered = 0, deliver }: PumpOptions): Pump {
  let waiting: Answered[] = [];
  let ord = delivered;
  let lastMs = startMs;
  let isScheduled = false;
  let stopped = false;

  function schedule(): void {
    if (isScheduled || stopped || waiting.length === 0) return;
    isScheduled = true;
    // What else becomes ready in this turn of the event loop goes with it.
    setImmediate(() => {
      isScheduled = false;
      round();
    });
  }

  function round(): void {
    const batch = waiting;
    waiting = [];
    if (stopped || batch.length === 0) return;
    const nowMs = clock.now();
    const completions = batch.map(({ seq, call, answer, result, atMs = nowMs }) => {
      lastMs = Math.max(lastMs, atMs);
      log.add({ kind: "delivered", atMs: lastMs, ord, seq, call, ...(answer === undefined ? {} : { answer }) });
      ord += 1;
      return { seq, atMs: lastMs, result };
    });
    log.flush();
    deliver(completions);
  }

  return {
    ready(answered) {
      if (stopped) return;
      waiting.push(answered);
      if (waiting.length >= completionsInRound) round();
      else schedule();
    },
    stop() {
      stopped = true;
      waiting = [];
    },
    get delivered() {
      return ord;
    },
    get isEmpty() {
      return waiting.length === 0;
    },
  };
}
