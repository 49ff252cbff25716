import type { AnswerSigner, ApprovalQuestion, ApprovedVersion } from "./approval.ts";
import type { RunSignal } from "./durable.ts";
import type { GrantView, GrantWithAnswer } from "./grant.ts";
import type { RunUnreadable } from "./journal.ts";
import type { ArgumentOrigins } from "./lineage.ts";
import type { Asker, Caller } from "./principal.ts";

/** A question that nobody has answered yet. */
export interface PendingApproval {
  readonly question: ApprovalQuestion;
  readonly askedAtMs: number;
  /** Set where what it asks about cannot be read here: it is answered where its run can be. */
  readonly unreadable?: RunUnreadable;
}

/** A question and all that a person has to see before answering it. */
export interface ShownApproval extends PendingApproval {
  /** `ended`: its run has. */
  readonly state: "open" | "answered" | "expired" | "ended";
  readonly answer?: Omit<Extract<RunSignal, { kind: "approval" }>, "kind" | "approvalId">;
  /** The arguments in full as they were asked about, sensitive values as hashes. Absent: a review of a program, erased, or its tool is not here. */
  readonly args?: unknown;
  /** What the tool answered, sensitive values as hashes, where it is asked whether the program may have that. */
  readonly result?: unknown;
  /** The text of the program under review, in full. */
  readonly program?: string;
  /** Of a program under review. Absent: no version of it was approved among the last 200 runs of the tenant. */
  readonly previous?: ApprovedVersion;
  /** Where the parts of `args` were seen before in the run, found by content. */
  readonly origins?: readonly ArgumentOrigins[];
  /** False: the record was changed since the question was asked; do not answer it. */
  readonly isIntact: boolean;
  /** What the tool says it does. Absent: it is not here. */
  readonly description?: string;
}

/** What a person says to a question. */
export interface GivenAnswer {
  readonly approved: boolean;
  /** Who answers. With a `signer` it is the signer's name. */
  readonly by?: string;
  readonly reason?: string;
  /** Performed in place of the arguments that were asked about. Must fit the tool's schema, and policy must not deny them. */
  readonly args?: unknown;
  /** Needed once the gate knows keys of approvers. */
  readonly signer?: AnswerSigner;
  /** With an approval of a call as it was asked: more calls that are let through without a question. */
  readonly grant?: GrantWithAnswer;
}

/** Questions to people and their answers. Must not be reachable from a model or a guest. */
export interface GateApprovals {
  /** Open ones, oldest first. */
  list(options?: Caller & { readonly runId?: string }): Promise<readonly PendingApproval[]>;
  /** Undefined when there is no such question. */
  show(approvalId: string, options?: Caller): Promise<ShownApproval | undefined>;
  /** Whether an answer of this person counts without a signature, to what this principal asks. */
  mayAnswer(by: string, options?: Asker): boolean;
  /**
   * The first answer counts; `known` says that there was one before. What is refused is on record all the same.
   *
   * Errors: SIGNAL_REFUSED (no such question, too late, from who asked, not signed), USAGE (arguments that do not fit).
   */
  answer(approvalId: string, answer: GivenAnswer, options?: Caller): Promise<{ readonly known: boolean; readonly approved: boolean; /** Given with this answer. */ readonly grant?: GrantView }>;
}
