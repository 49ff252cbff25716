import { validate } from "@cedar-policy/cedar-wasm/nodejs";
import { localPrincipal } from "@callgate/contract";
import type { Policy, PolicyFacts, RunPolicyFacts } from "@callgate/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createCedarPolicy, schemaOf } from "./cedar-policy.ts";
import { facts, spec } from "./fixtures/policy-facts.ts";
import type { Given } from "./fixtures/policy-facts.ts";
import { policyEntry } from "./policies/policy-entry.ts";
import { parseRules } from "./rules/parse-rules.ts";
import type { PolicyRule } from "./rules/rule-shape.ts";

const ofText = (text: string, more: Parameters<typeof createCedarPolicy>[0] = {}): Policy => createCedarPolicy({ files: [{ name: "policies/a.cedar", text }], ...more });
const fault = (text: string): string => {
  try {
    ofText(text);
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
  return "";
};

const scalar = fc.constantFrom<string | number | boolean | null>("x", "y", 1, 2.5, true, null);
const test1 = fc.oneof(scalar, fc.record({ gt: fc.constantFrom(0, 1, 2.5), lte: fc.constantFrom(1, 3), glob: fc.constantFrom("x*", "*"), exists: fc.boolean(), contains: fc.constantFrom("x", "z") }, { requiredKeys: [] }).filter((value) => Object.keys(value).length > 0));
const side = fc.record(
  {
    tool: fc.constantFrom<string | string[]>("a.b", "a.*", "*.b", "c.d", "*", ["a.x", "c.*"], "a.b*"), namespace: fc.constantFrom("a", "c*"), effect: fc.constantFrom<"read" | "write" | ("read" | "destructive")[]>("read", "write", ["read", "destructive"]),
    tag: fc.constantFrom<string | string[]>("money", ["t", "money"]), role: fc.constantFrom<string | string[]>("x", "y", ["x", "y"]), user: fc.constantFrom("ann", "bob"), agent: fc.constant("bot"), tenant: fc.constantFrom("local", "acme"),
    lane: fc.constantFrom<"query" | "execute">("query", "execute"), args: fc.dictionary(fc.constantFrom("/n", "/m/k"), test1, { minKeys: 1, maxKeys: 2 }), claim: fc.dictionary(fc.constantFrom("/d", "/e"), test1, { minKeys: 1, maxKeys: 1 }),
  },
  { requiredKeys: [] },
);
const rule: fc.Arbitrary<PolicyRule> = fc.tuple(fc.constantFrom<"allow" | "ask" | "deny">("allow", "ask", "deny"), side, fc.option(side, { nil: undefined }), fc.option(side, { nil: undefined })).map(([verdict, about, when, unless]) => ({ [verdict]: about, ...(when === undefined ? {} : { when }), ...(unless === undefined ? {} : { unless }) }));
const argument = fc.oneof(scalar, fc.double(), fc.constant(["x"]), fc.constant({ k: "x" }), fc.bigInt());
const call: fc.Arbitrary<PolicyFacts> = fc
  .record({
    tool: fc.constantFrom("a.b", "a.x", "c.d", "c.b"), effect: fc.constantFrom<"read" | "write" | "destructive">("read", "write", "destructive"), tags: fc.subarray(["money", "t"]), roles: fc.subarray(["x", "y"]),
    user: fc.constantFrom("ann", "bob"), agent: fc.option(fc.constant("bot"), { nil: undefined }), tenant: fc.constantFrom("local", "acme"), lane: fc.constantFrom<"query" | "execute">("query", "execute"), n: argument, d: argument,
  })
  .map(({ tool, effect, tags, roles, user, agent, tenant, lane, n, d }) => facts(tool, { effect, spec: { tags }, principal: { roles, user, tenant, ...(agent === undefined ? {} : { agent }), claims: { d } as never }, lane, args: { n, m: n } }));

describe("createCedarPolicy", () => {
  test("decides the same whether it looks at all policies or at the few that can match", () => {
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 6 }), fc.array(call, { minLength: 1, maxLength: 4 }), (rules, calls) => {
        const [few, all] = [createCedarPolicy({ rules }), createCedarPolicy({ rules, sliced: false })];
        for (const one of calls) {
          const decision = few.decide(one);
          expect(decision).toEqual(all.decide(one));
          expect(few.decide(one)).toEqual(decision);
        }
      }),
      { numRuns: 150 },
    );
  });

  test("br-001: hides only what it denies whatever the call, and all that a rule denies whatever the call", () => {
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 5 }), fc.array(call, { minLength: 1, maxLength: 4 }), (rules, calls) => {
        const policy = createCedarPolicy({ rules });
        const certain = createCedarPolicy({ rules: rules.filter((one) => one.deny !== undefined && !JSON.stringify(one).match(/"(?:args|lane)"/)) });
        for (const one of calls) {
          const seen = policy.visible(one.principal, one.tool, one.spec);
          if (!seen) expect(policy.decide(one).kind).toBe("deny");
          if (certain.decide(one).kind === "deny") expect(seen).toBe(false);
        }
      }),
      { numRuns: 150 },
    );
  });

  test("compiles every rule to Cedar that its schema accepts", () => {
    fc.assert(
      fc.property(fc.array(rule, { minLength: 1, maxLength: 4 }), (rules) => {
        const entries = parseRules(rules).map(policyEntry);
        const answer = validate({ schema: schemaOf(entries), policies: { staticPolicies: Object.fromEntries(entries.map(({ json }, index) => [String(index), json])) } });
        // A rule that can match nothing, such as a tool of two namespaces, is only warned about.
        expect(answer).toMatchObject({ type: "success", validationErrors: [] });
      }),
      { numRuns: 60 },
    );
  });

  test("holds rules and files together, in Cedar as it is shown", () => {
    const policy = ofText('@id("no-drop") @reason("Never") @help("Ask the owner") forbid (principal, action == Action::"call", resource in Namespace::"db") unless { principal in Role::"dba" };', { rules: [{ id: "ok", allow: "db.*" }] });
    expect(policy.decide(facts("db.drop"))).toEqual({ kind: "deny", ruleId: "no-drop", reason: "Never", help: "Ask the owner" });
    expect(policy.decide(facts("db.drop", { principal: { roles: ["dba"] } }))).toEqual({ kind: "allow", ruleId: "ok" });
    expect(policy.inspection.rules().map(({ ruleId, place, verdict }) => [ruleId, place, verdict])).toEqual([["ok", "rules[0]", "allow"], ["no-drop", "policies/a.cedar:1", "deny"], ["default:outflow", "default", "ask"]]);
    const again = ofText(policy.inspection.rules().filter(({ place }) => place !== "default").map(({ cedar }) => cedar).join("\n"));
    expect(again.decide(facts("db.drop"))).toEqual(policy.decide(facts("db.drop")));
  });

  test("asks where an approval would lift what forbids, and says whom", () => {
    const policy = createCedarPolicy({ rules: [{ ask: "crm.pay", reason: "Money leaves", from: "finance", when: { args: { "/amount": { gt: 100 } } } }, { allow: "crm.*" }] });
    expect(policy.decide(facts("crm.pay", { args: { amount: 101 } }))).toEqual({ kind: "ask", ruleId: "rules[0]", reason: "Money leaves", from: "finance" });
    expect(policy.decide(facts("crm.pay", { args: { amount: 100 } }))).toEqual({ kind: "allow", ruleId: "rules[1]" });
  });

  test("knows time and how much a run has done", () => {
    const policy = ofText('@id("late") forbid (principal, action == Action::"call", resource) when { context.now.toTime() >= duration("18h") }; @id("many") forbid (principal, action == Action::"call", resource) when { context.calls >= 10 } unless { context.approved };');
    expect(policy.decide(facts("a.b", { effect: "read", atMs: Date.UTC(2026, 0, 1, 17, 59) })).kind).toBe("allow");
    expect(policy.decide(facts("a.b", { effect: "read", atMs: Date.UTC(2026, 0, 1, 18) }))).toMatchObject({ kind: "deny", ruleId: "late" });
    expect(policy.decide(facts("a.b", { effect: "read", callsBefore: 10 }))).toMatchObject({ kind: "ask", ruleId: "many" });
    expect(policy.decide(facts("a.b", { effect: "read", atMs: Number.NaN }))).toMatchObject({ kind: "deny" });
  });

  test("decides anew when the caller's roles, claims or the tool's declaration change under the same objects", () => {
    const policy = createCedarPolicy({ rules: [{ deny: "a.b", unless: { role: "x" } }, { allow: "a.c", when: { claim: { "/d": "y" } } }] });
    const roles: string[] = ["x"];
    const claims: Record<string, string> = { d: "y" };
    const principal = { ...localPrincipal, roles, claims };
    expect([policy.decide(facts("a.b", { effect: "read", principal })).kind, policy.decide(facts("a.c", { principal })).kind]).toEqual(["allow", "allow"]);
    roles.pop();
    claims["d"] = "z";
    expect([policy.decide(facts("a.b", { effect: "read", principal })).kind, policy.decide(facts("a.c", { principal })).kind]).toEqual(["deny", "ask"]);
  });
});

