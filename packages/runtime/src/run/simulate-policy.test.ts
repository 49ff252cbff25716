import type { Label, Policy, PolicyDecision, PolicyFacts, ResultPolicyFacts, RunPolicyFacts } from "@callgate/contract";
import { testPolicy } from "@callgate/testkit";
import { afterEach, expect, test } from "vitest";
import { createTestGate } from "./fixtures/test-gate.ts";
import type { TestGate, TestTool } from "./fixtures/test-gate.ts";

const open: TestGate[] = [];
afterEach(async () => {
  for (const { gate } of open.splice(0).reverse()) await gate.close();
});

const asks = (ruleId: string): PolicyDecision => ({ kind: "ask", ruleId, reason: "look" });
const allows: PolicyDecision = { kind: "allow", ruleId: "test" };

interface Deciding {
  readonly call?: (facts: PolicyFacts) => PolicyDecision;
  readonly result?: (facts: ResultPolicyFacts) => PolicyDecision;
  readonly run?: (facts: RunPolicyFacts) => PolicyDecision;
}

function policyOf({ call = () => allows, result = () => allows, run = () => allows }: Deciding): Policy {
  const policy = testPolicy();
  return { ...policy, looksAtAgents: true, decide: call, decideResult: result, decideRun: run, inspection: { ...policy.inspection, explain: (facts) => ({ decision: call(facts), visible: true, considered: [], help: [] }) } };
}

const tools = (labels: readonly Label[] = []): readonly TestTool[] => [
  { name: "mail", labels, handler: () => ({ text: "hello" }) },
  { name: "take", effect: "write", input: { type: "object", properties: { count: { type: "number" }, unit: { type: "string" } }, required: ["count"] }, parseInput: (value) => ({ kind: "ok", value: { unit: "piece", ...(value as object) } }), handler: (args) => args },
];

/** What the first policy let happen, and what the second says of it. */
async function simulated({ before = {}, after, labels, erase = false }: { readonly before?: Deciding; readonly after: Deciding; readonly labels?: readonly Label[]; readonly erase?: boolean }) {
  const first = await createTestGate(tools(), { policy: policyOf(before) });
  open.push(first);
  const { runId } = await first.gate.run(`import { t } from "tools"; await t.take({ count: 1 }); await t.mail({}); try { await t.take({ count: 500 }); } catch {} return 1;`);
  if (erase) await first.gate.runs.erase(runId);
  const second = await createTestGate(tools(labels), { policy: policyOf(after), wrapJournal: () => first.journal });
  open.push(second);
  const { changes, ...counts } = await second.gate.policy.simulate({ runs: 10 });
  return { runId, counts, changes: changes.map((change) => [change.about, change.about === "program" ? change.runId : change.callId, change.before.decision, change.after.kind, change.after.ruleId]) };
}

test("results are decided about again, as programs would get them", async () => {
  const { runId, changes, counts } = await simulated({ after: { result: ({ tool, result }) => (tool === "t.take" && (result as { count: number }).count > 100 ? asks("large") : allows) } });
  expect(changes).toEqual([["result", `${runId}.2`, "allow", "ask", "large"]]);
  expect(counts).toEqual({ runs: 1, programs: 1, calls: 3, results: 3, leftOut: 0 });
});

test("one that was withheld without a question is not kept, so nothing is said of it; no result is looked for where the call is denied", async () => {
  const withheld = await simulated({ before: { result: ({ tool, result }) => (tool === "t.take" && (result as { count: number }).count > 100 ? { kind: "deny", ruleId: "large", reason: "no" } : allows) }, after: {} });
  expect([withheld.changes, withheld.counts]).toEqual([[], { runs: 1, programs: 1, calls: 3, results: 2, leftOut: 1 }]);
  const denied = await simulated({ after: { call: ({ tool }) => (tool === "t.take" ? { kind: "deny", ruleId: "none", reason: "no" } : allows), result: () => asks("all") } });
  expect(denied.changes).toEqual([["call", `${denied.runId}.0`, "allow", "deny", "none"], ["result", `${denied.runId}.1`, "allow", "ask", "all"], ["call", `${denied.runId}.2`, "allow", "deny", "none"]]);
});

test("arguments are as the tool gets them, with its defaults", async () => {
  const { runId, changes } = await simulated({ after: { call: ({ args }) => ((args as { unit?: string }).unit === "piece" ? asks("pieces") : allows) } });
  expect(changes.map(([about, callId]) => [about, callId])).toEqual([["call", `${runId}.0`], ["call", `${runId}.2`]]);
});

test("labels that a tool has now have reached the calls and results after its answer, and none before", async () => {
  const tainted = (ruleId: string) => ({ tool, taint }: PolicyFacts): PolicyDecision => (tool === "t.take" && taint.includes("untrusted") ? asks(ruleId) : allows);
  const { runId, changes } = await simulated({ labels: ["untrusted"], after: { call: tainted("call"), result: tainted("result") } });
  expect(changes).toEqual([["call", `${runId}.2`, "allow", "ask", "call"], ["result", `${runId}.2`, "allow", "ask", "result"]]);
});

test("programs are decided about again: what they reach, whether the agent was new by then, and what was said of them before", async () => {
  const reached = await simulated({ after: { run: ({ reach }) => (reach.includes("write") ? asks("writes") : allows) } });
  expect(reached.changes).toEqual([["program", reached.runId, "allow", "ask", "writes"]]);
  const refused = await simulated({ before: { run: () => ({ kind: "deny", ruleId: "none", reason: "no" }) }, after: {} });
  // What a refused program could reach is not on record.
  expect([refused.changes, refused.counts]).toEqual([[], { runs: 1, programs: 0, calls: 0, results: 0, leftOut: 1 }]);
});

test("of what is erased nothing is said, and that is told", async () => {
  const { counts } = await simulated({ erase: true, after: { call: () => asks("all"), result: () => asks("all") } });
  expect(counts).toEqual({ runs: 1, programs: 1, calls: 0, results: 0, leftOut: 6 });
});
