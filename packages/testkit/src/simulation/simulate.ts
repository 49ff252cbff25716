import { setTimeout as wait } from "node:timers/promises";
import type { Checker, Clock, Gate, Journal, RunRecord, RunResult, SandboxDriver, Source } from "@callgate/contract";
import { virtualClock } from "../virtual-clock.ts";
import type { VirtualClock } from "../virtual-clock.ts";
import { createAttendants } from "./attendants.ts";
import { createFaultLine, seededRandom } from "./faults.ts";
import type { FaultLine, FaultPlan, StepRecord } from "./faults.ts";
import { createLedger } from "./ledger.ts";
import { judge } from "./judge.ts";
import { createSimulatedProcess } from "./simulated-process.ts";
import type { SimulatedProcess } from "./simulated-process.ts";
import type { SimulatedProgram } from "./simulated-programs.ts";
import { simulatedSource } from "./simulated-tools.ts";
import type { SimulatedWorld } from "./simulated-tools.ts";

/** The parts of a real gate that a simulation puts together, one set for each process. */
export interface GateParts {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly source: Source;
  readonly driver: SandboxDriver;
  readonly checker: Checker;
}

export interface SimulationOptions {
  readonly program: SimulatedProgram;
  readonly faults: FaultPlan;
  /** Of latencies and of who is started when. */
  readonly seed: number;
  /** Processes that go on with what was left, from 1. */
  readonly resumers: number;
  readonly driver: SandboxDriver;
  readonly checker: Checker;
  openGate(parts: GateParts): Promise<Gate>;
  /** A journal of its own over the same store. */
  openJournal(clock: Clock): Promise<Journal>;
  /** Resolves when a store outside this process has nothing to do; time stands still until then. */
  storeAtRest?(): Promise<void>;
}

export interface Simulated {
  /** What is wrong; empty when every promise was kept. */
  readonly faults: readonly string[];
  readonly steps: readonly StepRecord[];
  /** Writes whose effect nobody knew, and a person settled. */
  readonly settledByPerson: number;
  readonly result: RunResult | undefined;
}

const idleRounds = 3;
const maxTurns = 20_000;

/**
 * Runs one program in a world in which processes die and stand still, until its run has ended, and says which promises
 * were broken. Everything is real except time, the tools' world, and death.
 */
export async function simulate(options: SimulationOptions): Promise<Simulated> {
  const line = createFaultLine(options.faults);
  const clock = virtualClock();
  const world: SimulatedWorld = { ledger: createLedger(), clock, random: seededRandom(options.seed) };
  const observer = await options.openJournal(clock);
  const stage = createStage(options, { line, clock, world, observer });
  const first = await stage.open();
  if (first === undefined) throw new Error("The first process died before it began");
  let runId: string | undefined;
  first.gate.onEvent((event) => {
    if (event.kind === "run-started") runId ??= event.runId;
  });
  // Two stops may outlast the limit of a run, and one that ends at that is none of these programs.
  const { rollsBack = false } = options.program;
  first.gate.run(options.program.text, { suspendAfterMs: 2_000, ...(rollsBack ? { onFailure: "keep" } : {}), limits: { wallMs: 3_600_000 } }).catch(() => undefined);
  const attend = options.program.asks === true ? await createAttendants({ stage, clock, journal: observer }) : undefined;
  let settledByPerson = 0;
  let run: RunRecord | undefined;
  for (let turn = 0; turn < maxTurns; turn += 1) {
    await stage.quiet();
    run = runId === undefined ? undefined : await observer.readRun("local", runId);
    // Killed before the run was on record: nothing happened, and nothing is left to go on with.
    if (run === undefined && !stage.someoneLives()) break;
    if (run !== undefined && run.endedAtMs !== undefined) break;
    await stage.keepStaffed();
    if (run?.status === "suspended") settledByPerson += await settle(stage, run, world);
    if (run?.status === "suspended") await attend?.(run);
    await clock.advance(clock.nextDueInMs ?? maxStepMs);
  }
  const hasEnded = run?.endedAtMs !== undefined;
  const result = run === undefined || !hasEnded ? undefined : await (rollsBack ? rollBack(stage, clock, run.runId) : stage.resultOf(run.runId));
  const entries = run === undefined ? [] : await observer.readEntries("local", run.runId);
  const { findings } = await observer.audit.verify();
  const faults = [...judge({ program: options.program, ledger: world.ledger, run, result, entries }), ...findings.map((finding) => `the record does not verify: ${JSON.stringify(finding)}`)];
  await stage.close();
  await observer.close();
  return { faults, steps: line.steps, settledByPerson, result };
}

/** With nothing due, time goes on all the same. */
const maxStepMs = 1_000;

/** Longer than any stop and the lease after it: whoever stood still has woken, and somebody else has gone on. */
const undoneWithinMs = 130_000;

