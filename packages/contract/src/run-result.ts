import type { Artifact } from "./artifact.ts";
import type { CallCost } from "./budgets.ts";
import type { CallError } from "./call-error.ts";
import type { Diagnostic, ProgramForm, Repair } from "./checker.ts";
import type { RunWait } from "./durable.ts";
import type { GuestConsoleEntry } from "./guest-frames.ts";
import type { JsonValue } from "./json.ts";
import type { RunTokens } from "./journal.ts";
import type { RecordedThen } from "./run-edit.ts";
import type { EffectStatus, OutcomeKind, RunStatus } from "./outcome.ts";
import type { Plan, PlanProgress } from "./plan.ts";
import type { SessionBlock } from "./sandbox-driver.ts";
import type { SimulatedBy } from "./simulation.ts";
import type { Effect } from "./tool-spec.ts";

/** Name of a value kept in the runtime: `result://<runId>/<number>`. */
export type Handle = `result://${string}`;

/** A value as the model sees it: whole, or an outline and the handle to the rest. */
export type ShapedValue =
  | { readonly kind: "whole"; readonly value: unknown; readonly handle?: Handle }
  | { readonly kind: "outline"; readonly outline: JsonValue; readonly handle: Handle; readonly totalTokens: number };

/** One call in the summary of a run. */
export interface CallSummary {
  readonly id: string;
  readonly tool: string;
  readonly effect: Effect;
  readonly outcome: OutcomeKind;
  readonly effectStatus: EffectStatus;
  readonly durationMs: number;
  readonly error?: CallError;
  /** Where its tool declares or reports any. */
  readonly cost?: CallCost;
  /** It was rehearsed, not made: its answer was a placeholder. */
  readonly simulated?: SimulatedBy;
  /** Answered from the record of that run, and not called: `effectStatus` is therefore none. What the call came to then. */
  readonly recorded?: RecordedThen;
}

/** A run's failure, with the place in the model's own text. */
export interface RunError extends Omit<CallError, "tool"> {
  readonly tool?: string;
  readonly line?: number;
  readonly column?: number;
  readonly excerpt?: string;
}

/** What comes back of a run. All text channels together are within `budgetTokens`. */
export interface RunResult {
  readonly runId: string;
  readonly status: RunStatus;
  readonly form?: ProgramForm;
  /** Present when `completed`. */
  readonly value?: ShapedValue;
  readonly error?: RunError;
  /** `text()` of the program. */
  readonly text: readonly string[];
  readonly console: readonly GuestConsoleEntry[];
  readonly consoleDroppedBytes: number;
  readonly diagnostics: readonly Diagnostic[];
  readonly repairs: readonly Repair[];
  readonly calls: readonly CallSummary[];
  readonly artifacts: readonly (Artifact & { readonly handle: Handle })[];
  /** When not completed: what happened to the world, so that neither model nor person guesses (DESIGN P7). */
  readonly effects?: { readonly done: readonly string[]; readonly unknown: readonly string[]; readonly none: readonly string[] };
  /** Of a block of a session. */
  readonly session?: SessionBlock;
  /** While `suspended`: what it waits for, and therefore what to do. */
  readonly waits?: readonly RunWait[];
  /** What was undone, and what a person has to undo, after a run that did not complete, or a rollback. `undoneBefore`: those of `undone` that an earlier try had undone. */
  readonly compensation?: { readonly undone: readonly string[]; readonly undoneBefore?: readonly string[]; readonly remaining: readonly { readonly callId: string; readonly tool: string; readonly why: string; /** The question that undoing it waits for. */ readonly approvalId?: string }[] };
  /** Of a rehearsal that came to its end: what its writes would be. */
  readonly plan?: Plan;
  /** Of a run that is pinned to a plan. */
  readonly planProgress?: PlanProgress;
  /** Things worth saying that are no error: journal degraded, calls drained after return, ... */
  readonly notices: readonly string[];
  readonly tokens: RunTokens;
  /** What its calls cost together, where their tools declare or report any. */
  readonly cost?: CallCost;
  /** From its start until now, or its end. */
  readonly durationMs: number;
  /** How much of that it stood still without a process: suspended, or lost. Absent: it never did. */
  readonly waitedMs?: number;
  /**
   * The journal could not be written at the end (a full disk): what is told here holds, and the end is not on record. It is
   * tried again while the process lives; should that end before, another one executes the program again from its record.
   */
  readonly isUnrecorded?: true;
}
