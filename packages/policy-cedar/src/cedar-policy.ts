import { randomUUID } from "node:crypto";
import { CallgateError } from "@callgate/contract";
import type { Lane, Policy, PolicyDecision, PolicyFacts, PolicyFinding, PolicyMode, PolicyRuleView, Principal, ResultPolicyFacts, RunPolicyFacts, ToolSpec } from "@callgate/contract";
import { defaultResultDecision, outflowRule } from "@callgate/runtime/broker";
import { digestOf } from "@callgate/runtime/journal-parts";
import { createCedarEngine } from "./cedar/engine.ts";
import type { CedarEngine } from "./cedar/engine.ts";
import { schemaText } from "./cedar/schema-text.ts";
import { UnusableValue } from "./cedar/value-record.ts";
import { callQuestion, decideQuestion, faultDecision, resultQuestion, runQuestion } from "./decide.ts";
import type { Decided } from "./decide.ts";
import { explainCall } from "./explain.ts";
import type { PolicyDecider } from "./explain.ts";
import { findingsOf } from "./findings.ts";
import { ruleView } from "./rule-view.ts";
import { policyEntry } from "./policies/policy-entry.ts";
import type { PolicyEntry } from "./policies/policy-entry.ts";
import { createPolicySlices } from "./policies/policy-slices.ts";
import type { PolicySlice, PolicySlices } from "./policies/policy-slices.ts";
import { checkTypes, readPolicyFiles } from "./policies/read-policy-files.ts";
import type { PolicyFile } from "./policies/read-policy-files.ts";
import { parseRules } from "./rules/parse-rules.ts";
import type { PolicyRule } from "./rules/rule-shape.ts";

export interface CedarPolicyOptions {
  /** Rules of the short form. */
  readonly rules?: readonly PolicyRule[];
  /** Files in Cedar. */
  readonly files?: readonly PolicyFile[];
  /** Default `enforce`. */
  readonly mode?: PolicyMode;
  /**
   * Leaves out the rule `default:outflow`, which asks before something is sent out once private data and untrusted content
   * have been read, whatever else allows it. Default false.
   */
  readonly unsafeWithoutOutflowRule?: boolean;
  /** False looks at every policy for every decision: for measuring what slicing is worth. Default true. */
  readonly sliced?: boolean;
}

/** Changes with the meaning of rules, so that a version names rules and meaning both. */
const semantics = 4;

/**
 * A policy of rules and Cedar files, evaluated by Cedar.
 *
 * Among the policies that match, deny beats ask beats allow, wherever they stand; of equals the first names the decision.
 * Where none matches, the default decides (DESIGN P0). A tool is visible unless a denial matches it whatever the call.
 *
 * Errors: `CallgateError` CONFIG_INVALID that names the place and the way to put it right. Cost: the first decision of a
 * principal about a tool cuts the policies down, O(policies); later ones cost one evaluation of those few, or nothing where
 * no policy looks at the call.
 */
export function createCedarPolicy({ rules = [], files = [], mode = "enforce", unsafeWithoutOutflowRule = false, sliced = true }: CedarPolicyOptions): Policy {
  const shipped = unsafeWithoutOutflowRule ? [] : parseRules([outflowRule]).map((rule) => policyEntry({ ...rule, place: "default" }));
  const own = [...parseRules(rules).map(policyEntry), ...readPolicyFiles(files)];
  const entries = [...own, ...shipped];
  refuseEqualIds(entries);
  const warnings = checkFiles(entries, files);
  const version = `cedar:${digestOf([semantics, rules, files.map(({ name, text }) => [name, text]), mode, ...(unsafeWithoutOutflowRule ? ["unsafeWithoutOutflowRule"] : [])]).slice("sha256:".length, "sha256:".length + 16)}`;
  const state: PolicyState = { entries, engine: createCedarEngine(randomUUID()), slices: createPolicySlices(entries, sliced), fixed: new WeakMap() };
  const decider: PolicyDecider = {
    decide: (facts) => decide(state, facts),
    visible: (principal, tool, spec) => isVisible(state, { principal, tool, spec }),
    slice: (principal, tool, spec) => state.slices.ofTool(principal, tool, spec),
  };
  let views: readonly PolicyRuleView[] | undefined;
  const observed = (decision: PolicyDecision): PolicyDecision => (mode === "enforce" || decision.kind === "allow" ? decision : { kind: "allow", ruleId: decision.ruleId, unobserved: decision });
  return {
    version,
    looksAtAgents: entries.some(({ uses }) => uses.agents),
    decide: (facts) => observed(decide(state, facts).decision),
    decideRun: (facts) => observed(decideRun(state, facts)),
    decideResult: (facts) => observed(decideResult(state, facts)),
    visible: (principal, tool, spec) => mode === "observe" || decider.visible(principal, tool, spec),
    mayReach: (principal, namespace) => mode === "observe" || state.slices.reachesNamespace(principal, namespace),
    inspection: {
      mode,
      // Written out once: formatting a thousand policies takes its time.
      rules: () => (views ??= entries.map(ruleView)),
      findings: (tools) => [...warnings, ...findingsOf(own, tools)],
      explain: (facts) => explainCall(decider, facts),
    },
  };
}

