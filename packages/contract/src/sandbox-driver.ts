import type { GuestCall, GuestCompletion, GuestEnd, GuestOutput } from "./guest-frames.ts";
import type { LimitName, RunLimits } from "./limits.ts";

export type ProgramLanguage = "typescript" | "javascript" | "python" | "shell";

/** The modules a guest can import: namespace identifier → tool identifiers in it. */
export interface GuestModule {
  readonly namespace: string;
  readonly tools: readonly string[];
}

/** All that a guest is given. Nothing else of the host reaches it. */
export interface GuestJob {
  readonly runId: string;
  readonly language: ProgramLanguage;
  /**
   * Executable text as the checker returned it. JavaScript: one expression, `(async ($callgate) => { "use strict"; ... })`,
   * with every import already rewritten to `$callgate.tools`, the same frozen object as the global `tools`. The driver
   * calls it once; what it resolves to is the value of the run. Python: the text of a module.
   */
  readonly code: string;
  readonly modules: readonly GuestModule[];
  /** Changes whenever `modules` does; lets a driver reuse what it prepared. */
  readonly modulesDigest: string;
  /** 32 hex digits; seeds Math.random and crypto.*. */
  readonly seed: string;
  /** The guest's clock at start. */
  readonly startMs: number;
  readonly limits: RunLimits;
}

/** What the driver calls while a guest runs. None of these throws or blocks. */
export interface GuestHost {
  /** New calls, in issue order, `seq` without a gap. Delivered before the next `deliver` is answered. */
  onCalls(calls: readonly GuestCall[]): void;
  onOutput(output: readonly GuestOutput[]): void;
  /**
   * The guest has run until it blocks, having taken `delivered` completions in all. Comes after the calls and output of
   * that stretch, also when there were none: what is not issued by then is not issued before the next completion.
   */
  onBlocked?(delivered: number): void;
}

/** One guest under way. */
export interface GuestRun {
  /**
   * Hands over completions. The driver delivers them one at a time in the given order and lets the guest run until it
   * blocks between two of them (the pump, DESIGN D7). A completion for a `seq` that was not issued is a fault of the
   * host and ends the guest as `crashed`. After the end it is a no-op.
   */
  deliver(completions: readonly GuestCompletion[]): void;
  /** Ends the guest as `cancelled` within 500 ms, whatever it is doing. Idempotent. */
  cancel(): void;
  /** Never rejects. When it resolves, nothing of the guest lives. */
  readonly ended: Promise<GuestEnd>;
}

/**
 * An isolated place that runs programs. The suite `testSandboxDriver` in testkit is its definition.
 *
 * - `start` may be called any number of times at once; the driver bounds how many guests run and queues the rest.
 * - Two guests share nothing: no state of one run is visible in another.
 * - The event loop of the host never waits on the CPU of a guest.
 */
export interface SandboxDriver {
  readonly name: string;
  readonly languages: readonly ProgramLanguage[];
  /** True when the same program, seed, clock and completions give the same calls. */
  readonly replayable: boolean;
  /** True when a guest's state can be kept for a next block. */
  readonly sessions: boolean;
  /** True when guests can write files that come back as artifacts. */
  readonly artifacts: boolean;
  /** The limits it enforces itself; the others are the gate's. */
  readonly limits: readonly LimitName[];
  start(job: GuestJob, host: GuestHost): GuestRun;
  /** Cancels every guest and frees everything. Idempotent. */
  close(): Promise<void>;
}
