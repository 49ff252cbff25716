import type { LimitRule, LimitScope } from "./call-limits.ts";

/** What calls use up. Whole numbers from 0. */
export interface Spent {
  /** Attempts that were begun. */
  readonly calls: number;
  /** UTF-8 bytes of arguments and results, encoded. */
  readonly bytes: number;
  /** Time that calls took, without that of people. */
  readonly durationMs: number;
  /** Tokens of models behind tools, as tools declare (`cost.tokensPerCall`) or report them. */
  readonly tokens: number;
  /** Millionths of a US dollar, as tools declare (`cost.microUsdPerCall`) or report them. */
  readonly microUsd: number;
}

export const nothingSpent: Spent = { calls: 0, bytes: 0, durationMs: 0, tokens: 0, microUsd: 0 };

export type BudgetUnit = keyof Spent;

export const budgetUnits: readonly BudgetUnit[] = ["calls", "bytes", "durationMs", "tokens", "microUsd"];

/** What a call, or a run, cost as far as tools say. */
export type CallCost = Pick<Spent, "tokens" | "microUsd">;

/** From when on a budget is full again: at the full hour, at midnight, on the first of a month, UTC. */
export type BudgetWindow = "hour" | "day" | "month";

/** How much may be used up, over all processes and machines of a journal. */
export interface Budget extends LimitRule {
  /** Default: it never begins anew. */
  readonly window?: BudgetWindow;
  readonly limits: Partial<Spent>;
}

/** One count of a budget that a call belongs to. */
export interface BudgetCounter {
  readonly budgetId: string;
  /** Equal for calls that share the count, within their tenant. */
  readonly key: string;
  readonly window?: BudgetWindow;
  /** The count is of one run, and goes with it. */
  readonly ofRun: boolean;
  readonly limits: Partial<Spent>;
}

/** What a call is about to use up. */
export interface BudgetClaim {
  readonly tenant: string;
  readonly callId: string;
  readonly amounts: Spent;
  readonly counters: readonly BudgetCounter[];
  /** The call has not begun since it was reserved for: what it holds is still for it, and nothing more is taken. */
  readonly again: boolean;
}

/** `retryAfterMs`: when the budget begins anew; absent where it never does. */
export type BudgetAnswer = { readonly kind: "reserved" } | { readonly kind: "over"; readonly budgetId: string; readonly unit: BudgetUnit; readonly limit: number; readonly spent: number; readonly retryAfterMs?: number };

/** What a call used up in the end. */
export interface BudgetSettlement {
  readonly tenant: string;
  readonly callId: string;
  readonly spent: Spent;
  /** What earlier owners of the run reserved for the call is part of this as well; else it counts as spent, for nobody knows. */
  readonly earlier: boolean;
}

/** A count as it stands. */
export interface BudgetCount {
  readonly budgetId: string;
  readonly key: string;
  /** When its window began, in milliseconds since the epoch. Absent: it never begins anew. */
  readonly startedAtMs?: number;
  readonly spent: Spent;
}

/** A budget as people read it: what one caller, or all, used up in its present window. */
export interface BudgetView {
  readonly id: string;
  readonly per: readonly LimitScope[];
  readonly window?: BudgetWindow;
  readonly limits: Partial<Spent>;
  /** Whose count it is, by the words of `per`. Empty where nobody has used it yet, or where it is one for all. */
  readonly who: Partial<Record<LimitScope, string>>;
  readonly spent: Spent;
  /** When it begins anew, in milliseconds since the epoch. Absent: it never does. */
  readonly resetsAtMs?: number;
}
