import { readFileSync } from "node:fs";
import { localPrincipal } from "@callgate/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createCedarPolicy } from "../cedar-policy.ts";
import { facts, spec } from "../fixtures/policy-facts.ts";
import type { Given } from "../fixtures/policy-facts.ts";
import { comparisonKeys, matchKeys, ruleKeys } from "./rule-shape.ts";
import type { PolicyRule } from "./rule-shape.ts";

const kind = (rules: readonly PolicyRule[], tool: string, given?: Given) => createCedarPolicy({ rules }).decide(facts(tool, given)).kind;
const visible = (rules: readonly PolicyRule[], tool: string, given: Given = {}) =>
  createCedarPolicy({ rules }).visible({ ...localPrincipal, ...given.principal }, tool, spec(given.effect ?? "write", given.spec));

const documented: readonly PolicyRule[] = [{ ask: "crm.pay" }, { deny: "github.delete_*", unless: { role: "admin" } }, { allow: { effect: "read" } }];

describe("rules", () => {
  test("decides by its default where no rule matches: reads are allowed, everything else asks", () => {
    const policy = createCedarPolicy({ rules: [] });
    expect(policy.decide(facts("a.b", { effect: "read" }))).toEqual({ kind: "allow", ruleId: "default:read" });
    expect(policy.decide(facts("a.b"))).toEqual({ kind: "ask", ruleId: "default:write", reason: "a.b may change data, and no rule allows it" });
    expect(policy.decide(facts("a.b", { effect: "destructive" }))).toEqual({ kind: "ask", ruleId: "default:destructive", reason: "a.b may destroy data for good, and no rule allows it" });
  });

  test("understands the short form as documented", () => {
    const admin = { principal: { roles: ["admin"] } };
    expect(kind(documented, "crm.pay")).toBe("ask");
    expect(kind(documented, "github.delete_repo")).toBe("deny");
    expect(kind(documented, "github.delete_repo", admin)).toBe("ask");
    expect(kind(documented, "github.get", { effect: "read" })).toBe("allow");
  });

  test("lets deny beat ask beat allow, whatever their order", () => {
    const rules: readonly PolicyRule[] = [{ allow: "a.*" }, { ask: "a.b" }, { deny: "a.b", when: { lane: "execute" } }];
    fc.assert(
      fc.property(fc.shuffledSubarray([...rules], { minLength: 1 }), (some) => {
        const verdict = some.some(({ deny }) => deny !== undefined) ? "deny" : some.some(({ ask }) => ask !== undefined) ? "ask" : "allow";
        expect(kind(some, "a.b")).toBe(verdict);
      }),
    );
  });

  test("names the rule that decided: its id, or its place; the first of equals", () => {
    const policy = createCedarPolicy({ rules: [{ allow: "a.x" }, { deny: "a.b", id: "no-b", reason: "B is closed", help: "Use a.c" }, { deny: "a.*" }] });
    expect(policy.decide(facts("a.b"))).toEqual({ kind: "deny", ruleId: "no-b", reason: "B is closed", help: "Use a.c" });
    expect(policy.decide(facts("a.c"))).toEqual({ kind: "deny", ruleId: "rules[2]", reason: "Rule rules[2] denies it" });
    expect(createCedarPolicy({ rules: [{ ask: "a.b" }] }).decide(facts("a.b"))).toEqual({ kind: "ask", ruleId: "rules[0]", reason: "Rule rules[0] asks before a.b" });
    expect(createCedarPolicy({ rules: [{ allow: "a.b" }] }).decide(facts("a.b"))).toEqual({ kind: "allow", ruleId: "rules[0]" });
  });

  test("lets a star match within its side of the dot only", () => {
    expect(kind([{ allow: "crm.*" }], "crm.pay")).toBe("allow");
    expect(kind([{ allow: "crm.*" }], "crm2.pay")).toBe("ask");
    expect(kind([{ allow: "*.get_*" }], "crm.get_1")).toBe("allow");
    expect(kind([{ allow: "*.get_*" }], "crm.put_12")).toBe("ask");
    expect(kind([{ allow: "*" }], "crm.get_12")).toBe("allow");
    expect(kind([{ allow: "c*m.p*y" }], "crm.pay")).toBe("allow");
    expect(kind([{ allow: ["x.y", "crm.pay"] }], "crm.pay")).toBe("allow");
  });

  test.each<[string, PolicyRule["allow"], Given, Given]>([
    ["namespace", { namespace: "c*" }, {}, { spec: {} }],
    ["effect", { effect: ["write"] }, {}, { effect: "destructive" }],
    ["tag", { tag: ["x", "money"] }, { spec: { tags: ["money"] } }, { spec: { tags: ["mone"] } }],
    ["permission", { permission: "pay" }, { spec: { permissions: ["pay"] } }, {}],
    ["label", { label: "external" }, { spec: { labels: ["external"] } }, {}],
    ["user", { user: "ann" }, { principal: { user: "ann" } }, { principal: { user: "bob" } }],
    ["agent", { agent: "bot" }, { principal: { agent: "bot" } }, {}],
    ["role", { role: ["boss", "clerk"] }, { principal: { roles: ["clerk"] } }, { principal: { roles: ["guest"] } }],
    ["tenant", { tenant: "acme" }, { principal: { tenant: "acme" } }, { principal: { tenant: "other" } }],
    ["claim", { claim: { "/team/name": "pay" } }, { principal: { claims: { team: { name: "pay" } } } }, { principal: { claims: { team: "pay" } } }],
    ["lane", { lane: "query" }, { lane: "query" }, { lane: "execute" }],
    ["args", { args: { "/amount": 5 } }, { args: { amount: 5 } }, { args: { amount: 6 } }],
  ])("matches by %s", (key, about, yes, no) => {
    expect(kind([{ allow: about }], "crm.pay", yes)).toBe("allow");
    if (key !== "namespace") expect(kind([{ allow: about }], "crm.pay", no)).toBe("ask");
    else expect(kind([{ allow: about }], "x.pay")).toBe("ask");
  });

  test("holds a rule only when all its keys do, and unless none of `unless` does", () => {
    const rule: PolicyRule = { allow: { namespace: "crm", effect: "write" }, when: { role: "clerk", args: { "/amount": { lte: 100 } } }, unless: { args: { "/currency": "XXX" } } };
    const clerk = { principal: { roles: ["clerk"] } };
    expect(kind([rule], "crm.pay", { ...clerk, args: { amount: 100 } })).toBe("allow");
    expect(kind([rule], "crm.pay", { ...clerk, args: { amount: 101 } })).toBe("ask");
    expect(kind([rule], "crm.pay", { args: { amount: 100 } })).toBe("ask");
    expect(kind([rule], "crm.pay", { ...clerk, args: { amount: 100, currency: "XXX" } })).toBe("ask");
  });

  test.each<[unknown, unknown, boolean]>([
    [{ equals: "x" }, "x", true], [{ equals: "x" }, "y", false], [{ equals: null }, null, true],
    [{ in: [1, "a"] }, "a", true], [{ in: [1, "a"] }, "1", false],
    [{ gt: 5 }, 6, true], [{ gt: 5 }, 5, false], [{ gt: 5 }, 6n, true], [{ gt: 5 }, "6", false], [{ gt: 5 }, Number.NaN, false],
    [{ gte: 5 }, 5, true], [{ gte: 5 }, 4, false], [{ lt: 5 }, 4, true], [{ lt: 5 }, 5, false], [{ lte: 5 }, 5, true], [{ lte: 5 }, 6, false],
    [{ gt: 1, lt: 3 }, 2, true], [{ gt: 1, lt: 3 }, 3, false],
    [{ glob: "*@ours.example" }, "a@ours.example", true], [{ glob: "*@ours.example" }, "a@ours.example.evil", false], [{ glob: "*" }, 5, false],
    [{ exists: true }, 0, true], [{ exists: true }, undefined, false], [{ exists: false }, undefined, true], [{ exists: false }, 1, false],
    [{ contains: "x" }, ["y", "x"], true], [{ contains: "x" }, ["y"], false], [{ contains: "x" }, "x", false], [{ contains: "x" }, ["x", 1], false],
    [{ gt: 100 }, 100.00001, true], [{ lte: 100 }, 100.00001, false], [{ equals: 100 }, 100.00001, false], [{ gt: 100 }, 1e30, true], [{ lt: -100 }, -1e30, true], [{ gt: 100 }, 2n ** 200n, true],
    [{ equals: 0.1 }, 0.1, true], [{ gt: 0.1 }, 0.1, false], [{ gte: 0.3 }, 0.1 + 0.2, true], [{ equals: 0.3 }, 0.1 + 0.2, false], [{ lt: 0 }, -1e-300, true], [{ gte: 0 }, -0, true], [{ gt: 5 }, Number.POSITIVE_INFINITY, false],
    [{ lt: 5 }, undefined, false], [true, true, true], [true, "true", false],
  ])("tests an argument: %j of %s is %s", (condition, value, holds) => {
    const rule = { allow: { args: { "/a/b~1c": condition } } } as PolicyRule;
    expect(kind([rule], "crm.pay", { args: { a: { "b/c": value } } })).toBe(holds ? "allow" : "ask");
  });

  test("looks at own properties of arguments only", () => {
    expect(kind([{ allow: { args: { "/toString": { exists: true } } } }], "crm.pay", { args: {} })).toBe("ask");
    expect(kind([{ allow: { args: { "/a/b": { exists: false } } } }], "crm.pay", { args: { a: null } })).toBe("allow");
  });

  test("takes an empty allow list for what it says: nothing is allowed", () => {
    expect(createCedarPolicy({ rules: [{ allow: [] }] }).decide(facts("a.b", { effect: "read" }))).toMatchObject({ kind: "deny", ruleId: "rules[0]", reason: "rules[0] is an empty allow list, which allows nothing" });
    expect(kind([{ allow: [] }, { allow: "*" }], "a.b")).toBe("deny");
    expect(kind([{ allow: [], unless: { role: "admin" } }], "a.b", { effect: "read", principal: { roles: ["admin"] } })).toBe("allow");
  });

  test("hides a tool exactly when no call of it could ever be allowed", () => {
    expect(visible(documented, "github.delete_repo")).toBe(false);
    expect(visible(documented, "github.delete_repo", { principal: { roles: ["admin"] } })).toBe(true);
    expect(visible(documented, "crm.pay")).toBe(true);
    expect(visible([{ deny: "a.b", when: { args: { "/x": 1 } } }], "a.b")).toBe(true);
    expect(visible([{ deny: "a.b", unless: { lane: "query" } }], "a.b")).toBe(true);
    expect(visible([{ deny: { namespace: "a", effect: "write" } }], "a.b")).toBe(false);
    expect(visible([{ deny: "a.b", when: { role: "x", args: { "/x": 1 } } }], "a.b")).toBe(true);
  });

  test("hides a namespace whose tools are not known exactly when every tool of it would be hidden", () => {
    const reach = (rules: readonly PolicyRule[], roles: readonly string[] = []) => createCedarPolicy({ rules }).mayReach({ ...localPrincipal, roles }, "hr");
    expect(reach([])).toBe(true);
    for (const about of ["*", "hr.*", { namespace: "h*" }, ["x.y", "hr.**"], { namespace: "hr", effect: ["read", "write", "destructive"] as const }]) {
      expect(reach([{ deny: about } as PolicyRule])).toBe(false);
      expect(reach([{ deny: about, unless: { role: "hr" } } as PolicyRule], ["hr"])).toBe(true);
    }
    expect(reach([{ deny: { namespace: "hr", effect: "read" } }, { deny: { namespace: "hr", effect: ["write", "destructive"] } }])).toBe(false);
    for (const about of ["hr.delete_*", "crm.*", "x*.*", { namespace: "hr", effect: "write" }, { namespace: "hr", tag: "secret" }]) expect(reach([{ deny: about } as PolicyRule])).toBe(true);
    expect(reach([{ deny: "hr.*", unless: { tool: "hr.phone_book" } }])).toBe(true);
    expect(reach([{ deny: "hr.*", when: { args: { "/x": 1 } } }])).toBe(true);
    // In doubt hidden: nothing says that a tool of it is tagged so.
    expect(reach([{ deny: "hr.*", unless: { tag: "public" } }])).toBe(false);
    expect(reach([{ allow: [] }])).toBe(false);
  });

  test("never sees a tool it denies for every call, and never hides one it may allow", () => {
    const rule = fc.record(
      { deny: fc.constantFrom("a.b", "a.*", "c.d", "*"), when: fc.constantFrom({ role: "x" }, { args: { "/n": 1 } }, { lane: "query" as const }), unless: fc.constantFrom({ role: "y" }, { args: { "/n": 2 } }) },
      { requiredKeys: ["deny"] },
    );
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 4 }), fc.subarray(["x", "y"]), (rules, roles) => {
        const decisions = (["query", "execute"] as const).flatMap((lane) => [1, 2, 3].map((n) => kind(rules, "a.b", { lane, args: { n }, principal: { roles } })));
        // Visible means that it depends on the call; for one fixed lane and argument each rule was tried both ways.
        if (!visible(rules, "a.b", { principal: { roles } })) expect(new Set(decisions)).toEqual(new Set(["deny"]));
      }),
    );
  });

  test("has a version that follows its rules, not the order of their keys", () => {
    const version = (rules: readonly PolicyRule[]) => createCedarPolicy({ rules }).version;
    expect(version([{ allow: "a.b", id: "x" }])).toBe(version([{ id: "x", allow: "a.b" }]));
    expect(version([{ allow: "a.b" }])).not.toBe(version([{ allow: "a.c" }]));
    expect(version([])).toMatch(/^cedar:[0-9a-f]{16}$/);
  });

  test.each<[string, unknown, string]>([
    ["no list", {}, 'rules must be a list of rules, e.g. [{ "allow": "crm.*" }]'],
    ["no verdict", [{ when: { role: "a" } }], 'rules[0] must have exactly one of "allow", "ask" and "deny"'],
    ["two verdicts", [{ allow: "a.b", deny: "a.b" }], 'rules[0] must have exactly one of "allow", "ask" and "deny", it has allow and deny; make it 2 rules'],
    ["an unknown key", [{ allow: "a.b" }, { deny: "a.b", unles: {} }], 'rules[1] has an unknown key "unles"; did you mean "unless"?'],
    ["an unknown key within", [{ deny: { efect: "read" } }], 'rules[0].deny has an unknown key "efect"; did you mean "effect"?'],
    ["an unknown comparison", [{ deny: "a.b", when: { args: { "/a": { above: 1 } } } }], 'rules[0].when.args./a has an unknown key "above"; known are equals, in, gt, gte, lt, lte, glob, contains, exists'],
    ["a name without namespace", [{ allow: "crm" }], 'rules[0].allow.tool "crm" can match no tool: names are "namespace.tool"; write "crm.*" for all tools of a namespace or "*.crm" for that tool of any'],
    ["an unspellable name", [{ allow: "crm.get-user" }], 'rules[0].allow.tool "crm.get-user" can match no tool: names hold only letters, digits and "_" (write "get_user")'],
    ["two dots", [{ allow: "a.b.c" }], 'rules[0].allow.tool "a.b.c" can match no tool: names are "namespace.tool", with one dot'],
    ["an empty side", [{ allow: "a." }], 'rules[0].allow.tool "a." can match no tool: a side of the dot is empty'],
    ["an empty deny list", [{ deny: [] }], "rules[0].deny.tool is an empty list, which nothing matches; name something or leave the key out"],
    ["an empty role list", [{ allow: "a.b", when: { role: [] } }], "rules[0].when.role is an empty list, which nothing matches; name something or leave the key out"],
    ["a path that is none", [{ allow: "a.b", when: { args: { amount: 1 } } }], 'must be a JSON Pointer into the arguments, e.g. "/amount"'],
    ["a wrong effect", [{ allow: { effect: "reads" } }], "rules[0].allow.effect"],
    ["no comparison", [{ allow: "a.b", when: { args: { "/a": {} } } }], "names no comparison"],
    ["equal ids", [{ allow: "a.b", id: "x" }, { deny: "a.b", id: "x" }], 'rules[1].id "x" is also the id of rules[0]; ids must differ'],
    ["a rule that is none", [5], "rules[0]"],
    ["a question mark", [{ allow: "crm.get_?" }], 'rules[0].allow.tool "crm.get_?" has a "?", which stands for no character any more: name what you mean in a list, or write "get_*", which matches more'],
    ["a question mark in an argument", [{ allow: "a.b", when: { args: { "/a": { glob: "?x" } } } }], 'rules[0].when.args./a has a "?"'],
    ["a number too fine", [{ allow: "a.b", when: { args: { "/a": { lte: 0.00001 } } } }], "rules[0].when.args./a cannot be compared exactly: 0.00001 has more than four decimal places; write 0.0000 or 0.0001"],
    ["a number too large", [{ allow: "a.b", when: { args: { "/a": { lte: 1e30 } } } }], "is beyond what can be compared"],
    ["who answers what is not asked", [{ deny: "a.b", from: "ann" }], 'rules[0].from says who is asked, so it goes with "ask" only'],
    ["a run with a tool", [{ ask: { run: "python", tool: "a.b" } }], 'rules[0] is about the run of a program ("run"), which has no "tool"; make it a rule of its own'],
    ["a call with a launcher", [{ deny: "a.b", when: { launcher: "docker" } }], 'rules[0] has "launcher", which only the run of a program has'],
    ["a long pattern", [{ allow: `a.${"x".repeat(300)}` }], "is longer than 256 characters"],
  ])("refuses %s and says what to do", (_name, rules, message) => {
    expect(() => createCedarPolicy({ rules: rules as PolicyRule[] })).toThrow(expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining(message) as string }));
  });

  test("matches hostile patterns without backtracking blow-up", () => {
    const pattern = `*${"a*".repeat(100)}b`;
    // Exponential, it would not come back from the first of these.
    for (const length of [40, 1_000, 50_000]) expect(kind([{ allow: { args: { "/x": { glob: pattern } } } }], "a.b", { args: { x: "a".repeat(length) } })).toBe("ask");
  });
});