describe("what cannot be evaluated", () => {
  test("denies, and names the policy: an overflow is no permission, and no missed denial", () => {
    const sum = "context.calls + 9223372036854775807 > 5";
    const permits = ofText(`@id("sum") permit (principal, action == Action::"call", resource) when { ${sum} };`);
    const forbids = ofText(`@id("sum") forbid (principal, action == Action::"call", resource) when { ${sum} };`, { rules: [{ allow: "*" }] });
    for (const policy of [permits, forbids]) {
      expect(policy.decide(facts("a.b", { effect: "read", callsBefore: 1 }))).toEqual({ kind: "deny", ruleId: "sum", reason: expect.stringMatching(/^Policy sum \(policies\/a\.cedar:1\) could not be evaluated: integer overflow/) as string, help: "Whoever keeps the policies has to mend it" });
    }
  });

  test("denies arguments and principals that cannot be handed over unchanged", () => {
    const policy = createCedarPolicy({ rules: [{ allow: "*", when: { args: { "/x": { exists: true } } } }] });
    expect(policy.decide(facts("a.b", { effect: "read", args: { x: "a\ud800" } }))).toMatchObject({ kind: "deny", ruleId: "policy:value", reason: expect.stringContaining("/x holds a text that is not Unicode") as string });
    expect(policy.decide(facts("a.b", { effect: "read", args: { x: Array.from({ length: 1_001 }, () => "a") } }))).toMatchObject({ kind: "deny", reason: expect.stringContaining("more than 1000 items") as string });
    expect(policy.decide(facts("a.b", { effect: "read", principal: { roles: ["admin\udc00"] } }))).toMatchObject({ kind: "deny", ruleId: "policy:value" });
    expect(policy.visible({ ...localPrincipal, user: "\ud800" }, "a.b", spec("read"))).toBe(false);
  });

  test("never throws and never allows by mistake, whatever arguments and claims are", () => {
    const policy = createCedarPolicy({ rules: [{ allow: "*", when: { args: { "/a/b": 1 }, claim: { "/c": "x" } } }, { deny: "z.z" }] });
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }), fc.jsonValue(), (args, claims) => {
        const decision = policy.decide(facts("a.b", { args, principal: { claims: claims as never } }));
        expect(["ask", "deny"]).toContain(decision.kind);
      }),
    );
    let deep: unknown = 1;
    for (let depth = 0; depth < 10_000; depth++) deep = { a: deep };
    expect(policy.decide(facts("a.b", { args: deep })).kind).toBe("ask");
    expect(policy.decide(facts("a.b", { args: { a: Object.assign(Object.create(null), { b: 1 }) }, principal: { claims: { c: "x" } } })).kind).toBe("allow");
    expect(policy.decide(facts("a.b", { args: { a: { __entity: { type: "Role", id: "x" } } }, principal: { claims: { __extn: { fn: "unknown", arg: "c" } } } })).kind).toBe("ask");
  });

  test.each(['a."x', "a.x\n", 'a.Tool::"admin"', "a.é", "a.\u202e", "a.*", "ns.__proto__", "a.constructor", "nodot"])("takes the tool name %j for nothing but a name", (name) => {
    const policy = createCedarPolicy({ rules: [{ allow: "a.x" }, { deny: "a.y" }] });
    expect(policy.decide(facts(name)).kind).toBe("ask");
    expect(policy.visible(localPrincipal, name, spec("write"))).toBe(true);
    const denies = createCedarPolicy({ rules: [{ deny: { tag: 'x"::y' } }] });
    expect(denies.decide(facts(name, { spec: { tags: ['x"::y'] } })).kind).toBe("deny");
    expect(denies.decide(facts(name, { spec: { tags: ["x", "y"] } })).kind).toBe("ask");
  });

  test("sees who may see what of 10,000 tools", () => {
    const policy = createCedarPolicy({ rules: [{ deny: "*.delete_*", unless: { role: "admin" } }, { deny: { tag: "secret" }, unless: { claim: { "/clearance": { gte: 2 } } } }] });
    const tools = Array.from({ length: 10_000 }, (_, n) => ({ name: `ns${n % 20}.${n % 2 === 0 ? "delete" : "get"}_${n}`, spec: spec("write", { tags: n === 1 ? ["secret"] : [] }) }));
    const seen = (principal: Given["principal"]) => tools.filter((tool) => policy.visible({ ...localPrincipal, ...principal }, tool.name, tool.spec)).length;
    expect(seen({})).toBe(4_999);
    expect(seen({ roles: ["admin"] })).toBe(9_999);
    expect(seen({ claims: { clearance: 2 } })).toBe(5_000);
  });
});

