import type { PolicyDecision } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { createCedarPolicy } from "./cedar-policy.ts";
import { facts, spec } from "./fixtures/policy-facts.ts";
import type { PolicyRule } from "./rules/rule-shape.ts";
import { localPrincipal } from "@callgate/contract";

const of = (rules: readonly PolicyRule[]) => createCedarPolicy({ rules });
const verdict = ({ kind, ruleId }: PolicyDecision): string => `${kind} ${ruleId}`;

describe("rules about results", () => {
  test("ask or deny by tool, caller, arguments and what the tool answered; where none matches the result is handed on", () => {
    const policy = of([
      { id: "large", ask: "crm.export", on: "result", when: { result: { "/count": { gt: 100 } } } },
      { id: "secret", deny: { tool: "crm.*", result: { "/level": "secret" } }, on: "result", unless: { role: "admin" } },
      { id: "ofOld", ask: { args: { "/year": { lt: 2000 } } }, on: "result" },
    ]);
    const decide = (tool: string, result: unknown, more = {}) => verdict(policy.decideResult({ ...facts(tool, more), result }));
    expect(decide("crm.export", { count: 101 })).toBe("ask large");
    expect(decide("crm.export", { count: 100 })).toBe("allow default:result");
    expect(decide("crm.export", "text")).toBe("allow default:result");
    expect(decide("crm.get", { count: 101 })).toBe("allow default:result");
    expect(decide("crm.export", { count: 101, level: "secret" })).toBe("deny secret");
    expect(decide("crm.get", { level: "secret" }, { principal: { roles: ["admin"] } })).toBe("allow default:result");
    expect(decide("other.x", {}, { args: { year: 1999 } })).toBe("ask ofOld");
  });

  test("say nothing about the call itself, nor whether a tool is there", () => {
    const policy = of([{ deny: "crm.export", on: "result" }]);
    expect(policy.decide(facts("crm.export", { effect: "read" }))).toEqual(of([]).decide(facts("crm.export", { effect: "read" })));
    expect([policy.visible(localPrincipal, "crm.export", spec("read")), policy.mayReach(localPrincipal, "crm")]).toEqual([true, true]);
    expect(verdict(policy.decideResult({ ...facts("crm.export"), result: 1 }))).toBe("deny rules[0]");
  });

  test("rules about calls say nothing about results", () => {
    expect(verdict(of([{ ask: "crm.*" }, { deny: "crm.export", when: { args: { "/n": 1 } } }]).decideResult({ ...facts("crm.export", { args: { n: 1 } }), result: 1 }))).toBe("allow default:result");
  });

  test("observed they stop nothing", () => {
    const policy = createCedarPolicy({ rules: [{ id: "no", deny: "crm.export", on: "result" }], mode: "observe" });
    expect(policy.decideResult({ ...facts("crm.export"), result: 1 })).toMatchObject({ kind: "allow", unobserved: { kind: "deny", ruleId: "no" } });
  });

  test("what cannot be judged is withheld", () => {
    expect(of([{ ask: "crm.export", on: "result", when: { result: { "/text": "x" } } }]).decideResult({ ...facts("crm.export"), result: { text: "\ud800" } }).kind).toBe("deny");
  });

  test.each<[PolicyRule, RegExp]>([
    [{ allow: "crm.*", on: "result" }, /handed on unless a rule asks or denies/],
    [{ ask: "crm.*", when: { result: { "/a": 1 } } }, /says "on": "result"/],
    [{ ask: { run: "python" }, on: "result" }, /about what a tool answered/],
    [{ ask: "crm.*", on: "results" as "result" }, /rules\[0\]\.on/],
    [{ ask: "crm.*", on: "result", when: { result: { "/a": { near: 1 } as never } } }, /unknown key "near"/],
  ])("a rule that cannot work is refused: %j", (rule, message) => {
    expect(() => of([rule])).toThrow(message);
  });

  test("a Cedar file is about Action::\"result\"; context.result is typed like arguments", () => {
    const file = (text: string) => createCedarPolicy({ files: [{ name: "p.cedar", text }] });
    const policy = file('@id("big") forbid (principal, action == Action::"result", resource == Tool::"crm.export") when { context.result has "/count" && context.result["/count"] has number && context.result["/count"].number.high.greaterThan(decimal("100.0")) } unless { context.approved };');
    expect([{ count: 101 }, { count: 5 }, {}].map((result) => verdict(policy.decideResult({ ...facts("crm.export"), result })))).toEqual(["ask big", "allow default:result", "allow default:result"]);
    expect(() => file('forbid (principal, action == Action::"call", resource) when { context.result has "/count" };')).toThrow(/p\.cedar/);
    expect(() => file('forbid (principal, action == Action::"result", resource) when { context.result["/count"].text == "x" };')).toThrow(/p\.cedar/);
  });
});