interface PolicyState {
  readonly entries: readonly PolicyEntry[];
  readonly engine: CedarEngine;
  readonly slices: PolicySlices;
  /** Decisions that hold for every call of a lane. */
  readonly fixed: WeakMap<PolicySlice, Map<Lane, Decided>>;
}

function decide({ engine, slices, fixed }: PolicyState, facts: PolicyFacts): Decided {
  try {
    const slice = slices.ofTool(facts.principal, facts.tool, facts.spec);
    const known = slice.dependsOnCall ? undefined : fixed.get(slice)?.get(facts.lane);
    if (known !== undefined) return known;
    const decided = decideQuestion(engine, callQuestion(slice, facts));
    if (!slice.dependsOnCall) fixed.set(slice, new Map([...(fixed.get(slice) ?? []), [facts.lane, decided]]));
    return decided;
  } catch (fault) {
    return { decision: unusable(fault), matched: [] };
  }
}

function decideRun({ engine, slices }: PolicyState, facts: RunPolicyFacts): PolicyDecision {
  try {
    return decideQuestion(engine, runQuestion(slices.ofLanguage(facts.principal, facts.language), facts)).decision;
  } catch (fault) {
    return unusable(fault);
  }
}

/** Nothing of the result is looked at where no policy is about the results of the tool. */
function decideResult({ engine, slices }: PolicyState, facts: ResultPolicyFacts): PolicyDecision {
  try {
    const slice = slices.ofResult(facts.principal, facts.tool, facts.spec);
    return slice.policies.length === 0 ? defaultResultDecision : decideQuestion(engine, resultQuestion(slice, facts)).decision;
  } catch (fault) {
    return unusable(fault);
  }
}

function unusable(fault: unknown): PolicyDecision {
  if (fault instanceof UnusableValue) return { kind: "deny", ruleId: "policy:value", reason: `The policy cannot judge it: ${fault.message}` };
  return faultDecision(undefined, fault instanceof Error ? fault.message : "it failed");
}

/** Hidden is what a denial matches whatever the call is; what cannot be judged is denied whatever the call is, too. */
function isVisible({ engine, slices }: PolicyState, { principal, tool, spec }: { readonly principal: Principal; readonly tool: string; readonly spec: ToolSpec }): boolean {
  try {
    const slice = slices.ofTool(principal, tool, spec);
    const denials = slice.policies.filter(({ entry }) => entry.verdict === "deny");
    if (denials.length === 0) return true;
    if (denials.some(({ reach }) => reach === "yes")) return false;
    return engine.certain(denials, { principal: slice.principal, action: "call", resource: slice.resource }, callContext).length === 0;
  } catch {
    return false;
  }
}

/** What is not known before a call. */
const callContext = ["approved", "lane", "now", "calls", "taint", "args"];

function refuseEqualIds(entries: readonly PolicyEntry[]): void {
  const places = new Map<string, string>();
  for (const { id, place } of entries) {
    const other = places.get(id);
    if (other !== undefined) throw new CallgateError("CONFIG_INVALID", `${place}: "${id}" is also the id of ${other}; ids must differ`);
    places.set(id, place);
  }
}

/** Types are checked where a person wrote Cedar; what rules compile to is right by construction (a test holds it to that). */
function checkFiles(entries: readonly PolicyEntry[], files: readonly PolicyFile[]): readonly PolicyFinding[] {
  if (files.length === 0) return [];
  const schema = schemaOf(entries);
  const checked = files.map((file) => checkTypes(file, schema));
  const errors = checked.flatMap((check) => check.errors);
  if (errors.length > 0) throw new CallgateError("CONFIG_INVALID", errors.join("\n"));
  return checked.flatMap(({ warnings }) => warnings).map((message) => ({ severity: "warning", ruleId: "", place: message.split(": ", 1)[0] ?? "", message }));
}

/** The schema of these policies: the paths they look at are in it. */
export function schemaOf(entries: readonly Pick<PolicyEntry, "uses">[]): string {
  const paths = (of: "args" | "results" | "claims"): readonly string[] => [...new Set(entries.flatMap(({ uses }) => uses[of]))].sort();
  return schemaText({ args: paths("args"), results: paths("results"), claims: paths("claims") });
}
