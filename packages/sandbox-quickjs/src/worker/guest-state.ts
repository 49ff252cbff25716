import type { GuestCall, GuestEnd, GuestOutput, RunLimits } from "@callgate/contract";
import type { Pointer } from "../engine/abi.ts";
import type { CpuClock } from "./cpu-clock.ts";
import { createCpuClock } from "./cpu-clock.ts";
import type { PreparedEngine } from "./engine.ts";
import type { EngineValues } from "./engine-values.ts";
import { createEngineValues } from "./engine-values.ts";
import type { StretchMessage } from "./messages.ts";

export interface GuestStart {
  readonly code: string;
  readonly seed: string;
  readonly startMs: number;
  readonly limits: RunLimits;
  readonly places?: true;
  /** True once somebody asked for this guest to stop. Read while it computes. */
  cancelled(): boolean;
  /** Takes what a stretch gave so far, while the guest computes. */
  readonly part: (part: Omit<StretchMessage, "key">) => void;
}

/** Promises that were rejected while nobody waits for them, oldest first. */
interface Rejections {
  readonly waiting: { readonly promise: Pointer; readonly value: Pointer }[];
  /** More of them, of which only the number is known. */
  more: number;
}

/** Everything the worker's side knows of one guest. Made new for each run and dropped with it: nothing crosses runs. */
export interface GuestState {
  readonly engine: PreparedEngine;
  readonly values: EngineValues;
  readonly job: GuestStart;
  readonly clock: CpuClock;
  /** Calls without an answer. A timer that was cleared still may get one, but nothing waits for it. */
  readonly open: Map<number, "call" | "timer" | "cleared">;
  readonly rejections: Rejections;
  calls: GuestCall[];
  outputs: GuestOutput[];
  nextSeq: number;
  delivered: number;
  nowMs: number;
  /** The promise of the run's value, once the program was called. */
  main: Pointer;
  end: GuestEnd | undefined;
  /** False after anything was thrown through the engine. */
  healthy: boolean;
  /** True once the engine was refused memory. */
  outOfMemory: boolean;
  printedBytes: number;
  droppedBytes: number;
  textBytes: number;
}

export function createGuestState(engine: PreparedEngine, job: GuestStart): GuestState {
  return {
    engine,
    job,
    values: createEngineValues(engine),
    clock: createCpuClock(job.limits.cpuMs),
    open: new Map(),
    rejections: { waiting: [], more: 0 },
    calls: [],
    outputs: [],
    nextSeq: 0,
    delivered: 0,
    nowMs: job.startMs,
    main: 0,
    end: undefined,
    healthy: true,
    outOfMemory: false,
    printedBytes: 0,
    droppedBytes: 0,
    textBytes: 0,
  };
}

/** Whether the program has its value, or failed. From then on no call of it is accepted. */
export function isSettled({ main, engine }: GuestState): boolean {
  return main !== 0 && engine.instance.exports.promiseState(engine.parts.context, main) !== 0;
}

/** Whether anything can still wake the guest. */
export function isWaiting({ open }: GuestState): boolean {
  for (const state of open.values()) if (state !== "cleared") return true;
  return false;
}
