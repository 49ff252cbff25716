import type { Lane } from "./checker.ts";
import type { Principal } from "./principal.ts";
import type { ToolSpec } from "./tool-spec.ts";

/** What a decision may depend on. One frozen snapshot of the arguments, the same that is performed and journalled. */
export interface PolicyFacts {
  readonly principal: Principal;
  /** Qualified name, `namespace.tool`. */
  readonly tool: string;
  readonly namespace: string;
  readonly spec: ToolSpec;
  readonly args: unknown;
  readonly lane: Lane;
  readonly runId: string;
  readonly atMs: number;
}

export type PolicyDecision =
  | { readonly kind: "allow"; readonly ruleId: string }
  | { readonly kind: "ask"; readonly ruleId: string; readonly reason: string }
  | { readonly kind: "deny"; readonly ruleId: string; readonly reason: string; readonly help?: string };

/**
 * Decides about calls. Pure: no I/O, no clock of its own, same answer on every path (DESIGN D12).
 *
 * - `decide` has an answer for every input and never throws.
 * - `visible` is false for a tool the principal can never call; for them it does not exist.
 * - `mayReach` is the same of a namespace whose tools are not known, because its source is down: false where, as far as
 *   one can tell, none of them could be visible. In doubt about labels, tags and permissions they count as not declared.
 */
export interface Policy {
  /** Changes whenever an answer could change. */
  readonly version: string;
  decide(facts: PolicyFacts): PolicyDecision;
  visible(principal: Principal, tool: string, spec: ToolSpec): boolean;
  mayReach(principal: Principal, namespace: string): boolean;
}
