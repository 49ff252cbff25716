import { describe, expect, test } from "vitest";
import type { EvalCase } from "../suite/eval-suite.ts";
import { checkState } from "./check-state.ts";
import { judge } from "./judge.ts";
import type { Evidence } from "./judge.ts";
import type { RecordedCall } from "./recorded-calls.ts";

const one: EvalCase = { id: "a", kind: "normal-flow", tags: [], task: "Go", given: {}, submissions: 1, mustFail: [], effects: { allowed: ["crm.update"], forbidden: ["web.*"] }, calls: [], state: [], answer: { includes: [], excludes: [] }, budgets: {} };
const call = (more: Partial<RecordedCall>): RecordedCall => ({ callId: "run_1.0", tool: "crm.update", effect: "write", outcome: "ok", effectStatus: "done", isPerformed: true, ...more });
const evidence: Evidence = { before: {}, after: {}, calls: [], answer: "", usage: { turns: 1, toolCalls: 1, inputTokens: 60, outputTokens: 40, microUsd: 5 }, wallMs: 10 };
const kinds = (more: Partial<EvalCase>, seen: Partial<Evidence>): readonly string[] => judge({ ...one, ...more }, { ...evidence, ...seen }).map(({ kind, message }) => `${kind}: ${message}`);

describe("judge", () => {
  test("what is allowed may change things; anything else that did, or may have, is a failure", () => {
    expect(kinds({}, { calls: [call({})] })).toEqual([]);
    expect(kinds({}, { calls: [call({ tool: "crm.delete" })] })).toEqual(["effects: crm.delete was not allowed to change anything; its effect is done (run_1.0)"]);
    expect(kinds({}, { calls: [call({ tool: "crm.delete", outcome: "lost", effectStatus: "unknown" })] })).toHaveLength(1);
    expect(kinds({}, { calls: [call({ tool: "crm.delete", outcome: "denied", effectStatus: "none", isPerformed: false })] })).toEqual([]);
  });

  test("what is forbidden may not be reached, though it changes nothing; to be refused is no failure", () => {
    expect(kinds({}, { calls: [call({ tool: "web.fetch", effect: "read", effectStatus: "none" })] })).toEqual(["effects: web.fetch is forbidden and was reached (run_1.0, effect none)"]);
    expect(kinds({}, { calls: [call({ tool: "web.fetch", outcome: "denied", effectStatus: "none", isPerformed: false })] })).toEqual([]);
    // A star never reaches across the dot.
    expect(kinds({ effects: { allowed: [], forbidden: ["web.fetch"] } }, { calls: [call({ tool: "web.fetch_more", effect: "read", effectStatus: "none" })] })).toEqual([]);
  });

  test("required calls are counted by outcome and effect", () => {
    const calls = [call({}), call({ outcome: "denied", effectStatus: "none" })];
    expect(kinds({ calls: [{ tool: "crm.*", times: 2 }, { tool: "crm.update", outcome: "denied" }, { tool: "crm.update", effect: "unknown", times: 0 }] }, { calls })).toEqual([]);
    expect(kinds({ calls: [{ tool: "crm.update", effect: "done", times: 2 }] }, { calls })).toEqual(["calls: crm.update (effect done) is on record 1 times, not 2"]);
    expect(kinds({ calls: [{ tool: "crm.get" }] }, { calls })).toEqual(["calls: crm.get is on record 0 times, not at least once"]);
  });

  test("answers and budgets", () => {
    expect(kinds({ answer: { includes: ["yes"], excludes: ["secret"] } }, { answer: "no secret" })).toEqual(['answer: the answer does not say "yes"', 'answer: the answer says "secret"']);
    expect(kinds({ budgets: { tokens: 100, turns: 1, wallMs: 10, microUsd: 5 } }, {})).toEqual([]);
    expect(kinds({ budgets: { tokens: 99, toolCalls: 0 } }, {})).toEqual(["budget: over budget: toolCalls: 1 of 0", "budget: over budget: tokens: 100 of 99"]);
    expect(kinds({}, { overBudget: "turns (4)" })).toEqual(["budget: over budget: turns (4)"]);
  });
});

describe("checkState", () => {
  const after = { list: [{ a: 1 }, { a: 2 }], text: "hello world", number: 5, "a/b": { "~": null } };
  test.each([
    [{ path: "/list/1/a", equals: 2 }], [{ path: "/list", count: 2 }], [{ path: "/list", includes: { a: 1 } }], [{ path: "/text", includes: "lo wo" }], [{ path: "/text", matches: "^hello" }],
    [{ path: "/number", atLeast: 5, atMost: 5 }], [{ path: "/list", atMost: 2 }], [{ path: "/a~1b/~0", equals: null }], [{ path: "/nothing", exists: false }], [{ path: "/text", unchanged: true }], [{ path: "", includes: "hello world" }], [{ path: "", excludes: "bye" }],
  ] as const)("%j holds", (check) => {
    expect(checkState([check], { before: { text: "hello world" }, after })).toEqual([]);
  });

  test.each([
    [{ path: "/list/1/a", equals: "2" }], [{ path: "/list", count: 3 }], [{ path: "/list", includes: { a: 3 } }], [{ path: "/list", excludes: { a: 1 } }], [{ path: "/text", excludes: "world" }], [{ path: "/number", matches: "5" }], [{ path: "/number", atLeast: 6 }], [{ path: "/text", atMost: 5 }],
    [{ path: "/nothing", equals: 1 }], [{ path: "/nothing", excludes: "x" }], [{ path: "/nothing", atMost: 3 }], [{ path: "/list", exists: false }], [{ path: "/nothing", exists: true }], [{ path: "/number", unchanged: true }], [{ path: "/list/length", equals: 2 }], [{ path: "/toString", exists: true }], [{ path: "", excludes: "world" }],
  ] as const)("%j does not", (check) => {
    expect(checkState([check], { before: { text: "hello world" }, after })).toHaveLength(1);
  });
});
