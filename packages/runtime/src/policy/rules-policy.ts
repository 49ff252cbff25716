import type { Policy, PolicyDecision, PolicyFacts } from "@callgate/contract";
import { digestOf } from "../lib/digest.ts";
import { parseRules } from "./parse-rules.ts";
import type { CompiledRule } from "./parse-rules.ts";
import type { Subject } from "./match.ts";
import type { RuleInput } from "./rule-shape.ts";

/** One rule of the short form: exactly one of `allow`, `ask` and `deny`, and under which conditions. */
export type PolicyRule = RuleInput;

/** Changes with the meaning of rules, so that a version names rules and meaning both. */
const SEMANTICS = 1;

/**
 * A policy of plain rules.
 *
 * Among the rules that match a call, deny beats ask beats allow, wherever they stand; of equals the first names the
 * decision. Where none matches, reads are allowed and everything else asks (DESIGN P0). A tool is visible unless a deny
 * matches it whatever the call.
 *
 * Why not the first match: order would carry meaning that a file merged from several places does not keep, and a deny
 * must hold though somebody adds an allow above it. It is Cedar's "forbid beats permit", so that rules mean the same
 * when they are compiled to it.
 *
 * Errors: `CallgateError` CONFIG_INVALID that names rule, key and fix. Cost: O(rules), no I/O.
 */
export function createRulesPolicy(rules: readonly PolicyRule[]): Policy {
  const compiled = parseRules(rules);
  const denials = compiled.filter(({ verdict }) => verdict === "deny");
  return {
    version: `rules:${digestOf([SEMANTICS, rules]).slice("sha256:".length, "sha256:".length + 16)}`,
    decide: (facts) => decide(compiled, facts),
    visible(principal, tool, spec) {
      const subject: Subject = { principal, tool, namespace: tool.slice(0, Math.max(0, tool.indexOf("."))), spec, call: undefined };
      return !denials.some((rule) => matches(rule, subject) === "yes");
    },
    mayReach: (principal, namespace) =>
      effects.some((effect) => {
        const subject: Subject = { principal, tool: undefined, namespace, spec: { ...nothingDeclared, effect }, call: undefined };
        return !denials.some((rule) => matches(rule, subject) === "yes");
      }),
  };
}

const effects = ["read", "write", "destructive"] as const;
/** A tool of which only the namespace is known. */
const nothingDeclared = { tags: [], permissions: [], labels: [] };

function decide(rules: readonly CompiledRule[], facts: PolicyFacts): PolicyDecision {
  const subject: Subject = { ...facts, call: { lane: facts.lane, args: facts.args } };
  const matching = rules.filter((rule) => matches(rule, subject) === "yes");
  const first = (verdict: CompiledRule["verdict"]): CompiledRule | undefined => matching.find((rule) => rule.verdict === verdict);

  const denial = first("deny");
  if (denial !== undefined) return { kind: "deny", ruleId: denial.id, reason: denial.reason ?? `Rule ${denial.id} denies it`, ...(denial.help === undefined ? {} : { help: denial.help }) };
  const question = first("ask");
  if (question !== undefined) return { kind: "ask", ruleId: question.id, reason: question.reason ?? `Rule ${question.id} asks before ${facts.tool}` };
  const permission = first("allow");
  if (permission !== undefined) return { kind: "allow", ruleId: permission.id };
  return byDefault(facts);
}

function byDefault({ tool, spec }: PolicyFacts): PolicyDecision {
  switch (spec.effect) {
    case "read":
      return { kind: "allow", ruleId: "default:read" };
    case "write":
      return { kind: "ask", ruleId: "default:write", reason: `${tool} may change data, and no rule allows it` };
    case "destructive":
      return { kind: "ask", ruleId: "default:destructive", reason: `${tool} may destroy data for good, and no rule allows it` };
  }
}

/** A rule matches when its tools and `when` do and `unless` does not. */
function matches({ about, when, unless }: CompiledRule, subject: Subject): "yes" | "no" | "maybe" {
  const answers = [about(subject), when?.(subject) ?? "yes", opposite(unless?.(subject) ?? "no")];
  return answers.includes("no") ? "no" : answers.includes("maybe") ? "maybe" : "yes";
}

function opposite(answer: "yes" | "no" | "maybe"): "yes" | "no" | "maybe" {
  return answer === "yes" ? "no" : answer === "no" ? "yes" : "maybe";
}
