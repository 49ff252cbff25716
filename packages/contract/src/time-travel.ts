import type { CallError } from "./call-error.ts";
import type { GuestConsoleEntry, GuestError } from "./guest-frames.ts";
import type { JsonSchema, JsonValue } from "./json.ts";
import type { RunLimits } from "./limits.ts";
import type { EffectStatus, OutcomeKind, RunStatus } from "./outcome.ts";
import type { RunResult } from "./run-result.ts";
import type { ProgramLanguage } from "./sandbox-driver.ts";
import type { SimulatedBy } from "./simulation.ts";
import type { Effect } from "./tool-spec.ts";
import type { WireValue } from "./value-codec.ts";

/** The first call of a changed program that the record has no answer for. */
export interface NewCall {
  /** Issue order in the run of the changed program. */
  readonly seq: number;
  readonly tool: string;
  /** Bounded, sensitive parts hashed. */
  readonly args: JsonValue;
  /** In the changed program, from 1, where the sandbox knows it. */
  readonly line?: number;
  readonly column?: number;
}

/** What a changed program did with the answers of a recorded run. */
export interface EditResult {
  readonly result: RunResult;
  /** Set when the run stopped there. */
  readonly newCall?: NewCall;
  /** Recorded tool calls that the changed program did not make. */
  readonly unused: readonly { readonly seq: number; readonly tool: string; readonly args: JsonValue }[];
}

/** One thing a recorded program asked for and waited on, in issue order. */
export interface RunStep {
  /** Issue order, from 0; timers and built-ins count. */
  readonly seq: number;
  readonly kind: "tool" | "builtin" | "timer";
  /** Qualified name of the tool, name of the built-in, or `setTimeout`. */
  readonly name: string;
  /** Where the program asked for it, in its own text, from 1. Absent where the sandbox does not tell. */
  readonly line?: number;
  readonly column?: number;
  readonly excerpt?: string;
  /** In full, sensitive parts hashed; a summary where the tool is not here any more. */
  readonly args: JsonValue;
  /** Absent: the program never had an answer. */
  readonly answer?: { readonly kind: "value"; readonly value: JsonValue } | { readonly kind: "error"; readonly code: string; readonly message: string };
  /** Its place in the order in which answers reached the program, from 0. */
  readonly answeredAs?: number;
  /** By the program's clock. */
  readonly answeredAtMs?: number;
  /** Of a tool call: what was recorded then. Stepping calls nothing. */
  readonly was?: { readonly effect: Effect; readonly outcome: OutcomeKind; readonly effectStatus: EffectStatus; readonly durationMs: number; readonly error?: CallError };
  /** What was printed by the time the program waited for this call, since the one before. */
  readonly printed: readonly GuestConsoleEntry[];
}

/** A recorded run, taken apart. */
export interface RunSteps {
  readonly runId: string;
  readonly steps: readonly RunStep[];
  /** How it ended, and what was printed after the last step. */
  readonly end: { readonly status: RunStatus; readonly value?: JsonValue; readonly error?: { readonly code: string; readonly message: string }; readonly printed: readonly GuestConsoleEntry[] };
  /** The program does something else than its record by now; what was recorded after it is not among the steps. */
  readonly divergence?: { readonly seq: number; readonly message: string };
}

/** One call of a run, as a comparison shows it. */
export interface DiffedCall {
  readonly seq: number;
  /** Summaries: bounded, sensitive parts hashed. */
  readonly args: JsonValue;
  readonly answer?: JsonValue;
  readonly outcome: OutcomeKind;
  readonly errorCode?: string;
  readonly effect: Effect;
  readonly effectStatus: EffectStatus;
  readonly durationMs: number;
  /** It was answered from a record, and not made. */
  readonly isRecorded?: true;
}

export type CallDifference = "arguments" | "answer" | "outcome" | "effect";

/** Two runs side by side, from their records alone. */
export interface RunDiff {
  readonly a: RunSide;
  readonly b: RunSide;
  /** Unified hunks of the program texts; absent where they are equal, one is not kept, or more than 500 lines differ. */
  readonly program?: string;
  readonly isProgramEqual: boolean | undefined;
  /** In order: calls of both that belong together, and those of one only. */
  readonly calls: readonly { readonly tool: string; readonly a?: DiffedCall; readonly b?: DiffedCall; readonly differences: readonly CallDifference[] }[];
  /** Whether they returned the same; undefined where one returned nothing. */
  readonly isValueEqual: boolean | undefined;
  /** Whether anything but times differs. */
  readonly isEqual: boolean;
}

export interface RunSide {
  readonly runId: string;
  readonly status: RunStatus;
  readonly errorCode?: string;
  readonly startedAtMs: number;
  readonly durationMs: number | undefined;
  readonly value?: JsonValue;
}

/** A value in a recording: as plain JSON where that says all of it, else as it crosses the wall. */
export type RecordingValue = { readonly value: JsonValue } | WireValue;

/** A tool as a recording needs it: what programs are checked against, without code. */
export interface RecordingTool {
  /** Qualified identifier. */
  readonly name: string;
  readonly description: string;
  readonly effect: Effect;
  readonly input: JsonSchema;
  readonly output?: JsonSchema;
  /** It answers in pages: `pages` is there for the program. */
  readonly paged?: true;
}

/** An answer a program had, in the order in which it had them. */
export type RecordingAnswer = { readonly seq: number; /** The program's clock. */ readonly atMs: number } & (
  | { readonly kind: "tool"; readonly tool: string; readonly args: RecordingValue; readonly outcome: OutcomeKind; /** It was rehearsed: the answer is a placeholder. */ readonly simulated?: SimulatedBy; readonly result: RecordingResult }
  | { readonly kind: "builtin"; readonly name: string; readonly args: RecordingValue; readonly result: RecordingResult }
  | { readonly kind: "timer"; readonly delayMs: number }
);

export type RecordingResult = { readonly kind: "value"; readonly value: RecordingValue } | { readonly kind: "error"; readonly error: GuestError };

/** How the recorded program ended with these answers. */
export interface RecordingEnd {
  readonly status: RunStatus;
  readonly value?: JsonValue;
  readonly errorCode?: string;
  readonly console: readonly string[];
  readonly text: readonly string[];
}

/**
 * A run that can be executed again anywhere, without its journal, tools, network or database. Sensitive values are
 * placeholders. Plain JSON.
 */
export interface Recording {
  readonly format: 1;
  readonly runId: string;
  readonly language: ProgramLanguage;
  readonly program: string;
  /** 32 hex digits. */
  readonly seed: string;
  /** The program's clock at its start. */
  readonly startedAtMs: number;
  readonly limits: RunLimits;
  readonly tools: readonly RecordingTool[];
  readonly answers: readonly RecordingAnswer[];
  readonly end: RecordingEnd;
  /** How many values were replaced by placeholders. */
  readonly placeholders: number;
}
