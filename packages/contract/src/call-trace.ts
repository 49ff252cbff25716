import type { JsonValue } from "./json.ts";
import type { RunTokens } from "./journal.ts";
import type { EffectStatus, OutcomeKind } from "./outcome.ts";
import type { Principal } from "./principal.ts";
import type { ProgramLanguage } from "./sandbox-driver.ts";
import type { RecordingValue } from "./time-travel.ts";
import type { Effect } from "./tool-spec.ts";

/** One recorded call with its clear values. */
export interface TracedCall {
  readonly seq: number;
  readonly callId: string;
  readonly tool: string;
  readonly effect: Effect;
  readonly outcome: OutcomeKind;
  readonly effectStatus: EffectStatus;
  readonly issuedAtMs: number;
  readonly endedAtMs: number;
  /** Without what a person took. */
  readonly durationMs: number;
  readonly args: RecordingValue;
  /** The same as it may be shown: in full, sensitive parts hashed. */
  readonly shownArgs: JsonValue;
  /** Absent: it gave none, or it is not kept. */
  readonly result?: RecordingValue;
}

/** A completed direct call, or a completed program, with the calls of it that ended, in the order in which they were issued. */
export interface CallTrace {
  readonly runId: string;
  readonly kind: "call" | "program";
  readonly principal: Principal;
  readonly taskId?: string;
  readonly conversation?: string;
  readonly language?: ProgramLanguage;
  readonly programText?: string;
  readonly startedAtMs: number;
  readonly tokens?: RunTokens;
  readonly calls: readonly TracedCall[];
}
