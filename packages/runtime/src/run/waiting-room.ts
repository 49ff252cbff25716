import type { Clock, RunSignal, RunWait } from "@callgate/contract";
import { answerIn } from "../approval/approval-signal.ts";

/** One thing a run waits for. */
export interface Waiting {
  readonly wait: RunWait;
  /** A `setTimeout` of the program: short ones are waited for alive. */
  readonly isTimer: boolean;
  /** Called once: with what was said, or without when its time has come. Must not throw. */
  readonly over: (said: RunSignal | undefined) => void;
}

/** Where everything of a run waits that only the time, or somebody outside, can bring on. Nothing else is held for it. */
export interface WaitingRoom {
  add(waiting: Waiting): void;
  remove(seq: number): void;
  /** Something may have been said to the run. */
  look(): void;
  /** In the order in which they were issued. */
  readonly waits: readonly RunWait[];
  /**
   * Whether nobody has to be here before that time, and it is known that nothing was said to any of the waits before: only
   * then may the run be left. One that is left too early would wait for what is there, for as long as nobody stays longer.
   */
  canBeLeft(untilMs: number): boolean;
  /** Whether it waits for more than timers of the program, whose time counts like any other. */
  readonly isPatient: boolean;
  drop(): void;
}

export interface WaitingRoomOptions {
  readonly clock: Clock;
  readonly readSignals: () => Promise<readonly RunSignal[]>;
  /** How many events of each name the program has had; kept up here. */
  readonly taken: Map<string, number>;
  /** It is known that nothing was said before to waits of which that was not known. */
  readonly looked?: () => void;
  /** How often the journal is asked for what was said in other processes. Default 1,000. */
  readonly lookEveryMs?: number;
}

/** Timers of the host count up to here. */
const maxDelayMs = 0x7fff_ffff;

type Timed = Waiting & { timer?: { cancel(): void }; isLookedAt: boolean };

export function createWaitingRoom({ clock, readSignals, taken, looked, lookEveryMs = 1_000 }: WaitingRoomOptions): WaitingRoom {
  const waiting = new Map<number, Timed>();
  const looker = createLooker({ clock, lookEveryMs, lookOnce, isWanted: () => [...waiting.values()].some(({ wait }) => wait.kind !== "timer") });

  function end(seq: number, said: RunSignal | undefined): void {
    const one = waiting.get(seq);
    if (one === undefined) return;
    waiting.delete(seq);
    one.timer?.cancel();
    if (said?.kind === "event") taken.set(said.name, (taken.get(said.name) ?? 0) + 1);
    one.over(said);
  }

  function startTimer(one: Timed): void {
    const dueMs = dueOf(one.wait);
    if (dueMs === undefined) return;
    const { seq, kind } = one.wait;
    one.timer = clock.schedule(Math.min(maxDelayMs, Math.max(0, dueMs - clock.now())), () => {
      if (waiting.get(seq) !== one) return;
      if (clock.now() < dueMs) startTimer(one);
      else if (kind === "timer") end(seq, undefined);
      // What was said in time counts, though nobody has looked since.
      else looker.look(() => end(seq, undefined));
    });
  }

  async function lookOnce(): Promise<void> {
    const fresh = [...waiting.values()].filter(({ isLookedAt }) => !isLookedAt);
    const signals = await readSignals().catch((): readonly RunSignal[] => []); // The next look tries again.
    for (const wait of inOrder(waiting, taken)) {
      const said = signalFor(wait, signals);
      if (said !== undefined) end(wait.seq, said);
    }
    for (const one of fresh) one.isLookedAt = true;
    if (fresh.length > 0) looked?.();
  }

  return {
    add(given) {
      const one: Timed = { ...given, isLookedAt: given.wait.kind === "timer" };
      waiting.set(one.wait.seq, one);
      startTimer(one);
      if (one.wait.kind !== "timer") looker.look();
    },
    remove(seq) {
      waiting.get(seq)?.timer?.cancel();
      waiting.delete(seq);
    },
    look() {
      if (waiting.size > 0) looker.look();
    },
    get waits() {
      return inOrder(waiting, taken);
    },
    get isPatient() { return [...waiting.values()].some(({ isTimer }) => !isTimer); },
    canBeLeft: (untilMs) => waiting.size > 0 && [...waiting.values()].every(({ isTimer, isLookedAt, wait }) => isLookedAt && !(isTimer && (dueOf(wait) ?? 0) <= untilMs)),
    drop() {
      for (const { timer } of waiting.values()) timer?.cancel();
      waiting.clear();
      looker.stop();
    },
  };
}

