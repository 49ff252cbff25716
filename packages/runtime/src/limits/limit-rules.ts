import { CallgateError } from "@callgate/contract";
import type { LimitRule, LimitScope, Principal } from "@callgate/contract";
import { LRUCache } from "lru-cache";
import { atMost } from "../lib/at-most.ts";
import { globMatches, qualifiedGlob } from "../lib/name-glob.ts";
import type { NameGlob } from "../lib/name-glob.ts";

/** What a limit may look at of a call. */
export interface LimitFacts {
  readonly principal: Principal;
  readonly runId: string;
  /** Qualified name. */
  readonly tool: string;
  readonly namespace: string;
}

/** A limit that counts a call, and the count it belongs to. */
export interface LimitMatch<Rule> {
  readonly rule: Rule;
  /** Equal for calls that share a count of this rule. */
  readonly key: string;
}

const scopes: readonly LimitScope[] = ["tenant", "user", "agent", "task", "run", "source", "tool"];

/**
 * Finds the limits that count a call, in their own order.
 *
 * @param kind of the limits, as the configuration calls it, for errors
 * Errors: `CallgateError` USAGE for what is wrong with a rule.
 */
export function createLimitMatcher<Rule extends LimitRule>(kind: string, rules: readonly Rule[]): (facts: LimitFacts) => readonly LimitMatch<Rule>[] {
  const globs = rules.map((rule, index) => readRule(kind, rule, { index, rules }));
  // Which rules mean a tool does not change, and there are few tools.
  const byTool = new LRUCache<string, readonly Rule[]>(atMost(10_000));
  return (facts) => {
    let matching = byTool.get(facts.tool);
    if (matching === undefined) byTool.set(facts.tool, (matching = rules.filter((_rule, index) => globs[index]?.some((glob) => globMatches(glob, facts.tool)) ?? false)));
    return matching.map((rule) => ({ rule, key: keyOf(rule, facts) }));
  };
}

interface Place {
  readonly index: number;
  readonly rules: readonly LimitRule[];
}

function readRule(kind: string, { id, tools = "*", per = [] }: LimitRule, { index, rules }: Place): readonly NameGlob[] {
  const refuse = (key: string, problem: string): CallgateError => new CallgateError("USAGE", `${kind}[${index}].${key} ${problem}`);
  if (!/^[\w-]{1,64}$/.test(id)) throw refuse("id", "must be 1 to 64 letters, digits, - or _");
  if (rules.findIndex((other) => other.id === id) !== index) throw refuse("id", `"${id}" is there twice; each needs its own`);
  const unknown = per.find((scope) => !scopes.includes(scope));
  if (unknown !== undefined) throw refuse("per", `knows no "${unknown}"; there are ${scopes.join(", ")}`);
  const patterns = typeof tools === "string" ? [tools] : tools;
  if (patterns.length === 0) throw refuse("tools", "is an empty list, which means no tool; leave it out for all");
  return patterns.map((pattern) => {
    const glob = qualifiedGlob(pattern);
    if (typeof glob === "string") throw refuse("tools", `"${pattern}" ${glob}`);
    return glob;
  });
}

/** Whole numbers within bounds, or USAGE. */
export function assertWhole(place: string, value: number, [least, most]: readonly [number, number]): void {
  if (!Number.isSafeInteger(value) || value < least || value > most) throw new CallgateError("USAGE", `${place} must be a whole number from ${least} to ${most}, not ${String(value)}`);
}

/** Lists, not joined text: no two different callers can spell the same key. */
function keyOf({ per = [] }: LimitRule, facts: LimitFacts): string {
  return per.length === 0 ? "" : JSON.stringify(per.map((scope) => valueOf(scope, facts)));
}

function valueOf(scope: LimitScope, { principal, runId, tool, namespace }: LimitFacts): readonly (string | null)[] {
  const { tenant, user, agent = null, task = null } = principal;
  switch (scope) {
    case "tenant":
      return [tenant];
    case "user":
      return [tenant, user];
    case "agent":
      return [tenant, agent];
    case "task":
      return [tenant, task ?? runId];
    case "run":
      return [runId];
    case "source":
      return [namespace];
    case "tool":
      return [tool];
  }
}
