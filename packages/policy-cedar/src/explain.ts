import type { PolicyDecision, PolicyExplanation, PolicyFacts, Principal, ToolSpec } from "@callgate/contract";
import type { Decided } from "./decide.ts";
import type { PolicyEntry } from "./policies/policy-entry.ts";
import type { PolicySlice } from "./policies/policy-slices.ts";
import { entitiesIn } from "./policies/walk.ts";
import { ruleView } from "./rule-view.ts";

/** What an explanation is made with. */
export interface PolicyDecider {
  decide(facts: PolicyFacts): Decided;
  visible(principal: Principal, tool: string, spec: ToolSpec): boolean;
  slice(principal: Principal, tool: string, spec: ToolSpec): PolicySlice;
}

/** Says why a call is decided as it is, and which changes of it were found to help. */
export function explainCall(decider: PolicyDecider, facts: PolicyFacts): PolicyExplanation {
  const { decision, matched } = decider.decide(facts);
  const visible = decider.visible(facts.principal, facts.tool, facts.spec);
  const policies = policiesOf(decider, facts);
  const considered = policies.map(({ entry, index }) => ({ ...ruleView(entry), matched: matched.includes(index) }));
  return { decision, visible, considered, help: decision.kind === "allow" ? [] : helpFor(decider, facts, { decision, entries: policies.map(({ entry }) => entry) }) };
}

/** None where the principal itself cannot be judged. */
function policiesOf(decider: PolicyDecider, { principal, tool, spec }: PolicyFacts): PolicySlice["policies"] {
  try {
    return decider.slice(principal, tool, spec).policies;
  } catch {
    return [];
  }
}

interface Refused {
  readonly decision: Exclude<PolicyDecision, { kind: "allow" }>;
  readonly entries: readonly PolicyEntry[];
}

/** Each is tried: what is not known to help is not said. */
function helpFor(decider: PolicyDecider, facts: PolicyFacts, { decision, entries }: Refused): readonly string[] {
  const outcome = (changed: Partial<PolicyFacts>): PolicyDecision["kind"] => decider.decide({ ...facts, ...changed }).decision.kind;
  const isBetter = (kind: PolicyDecision["kind"]): boolean => rank[kind] > rank[decision.kind];
  const tried: { readonly words: string; readonly changed: Partial<PolicyFacts> }[] = [
    { words: `in the ${facts.lane === "query" ? "execute" : "query"} lane`, changed: { lane: facts.lane === "query" ? "execute" : "query" } },
    ...(facts.taint.length === 0 ? [] : [{ words: `where nothing labelled ${facts.taint.join(" or ")} was read before`, changed: { taint: [] } }]),
    ...rolesIn(entries).filter((role) => !facts.principal.roles.includes(role)).map((role) => ({ words: `with the role ${role}`, changed: { principal: { ...facts.principal, roles: [...facts.principal.roles, role] } } })),
  ];
  const found = tried.flatMap(({ words, changed }) => {
    const kind = outcome(changed);
    return isBetter(kind) ? [`${words} it would be ${kind === "ask" ? "asked about" : "allowed"}`] : [];
  });
  const own = decision.kind === "deny" && decision.help !== undefined ? [decision.help] : [];
  const rule = decision.ruleId.startsWith("default:") ? [`a rule that allows it: { "allow": "${facts.tool}" }`] : [];
  return [...own, ...found, ...rule];
}

const rank = { deny: 0, ask: 1, allow: 2 } as const;

/** Tried at most, so that a policy of hundreds of roles is explained at once. */
const maxRoles = 20;

function rolesIn(entries: readonly PolicyEntry[]): readonly string[] {
  const roles = entries.flatMap(({ json }) => entitiesIn(json).filter(({ type }) => type === "Role").map(({ id }) => id));
  return [...new Set(roles)].slice(0, maxRoles);
}
