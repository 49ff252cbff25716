import { describe, expect, test } from "vitest";
import { createCedarPolicy } from "./cedar-policy.ts";
import { facts, spec } from "./fixtures/policy-facts.ts";

const tools = ["crm.pay", "crm.get_customer", "github.delete_repo"].map((name) => ({
  name,
  namespace: name.split(".")[0] ?? "",
  spec: spec(name === "crm.get_customer" ? "read" : "write", { tags: ["money"], input: { type: "object", properties: { amount: { type: "number" }, to: { type: "string" } } } }),
}));

describe("findings", () => {
  const found = (...[given]: Parameters<typeof createCedarPolicy>): readonly string[] => createCedarPolicy(given).inspection.findings(tools).map(({ severity, place, message }) => `${severity} ${place}: ${message}`);

  test("nothing is wrong with rules that fit the tools", () => {
    expect(found({ rules: [{ ask: "crm.pay", when: { args: { "/amount": { gt: 5 } } } }, { deny: "github.delete_*" }, { allow: { effect: "read", tag: "money" } }, { deny: { run: "shell" } }] })).toEqual([]);
  });

  test.each([
    ["a tool that is gone or misspelt", { ask: "crm.pya" }, ['error rules[0]: there is no tool "crm.pya"; did you mean "crm.pay"?']],
    ["a namespace", { deny: "gihub.delete_*" }, ['error rules[0]: there is no namespace "gihub"; did you mean "github"?']],
    ["a pattern that matches nothing any more", { deny: "github.destroy_*" }, ["warning rules[0]: can match no tool there is"]],
    ["a tag", { deny: { tag: "mony" } }, ['warning rules[0]: no tool has the tag "mony"; did you mean "money"?', "warning rules[0]: can match no tool there is"]],
    ["an argument", { deny: "crm.pay", when: { args: { "/amuont": 1 } } }, ['error rules[0]: no tool it can match takes an argument /amuont; did you mean "amount"?']],
    ["sides that exclude each other", { deny: "crm.pay", when: { namespace: "github" } }, ["warning rules[0]: can match no tool there is"]],
  ])("%s is named", (_name, rule, messages) => expect(found({ rules: [rule] })).toEqual(messages));

  test("policies in files are named by their line", () => {
    expect(found({ files: [{ name: "p.cedar", text: '\nforbid (principal, action == Action::"call", resource == Tool::"crm.pya");\nforbid (principal, action == Action::"call", resource) when { context.args has amount };' }] })).toEqual([
      'error p.cedar:2: there is no tool "crm.pya"; did you mean "crm.pay"?',
      'error p.cedar:3: looks at context.args["amount"]; arguments are named by JSON Pointers, so write context.args["/amount"]',
    ]);
  });
});

describe("explain", () => {
  const policy = createCedarPolicy({ rules: [{ id: "no-delete", deny: "github.delete_*", unless: { role: "admin" } }, { id: "pay", ask: "crm.pay", unless: { role: ["boss", "cfo"] } }, { id: "all", allow: "crm.*" }, { id: "other", deny: "db.*" }] });

  test("says what decided, what else came into question, and what was found to help", () => {
    const paid = policy.inspection.explain(facts("crm.pay"));
    expect(paid).toMatchObject({ decision: { kind: "ask", ruleId: "pay" }, visible: true, help: ["with the role boss it would be allowed", "with the role cfo it would be allowed"] });
    expect(paid.considered.map(({ ruleId, matched }) => [ruleId, matched])).toEqual([["pay", true], ["all", false]]);
    expect(paid.considered[0]?.cedar).toContain('resource == Tool::"crm.pay"');
    expect(policy.inspection.explain(facts("github.delete_repo"))).toMatchObject({ decision: { kind: "deny" }, visible: false, help: ["with the role admin it would be asked about"] });
    expect(policy.inspection.explain(facts("mail.send")).help).toEqual(['a rule that allows it: { "allow": "mail.send" }']);
    expect(policy.inspection.explain(facts("crm.get", { effect: "read" }))).toMatchObject({ decision: { kind: "allow", ruleId: "all" }, help: [] });
  });
});
