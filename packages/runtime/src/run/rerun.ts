import type { Clock, GuestCall, NewCalls } from "@callgate/contract";
import { createAnswerBook } from "./answer-book.ts";
import type { BookedAnswer } from "./answer-book.ts";

/** A changed program that is executed with the answers of a recorded run. */
export interface RerunPlan {
  /** Whose answers they are. */
  readonly runId: string;
  readonly newCalls: NewCalls;
  readonly answers: readonly BookedAnswer[];
  /** The recorded program's clock at its start. */
  readonly startMs: number;
  /** The sandbox does not tell when a program waits: answers are handed over as they are asked for. */
  readonly isEager: boolean;
}

type Asked = Exclude<GuestCall, { kind: "timer" }>;

/**
 * Hands out recorded answers in the order in which they were had, one whenever the program waits; so a race is won by
 * whoever won it then. Timers and sleeps that are new take their place by the program's clock; no time passes for them, save
 * while a new call is under way.
 */
export interface Rerun {
  readonly runId: string;
  readonly newCalls: NewCalls;
  readonly startMs: number;
  /** The program's clock. */
  readonly nowMs: number;
  /** Looks a call up as it is issued. Called once for each, in issue order. */
  issued(call: GuestCall): void;
  answerTo(seq: number): BookedAnswer | undefined;
  /** Calls `handOver` when it is the turn of the recorded answer to this call. */
  inTurn(seq: number, handOver: (answer: BookedAnswer) => void): void;
  /** The same for a timer that the record does not have. */
  timer(untilMs: number, handOver: (atMs: number) => void): void;
  /** A call is made that the record has no answer for; call what is returned when it is over. */
  begun(): () => void;
  /** The program waits. */
  blocked(): void;
  /** Ends the program at its first new call. */
  stopAt(call: Asked): void;
  /** Where it was ended. */
  readonly stoppedAt: Asked | undefined;
  /** Hears of that. */
  onStop: () => void;
  /** Recorded answers that nothing asked for. */
  readonly left: readonly BookedAnswer[];
}

interface Waiting {
  readonly order: number;
  readonly atMs: number;
  readonly isNew: boolean;
  handOver(): void;
}

export function createRerun({ runId, newCalls, answers, startMs, isEager }: RerunPlan, clock: Clock): Rerun {
  const book = createAnswerBook(answers);
  const found = new Map<number, BookedAnswer>();
  const waiting = new Set<Waiting>();
  let underWay = 0;
  let lastMs = startMs;
  let stoppedAt: Asked | undefined;

  function hand(next: Waiting): void {
    if (!waiting.delete(next)) return;
    lastMs = Math.max(lastMs, next.atMs);
    next.handOver();
  }

  function wait(one: Waiting): void {
    waiting.add(one);
    if (isEager) setImmediate(() => hand(one));
  }

  const rerun: Rerun = {
    runId,
    newCalls,
    startMs,
    get nowMs() {
      return lastMs;
    },
    issued(call) {
      const answer = book.take(call);
      if (answer !== undefined) found.set(call.seq, answer);
    },
    answerTo: (seq) => found.get(seq),
    inTurn(seq, handOver) {
      const answer = found.get(seq);
      if (answer !== undefined) wait({ order: answer.order, atMs: answer.atMs, isNew: false, handOver: () => handOver(answer) });
    },
    timer: (untilMs, handOver) => wait({ order: Number.POSITIVE_INFINITY, atMs: untilMs, isNew: true, handOver: () => handOver(untilMs) }),
    begun() {
      underWay += 1;
      return () => void (underWay -= 1);
    },
    blocked() {
      const next = [...waiting].sort(bySooner)[0];
      if (next === undefined) return;
      if (next.isNew && underWay > 0) clock.schedule(Math.max(0, next.atMs - lastMs), () => hand(next));
      else hand(next);
    },
    stopAt(call) {
      stoppedAt ??= call;
      rerun.onStop();
    },
    get stoppedAt() {
      return stoppedAt;
    },
    onStop: () => undefined,
    get left() {
      return book.left;
    },
  };
  return rerun;
}

/** Recorded answers keep their order among each other, whatever their times say. */
function bySooner(a: Waiting, b: Waiting): number {
  if (!a.isNew && !b.isNew) return a.order - b.order;
  return a.atMs - b.atMs || a.order - b.order;
}
