import type { PolicyRuleView } from "@callgate/contract";
import { testPolicy } from "@callgate/testkit";
import { expect, test } from "vitest";
import { askingRules, ruleDigest } from "./asking-rules.ts";

const rule = (ruleId: string, cedar: string, verdict: PolicyRuleView["verdict"] = "ask"): PolicyRuleView => ({ ruleId, place: ruleId, verdict, cedar });
const policyOf = (...rules: readonly PolicyRuleView[]) => ({ inspection: { ...testPolicy().inspection, rules: () => rules } });

test("what a rule says is its text and its verdict, whatever stands beside it; two of one id count together", () => {
  const pay = ruleDigest(policyOf(rule("pay", "a")), "pay");
  expect(ruleDigest(policyOf(rule("other", "b"), rule("pay", "a")), "pay")).toBe(pay);
  const others = [policyOf(rule("pay", "b")), policyOf(rule("pay", "a", "deny")), policyOf(rule("pay", "a"), rule("pay", "b")), policyOf()].map((policy) => ruleDigest(policy, "pay"));
  expect(new Set([pay, ...others]).size).toBe(5);
  expect(ruleDigest(policyOf(), "default:write")).not.toBe(ruleDigest(policyOf(), "default:destructive"));
});

test("what may ask is every rule that does, and the default; not what allows or denies, nor what no person may lift ahead", () => {
  const policy = policyOf(rule("pay", "a"), rule("read", "b", "allow"), rule("drop", "c", "deny"), rule("pay", "d"));
  expect(askingRules(policy)).toEqual(Object.fromEntries(["default:write", "default:destructive", "pay"].map((id) => [id, ruleDigest(policy, id)])));
});
