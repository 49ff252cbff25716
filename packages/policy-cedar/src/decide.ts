import type { CedarValueJson } from "@cedar-policy/cedar-wasm/nodejs";
import type { PolicyDecision, PolicyFacts, ResultPolicyFacts, RunPolicyFacts } from "@callgate/contract";
import { defaultDecision, defaultResultDecision, defaultRunDecision } from "@callgate/runtime/broker";
import type { CedarEngine } from "./cedar/engine.ts";
import { recordsAt } from "./cedar/value-record.ts";
import type { PolicyEntry } from "./policies/policy-entry.ts";
import type { PolicySlice } from "./policies/policy-slices.ts";

/** A decision, and the policies that were found to match on the way, by number. */
export interface Decided {
  readonly decision: PolicyDecision;
  readonly matched: readonly number[];
}

/** One question to the policies of a slice. */
export interface Question {
  readonly slice: PolicySlice;
  readonly action: "call" | "result" | "run";
  /** Without `approved`. */
  readonly context: Readonly<Record<string, CedarValueJson>>;
  /** What is decided about, in words. */
  readonly subject: string;
  /** Where no policy decides. */
  readonly otherwise: PolicyDecision;
}

/** Errors: UnusableValue. */
export function callQuestion(slice: PolicySlice, facts: PolicyFacts): Question {
  return {
    slice,
    action: "call",
    context: { lane: facts.lane, now: instant(facts.atMs), calls: facts.callsBefore, taint: [...facts.taint], args: recordsAt(facts.args, slice.args) },
    subject: facts.tool,
    // What asks because of labels is a policy of its own here.
    otherwise: defaultDecision({ ...facts, taint: [] }),
  };
}

/** Errors: UnusableValue. */
export function resultQuestion(slice: PolicySlice, facts: ResultPolicyFacts): Question {
  const { context } = callQuestion(slice, facts);
  return { slice, action: "result", context: { ...context, result: recordsAt(facts.result, slice.results) }, subject: `handing on what ${facts.tool} answered`, otherwise: defaultResultDecision };
}

export function runQuestion(slice: PolicySlice, { language, lane, launcher, mounts, network, packages, reach, newAgent, atMs }: RunPolicyFacts): Question {
  return {
    slice,
    action: "run",
    context: { lane, now: instant(atMs), launcher, mounts: [...mounts], network: [...network], packages: [...packages], reach: [...reach], newAgent },
    subject: `running ${language}`,
    otherwise: defaultRunDecision,
  };
}

/**
 * Decides: what is forbidden is denied, or asked about where an approval would lift it; what is permitted is allowed; of
 * the rest the default decides. A policy that cannot be evaluated denies, whatever it is.
 */
export function decideQuestion(engine: CedarEngine, { slice, action, context, subject, otherwise }: Question): Decided {
  const { principal, resource, policies } = slice;
  if (policies.length === 0) return { decision: otherwise, matched: [] };
  const entryOf = (index: number): PolicyEntry | undefined => policies.find((policy) => policy.index === index)?.entry;
  const evaluate = (approved: boolean) => engine.evaluate(policies, { principal, action, resource, context: { ...context, approved } });
  const unapproved = evaluate(false);
  if (unapproved.kind === "faulted") return { decision: faultDecision(entryOf(unapproved.index ?? -1), unapproved.message), matched: [] };
  const { matched } = unapproved;
  const [first] = matched.flatMap((index) => entryOf(index) ?? []);
  if (unapproved.allowed) return { decision: { kind: "allow", ruleId: first?.id ?? "policy" }, matched };
  if (first === undefined) return { decision: otherwise, matched };
  const denial = matched.map(entryOf).find((entry) => entry?.verdict === "deny");
  if (denial !== undefined) return { decision: denialBy(denial), matched };
  const approved = evaluate(true);
  if (approved.kind === "faulted") return { decision: faultDecision(entryOf(approved.index ?? -1), approved.message), matched };
  const still = approved.matched.map(entryOf).find((entry) => entry !== undefined && entry.json.effect === "forbid");
  if (still !== undefined) return { decision: denialBy(still), matched };
  return { decision: { kind: "ask", ruleId: first.id, reason: first.reason ?? `Rule ${first.id} asks before ${subject}`, ...(first.from === undefined ? {} : { from: first.from }) }, matched };
}

function denialBy({ id, reason, help }: PolicyEntry): PolicyDecision {
  return { kind: "deny", ruleId: id, reason: reason ?? `Rule ${id} denies it`, ...(help === undefined ? {} : { help }) };
}

export function faultDecision(entry: PolicyEntry | undefined, message: string): PolicyDecision {
  const named = entry === undefined ? "The policy" : `Policy ${entry.id} (${entry.place})`;
  return { kind: "deny", ruleId: entry?.id ?? "policy:fault", reason: `${named} could not be evaluated: ${message}`, help: "Whoever keeps the policies has to mend it" };
}

function instant(atMs: number): CedarValueJson {
  const date = new Date(atMs);
  // A clock that is off beyond what dates can say makes policies about time fail, which denies.
  return { __extn: { fn: "datetime", arg: Number.isNaN(date.getTime()) ? "" : date.toISOString() } };
}