describe("docs/guide/policy.md", () => {
  const guide = readFileSync(new URL("../../../../docs/guide/policy.md", import.meta.url), "utf8");
  const examples = [...guide.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text = ""]) => JSON.parse(text) as PolicyRule[]).filter((value) => Array.isArray(value));

  test("shows rules that are accepted", () => {
    expect(examples.length).toBeGreaterThan(2);
    for (const rules of examples) expect(createCedarPolicy({ rules }).version).toMatch(/^cedar:/);
  });

  test("shows rules that do what it says", () => {
    const [, rules = []] = examples;
    const clerk = { principal: { roles: ["clerk"] } };
    expect(kind(rules, "crm.pay", { ...clerk, args: { amount: 100, currency: "EUR" } })).toBe("allow");
    expect(kind(rules, "crm.pay", { ...clerk, args: { amount: 101, currency: "EUR" } })).toBe("ask");
    expect(kind(rules, "mail.send", { args: { to: "x@theirs.example" } })).toBe("deny");
    expect(kind(rules, "mail.send", { args: { to: "x@ours.example" } })).toBe("ask");
    expect(kind(rules, "db.drop", { effect: "destructive" })).toBe("ask");
  });

  test("names every key there is", () => {
    for (const key of [...ruleKeys, ...matchKeys, ...comparisonKeys]) expect(guide).toContain(`\`${key}\``.replace("`equals`", "equals").replace("`in`", "in").replace("`contains`", "contains"));
  });
});
