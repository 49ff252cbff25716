import type { Checker, Clock, GuestHost, GuestRun, Journal, SandboxDriver } from "@callgate/contract";
import type { VirtualClock } from "../virtual-clock.ts";
import type { FaultLine } from "./faults.ts";

/**
 * A process of the simulation: what it holds works until it is killed. From then on nothing that it began ever comes
 * back to it, its timers do not fire and its guests are gone, as with `kill -9`; what had reached the disk is there.
 */
export interface SimulatedProcess {
  readonly clock: Clock;
  readonly alive: boolean;
  /** Takes a step of the fault line: goes on, stands still, or dies here and never resolves. */
  step(label: string, options?: StepOptions): Promise<void>;
  journal(inner: Journal): Journal;
  driver(inner: SandboxDriver): SandboxDriver;
  checker(inner: Checker): Checker;
  kill(): void;
  /** Resolves when the process moves again; never once it is dead. */
  awake(): Promise<void>;
  /** True while something of it is under way that the clock must wait for. */
  readonly isBusy: boolean;
}

export interface StepOptions {
  /**
   * True inside a tool, just before a change that no key protects: a process that stands still there and wakes later
   * changes the world whatever anybody has decided meanwhile. No runtime can fence that, so it is not simulated.
   */
  readonly neverStill?: boolean;
}

const never = <T>(): Promise<T> => new Promise<T>(() => undefined);

/** Writes of a journal: between them the world may end. */
const journalWrites = ["begin", "append", "finish", "suspend", "claim", "signal", "reserveEffect", "renew", "claimEnded", "release", "settleEffect", "prune"] as const;

export function createSimulatedProcess(shared: VirtualClock, faults: FaultLine): SimulatedProcess {
  let alive = true;
  let busy = 0;
  let resumed: Promise<void> | undefined;
  const guests = new Set<GuestRun>();

  async function tracked<T>(work: () => Promise<T>): Promise<T> {
    busy += 1;
    try {
      return await work();
    } finally {
      busy -= 1;
    }
  }

  /** Stands still while the whole process does. Dead: for ever. */
  async function awake(): Promise<void> {
    while (resumed !== undefined) await resumed;
    if (!alive) await never();
  }

  function kill(): void {
    alive = false;
    for (const guest of guests) guest.cancel();
    guests.clear();
  }

  async function step(label: string, { neverStill = false }: StepOptions = {}): Promise<void> {
    // Two steps of one moment may both have been awake.
    while (!alive || (resumed !== undefined && !neverStill)) await awake();
    const next = faults.next(label, neverStill);
    if (next.kind === "crash") {
      kill();
      await never();
    }
    if (next.kind === "clock") shared.setWallClockOn(next.ms);
    if (next.kind !== "pause") return;
    resumed = new Promise((resolve) => {
      shared.schedule(next.ms, () => {
        resumed = undefined;
        resolve();
      });
    });
    await awake();
  }

  const clock: Clock = {
    now: () => shared.now(),
    monotonic: () => shared.monotonic(),
    schedule: (delayMs, fire) =>
      shared.schedule(delayMs, () => {
        if (resumed === undefined) return alive ? fire() : undefined;
        awake().then(fire, () => undefined);
      }),
  };

  /** The journal with a step before and after each write. Reads of the dead never come back either. */
  function journal(inner: Journal): Journal {
    const wrapped: Record<string, unknown> = { ...inner };
    for (const name of journalWrites) {
      const write = inner[name].bind(inner) as (...args: readonly unknown[]) => Promise<unknown>;
      wrapped[name] = async (...args: readonly unknown[]) => {
        // Looking for work changes nothing until there is some.
        if (name !== "claim") await step(`before ${name}${kindsOf(name, args)}`);
        else await awake();
        const settled = await tracked(() => write(...args).then((value) => ({ value }), (error: unknown) => ({ error })));
        if (name !== "claim" || ("value" in settled && settled.value !== undefined)) await step(`after ${name}${kindsOf(name, args)}`);
        else await awake();
        if ("error" in settled) throw settled.error;
        return settled.value;
      };
    }
    for (const name of ["readRun", "readEntries", "readSignals", "readResult", "listRuns"] as const) {
      const read = inner[name].bind(inner) as (...args: readonly unknown[]) => Promise<unknown>;
      wrapped[name] = async (...args: readonly unknown[]) => {
        const found = await tracked(() => read(...args));
        await awake();
        return found;
      };
    }
    wrapped["close"] = () => Promise.resolve();
    return wrapped as unknown as Journal;
  }

  function driver(inner: SandboxDriver): SandboxDriver {
    const start: SandboxDriver["start"] = (job, host) => {
      let handed = 0;
      let taken = -1;
      busy += 1;
      const rest = (): void => {
        if (taken < handed) busy -= 1;
        taken = Number.POSITIVE_INFINITY;
      };
      const guarded: GuestHost = {
        onCalls: (calls) => void (alive && host.onCalls(calls)),
        onOutput: (output) => void (alive && host.onOutput(output)),
        onBlocked(delivered) {
          if (taken < handed && delivered >= handed) busy -= 1;
          taken = Math.max(taken, delivered);
          if (alive) host.onBlocked?.(delivered);
        },
      };
      const run = inner.start(job, guarded);
      guests.add(run);
      const ended = run.ended.then(async (end) => {
        rest();
        guests.delete(run);
        await awake();
        return end;
      });
      return {
        deliver(completions) {
          if (taken >= handed && Number.isFinite(taken)) busy += 1;
          handed += completions.length;
          run.deliver(completions);
        },
        cancel: () => run.cancel(),
        ended,
      };
    };
    return { name: inner.name, languages: inner.languages, replayable: inner.replayable, sessions: inner.sessions, artifacts: inner.artifacts, limits: inner.limits, start, close: () => Promise.resolve() };
  }

  function checker(inner: Checker): Checker {
    return { language: inner.language, warm: (namespaces) => inner.warm(namespaces), close: () => Promise.resolve(), check: (request, signal) => tracked(() => inner.check(request, signal)) };
  }

  return {
    clock,
    step,
    awake,
    journal,
    driver,
    checker,
    kill,
    get alive() {
      return alive;
    },
    get isBusy() {
      return busy > 0;
    },
  };
}

function kindsOf(name: string, args: readonly unknown[]): string {
  if (name === "signal") return ` ${(args[2] as { readonly kind: string }).kind}`;
  const entries = args[1];
  if (name !== "append" || !Array.isArray(entries)) return "";
  return ` ${[...new Set(entries.map((entry: { readonly kind: string }) => entry.kind))].join("+")}`;
}
