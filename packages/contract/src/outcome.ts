import type { Artifact } from "./artifact.ts";
import type { CallError } from "./call-error.ts";

/** How a call ended (DESIGN P5). Closed: a new member must be handled in every switch. */
export type OutcomeKind =
  | "ok"
  | "failed"
  | "timed_out"
  | "cancelled"
  | "denied"
  | "invalid_input"
  | "invalid_output"
  | "limit_exceeded";

/**
 * What a call did to the world, independent of how it ended.
 *
 * - `none`: nothing was changed, for certain
 * - `done`: the change took place
 * - `unknown`: it may have taken place; never repeated silently
 */
export type EffectStatus = "none" | "done" | "unknown";

/** The end of one call. A denial is an outcome, not a failure. */
export type CallOutcome =
  | { readonly kind: "ok"; readonly effectStatus: EffectStatus; readonly value: unknown; readonly artifacts: readonly Artifact[] }
  | { readonly kind: Exclude<OutcomeKind, "ok">; readonly effectStatus: EffectStatus; readonly error: CallError };

/** How a run stands (DESIGN P5). `rejected` is the check's word, `diverged` replay's. */
export type RunStatus =
  | "running"
  | "suspended"
  | "completed"
  | "rejected"
  | "failed"
  | "limit"
  | "crashed"
  | "cancelled"
  | "diverged";
