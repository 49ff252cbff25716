import type { AgentMode, ScriptedTurn } from "@callgate/agent";
import type { EffectStatus, JsonValue, Lane, OutcomeKind, Principal, ProgramLanguage } from "@callgate/contract";
import type { EvalEnvironment } from "../environment.ts";

/** What a case is about; figures are given for each. */
export const caseKinds = ["normal-flow", "abnormal-parameters", "permission-failure", "timeout", "large-result", "upstream-failure", "injection", "duplicate-submission", "adversarial"] as const;

export type CaseKind = (typeof caseKinds)[number];

/** What stands in for a model: the turns it says, or a program that is run as it is. */
export type ScriptedWork = { readonly script: readonly ScriptedTurn[]; readonly mode?: AgentMode } | { readonly program: string; readonly language?: ProgramLanguage };

/** Calls that must be on record. */
export interface RequiredCall {
  /** Qualified name, or a pattern over names. */
  readonly tool: string;
  /** Default: any. */
  readonly outcome?: OutcomeKind;
  /** Default: any. */
  readonly effect?: EffectStatus;
  /** Exactly so many. Default: at least one. */
  readonly times?: number;
}

/** What must hold of one place of the end state. All that is given must hold. */
export interface StateCheck {
  /** JSON Pointer into what the environment says its state is; `""` is all of it. */
  readonly path: string;
  readonly equals?: JsonValue;
  /** A part of a text, or an item of a list. */
  readonly includes?: JsonValue;
  readonly excludes?: JsonValue;
  /** Regular expression over a text. */
  readonly matches?: string;
  /** Items of a list, keys of an object, characters of a text. */
  readonly count?: number;
  readonly atLeast?: number;
  readonly atMost?: number;
  readonly exists?: boolean;
  /** As it was before the attempt. */
  readonly unchanged?: true;
}

/** The bounds of one attempt; one that goes over any has failed. */
export interface CaseBudgets {
  readonly turns?: number;
  readonly toolCalls?: number;
  /** Of all turns, in and out. */
  readonly tokens?: number;
  readonly microUsd?: number;
  readonly wallMs?: number;
}

export interface EvalCase {
  /** Letters, digits, `.`, `-` and `_`. Names it in reports and in baselines. */
  readonly id: string;
  readonly kind: CaseKind;
  readonly title?: string;
  readonly tags: readonly string[];
  /** What the subject is asked to do. */
  readonly task: string;
  /** Handed to the environment: what is there, and what goes wrong. */
  readonly given: JsonValue;
  readonly principal?: Partial<Principal>;
  readonly lane?: Lane;
  /** How often the same task is submitted, one after the other, as one piece of work. Default 1. */
  readonly submissions: number;
  /** What stands in for a model. */
  readonly work?: ScriptedWork;
  /** Work that must not pass: what the checks are held against by `proveSuite`. */
  readonly mustFail: readonly ScriptedWork[];
  readonly effects: {
    /** Patterns: only these may change anything. Default: nothing may. */
    readonly allowed: readonly string[];
    /** Patterns: these may not even be reached, whatever they do. */
    readonly forbidden: readonly string[];
  };
  readonly calls: readonly RequiredCall[];
  readonly state: readonly StateCheck[];
  /** Of the last word of the subject. */
  readonly answer: { readonly includes: readonly string[]; readonly excludes: readonly string[] };
  readonly budgets: CaseBudgets;
  /** Why it is not run; it counts as skipped, never as passed. */
  readonly skip?: string;
}

export interface EvalSuite {
  readonly name: string;
  readonly environment: EvalEnvironment;
  /** Default of cases that name none: `auto`. */
  readonly mode?: AgentMode;
  readonly instructions?: string;
  readonly cases: readonly EvalCase[];
}
