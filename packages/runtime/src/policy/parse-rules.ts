import { CallgateError } from "@callgate/contract";
import { closest, distance } from "fastest-levenshtein";
import type { z } from "zod";
import { compileMatch } from "./match.ts";
import type { Match } from "./match.ts";
import { comparisonKeys, matchKeys, ruleKeys, ruleShape } from "./rule-shape.ts";
import type { RuleAbout, RuleMatch } from "./rule-shape.ts";

/** A rule, ready to be held against calls. */
export interface CompiledRule {
  readonly id: string;
  readonly verdict: "allow" | "ask" | "deny";
  readonly about: Match;
  readonly when: Match | undefined;
  readonly unless: Match | undefined;
  readonly reason: string | undefined;
  readonly help: string | undefined;
}

/**
 * Reads rules as they stand in a configuration.
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
  const { id = place, when, unless, reason, help, ...sides } = parsed.data;
  const verdicts = (["allow", "ask", "deny"] as const).filter((verdict) => sides[verdict] !== undefined);
  const [verdict] = verdicts;
  if (verdict === undefined || verdicts.length > 1) {
    throw invalid(place, `must have exactly one of "allow", "ask" and "deny"${verdicts.length > 1 ? `, it has ${verdicts.join(" and ")}; make it ${verdicts.length} rules` : ""}`);
  }
  const about = sides[verdict];
  if (about === undefined) throw invalid(place, "has no tools");
  const common = {
    id,
    when: when === undefined ? undefined : compile(when, `${place}.when`),
    unless: unless === undefined ? undefined : compile(unless, `${place}.unless`),
    reason,
    help,
  };
  // A list of what is allowed that has nothing on it allows nothing. Read as "no restriction" it has been a hole elsewhere.
  if (verdict === "allow" && Array.isArray(about) && about.length === 0) {
    return { ...common, verdict: "deny", about: compile({}, place), reason: reason ?? `${id} is an empty allow list, which allows nothing` };
  }
  return { ...common, verdict, about: compile(toMatch(about), `${place}.${verdict}`) };
}

function toMatch(about: RuleAbout): RuleMatch {
  return typeof about === "string" || Array.isArray(about) ? { tool: about } : about;
}

function compile(match: RuleMatch, place: string): Match {
  return compileMatch(match, (key, problem) => invalid(`${place}${key}`, problem));
}

function shapeError(error: z.ZodError, place: string): CallgateError {
  const issue = deepest(error.issues);
  const path = place + issue.path.map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`)).join("");
  if (issue.code === "unrecognized_keys") {
    const [key = ""] = issue.keys;
    const known = issue.path.length === 0 ? ruleKeys : issue.path.includes("args") ? comparisonKeys : matchKeys;
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
