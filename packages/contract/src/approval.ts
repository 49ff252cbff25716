import type { Digest, JsonValue } from "./json.ts";
import type { Principal } from "./principal.ts";
import type { Effect } from "./tool-spec.ts";

/** A question bound to exactly one operation: a call, or the run of a program (DESIGN P3). */
export interface ApprovalQuestion {
  readonly approvalId: string;
  readonly principal: Principal;
  readonly runId: string;
  readonly callId: string;
  readonly tool: string;
  readonly definitionDigest: Digest;
  readonly argsDigest: Digest;
  /** Bounded; sensitive parts are keyed hashes. */
  readonly argsSummary: JsonValue;
  readonly effect: Effect;
  readonly policyVersion: string;
  readonly ruleId: string;
  readonly reason: string;
  /** Who is meant to answer, as the policy names them. */
  readonly from?: string;
  readonly expiresAtMs: number;
  /**
   * True for the review of a program before it runs (a rule of the scanner asks for it): `tool` is "program", `argsSummary`
   * holds language, findings and text. The answer is none to the calls the program makes.
   */
  readonly isReview?: true;
}

export type ApprovalAnswer =
  | { readonly kind: "approved"; readonly by: string }
  | { readonly kind: "denied"; readonly by: string; readonly reason?: string }
  /** Nobody can be asked here. The call is denied with APPROVAL_UNAVAILABLE. */
  | { readonly kind: "unavailable"; readonly help: string }
  /** The question is kept and will be answered later, perhaps in another process: the run may be suspended meanwhile. */
  | { readonly kind: "pending" };

/**
 * The way a question reaches a person. It must not be reachable from a model or a guest.
 *
 * `ask` resolves with the answer, `denied` once `expiresAtMs` has passed, and rejects only when `signal` aborts.
 */
export interface Approver {
  ask(question: ApprovalQuestion, signal: AbortSignal): Promise<ApprovalAnswer>;
}
