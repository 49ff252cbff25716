import type { Lane } from "./checker.ts";
import type { PolicyDecision, PolicyExplanation, PolicyFinding, PolicyMode, PolicyRuleView, PolicyTool, ProgramFacts, RunSurroundings } from "./policy.ts";
import type { Asker, Principal } from "./principal.ts";
import type { ProgramLanguage } from "./sandbox-driver.ts";
import type { Label, ParseIssue } from "./tool-spec.ts";

/** The policy of a gate, for the people who keep it. Nothing of it is reachable from a model or a guest. */
export interface GatePolicy {
  readonly version: string;
  readonly mode: PolicyMode;
  rules(): readonly PolicyRuleView[];
  /** What is wrong with it in front of the tools there are, or of these. */
  findings(tools?: readonly PolicyTool[]): readonly PolicyFinding[];
  /** Why a call would be decided as it is, with its arguments as the tool's own schema leaves them. Undefined: no such tool, for whomever. */
  explain(tool: string, args: unknown, options?: Asker & { readonly lane?: Lane; readonly callsBefore?: number; readonly atMs?: number; readonly taint?: readonly Label[] }): Promise<CallExplanation | undefined>;
  /** Whether a program would get what a tool answered to a call. Undefined: no such tool, for whomever. */
  explainResult(tool: string, call: { readonly args: unknown; readonly result: unknown }, options?: Parameters<GatePolicy["explain"]>[2]): Promise<ResultExplanation | undefined>;
  /** Whether a program would be run, in the sandbox that would get it; what is given of its surroundings stands in for that one's. It reaches no tool, and no agent is new, unless that is said. */
  explainRun(language: ProgramLanguage, options?: Asker & { readonly lane?: Lane } & Partial<RunSurroundings & ProgramFacts>): PolicyDecision;
  /** Why a recorded call, `RUN.NUMBER`, would be decided as it is. Errors: RUN_NOT_FOUND. */
  explainCall(callId: string, options?: Asker): Promise<RecordedCallExplanation>;
  /** Decides programs, calls and results of the newest recorded runs of the tenant again. Nothing is performed. */
  simulate(options: { readonly runs: number }): Promise<PolicySimulation>;
}

/** Why the arguments do not fit the tool: such a call ends as `invalid_input`, and no rule is asked. Absent: they fit. */
interface Misfit {
  readonly issues?: readonly ParseIssue[];
}

/** Why a call is decided as it is. Where the arguments do not fit, the decision is about them as they were given. */
export interface CallExplanation extends PolicyExplanation, Misfit {}

/** The same of what the tool answered. */
export interface ResultExplanation extends Misfit {
  readonly decision: PolicyDecision;
}

/** A call as it is on record, and as the policy sees it now. */
export interface RecordedCallExplanation {
  readonly tool: string;
  readonly principal: Principal;
  /** Undefined: the call ended before it was decided. */
  readonly recorded: { readonly decision: PolicyDecision["kind"]; readonly ruleId: string } | undefined;
  /** Undefined: the tool is gone, or the arguments are erased. */
  readonly explanation: PolicyExplanation | undefined;
}

/** What a policy would have altered. */
export interface PolicySimulation {
  readonly runs: number;
  /** Programs whose run was decided about again, in the sandboxes of today. */
  readonly programs: number;
  /** Calls that were decided again. */
  readonly calls: number;
  /** Results that were decided about again. */
  readonly results: number;
  /** What could not be: erased or not kept, its tool or sandbox is gone, or its arguments do not fit the tool any more. */
  readonly leftOut: number;
  readonly changes: readonly SimulatedChange[];
}

/** A recorded program, call or result that would be decided otherwise. */
export type SimulatedChange = (
  | { readonly about: "program"; readonly runId: string; readonly language: ProgramLanguage }
  | { readonly about: "call" | "result"; readonly callId: string; readonly tool: string }
) & {
  readonly user: string;
  /** Of a program that was let through, no rule is on record. */
  readonly before: { readonly decision: PolicyDecision["kind"]; readonly ruleId?: string };
  readonly after: PolicyDecision;
};