describe("files of Cedar", () => {
  test.each([
    ["a wrong word", '\n\n  permitt(principal, action, resource);', /^policies\/a\.cedar:3:3: .*permitt/],
    ["an unknown attribute", 'permit (principal, action == Action::"call", resource) when { resource.naem == "x" };', /^policies\/a\.cedar:1:63: attribute `naem` on entity type `Tool` not found; did you mean `name`\?/],
    ["a wrong effect, behind other letters", '// größer\npermit (principal, action, resource) when { resource in Effect::"wirte" };', /^policies\/a\.cedar:2:57: entity `Effect::"wirte"`.*valid entity eids/],
    ["an argument that is not checked for", 'permit (principal, action == Action::"call", resource) when { context.args["/amount"].kind == "number" };', /unable to guarantee safety of access to optional attribute.*has "\/amount"/],
    ["a call's context without its head", 'permit (principal, action, resource) when { context.calls > 3 };', /attribute `calls` in context for Action::"run" not found; a policy about calls says so in its head/],
    ["a wrong type", 'permit (principal, action == Action::"call", resource) when { context.calls > "3" };', /^policies\/a\.cedar:1:\d+: unexpected type/],
    ["a template", "permit (principal == ?principal, action, resource);", /write policies without slots/],
    ["equal ids", '@id("x") permit (principal, action, resource); @id("x") permit (principal, action, resource);', /"x" is also the id of policies\/a\.cedar:1/],
  ])("are refused for %s, with the place", (_name, text, message) => expect(fault(text)).toMatch(message));

  test("name each policy by its line, in any number", () => {
    const text = Array.from({ length: 25 }, (_, n) => `// ${n}\npermit (principal == User::"u${n}", action, resource);`).join("\n");
    const rules = ofText(text).inspection.rules().filter(({ place }) => place !== "default");
    expect(rules.map(({ place }) => place)).toEqual(Array.from({ length: 25 }, (_, n) => `policies/a.cedar:${n * 2 + 2}`));
    expect(rules.every(({ cedar }, n) => cedar.includes(`"u${n}"`))).toBe(true);
  });
});

