import type { Digest, Policy } from "@callgate/contract";
import { digestOf } from "../lib/digest.ts";

/** What asks where no rule decides, and may be lifted by a standing grant. */
const defaults = ["default:write", "default:destructive"];

/** What a rule says, so that a change of it is seen. Several of one id, as while a policy takes over from another, count together. */
export function ruleDigest({ inspection }: Pick<Policy, "inspection">, ruleId: string): Digest {
  const said = inspection.rules().flatMap((rule) => (rule.ruleId === ruleId ? [[rule.verdict, rule.cedar]] : []));
  return digestOf([ruleId, said]);
}

/** All that may ask by this policy, by rule id, with what it says. */
export function askingRules(policy: Pick<Policy, "inspection">): Readonly<Record<string, Digest>> {
  const ids = policy.inspection.rules().flatMap(({ verdict, ruleId }) => (verdict === "ask" ? [ruleId] : []));
  return Object.fromEntries([...new Set([...defaults, ...ids])].map((ruleId) => [ruleId, ruleDigest(policy, ruleId)]));
}
