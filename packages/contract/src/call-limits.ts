/** What a count is kept apart for: calls that are equal in all of these share one. */
export type LimitScope = "tenant" | "user" | "agent" | "task" | "run" | "source" | "tool";

/** Which calls a limit counts, and together with which others. */
export interface LimitRule {
  /** Names it in errors, lists and stores. Letters, digits, `-` and `_`; unique among the limits of its kind. */
  readonly id: string;
  /** Patterns over qualified names, such as `crm.*`. Default: every tool. */
  readonly tools?: string | readonly string[];
  /** Default: one count for all. `user` is within its tenant. */
  readonly per?: readonly LimitScope[];
}

/** So many calls in a window. The window begins with its first call, and all of it is free again when it is over. */
export interface RateLimit extends LimitRule {
  /** Whole number from 1. Each attempt of a call counts. */
  readonly calls: number;
  /** Whole seconds, from 1 to 86,400. */
  readonly windowSeconds: number;
}

/** So many calls under way at once in one gate. The others wait for their turn. */
export interface ConcurrencyLimit extends LimitRule {
  /** Whole number from 1. */
  readonly calls: number;
  /** How long a call waits at most. Default: as long as it takes. */
  readonly maxWaitMs?: number;
}

/** What came of counting a call. `retryAfterMs`: when the window is over. */
export type RateAnswer = { readonly kind: "taken" } | { readonly kind: "over"; readonly retryAfterMs: number };

/**
 * Where the counts of rate limits are kept: this process, or what several share.
 *
 * - `take` counts one call and says whether it is within the limit; at once for everybody, so that of any number of calls
 *   exactly `calls` are within it. What is over is not counted.
 * - `giveBack` takes one call off again.
 * - Both may throw: then it is not known, and the call does not happen.
 */
export interface RateStore {
  take(limit: RateLimit, key: string): Promise<RateAnswer>;
  giveBack(limit: RateLimit, key: string): Promise<void>;
  close(): Promise<void>;
}

/** When a source that fails is left alone. A fault is a timeout, a lost connection, or an error that says it may pass; not what a tool answers, and no wrong input. */
export interface CircuitBreaker {
  /** Faults in a row, attempts of all its tools together, after which its circuit opens. Whole number from 1. */
  readonly failures: number;
  /** How long no call is made then; after that one call tries, and the others wait for what it finds. From 100. */
  readonly openMs: number;
  /** Patterns over namespaces. Default: every source. Each has a circuit of its own. */
  readonly sources?: string | readonly string[];
}

/** A circuit that is not closed. `half_open`: one call tries the source. `retryAfterMs` 0: the next call does. */
export interface CircuitView {
  readonly state: "open" | "half_open";
  readonly retryAfterMs: number;
}
