import type { Policy, PolicyFacts } from "@callgate/contract";
import { testPolicy } from "@callgate/testkit";
import { afterEach, describe, expect, test } from "vitest";
import { createTestGate } from "./fixtures/test-gate.ts";
import type { TestGate, TestTool } from "./fixtures/test-gate.ts";

const open: TestGate[] = [];
afterEach(async () => {
  for (const { gate } of open.splice(0).reverse()) await gate.close();
});

/** Asks about everything, and keeps the facts it was asked with. */
function askingPolicy(): { readonly policy: Policy; readonly seen: PolicyFacts[] } {
  const seen: PolicyFacts[] = [];
  const policy = testPolicy();
  const decide = (facts: PolicyFacts) => {
    seen.push(facts);
    return { kind: "ask", ruleId: "all", reason: "look" } as const;
  };
  return { seen, policy: { ...policy, decide, decideResult: decide, inspection: { ...policy.inspection, explain: (facts) => ({ decision: decide(facts), visible: true, considered: [], help: [] }) } } };
}

const take: TestTool = {
  name: "take",
  effect: "write",
  input: { type: "object", properties: { count: { type: "number" }, unit: { type: "string" } }, required: ["count"] },
  parseInput: (value) => (JSON.stringify(value).includes("666") ? Promise.reject(new Error("it broke")) : { kind: "ok", value: { unit: "piece", ...(value as object) } }),
  handler: (args) => args,
};

async function gateWith(tools: readonly TestTool[]) {
  const { policy, seen } = askingPolicy();
  const made = await createTestGate(tools, { policy });
  open.push(made);
  return { policy: made.gate.policy, seen };
}

describe("explaining a call that was not made", () => {
  test("arguments are as the tool gets them, with its defaults, for the call and for its result", async () => {
    const { policy, seen } = await gateWith([take]);
    expect(await policy.explain("t.take", { count: 1 })).toEqual({ decision: { kind: "ask", ruleId: "all", reason: "look" }, visible: true, considered: [], help: [] });
    expect(await policy.explainResult("t.take", { args: { count: 2 }, result: 7 })).toEqual({ decision: { kind: "ask", ruleId: "all", reason: "look" } });
    expect(seen.map(({ args }) => args)).toEqual([{ count: 1, unit: "piece" }, { count: 2, unit: "piece" }]);
  });

  test("arguments that do not fit are decided about as they are, and the explanation says that no rule would be asked", async () => {
    const { policy, seen } = await gateWith([take]);
    const missing = [{ path: "", message: 'missing property "count" (number)' }];
    expect(await policy.explain("t.take", {})).toMatchObject({ decision: { kind: "ask" }, issues: missing });
    expect(await policy.explainResult("t.take", { args: {}, result: 7 })).toMatchObject({ decision: { kind: "ask" }, issues: missing });
    expect(await policy.explain("t.take", { count: 666 })).toMatchObject({ issues: [{ path: "", message: "the tool's own schema could not judge them" }] });
    expect(seen.map(({ args }) => args)).toEqual([{}, {}, { count: 666 }]);
  });

  test("the reading lane refuses what may write, whatever the policy says, as it does at the call", async () => {
    const { policy } = await gateWith([take, { name: "look", handler: () => 1 }]);
    expect(await policy.explain("t.take", { count: 1 }, { lane: "query" })).toMatchObject({ decision: { kind: "deny", ruleId: "lane:query" }, visible: true, help: ["Use the execute lane for programs that write"] });
    expect(await policy.explain("t.look", {}, { lane: "query" })).toMatchObject({ decision: { kind: "ask", ruleId: "all" } });
    expect(await policy.explain("t.none", {})).toBeUndefined();
    expect(await policy.explainResult("t.none", { args: {}, result: 1 })).toBeUndefined();
  });
});
