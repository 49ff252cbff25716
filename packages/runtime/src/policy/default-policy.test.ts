import { localPrincipal } from "@callgate/contract";
import type { Label, PolicyFacts, ToolSpec } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { createDefaultPolicy, isOutflow } from "./default-policy.ts";

function factsOf({ effect = "read", labels = [], taint = [] }: { readonly effect?: ToolSpec["effect"]; readonly labels?: readonly Label[]; readonly taint?: readonly Label[] }): PolicyFacts {
  const spec: ToolSpec = { name: "pay", description: "Pays", input: true, effect, tags: [], permissions: [], labels, version: "1", timeoutMs: 1000, examples: [], errors: [] };
  return { principal: localPrincipal, tool: "crm.pay", namespace: "crm", spec, args: {}, lane: "execute", runId: "run_1", callsBefore: 0, taint, atMs: 0 };
}

describe("createDefaultPolicy", () => {
  const policy = createDefaultPolicy();

  test.each([
    [{ effect: "read" }, { kind: "allow", ruleId: "default:read" }],
    [{ effect: "write" }, { kind: "ask", ruleId: "default:write", reason: "crm.pay may change data, and no rule allows it" }],
    [{ effect: "destructive" }, { kind: "ask", ruleId: "default:destructive", reason: "crm.pay may destroy data for good, and no rule allows it" }],
    [{ effect: "read", labels: ["external"], taint: ["private", "untrusted"] }, { kind: "ask", ruleId: "default:outflow", reason: "Private data and untrusted content have both been read before this call, which sends something out" }],
  ] as const)("decides about a call that is %j", (call, decision) => {
    expect(policy.decide(factsOf(call))).toEqual(decision);
  });

  test("lets programs run and hands results on: what they call is decided call by call", () => {
    const { principal, lane, runId, atMs, ...facts } = factsOf({ effect: "destructive" });
    expect(policy.decideRun({ principal, lane, runId, atMs, language: "shell", launcher: "quickjs", mounts: [], network: [], packages: [], reach: [], newAgent: false })).toEqual({ kind: "allow", ruleId: "default:run" });
    expect(policy.decideResult({ principal, lane, runId, atMs, ...facts, result: 1 })).toEqual({ kind: "allow", ruleId: "default:result" });
  });

  test("hides nothing, says its version, and has no rules to find fault with", () => {
    const { spec } = factsOf({});
    expect([policy.version, policy.visible(localPrincipal, "crm.pay", spec), policy.mayReach(localPrincipal, "crm")]).toEqual(["default", true, true]);
    expect([policy.inspection.mode, policy.inspection.rules(), policy.inspection.findings([])]).toEqual(["enforce", [], []]);
  });

  test("explains with the rule that would help, where one is needed", () => {
    expect(policy.inspection.explain(factsOf({}))).toEqual({ decision: { kind: "allow", ruleId: "default:read" }, visible: true, considered: [], help: [] });
    expect(policy.inspection.explain(factsOf({ effect: "write" }))).toEqual({ decision: expect.objectContaining({ kind: "ask", ruleId: "default:write" }) as object, visible: true, considered: [], help: ['A rule that allows it: { "allow": "crm.pay" }'] });
  });
});

describe("isOutflow", () => {
  test.each([
    [["external"], ["private", "untrusted"], true],
    [["external"], ["untrusted", "own", "private"], true],
    [["external"], ["private"], false],
    [["external"], ["untrusted"], false],
    [["external"], [], false],
    [[], ["private", "untrusted"], false],
    [["private", "untrusted"], ["private", "untrusted", "external"], false],
  ] as const)("takes all three: labels %j, read before %j: %s", (labels, taint, expected) => {
    expect(isOutflow(factsOf({ labels, taint }))).toBe(expected);
  });
});