/** Two processes at once, which meet the faults that are left; others go on where they stop. What it comes to, once nobody is at it. */
async function rollBack(stage: Stage, clock: VirtualClock, runId: string): Promise<RunResult> {
  const until = clock.now() + undoneWithinMs;
  for (const undoing of [await stage.open(), await stage.open()]) undoing?.gate.runs.rollback(runId).catch(() => undefined);
  for (let turn = 0; turn < maxTurns; turn += 1) {
    await stage.quiet();
    if (clock.now() >= until) {
      const result = await stage.rolledBack(runId).catch(() => undefined);
      if (result !== undefined) return result;
    }
    await stage.keepStaffed();
    await clock.advance(clock.nextDueInMs ?? maxStepMs);
  }
  throw new Error("The rollback does not come to its end");
}

/** A person looks at the world and says whether the write took place. */
async function settle(stage: Stage, run: RunRecord, { ledger }: SimulatedWorld): Promise<number> {
  let settled = 0;
  for (const waited of run.waits) {
    if (waited.kind !== "resolution") continue;
    const n = Number((waited.argsSummary as { readonly n?: unknown } | null)?.n);
    const happened = ledger.find(waited.tool.replace("t.", ""), n) !== undefined;
    const answered = await stage.person((gate) => gate.runs.resolve(waited.callId, happened ? { happened, output: { n, value: n * 10 } } : { happened }));
    if (answered) settled += 1;
  }
  return settled;
}

interface Stage {
  open(): Promise<{ readonly gate: Gate } | undefined>;
  /** Resolves when nothing is under way that does not wait for the clock. */
  quiet(): Promise<void>;
  someoneLives(): boolean;
  /** Starts processes that go on with what was left, as many as there should be. */
  keepStaffed(): Promise<void>;
  /** Does something through a process that meets no fault: a person at another machine. */
  person(act: (gate: Gate) => Promise<unknown>): Promise<boolean>;
  resultOf(runId: string): Promise<RunResult>;
  /** What a rollback comes to that finds everything done. */
  rolledBack(runId: string): Promise<RunResult>;
  close(): Promise<void>;
}

interface StageParts {
  readonly line: FaultLine;
  readonly clock: VirtualClock;
  readonly world: SimulatedWorld;
  /** A journal that nothing happens to: the person's as well. */
  readonly observer: Journal;
}

function createStage(options: SimulationOptions, { line, clock, world, observer }: StageParts): Stage {
  const processes: { readonly process: SimulatedProcess; readonly gate: Gate | undefined; readonly works: boolean }[] = [];
  const journals: Journal[] = [];

  async function openWith(faults: FaultLine, works: boolean): Promise<{ readonly gate: Gate; readonly process: SimulatedProcess } | undefined> {
    const process = createSimulatedProcess(clock, faults);
    const journal = await options.openJournal(process.clock);
    journals.push(journal);
    return await openOver(journal, process, works);
  }

  async function openOver(journal: Journal, process: SimulatedProcess, works: boolean): Promise<{ readonly gate: Gate; readonly process: SimulatedProcess }> {
    const gate = await options.openGate({ journal: process.journal(journal), clock: process.clock, source: simulatedSource(world, process), driver: process.driver(options.driver), checker: process.checker(options.checker) });
    processes.push({ process, gate, works });
    if (works) gate.work({ concurrency: 2 });
    return { gate, process };
  }

  const reliable = createFaultLine({ crashes: new Set(), pauses: new Map() });
  let helping: ReturnType<typeof openOver> | undefined;
  async function helper(): Promise<{ readonly gate: Gate }> {
    return await (helping ??= openOver(observer, createSimulatedProcess(clock, reliable), false));
  }

  return {
    open: () => openWith(line, false),
    async quiet() {
      for (let idle = 0, spins = 0; idle < idleRounds; spins += 1) {
        await options.storeAtRest?.();
        await new Promise((resolve) => setImmediate(resolve));
        idle = processes.some(({ process }) => process.alive && process.isBusy) ? 0 : idle + 1;
        if (spins > 1_000) await wait(1);
        if (spins > 20_000) throw new Error("The simulation does not come to rest");
      }
    },
    someoneLives: () => processes.some(({ process }) => process.alive),
    async keepStaffed() {
      const working = processes.filter(({ process, works }) => works && process.alive).length;
      for (let missing = options.resumers - working; missing > 0; missing -= 1) await openWith(line, true);
    },
    async person(act) {
      return await act((await helper()).gate).then(() => true, () => false);
    },
    resultOf: async (runId) => await (await helper()).gate.runs.resume(runId),
    rolledBack: async (runId) => await (await helper()).gate.runs.rollback(runId),
    async close() {
      for (const { process } of processes) process.kill();
      for (const journal of journals) await journal.close().catch(() => undefined);
    },
  };
}
