import type { AnswerSignature, AnswerSigner } from "./approval.ts";
import type { RunLease } from "./durable.ts";
import type { Digest, JsonValue } from "./json.ts";
import type { Principal } from "./principal.ts";

/** What one argument must be. All given words must hold; on an argument that is missing none does, save `any`. */
export interface GrantTest {
  readonly equals?: JsonValue;
  readonly in?: readonly JsonValue[];
  readonly gt?: number;
  readonly gte?: number;
  readonly lt?: number;
  readonly lte?: number;
  /** A text of that pattern, `*` over anything. */
  readonly glob?: string;
  /** Anything, also nothing; of an object or a list all that is in it. */
  readonly any?: true;
}

/**
 * `same`: exactly these arguments, by digest. `tests`: by JSON Pointer; every argument has to be at or below one that is
 * named, so that an argument nobody thought of is not covered.
 */
export type GrantArguments = { readonly kind: "same"; readonly digest: Digest } | { readonly kind: "tests"; readonly tests: Readonly<Record<string, GrantTest>> };

/** Which calls a standing grant lets through where the policy would ask. */
export interface GrantScope {
  /** Qualified name. `*` stands for any characters of the tool's own name; the namespace is spelt out. */
  readonly tool: string;
  readonly args: GrantArguments;
  /** Exactly, or `*` for every user of the tenant. */
  readonly user: string;
  /** Exactly, or `*` for whoever acts. Absent: only where no agent acts for the user. */
  readonly agent?: string;
  /** Definition digests of the tools it was given for, by qualified name. Absent: also a later definition. */
  readonly definitions?: Readonly<Record<string, Digest>>;
  /** Rules of the policy whose questions it stands in for, by id, with a digest of what they say: one that changes, or comes after it, asks. Absent: any. */
  readonly rules?: Readonly<Record<string, Digest>>;
  /** From 1 to 10,000. */
  readonly maxUses: number;
  /** Milliseconds since the epoch; at most a year ahead when it is given. */
  readonly expiresAtMs: number;
}

/** What a person allows ahead of the question. It lifts "ask" and nothing else: what policy denies stays denied. */
export interface Grant extends GrantScope {
  readonly grantId: string;
  readonly tenant: string;
  /** Who gave it; covers no call of theirs. */
  readonly by: string;
  readonly givenAtMs: number;
  /** The question at whose answer it was given. */
  readonly approvalId?: string;
  readonly signature?: AnswerSignature;
}

/** A grant as it stands. */
export interface KeptGrant extends Grant {
  /** Calls it has let through. */
  readonly uses: number;
  readonly revoked?: { readonly by: string; readonly atMs: number };
}

/** One call that a grant is to let through. */
export interface GrantClaim {
  readonly tenant: string;
  readonly grantId: string;
  readonly callId: string;
  /** As its giver signed them: what the store says of them counts for nothing. */
  readonly maxUses: number;
  readonly expiresAtMs: number;
}

/** `use`: the how many-th call, from 1. */
export type GrantUse = { readonly kind: "used"; readonly use: number } | { readonly kind: "refused"; readonly why: "unknown" | "revoked" | "expired" | "spent" };

/** The part of a journal that keeps standing grants. */
export interface JournalGrants {
  /** On disk when it resolves, and a line of the ledger. */
  give(grant: Grant): Promise<void>;
  /** Undefined when there is none of that id that was not revoked before. On disk when it resolves. */
  revoke(of: { readonly tenant: string; readonly grantId: string; readonly by: string }): Promise<KeptGrant | undefined>;
  /** All of a tenant that `prune` has left, newest first. */
  list(tenant: string): Promise<readonly KeptGrant[]>;
  /**
   * Takes one use for a call, at once for all users of the store: of any number of calls exactly `maxUses` get one. The same
   * call has its use once, however often it comes. On disk when it resolves. RUN_FENCED; RUN_NOT_FOUND for another tenant.
   */
  use(lease: RunLease, claim: GrantClaim): Promise<GrantUse>;
}

/** What a person says when they give a grant. */
export interface GivenGrant extends Omit<GrantScope, "definitions" | "rules" | "args"> {
  readonly args: Readonly<Record<string, GrantTest | string | number | boolean | null>>;
  /** Covers definitions and rules that come after it, and tools that come to match it. Default: those of now only. */
  readonly anyVersion?: boolean;
  /** Who gives it. With a `signer` it is the signer's name. */
  readonly by?: string;
  /** Needed once the gate knows keys of approvers. */
  readonly signer?: AnswerSigner;
}

/** A grant that is given with the answer to a question: for the tool, the principal and the arguments that it is about. */
export interface GrantWithAnswer {
  readonly maxUses: number;
  readonly expiresAtMs: number;
  /** Default: the same arguments. */
  readonly args?: GivenGrant["args"];
  readonly anyVersion?: boolean;
}

/** A grant as people see it. */
export interface GrantView extends KeptGrant {
  /** `not_valid`: its signature does not hold, so it covers nothing. `outdated`: no rule that it stands in for is as it was. */
  readonly state: "open" | "spent" | "expired" | "revoked" | "outdated" | "not_valid";
}

/** Standing grants: what people allow ahead of the question (docs/guide/approvals.md). Must not be reachable from a model or a guest. */
export interface GateGrants {
  /** Errors: USAGE (a scope that is none, or covers no tool), SIGNAL_REFUSED (not signed, or for who gives it). */
  add(grant: GivenGrant, options?: { readonly principal?: Principal }): Promise<GrantView>;
  /** Newest first; also those that are over, until `prune`. */
  list(options?: { readonly principal?: Principal }): Promise<readonly GrantView[]>;
  /** It lets nothing more through from then on. Errors: USAGE when there is none of that id, or it was revoked before; SIGNAL_REFUSED (no signer). */
  revoke(grantId: string, giver: { readonly by?: string; readonly signer?: AnswerSigner }, options?: { readonly principal?: Principal }): Promise<GrantView>;
}
