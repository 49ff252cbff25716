import type { Digest, WireValue } from "@callgate/contract";

/** The approved plan that a run is pinned to: no other write happens in it, and these are not asked about again. */
export interface PinnedPlan {
  /** What the plan says of a write. It takes the item for the call; asked again, it says the same of the same call. */
  word(call: PlannedCall): PlanWord;
  /** The first deviation: from there on every write is refused. */
  readonly drift: string | undefined;
}

/** What a write is recognised by. */
export interface PlannedCall {
  readonly seq: number;
  readonly tool: string;
  readonly definitionDigest: Digest;
  readonly argsDigest: Digest;
  readonly args: unknown;
  /** Of now. */
  readonly policyVersion: string;
}

export type PlanWord =
  | { readonly kind: "allowed"; readonly itemId: string; readonly by: string; readonly approvalId: string }
  /** `args` are performed in place of its own. */
  | { readonly kind: "edited"; readonly itemId: string; readonly by: string; readonly approvalId: string; readonly args: WireValue }
  | { readonly kind: "dropped"; readonly itemId: string; readonly by: string }
  /** It is in the plan, and a person has to look at it all the same. */
  | { readonly kind: "asked"; readonly itemId: string; readonly reason: string }
  | { readonly kind: "drift"; readonly reason: string };
