import { CallgateError } from "@callgate/contract";
import { closest, distance } from "fastest-levenshtein";
import type { z } from "zod";
import type { Clause, PolicyJson } from "@cedar-policy/cedar-wasm/nodejs";
import { attribute, isTrue, variable } from "../cedar/expression.ts";
import { compileMatch } from "./compile-match.ts";
import { qualifiedGlob, segmentProblem } from "@callgate/runtime/broker";
import { callKeys, comparisonKeys, matchKeys, resultKeys, ruleKeys, ruleShape, runKeys } from "./rule-shape.ts";
import type { RuleAbout, RuleMatch } from "./rule-shape.ts";

/** A rule as a Cedar policy. */
export interface CompiledRule {
  readonly id: string;
  /** `rules[2]`. */
  readonly place: string;
  readonly json: PolicyJson;
}

/**
 * Reads rules as they stand in a configuration and compiles them to Cedar.
 *
 * Errors: `CallgateError` CONFIG_INVALID that names the rule, the key and the way to put it right.
 */
export function parseRules(rules: unknown): readonly CompiledRule[] {
  if (!Array.isArray(rules)) throw invalid("rules", "must be a list of rules, e.g. [{ \"allow\": \"crm.*\" }]");
  const compiled = rules.map((rule: unknown, index) => parseRule(rule, `rules[${index}]`));
  const seen = new Map<string, number>();
  for (const [index, { id }] of compiled.entries()) {
    const earlier = seen.get(id);
    if (earlier !== undefined) throw invalid(`rules[${index}].id`, `"${id}" is also the id of rules[${earlier}]; ids must differ`);
    seen.set(id, index);
  }
  return compiled;
}

function parseRule(rule: unknown, place: string): CompiledRule {
  const parsed = ruleShape.safeParse(rule);
  if (!parsed.success) throw shapeError(parsed.error, place);
  const { id = place, on, when, unless, reason, help, from, ...sides } = parsed.data;
  const verdicts = (["allow", "ask", "deny"] as const).filter((verdict) => sides[verdict] !== undefined);
  const [verdict] = verdicts;
  if (verdict === undefined || verdicts.length > 1) {
    throw invalid(place, `must have exactly one of "allow", "ask" and "deny"${verdicts.length > 1 ? `, it has ${verdicts.join(" and ")}; make it ${verdicts.length} rules` : ""}`);
  }
  const about = sides[verdict];
  if (about === undefined) throw invalid(place, "has no tools");
  if (from !== undefined && verdict !== "ask") throw invalid(`${place}.from`, "says who is asked, so it goes with \"ask\" only");
  if (on === "result" && verdict === "allow") throw invalid(`${place}.on`, "says that the rule is about results, which are handed on unless a rule asks or denies; leave it out");
  // A list of what is allowed that has nothing on it allows nothing. Read as "no restriction" it has been a hole elsewhere.
  const isNothing = verdict === "allow" && Array.isArray(about) && about.length === 0;
  const match = isNothing ? {} : toMatch(about);
  const action = actionOf({ match, when, unless, on }, place);
  const { resource, rest } = headOf(match);
  const conditions: Clause[] = [
    ...clause("when", rest, `${place}.${verdict}`),
    ...(when === undefined ? [] : clause("when", when, `${place}.when`)),
    ...(unless === undefined ? [] : clause("unless", unless, `${place}.unless`)),
    ...(verdict === "ask" ? [{ kind: "unless" as const, body: attribute(variable("context"), "approved") }] : []),
  ];
  const told = isNothing ? (reason ?? `${id} is an empty allow list, which allows nothing`) : reason;
  const annotations = { id, ...(told === undefined ? {} : { reason: told }), ...(help === undefined ? {} : { help }), ...(from === undefined ? {} : { from }) };
  return { id, place, json: { effect: verdict === "allow" && !isNothing ? "permit" : "forbid", principal: { op: "All" }, resource, action: { op: "==", entity: { type: "Action", id: action } }, conditions, annotations } };
}