describe("the run of a program", () => {
  const run = (given: Partial<RunPolicyFacts> = {}): RunPolicyFacts => ({ principal: localPrincipal, language: "python", lane: "execute", runId: "r", atMs: 0, launcher: "bubblewrap", mounts: [], network: [], packages: [], reach: [], newAgent: false, ...given });

  test("may start unless a rule about runs says otherwise", () => {
    const policy = createCedarPolicy({
      rules: [{ deny: "*" }, { deny: { run: "shell" }, unless: { role: "dev" } }, { ask: { run: "*", network: true }, reason: "It reaches the network" }, { deny: { run: "python", mount: "rw:/data" } }, { deny: { run: ["python", "node"], package: ["pickle"] } }, { deny: { run: "*", launcher: "local-unsafe" }, help: "Use bubblewrap" }, { deny: { run: "node", network: false, lane: "query" } }],
    });
    expect(policy.decideRun(run())).toEqual({ kind: "allow", ruleId: "default:run" });
    expect(policy.decideRun(run({ language: "shell" }))).toMatchObject({ kind: "deny", ruleId: "rules[1]" });
    expect(policy.decideRun(run({ language: "shell", principal: { ...localPrincipal, roles: ["dev"] } })).kind).toBe("allow");
    expect(policy.decideRun(run({ network: ["a.example:443"] }))).toEqual({ kind: "ask", ruleId: "rules[2]", reason: "It reaches the network" });
    expect(policy.decideRun(run({ mounts: ["ro:/data"] })).kind).toBe("allow");
    expect(policy.decideRun(run({ mounts: ["rw:/data"] })).kind).toBe("deny");
    expect(policy.decideRun(run({ packages: ["numpy", "pickle"] })).kind).toBe("deny");
    expect(policy.decideRun(run({ launcher: "local-unsafe" }))).toMatchObject({ kind: "deny", help: "Use bubblewrap" });
    expect(policy.decideRun(run({ language: "node", lane: "query" })).kind).toBe("deny");
  });

  test("may depend on what the program can do with its tools, and on whether its agent is new", () => {
    const policy = createCedarPolicy({ rules: [{ id: "destroys", ask: { run: "*", reach: "destructive" } }, { id: "new", ask: { run: "*", newAgent: true } }, { id: "old", deny: { run: "shell", newAgent: false, reach: ["write", "destructive"] } }] });
    expect(policy.decideRun(run({ reach: ["read", "write"] })).kind).toBe("allow");
    expect(policy.decideRun(run({ reach: ["destructive", "read"] }))).toMatchObject({ kind: "ask", ruleId: "destroys" });
    expect(policy.decideRun(run({ newAgent: true }))).toMatchObject({ kind: "ask", ruleId: "new" });
    expect(policy.decideRun(run({ language: "shell", reach: ["write"] }))).toMatchObject({ kind: "deny", ruleId: "old" });
    expect(policy.decideRun(run({ language: "shell", reach: ["write"], newAgent: true }))).toMatchObject({ kind: "ask", ruleId: "new" });
  });

  test("looks at what agents did only where a rule does, for that is looked up in the journal", () => {
    const looks = (policy: Policy): boolean | undefined => policy.looksAtAgents;
    expect(looks(createCedarPolicy({ rules: [{ ask: { run: "*", reach: "write" } }, { allow: "a.*" }] }))).toBe(false);
    expect(looks(createCedarPolicy({ rules: [{ ask: { run: "*" }, unless: { newAgent: false } }] }))).toBe(true);
    expect(looks(ofText('permit (principal, action == Action::"run", resource) when { !context.newAgent };'))).toBe(true);
  });

  test("is what a Cedar file can be about, too", () => {
    const policy = ofText('@id("no-py") forbid (principal, action == Action::"run", resource == Language::"python") when { context.launcher != "docker" || !context.network.isEmpty() };');
    expect(policy.decideRun(run())).toMatchObject({ kind: "deny", ruleId: "no-py" });
    expect(policy.decideRun(run({ launcher: "docker" })).kind).toBe("allow");
  });
});

