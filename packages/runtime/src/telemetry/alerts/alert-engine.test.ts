import { localPrincipal } from "@callgate/contract";
import type { JsonValue, OutcomeKind, PendingApproval } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { createAlertEngine } from "./alert-engine.ts";
import { defaultAlertRules } from "./alert-rules.ts";
import type { Alert } from "./alert-rules.ts";

const minute = 60_000;

/** An engine, and calls in a line: one a second. */
function engine() {
  const made = createAlertEngine(defaultAlertRules);
  let atMs = 0;
  const of = (tool: string, user = "ann") => ({ atMs: (atMs += 1_000), runId: "r", callId: "r.0", tool, principal: { ...localPrincipal, user } });
  return {
    made,
    wait: (ms: number) => void (atMs += ms),
    ends: (tool: string, outcome: OutcomeKind, times = 1, user?: string): readonly Alert[] => Array.from({ length: times }).flatMap(() => made.observe({ kind: "ended", ...of(tool, user), outcome })),
    asks: (tool: string, args: JsonValue): readonly Alert[] => made.observe({ kind: "asked", ...of(tool), args }),
  };
}

const told = (alerts: readonly Alert[]) => alerts.map(({ ruleId, subject, message }) => [ruleId, subject, message]);

describe("alerts", () => {
  test("timeouts, denials and limits are counted within their time, each of its own subject, and told once", () => {
    const { ends, wait } = engine();
    expect(ends("crm.find", "timed_out", 4)).toEqual([]);
    wait(11 * minute);
    expect(ends("crm.find", "timed_out", 4)).toEqual([]);
    expect(ends("mail.send", "timed_out", 4)).toEqual([]);
    expect(told(ends("crm.list", "timed_out", 3))).toEqual([["timeouts", "crm", "5 calls of crm ran into their deadline within 10 minutes"]]);
    expect(told(ends("z.a", "denied", 9, "ann"))).toEqual([]);
    expect(told(ends("b.b", "denied", 2, "ann"))).toEqual([["denials", "local/ann", "10 calls of local/ann were denied within 10 minutes"]]);
    expect(told(ends("c.c", "limit_exceeded", 30))).toEqual([["limits", "c", "20 calls of c were over a limit within 10 minutes"]]);
    wait(61 * minute);
    expect(told(ends("crm.list", "timed_out", 6)).map(([rule]) => rule)).toEqual(["timeouts"]);
  });

  test("a rate says something from enough calls on", () => {
    const { ends } = engine();
    expect(ends("crm.find", "failed", 9)).toEqual([]);
    expect(told(ends("crm.find", "failed"))).toEqual([["failures", "crm", "100 % of the calls of crm failed within 10 minutes"]]);
    const other = engine();
    other.ends("crm.find", "ok", 30);
    expect(other.ends("crm.find", "failed", 29)).toEqual([]);
    expect(told(other.ends("crm.find", "failed"))).toEqual([["failures", "crm", "50 % of the calls of crm failed within 10 minutes"]]);
  });

  test("calls that do not match their schema three times as often as usual", () => {
    const { ends, wait } = engine();
    for (let round = 0; round < 10; round += 1) {
      ends("crm.find", "ok", 9);
      ends("crm.find", "invalid_input");
      wait(11 * minute);
    }
    expect(ends("crm.find", "ok", 14)).toEqual([]);
    expect(ends("crm.find", "invalid_input", 5)).toEqual([]); // 26 %: under three times the usual 10 %.
    expect(told(ends("crm.find", "invalid_input", 4))).toEqual([["validation", "crm.find", expect.stringMatching(/^Calls of crm\.find did not match its schema 3\.\d times as often as usual within 10 minutes$/)]]);
  });

  test("an argument unlike those before: its place is told, never its value", () => {
    const { asks } = engine();
    const usual = (n: number): JsonValue => ({ amount: 10 + ((n * 17) % 40), currency: n % 2 === 0 ? "EUR" : "USD", note: `note number ${(n * 37) % 1_000}`, id: n, items: [{ n: (n * 3) % 7 }] });
    for (let n = 0; n < 60; n += 1) expect(asks("crm.pay", usual(n))).toEqual([]);
    expect(told(asks("crm.pay", { ...(usual(60) as object), amount: 999_999, items: [{ n: 3 }, { n: 500 }] }))).toEqual([
      ["parameters", "crm.pay /amount", "crm.pay was called with a number outside of the range so far at /amount, unlike 60 calls before"],
      ["parameters", "crm.pay /items/*/n", "crm.pay was called with a number outside of the range so far at /items/*/n, unlike 60 calls before"],
    ]);
    expect(told(asks("crm.pay", { ...(usual(61) as object), currency: "XMR" })).map(([, subject]) => subject)).toEqual(["crm.pay /currency"]);
    expect(told(asks("crm.pay", { ...(usual(62) as object), note: "x".repeat(5_000) })).map(([, subject]) => subject)).toEqual(["crm.pay /note"]);
    expect(asks("crm.other", { amount: 999_999 })).toEqual([]);
    expect(JSON.stringify(told(asks("crm.pay", { amount: -1, currency: "CANARY" })))).not.toContain("CANARY");
  });

  test("a question that nobody answers", () => {
    const { made } = engine();
    const pending = { question: { approvalId: "apr_1", tool: "crm.pay", runId: "r", callId: "r.0" }, askedAtMs: 0 } as PendingApproval;
    expect(made.waiting([pending], 59 * minute)).toEqual([]);
    expect(told(made.waiting([pending], 75 * minute))).toEqual([["approvals", "apr_1", "Nobody has answered apr_1 (crm.pay) for 75 minutes"]]);
    expect(made.waiting([pending], 80 * minute)).toEqual([]);
  });

  test("what is only learned from is not told", () => {
    const { made, ends, asks } = engine();
    for (let n = 0; n < 20; n += 1) expect(made.observe({ kind: "ended", atMs: n, runId: "r", callId: "r.0", tool: "a.b", principal: localPrincipal, outcome: "timed_out" }, true)).toEqual([]);
    for (let n = 0; n < 60; n += 1) made.observe({ kind: "asked", atMs: n, runId: "r", callId: "r.0", tool: "a.b", principal: localPrincipal, args: { n: (n * 3) % 5 } }, true);
    expect(told(asks("a.b", { n: 50 })).map(([rule]) => rule)).toEqual(["parameters"]);
    expect(told(ends("a.b", "timed_out")).map(([rule]) => rule)).toEqual(["timeouts", "failures"]);
  });
});