/** One tool, or all of one namespace, stands in the head of its policy, where it is seen first. */
function headOf(match: RuleMatch): { readonly resource: PolicyJson["resource"]; readonly rest: RuleMatch } {
  const { tool, namespace, ...others } = match;
  const inNamespace = (id: string): PolicyJson["resource"] => ({ op: "in", entity: { type: "Namespace", id } });
  if (tool === undefined && typeof namespace === "string" && !namespace.includes("*") && segmentProblem(namespace) === undefined) return { resource: inNamespace(namespace), rest: others };
  const rest = { ...others, ...(namespace === undefined ? {} : { namespace }) };
  const glob = typeof tool === "string" ? qualifiedGlob(tool) : "";
  if (typeof tool !== "string" || typeof glob === "string" || glob.namespace.includes("*")) return { resource: { op: "All" }, rest: match };
  if (glob.member === "*") return { resource: inNamespace(glob.namespace), rest };
  return glob.member.includes("*") ? { resource: { op: "All" }, rest: match } : { resource: { op: "==", entity: { type: "Tool", id: tool } }, rest };
}

interface Sides {
  readonly match: RuleMatch;
  readonly when: RuleMatch | undefined;
  readonly unless: RuleMatch | undefined;
  readonly on: "result" | undefined;
}

/** A rule is about calls, unless it says `run`, or `on` results. */
function actionOf({ match, when, unless, on }: Sides, place: string): "call" | "result" | "run" {
  const isRun = match.run !== undefined;
  if (isRun && on !== undefined) throw invalid(`${place}.on`, "is about what a tool answered, and the rule is about the run of a program");
  const foreign = isRun ? callKeys : runKeys;
  for (const side of [match, when, unless]) {
    const found = foreign.find((key) => side?.[key] !== undefined);
    if (found !== undefined) {
      throw invalid(place, isRun ? `is about the run of a program ("run"), which has no "${found}"; make it a rule of its own` : `has "${found}", which only the run of a program has; such a rule begins { "ask": { "run": "python" } }`);
    }
  }
  if (isRun) return "run";
  if (on === "result") return "result";
  const early = [match, when, unless].some((side) => side !== undefined && resultKeys.some((key) => side[key] !== undefined));
  if (early) throw invalid(place, 'has "result", which is known only once the tool has answered; such a rule says "on": "result"');
  return "call";
}

function clause(kind: "when" | "unless", match: RuleMatch, place: string): readonly Clause[] {
  const body = compileMatch(match, (key, problem) => invalid(`${place}${key}`, problem));
  return kind === "when" && isTrue(body) ? [] : [{ kind, body }];
}

function toMatch(about: RuleAbout): RuleMatch {
  return typeof about === "string" || Array.isArray(about) ? { tool: about } : about;
}

function shapeError(error: z.ZodError, place: string): CallgateError {
  const issue = deepest(error.issues);
  const path = place + issue.path.map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`)).join("");
  if (issue.code === "unrecognized_keys") {
    const [key = ""] = issue.keys;
    const known = issue.path.length === 0 ? ruleKeys : issue.path.includes("args") || issue.path.includes("result") || issue.path.includes("claim") ? comparisonKeys : matchKeys;
    const near = closest(key, known);
    const help = distance(key, near) <= 2 ? `did you mean "${near}"?` : `known are ${known.join(", ")}`;
    return invalid(path, `has an unknown key "${key}"; ${help}`);
  }
  return invalid(path, issue.message.replace(/^Invalid (?:input|option): /, ""));
}

/** Of a union's branches the one that got furthest is the one that was meant. */
function deepest(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue {
  const all = issues.flatMap((issue) => {
    const inner = issue.code === "invalid_union" ? issue.errors.flat() : issue.code === "invalid_key" ? issue.issues : undefined;
    return inner === undefined ? [issue] : inner.map((one) => ({ ...one, path: [...issue.path, ...one.path] }));
  });
  const nested = all.some((issue) => issue.code === "invalid_union") ? [deepest(all)] : all;
  const rank = (issue: z.core.$ZodIssue): number => issue.path.length * 2 + (issue.code === "invalid_type" ? 0 : 1);
  return [...nested].sort((a, b) => rank(b) - rank(a))[0] ?? issues[0] ?? { code: "custom", path: [], message: "is not a rule", input: undefined };
}

function invalid(place: string, problem: string): CallgateError {
  return new CallgateError("CONFIG_INVALID", `${place} ${problem}`, { details: { key: place } });
}
