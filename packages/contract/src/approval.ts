import type { Digest, JsonValue } from "./json.ts";
import type { Principal } from "./principal.ts";
import type { RecordedValue } from "./recorded-value.ts";
import type { TaintMark } from "./taint.ts";
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
  /** Labels that had reached the run when it asked, and the answers that brought them. */
  readonly taint?: readonly TaintMark[];
  /**
   * True for the review of a program before it runs (a rule of the scanner asks for it): `tool` is "program", `argsSummary`
   * holds language, findings and text. The answer is none to the calls the program makes.
   */
  readonly isReview?: true;
  /**
   * True where the call has taken place, and it is asked whether the program may have its result. `argsSummary` holds the
   * arguments and the result, `argsDigest` is over both.
   */
  readonly isResult?: true;
  /** The number of the call whose effect is to be undone: `tool` and `argsSummary` are those of that call. */
  readonly undoes?: number;
}

export type ApprovalAnswer =
  /** `args`: performed in place of those that were asked about, once they are valid and policy does not deny them. */
  | { readonly kind: "approved"; readonly by: string; readonly args?: unknown }
  | { readonly kind: "denied"; readonly by: string; readonly reason?: string }
  /** With the signature of an approver: it counts on every way it may have come, and in another process. */
  | { readonly kind: "signed"; readonly signal: ApprovalSignal }
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

/** A signature over an answer, and the key that made it. */
export interface AnswerSignature {
  /** `ed25519:` or `webhook:`, and the first 32 hex digits of a SHA-256 of the public key, or of the secret. */
  readonly keyId: string;
  /** Base64url. */
  readonly value: string;
}

/** An answer as the journal keeps it: something said to a run from outside. */
export interface ApprovalSignal {
  readonly kind: "approval";
  readonly approvalId: string;
  readonly approved: boolean;
  readonly by: string;
  readonly reason?: string;
  /** What is performed in place of what was asked about. */
  readonly args?: RecordedValue;
  readonly signature?: AnswerSignature;
  readonly atMs: number;
}

/** Who answers with a key of theirs. Their name is the key's and cannot be chosen for one answer. */
export interface AnswerSigner {
  readonly by: string;
  /** Over the digest of the whole answer and its question (docs/decisions/0031-who-may-answer.md). */
  sign(digest: Digest): AnswerSignature;
}

/** A key whose answers count. */
export interface ApproverKey {
  readonly by: string;
  readonly keyId: string;
  verify(digest: Digest, signature: AnswerSignature): boolean;
}

/** Whose answers count. */
export interface ApprovalRules {
  /** Once there is one, an answer from the journal counts only with a signature of one of these. */
  readonly keys?: readonly ApproverKey[];
  /**
   * Signs what this process says of calls itself where nobody else does: ends of background jobs, and what became of writes.
   * Its key has to be among `keys`. Absent: once there are keys, each such word needs the signer of a person.
   */
  readonly signer?: AnswerSigner;
  /**
   * Of a service that people answer through (docs/decisions/0040-answers-by-webhook.md): who answers is whom it names. As with
   * `keys`, answers count only signed once there is one. It signs answers to questions and nothing else.
   */
  readonly webhook?: Omit<ApproverKey, "by">;
  /** The user on whose behalf is asked may not answer either, whoever acts for them. Default false. */
  readonly fourEyes?: boolean;
  /** Who asked may answer. For tests and demonstrations. Default false. */
  readonly unsafeSelfApproval?: boolean;
  /** How long a question waits. Default seven days. */
  readonly expiryMs?: number;
  /** Questions of one run within a minute; further calls are denied without asking. Default 100. */
  readonly maxPerMinute?: number;
}

/** The last version of a program that a person let run, and how the one under review differs from it. */
export interface ApprovedVersion {
  readonly runId: string;
  readonly by: string;
  readonly startedAtMs: number;
  /** Unified hunks without file names, empty where no line differs. Absent: the earlier program is erased, or hardly a line is the same. */
  readonly diff?: { readonly text: string; readonly addedLines: number; readonly removedLines: number };
}