describe("observe", () => {
  test("stops and hides nothing, and says what would have been", () => {
    const rules: readonly PolicyRule[] = [{ deny: "a.b", id: "no", reason: "Closed" }];
    const [enforced, observed] = [createCedarPolicy({ rules }), createCedarPolicy({ rules, mode: "observe" })];
    expect(observed.decide(facts("a.b"))).toEqual({ kind: "allow", ruleId: "no", unobserved: enforced.decide(facts("a.b")) });
    expect(observed.decide(facts("a.c"))).toMatchObject({ kind: "allow", ruleId: "default:write", unobserved: { kind: "ask" } });
    expect(observed.visible(localPrincipal, "a.b", spec("write"))).toBe(true);
    expect(observed.version).not.toBe(enforced.version);
    // The explanation is of the policy, whether it is enforced or not.
    expect(observed.inspection.explain(facts("a.b"))).toMatchObject({ decision: { kind: "deny" }, visible: false });
  });
});

describe("labels that reached a run", () => {
  const out = (given: Given = {}): PolicyFacts => facts("web.search", { effect: "read", taint: ["private", "untrusted"], ...given, spec: { labels: ["external"], ...given.spec } });

  test("what sends something out is asked about once private data and untrusted content were read, whatever else allows it", () => {
    const policy = createCedarPolicy({ rules: [{ allow: "web.*" }] });
    expect(policy.decide(out())).toEqual({ kind: "ask", ruleId: "default:outflow", reason: "Private data and untrusted content have both been read before this call, which sends something out" });
    for (const given of [{ taint: [] }, { taint: ["private"] }, { taint: ["untrusted"] }, { spec: { labels: ["private"] } }]) expect(policy.decide(out(given)).kind).toBe("allow");
    expect(createCedarPolicy({ rules: [{ deny: "web.*" }] }).decide(out()).kind).toBe("deny");
    expect(policy.visible(localPrincipal, "web.search", spec("read", { labels: ["external"] }))).toBe(true);
    expect(policy.inspection.explain(out()).help).toContain("where nothing labelled private or untrusted was read before it would be allowed");
  });

  test("it is left out only by a name that says so, which is another version of the policy", () => {
    const [held, unsafe] = [createCedarPolicy({}), createCedarPolicy({ unsafeWithoutOutflowRule: true })];
    expect([held.decide(out()).kind, unsafe.decide(out()).kind]).toEqual(["ask", "allow"]);
    expect(unsafe.version).not.toBe(held.version);
    expect(unsafe.inspection.rules()).toEqual([]);
  });

  test("rules and Cedar files can look at them", () => {
    const rules: PolicyRule[] = [{ deny: "crm.*", when: { taint: ["secret", "untrusted"] } }, { allow: "crm.*" }];
    const cedar = ofText('forbid (principal, action == Action::"call", resource in Namespace::"crm") when { context.taint.contains("untrusted") };\npermit (principal, action == Action::"call", resource);');
    for (const policy of [createCedarPolicy({ rules }), cedar]) expect([[], ["private"], ["untrusted"]].map((taint) => policy.decide(facts("crm.pay", { taint })).kind)).toEqual(["allow", "allow", "deny"]);
    expect(() => createCedarPolicy({ rules: [{ ask: { run: "python" }, when: { taint: "private" } }] })).toThrow(/"taint"/);
  });
});
