import type { AnswerSigner, ApprovalSignal } from "./approval.ts";
import type { CallCost } from "./budgets.ts";
import type { Lane } from "./checker.ts";
import type { Digest, JsonValue } from "./json.ts";
import type { ArgumentOrigins } from "./lineage.ts";
import type { Asker, Principal } from "./principal.ts";
import type { ProgramLanguage } from "./sandbox-driver.ts";
import type { Effect } from "./tool-spec.ts";

/** What a person put in place of an item's arguments. */
export interface PlanItemEdit {
  readonly kind: "edited";
  /** In full, sensitive values as hashes. */
  readonly args: JsonValue;
  /** Of the new arguments themselves. */
  readonly digest: Digest;
  readonly by: string;
  /** Where they differ from the item's own, as JSON Pointers; what stands elsewhere is as the program gave it. */
  readonly paths: readonly string[];
}

/** One write that a rehearsed program would make. */
export interface PlanItem {
  /** Within its plan; also stays when others are dropped. */
  readonly id: string;
  /** Qualified name. */
  readonly tool: string;
  readonly effect: Exclude<Effect, "read">;
  /** In full, sensitive values as hashes. */
  readonly args: JsonValue;
  /** Of the arguments themselves. */
  readonly argsDigest: Digest;
  /** How many equal writes come before it. */
  readonly occurrence: number;
  /** What policy said of it when it was rehearsed. */
  readonly decision: { readonly kind: "allow" | "ask" | "deny"; readonly ruleId: string; readonly reason?: string };
  /** Where each part of the arguments was seen before: in the program, in what a read answered, in a placeholder. */
  readonly origins: readonly ArgumentOrigins[];
  /** What one attempt costs at most, as its tool declares. */
  readonly cost?: CallCost;
  /** Its tool's `simulate` said that it would fail so. */
  readonly fails?: { readonly code: string; readonly message: string };
  /**
   * True where it came with some placeholders and not with others: a branch of the program depends on what the writes before
   * it answer. It is asked about when it comes.
   */
  readonly isConditional?: true;
  /** Of one that came with other placeholders only: with which, in words. */
  readonly onlyWith?: readonly string[];
  /** It came with a longer list: as often as the real one has items, each asked about. */
  readonly mayRepeat?: true;
  /**
   * Places of arguments that were not the same with other placeholders, as JSON Pointers, and the digest of the arguments
   * without them. It is asked about when it comes, with the arguments it then has.
   */
  readonly varies?: { readonly paths: readonly string[]; readonly restDigest: Digest };
  /** Items whose placeholders its arguments hold: it can only come after them. */
  readonly derivedFrom: readonly string[];
  /**
   * Of a workflow: the writes within it, numbered `<id>.<n>`. They are approved with it and held against the plan like any;
   * another write within it is drift. They are not edited or dropped by themselves. Absent: the tool is no program of ours.
   */
  readonly inner?: readonly PlanItem[];
  /** What a person made of it. Where it is edited, `decision` is about the new arguments; `args` and `origins` stay those of the program. */
  readonly change?: { readonly kind: "dropped" } | PlanItemEdit;
}

/** Who approved a plan, as it is then: an answer to the question that its digest makes. */
export type PlanApproval = ApprovalSignal & { readonly expiresAtMs: number };

/**
 * The writes of a rehearsed program, for a person to look at, change and approve. JSON-safe: it is a file. What must not be
 * read in it is hashed; where the clear value is needed it is taken from the record of the rehearsal.
 */
export interface Plan {
  readonly form: "callgate-plan-1";
  readonly planId: string;
  readonly madeAtMs: number;
  /** The rehearsal whose writes these are, the one with other values that it was held against, and those with other kinds of answers. */
  readonly rehearsal: { readonly runId: string; readonly against: string; readonly others: readonly string[] };
  readonly program: { readonly text: string; readonly language: ProgramLanguage; readonly digest: Digest };
  readonly principal: Principal;
  readonly lane: Lane;
  /** The piece of work that it was rehearsed for: its writes have their keys there. Default: the plan is one of its own. */
  readonly taskId?: string;
  /** What the program draws its random numbers from. */
  readonly seed: string;
  readonly policyVersion: string;
  /** Definition digests of the tools of its items. */
  readonly tools: Readonly<Record<string, Digest>>;
  readonly items: readonly PlanItem[];
  /** What else a reader has to know. */
  readonly notes: readonly string[];
  /** Of everything above: a plan that was changed by hand is none. */
  readonly digest: Digest;
  readonly approval?: PlanApproval;
}

/**
 * What became of an item in a run that is pinned to its plan. `refused`: policy, a person or a limit said no. `not_reached`: it
 * never came.
 */
export type PlanItemEnd = "done" | "failed" | "unknown" | "refused" | "dropped" | "not_reached";

/** How far a run came with the plan it is pinned to. */
export interface PlanProgress {
  readonly planId: string;
  readonly items: readonly { readonly id: string; readonly tool: string; readonly became: PlanItemEnd; readonly callId?: string }[];
  /** The first deviation, at which it stopped. */
  readonly drift?: string;
}

/** Who approves a plan. */
export interface PlanAnswer extends Asker {
  readonly by?: string;
  /** Needed once the gate knows keys of approvers. The name on the record is the signer's. */
  readonly signer?: AnswerSigner;
  readonly reason?: string;
}

/** Plans of rehearsed programs. Must not be reachable from a model or a guest, save what `of` reads. */
export interface GatePlans {
  /** The plan of a rehearsal that is on record and came to its end. Errors: RUN_NOT_FOUND, PLAN_INVALID. */
  of(runId: string, options?: Asker): Promise<Plan>;
  /** Reads a plan, such as one from a file. Errors: PLAN_INVALID where it is none, or was changed by hand. */
  parse(value: unknown): Plan;
  /**
   * Puts other arguments in the place of an item's. They have to fit the tool's schema, and policy must not deny them. An
   * approval of the plan as it was is gone. Errors: PLAN_INVALID, PLAN_STALE.
   *
   * @param edit `by`: who edits; default: the user of the principal
   */
  edit(plan: Plan, edit: Asker & { readonly itemId: string; readonly args: unknown; readonly by?: string }): Promise<Plan>;
  /** The program is told PLAN_DROPPED in place of the item. An approval is gone. Errors: PLAN_INVALID. */
  drop(plan: Plan, itemId: string): Plan;
  /**
   * Approves every item that is not dropped, exactly as it is. On record with the rehearsal, and in the plan it gives back.
   * Errors: PLAN_INVALID, PLAN_STALE, SIGNAL_REFUSED (by who asked for it, or without a signature that is needed).
   */
  approve(plan: Plan, answer: PlanAnswer): Promise<Plan>;
  /** Why the plan cannot be applied now, one sentence each. Empty: it can. */
  problems(plan: Plan, options?: Asker): Promise<readonly string[]>;
}
