import type { GuestCall, GuestCompletion, GuestEnd, GuestOutput } from "./guest-frames.ts";
import type { LimitName, RunLimits } from "./limits.ts";

/** Languages that have a guest or a command of their own here. `node` is TypeScript and JavaScript in real Node. */
export type KnownLanguage = "typescript" | "javascript" | "node" | "python" | "shell";

/** A language by its name: a known one, or what a configuration registers: `ruby`, `r`, `go`. Lower case. */
export type ProgramLanguage = KnownLanguage | (string & Record<never, never>);

/** The modules a guest can import: namespace identifier → tool identifiers in it. */
export interface GuestModule {
  readonly namespace: string;
  readonly tools: readonly string[];
  /** Its source is down and its tools are not known: any name may be called, and the answer of the call says why it fails. */
  readonly open?: true;
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
  /** Calls tell where in the text they were issued, as far as the driver knows. Costs time in the guest. */
  readonly places?: true;
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

/** What a session is opened with. */
export interface SessionOptions {
  readonly sessionId: string;
  readonly language: ProgramLanguage;
  /** Memory of the session as a whole, whole MiB. `limits.memoryMiB` of its blocks is not looked at. */
  readonly memoryMiB: number;
  /** It ends when no block was under way for so long. */
  readonly idleMs: number;
  /** It ends so long after it was opened, whatever runs in it. */
  readonly totalMs: number;
}

/** Why state was lost: by a person's wish, by a bound, by what a block did, or because the host's process ended. */
export interface SessionLoss {
  readonly reason: "restarted" | "closed" | "idle" | "total" | "cancelled" | "limit" | "crashed" | "exited" | "host";
  /** For people and models: what happened, and that variables and files are gone. */
  readonly message: string;
}

/** The place of a block in its session, and what became of the session's state. */
export interface SessionBlock {
  readonly sessionId: string;
  /** Of the state in which it ran, or was to run; see `SessionStatus`. */
  readonly generation: number;
  /** From 1, over all generations. */
  readonly block: number;
  /** Whether what this block and those before it defined and wrote is there for the next one. */
  readonly stateKept: boolean;
  /** Why it is not. */
  readonly loss?: SessionLoss;
}

export interface SessionStatus {
  readonly sessionId: string;
  readonly language: ProgramLanguage;
  /** `ended` is for good: idle for too long, open for too long, closed. */
  readonly phase: "idle" | "busy" | "ended";
  /** From 1; one more whenever the state was lost. What an earlier generation defined or wrote is gone. */
  readonly generation: number;
  /** Blocks that were executed, in all generations. */
  readonly blocks: number;
  /** Blocks that wait for the one under way. */
  readonly queued: number;
  readonly ageMs: number;
  readonly idleForMs: number;
  /** How the last generation ended; undefined in the first. */
  readonly loss?: SessionLoss;
}

/** One block under way, or in the queue. */
export interface GuestBlock extends GuestRun {
  /** Stops the block as Ctrl-C at a terminal does. It ends as its language says of an interrupt; the state is kept. */
  interrupt(): void;
  /**
   * Interrupts the block and, where that does not end it within 300 ms, ends the guest: the block ends as `cancelled`
   * within 500 ms. One that waits in the queue is taken out of it. Idempotent.
   */
  cancel(): void;
  /** Resolves with `ended`: whether what this block and those before it defined and wrote is there for the next one. */
  readonly stateKept: Promise<boolean>;
}

/**
 * A guest whose state is kept from block to block: variables, working directory, files. The suite `testSandboxDriver` in
 * testkit is its definition.
 *
 * - One block at a time, in the order of `start`; the others wait.
 * - A block that loses the state says so (`stateKept`), and takes the blocks that already wait with it: they were written
 *   for a state that is gone, and end as `cancelled` without having run. The next one starts in a fresh guest.
 * - What runs on in the background when a block has ended lives as long as the guest; its calls are those of the block
 *   that is under way when they come, and refused between two.
 */
export interface GuestSession {
  /**
   * Runs a block. `job.code` is the text of the block in its language, top-level `await` included where the language has
   * it; its value is that of its last expression. On an ended session it throws `CallgateError` SESSION_ENDED.
   */
  start(job: GuestJob, host: GuestHost): GuestBlock;
  status(): SessionStatus;
  /** Ends the guest, with what is under way, and starts a fresh one. Resolves when the old one is dead. */
  restart(): Promise<void>;
  /** Ends the session. Idempotent. Resolves when nothing of it lives. */
  close(): Promise<void>;
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
  /** True when a guest's state can be kept for a next block: `openSession` is there. */
  readonly sessions: boolean;
  /** True when guests can write files that come back as artifacts. */
  readonly artifacts: boolean;
  /** The limits it enforces itself; the others are the gate's. */
  readonly limits: readonly LimitName[];
  start(job: GuestJob, host: GuestHost): GuestRun;
  /**
   * Opens a session. Nothing is started before its first block. Sessions take no place of the runs': the caller bounds
   * their number. Throws `CallgateError` DRIVER_FAILED for a language that has none here, CLOSED after `close`.
   */
  openSession?(options: SessionOptions): GuestSession;
  /** Cancels every guest, ends every session and frees everything. Idempotent. */
  close(): Promise<void>;
}