interface LookerOptions {
  readonly clock: Clock;
  readonly lookEveryMs: number;
  /** Never rejects. */
  readonly lookOnce: () => Promise<void>;
  readonly isWanted: () => boolean;
}

/** Looks when asked to, one look at a time, and every so often while anyone wants to know. */
function createLooker({ clock, lookEveryMs, lookOnce, isWanted }: LookerOptions): { look(then?: () => void): void; stop(): void } {
  let waitingFor: (() => void)[] | undefined;
  let again: (() => void)[] | undefined;
  let next: { cancel(): void } | undefined;

  function begin(then: (() => void)[]): void {
    next?.cancel();
    waitingFor = then;
    lookOnce().then(ended, ended);
  }

  function ended(): void {
    const told = waitingFor ?? [];
    waitingFor = undefined;
    for (const tell of told) tell();
    if (again !== undefined) {
      const more = again;
      again = undefined;
      begin(more);
    } else if (isWanted()) next = clock.schedule(lookEveryMs, () => look());
  }

  function look(then?: () => void): void {
    const asked = then === undefined ? [] : [then];
    // What is said after a look began may be missed by it.
    if (waitingFor === undefined) begin(asked);
    else again = [...(again ?? []), ...asked];
  }

  return { look, stop: () => next?.cancel() };
}

/** The waits by `seq`; of several for events of one name, each gets the next one. */
function inOrder(waiting: ReadonlyMap<number, Waiting>, taken: ReadonlyMap<string, number>): readonly RunWait[] {
  const next = new Map(taken);
  return [...waiting.values()]
    .map(({ wait }) => wait)
    .sort((a, b) => a.seq - b.seq)
    .map((wait) => {
      if (wait.kind !== "event") return wait;
      const occurrence = next.get(wait.name) ?? 0;
      next.set(wait.name, occurrence + 1);
      return { ...wait, occurrence };
    });
}

function signalFor(wait: RunWait, signals: readonly RunSignal[]): RunSignal | undefined {
  switch (wait.kind) {
    case "timer":
      return undefined;
    case "approval":
      return answerIn(signals, wait.question.approvalId);
    case "event":
      return signals.filter((signal) => signal.kind === "event" && signal.name === wait.name)[wait.occurrence];
    case "job":
      return signals.find((signal) => signal.kind === "job" && signal.callId === wait.callId);
    case "resolution":
      return signals.find((signal) => signal.kind === "resolution" && signal.callId === wait.callId && signal.attempt === wait.attempt);
  }
}

/** When a wait ends without a signal, or is looked after. */
function dueOf(wait: RunWait): number | undefined {
  switch (wait.kind) {
    case "timer":
    case "event":
      return wait.untilMs;
    case "approval":
      return wait.question.expiresAtMs;
    case "job":
      return Math.min(wait.pollAtMs ?? wait.untilMs, wait.untilMs);
    case "resolution":
      return undefined;
  }
}

/** When the first of the waits ends by itself. */
export function wakeTimeOf(waits: readonly RunWait[]): number | undefined {
  const due = waits.map(dueOf).filter((dueMs) => dueMs !== undefined);
  return due.length === 0 ? undefined : Math.min(...due);
}
