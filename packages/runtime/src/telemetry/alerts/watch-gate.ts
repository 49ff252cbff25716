import type { Clock, Gate } from "@callgate/contract";
import { systemClock } from "../../lib/system-clock.ts";
import { createAlertEngine } from "./alert-engine.ts";
import { defaultAlertRules } from "./alert-rules.ts";
import type { Alert, AlertRule } from "./alert-rules.ts";
import { observationOf, observationsIn } from "./observation.ts";

export interface WatchOptions {
  /** Default: `defaultAlertRules`. */
  readonly rules?: readonly AlertRule[];
  readonly onAlert: (alert: Alert) => void;
  /** What could not be read, in a sentence. Default: nobody hears of it. */
  readonly onFault?: (message: string) => void;
  readonly clock?: Clock;
  /** How often questions, and the journal, are looked at. Default 15,000. */
  readonly lookEveryMs?: number;
}

/** A watch that was set up. */
export interface Watch {
  /** Looks once now; resolves when what was found has been told. */
  look(): Promise<void>;
  stop(): void;
}

const lookEveryMs = 15_000;

/** Alerts about what this gate does from now on, and about questions that wait. */
export function watchGate(gate: Gate, { rules = defaultAlertRules, onAlert, onFault, clock = systemClock(), lookEveryMs: every = lookEveryMs }: WatchOptions): Watch {
  const engine = createAlertEngine(rules);
  const unsubscribe = gate.onEvent((event) => {
    const observation = observationOf(event);
    if (observation !== undefined) engine.observe(observation).forEach(onAlert);
  });
  const looking = repeat(async () => engine.waiting(await gate.approvals.list(), clock.now()).forEach(onAlert), { clock, every, onFault });
  return {
    look: () => looking.once(),
    stop() {
      looking.stop();
      unsubscribe();
    },
  };
}

/** Runs that are looked at with each look: those that began last. */
const maxRuns = 500;

/**
 * The same of everything the journal hears, whichever process it comes from. What is on record already is learned from: of it
 * only what happened since `sinceMs` is told.
 */
export function watchJournal(gate: Gate, { sinceMs, rules = defaultAlertRules, onAlert, onFault, clock = systemClock(), lookEveryMs: every = lookEveryMs }: WatchOptions & { readonly sinceMs: number }): Watch {
  const engine = createAlertEngine(rules);
  /** How much of each run was looked at; of one that has ended all. */
  const seen = new Map<string, { count: number; hasEnded: boolean }>();

  async function look(): Promise<void> {
    const runs = (await gate.runs.list({ limit: maxRuns })).filter(({ kind, runId }) => kind !== "replay" && seen.get(runId)?.hasEnded !== true);
    const found = await Promise.all(runs.map(async ({ runId, endedAtMs }) => ({ runId, hasEnded: endedAtMs !== undefined, shown: await gate.runs.show(runId) })));
    const fresh = found.flatMap(({ runId, hasEnded, shown }) => {
      if (shown === undefined) return [];
      const observations = observationsIn(shown.run, shown.entries);
      const { count = 0 } = seen.get(runId) ?? {};
      seen.set(runId, { count: observations.length, hasEnded });
      return observations.slice(count);
    });
    for (const runId of [...seen.keys()].slice(0, Math.max(0, seen.size - maxRuns * 4))) seen.delete(runId);
    // Of several runs, as it happened.
    for (const observation of fresh.sort((a, b) => a.atMs - b.atMs)) engine.observe(observation, observation.atMs < sinceMs).forEach(onAlert);
    engine.waiting(await gate.approvals.list(), clock.now()).forEach(onAlert);
  }

  const looking = repeat(look, { clock, every, onFault });
  return { look: () => looking.once(), stop: () => looking.stop() };
}

/** Looks again and again, one look at a time. One that fails is told and tried again. */
function repeat(look: () => Promise<void>, { clock, every, onFault }: { readonly clock: Clock; readonly every: number; readonly onFault: WatchOptions["onFault"] }): { once(): Promise<void>; stop(): void } {
  let busy: Promise<void> | undefined;
  let timer: { cancel(): void } | undefined;
  let isStopped = false;
  const once = (): Promise<void> => {
    timer?.cancel();
    busy ??= look()
      .catch((fault: unknown) => onFault?.(fault instanceof Error ? fault.message : String(fault)))
      .finally(() => {
        busy = undefined;
        if (!isStopped) timer = clock.schedule(every, () => void once());
      });
    return busy;
  };
  timer = clock.schedule(every, () => void once());
  return {
    once,
    stop() {
      isStopped = true;
      timer?.cancel();
    },
  };
}
