import type { AnswerSignature, ApprovalQuestion, ApprovalSignal } from "./approval.ts";
import type { CallError } from "./call-error.ts";
import type { RecordedValue } from "./recorded-value.ts";
import type { EffectStatus, OutcomeKind } from "./outcome.ts";
import type { Artifact } from "./artifact.ts";
import type { Digest, JsonValue } from "./json.ts";

/**
 * The right to drive one run. Every write to the run names it: once another owner has claimed the run its epoch is
 * higher, and a write of the older one is refused with RUN_FENCED and has written nothing (DESIGN D14). A run begins at
 * epoch 1.
 */
export interface RunLease {
  readonly runId: string;
  readonly epoch: number;
}

/** What a suspended run waits for; `seq` is the call of the program that is answered by it. */
export type RunWait =
  | { readonly kind: "approval"; readonly seq: number; readonly question: ApprovalQuestion }
  | { readonly kind: "timer"; readonly seq: number; readonly untilMs: number }
  /** The `occurrence`-th event of that name, from 0, or the time when the wait is given up. */
  | { readonly kind: "event"; readonly seq: number; readonly name: string; readonly occurrence: number; readonly untilMs?: number }
  /** A background job of a tool: told by a signal, or asked for with the tool's `poll` at `pollAtMs`. */
  | { readonly kind: "job"; readonly seq: number; readonly callId: string; readonly tool: string; readonly token: JsonValue; readonly pollAtMs?: number; readonly untilMs: number }
  /** A write of unknown effect: a person has to say whether it happened. `attempt`: how often its effect was settled before. */
  | { readonly kind: "resolution"; readonly seq: number; readonly callId: string; readonly attempt: number; readonly tool: string; readonly argsSummary: JsonValue };

/** Why a run stands still and when it may go on by itself. */
export interface Suspension {
  readonly atMs: number;
  readonly waits: readonly RunWait[];
  /** Earliest time, in milliseconds since the epoch, at which a wait ends without a signal. Absent: none does. */
  readonly wakeAtMs?: number;
  /** Why the run did not go on when somebody tried; what it waits for may be there already. Not for secrets: it stays readable after an erase. */
  readonly reason?: string;
}

/** Something said to a run from outside. Kept by the journal; the first of its kind and key counts. */
export type RunSignal =
  | ApprovalSignal
  /** An answer that does not count, for the record only: it came too late, from who asked, or without a valid signature. */
  | { readonly kind: "answer-refused"; readonly approvalId: string; readonly approved: boolean; readonly by: string; readonly why: string; readonly atMs: number }
  /** `id` makes sending it twice harmless; without one each is an event of its own. */
  | { readonly kind: "event"; readonly name: string; readonly id?: string; readonly payload: RecordedValue; readonly by: string; readonly atMs: number }
  | { readonly kind: "job"; readonly callId: string; readonly result: { readonly kind: "value"; readonly value: RecordedValue } | { readonly kind: "error"; readonly error: CallError }; readonly by: string; readonly signature?: AnswerSignature; readonly atMs: number }
  /**
   * What a person knows of a write of unknown effect; `output` stands for the tool's answer when it happened. It answers one
   * `attempt` only: a write that was tried again after it is in doubt anew.
   */
  | { readonly kind: "resolution"; readonly callId: string; readonly attempt: number; readonly happened: boolean; readonly output?: RecordedValue; readonly by: string; readonly signature?: AnswerSignature; readonly atMs: number };

/** `kept`: this one counts. `known`: there was one before, which counts; it is given. */
export interface SignalReceipt {
  readonly kind: "kept" | "known";
  readonly signal: RunSignal;
}

export interface ClaimOptions {
  /** Only this run; also when it is suspended and nothing woke it. Without it: any run that can go on. */
  readonly runId?: string;
  readonly tenant?: string;
  /** From now, in milliseconds. */
  readonly leaseMs: number;
}

/** The process that undoes what an ended run did. */
export interface RunHolder {
  readonly pid: number;
  /** False: on another machine, or in another container. */
  readonly isHere: boolean;
  /** Until then nobody else takes the run, in milliseconds since the epoch; it is moved on while the process lives. */
  readonly untilMs: number;
}

/** The one write that an idempotency key stands for, over all runs of a tenant. */
export interface EffectClaim {
  readonly tenant: string;
  readonly idempotencyKey: string;
  readonly seq: number;
  readonly callId: string;
  readonly argsDigest: Digest;
}

/** What became of the write a key stands for. */
export interface RecordedEffect {
  readonly runId: string;
  readonly callId: string;
  readonly seq: number;
  readonly argsDigest: Digest;
  /** Absent while it is under way, or was when its process was lost. */
  readonly outcome?: OutcomeKind;
  /** Who made it, within the tenant. */
  readonly user: string;
  /** The last that is known: of the call's end, its late result, or a resolution. */
  readonly effectStatus: EffectStatus;
  /** Set once undoing it was begun: `done` where it is undone, `unknown` where that is under way or in doubt. */
  readonly undoing?: Exclude<EffectStatus, "none">;
  readonly result?: RecordedValue;
  /** The older interface of the tool whose form the result has. */
  readonly asInterface?: Digest;
  readonly artifacts: readonly Artifact[];
}

/** `taken`: another call has the key and its effect is `done` or `unknown`; ours must not take place. */
export type EffectReservation = { readonly kind: "reserved" } | { readonly kind: "taken"; readonly effect: RecordedEffect };

/** Where to look for a run that can go on. */
export interface RunHint {
  readonly tenant: string;
  readonly runId: string;
}


/**
 * Spreads the work of one journal over many processes. The journal is the truth: a lost hint is found by `work`'s own
 * polling, a doubled one by the claim.
 */
export interface Queue {
  wake(hint: RunHint): Promise<void>;
  /**
   * Calls `handler` for each hint, and without one every so often, until `stop`. The handler never rejects; how many run
   * at once is the queue's affair, at most `concurrency`. A handler that found something to do calls `more` before it does
   * it: there may be more, and whoever is free looks at once instead of with the next poll.
   */
  work(handler: (hint: RunHint | undefined, more: () => void) => Promise<void>, options: { readonly concurrency: number }): { stop(): Promise<void> };
  close(): Promise<void>;
}
