import type { Lane } from "./checker.ts";
import type { Principal } from "./principal.ts";
import type { ProgramLanguage } from "./sandbox-driver.ts";
import type { Effect, Label, ToolSpec } from "./tool-spec.ts";

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
  /** Calls, timers and waits that the run issued before this call. */
  readonly callsBefore: number;
  /** Labels that have reached the run, its task, conversation and session. */
  readonly taint: readonly Label[];
  readonly atMs: number;
}

/** What a decision about the result of a call may depend on, once its tool has answered. */
export interface ResultPolicyFacts extends PolicyFacts {
  /** As the program would get it. */
  readonly result: unknown;
}

/** What of a sandbox matters to a policy: what its programs can reach beside tools. */
export interface RunSurroundings {
  /** What stands around the program, as the configuration names it. */
  readonly launcher: string;
  /** `ro:/data`: mode, and the path programs see. */
  readonly mounts: readonly string[];
  /** `host:port`; empty is no network. */
  readonly network: readonly string[];
  /** Packages and modules that may be imported beside the language's own. */
  readonly packages: readonly string[];
}

/** What is known of a program, and of who wrote it, once it was checked. */
export interface ProgramFacts {
  /** What the tools may do that it can call; where it chooses them while it runs: those its caller may call. */
  readonly reach: readonly Effect[];
  /** True where an agent acts that has completed no program in this tenant yet. Known to policies that say `looksAtAgents` only. */
  readonly newAgent: boolean;
}

/** What a decision about the run of a program may depend on. */
export interface RunPolicyFacts extends RunSurroundings, ProgramFacts {
  readonly principal: Principal;
  readonly language: ProgramLanguage;
  readonly lane: Lane;
  readonly runId: string;
  readonly atMs: number;
}

/** What a policy that is tried out would have decided, where that is something else. */
export interface NextDecision {
  readonly kind: "allow" | "ask" | "deny";
  readonly ruleId: string;
}

export type PolicyDecision = { readonly next?: NextDecision } & (
  /** `unobserved`: what the policy would have done were it enforced (mode `observe`). */
  | { readonly kind: "allow"; readonly ruleId: string; readonly unobserved?: Exclude<PolicyDecision, { kind: "allow" }> }
  /** `isPinned`: the policy allows it, and the plan that the run is pinned to is asked as well. `from`: who is meant to answer, as the policy names them. */
  | { readonly kind: "ask"; readonly ruleId: string; readonly reason: string; readonly isPinned?: true; readonly from?: string }
  | { readonly kind: "deny"; readonly ruleId: string; readonly reason: string; readonly help?: string }
);

/**
 * Decides about calls and runs. Pure: no I/O, no clock of its own, same answer on every path (DESIGN D12).
 *
 * - `decide`, `decideRun` and `decideResult` have an answer for every input and never throw.
 * - `visible` is false only for a tool that `decide` denies to the principal whatever the call; for them it does not exist.
 * - `mayReach` is the same of a namespace whose tools are not known, because its source is down: false where, as far as
 *   one can tell, none of them could be visible. In doubt about labels, tags and permissions they count as not declared.
 */
export interface Policy {
  /** Changes whenever an answer could change. */
  readonly version: string;
  /** True where a decision about runs depends on `newAgent`: only then it is looked up, in the journal. Default false. */
  readonly looksAtAgents?: boolean;
  decide(facts: PolicyFacts): PolicyDecision;
  decideRun(facts: RunPolicyFacts): PolicyDecision;
  /** Whether the program may have what a tool answered. The call has taken place, whatever is decided. */
  decideResult(facts: ResultPolicyFacts): PolicyDecision;
  visible(principal: Principal, tool: string, spec: ToolSpec): boolean;
  mayReach(principal: Principal, namespace: string): boolean;
  /** For the people who keep the policy; never reachable from a model or guest. */
  readonly inspection: PolicyInspection;
}

/** `observe` stops nothing: what would have been asked or denied is told and recorded. */
export type PolicyMode = "enforce" | "observe";

/** One rule or policy, as it is evaluated. */
export interface PolicyRuleView {
  readonly ruleId: string;
  /** `rules[2]`, or `policies/pay.cedar:12`. */
  readonly place: string;
  readonly verdict: "allow" | "ask" | "deny";
  /** Its Cedar text. */
  readonly cedar: string;
}

/** Something wrong with a policy in front of these tools. */
export interface PolicyFinding {
  readonly severity: "error" | "warning";
  readonly ruleId: string;
  readonly place: string;
  readonly message: string;
}

/** A tool as a policy knows it. */
export interface PolicyTool {
  readonly name: string;
  readonly namespace: string;
  readonly spec: ToolSpec;
}

/** Why a call is decided as it is. */
export interface PolicyExplanation {
  readonly decision: PolicyDecision;
  /** False: for this principal the tool does not exist. */
  readonly visible: boolean;
  /** The rules that can match this tool and principal; `matched` those that do. The others never come into question. */
  readonly considered: readonly (PolicyRuleView & { readonly matched: boolean })[];
  /** Changes of the call that would lead to a better decision, tried out. */
  readonly help: readonly string[];
}

export interface PolicyInspection {
  readonly mode: PolicyMode;
  rules(): readonly PolicyRuleView[];
  findings(tools: readonly PolicyTool[]): readonly PolicyFinding[];
  explain(facts: PolicyFacts): PolicyExplanation;
}
