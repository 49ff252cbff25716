import { encodeValue, localPrincipal } from "@callgate/contract";
import type { ApprovalAnswer, Approver } from "@callgate/contract";
import { virtualClock } from "@callgate/testkit";
import { describe, expect, test } from "vitest";
import { digestOfWire } from "../lib/digest.ts";
import { createApprovals } from "./approvals.ts";
import type { AskOptions, KeptAnswers, Operation } from "./approvals.ts";
import { callbackApprover, denyingApprover, keepingApprover } from "./approvers.ts";

const operation: Operation = {
  principal: localPrincipal,
  runId: "run_1",
  callId: "call_1",
  tool: "crm.pay",
  definitionDigest: "sha256:d1",
  argsDigest: "sha256:a1",
  argsSummary: { amount: 5 },
  effect: "write",
  policyVersion: "rules:1",
  ruleId: "rules[0]",
  reason: "It asks",
};

const never = new AbortController().signal;

function desk(answer: () => unknown = () => ({ kind: "approved", by: "ann" })) {
  const clock = virtualClock(0);
  let asked = 0;
  let ids = 0;
  const approver: Approver = { ask: async () => { asked += 1; return (await answer()) as ApprovalAnswer; } };
  const approvals = createApprovals({ approver, clock, newId: (prefix) => `${prefix}_${++ids}`, rules: { expiryMs: 1000 } });
  const ask = (signal = never) => approvals.ask(approvals.pose(operation), { signal });
  return { clock, approvals, ask, asked: () => asked };
}

describe("createApprovals", () => {
  test("binds a question to its operation, gives it an id and an end", () => {
    const question = desk().approvals.pose(operation);
    expect(question).toEqual({ ...operation, approvalId: "apr_1", expiresAtMs: 1000 });
    expect(Object.isFrozen(question)).toBe(true);
  });

  test("takes an answer that is there without asking, and denies a question whose time is over", async () => {
    const { approvals, asked, clock } = desk();
    const question = approvals.pose(operation);
    const answer = { kind: "approval" as const, approvalId: "apr_1", approved: true, by: "bea", atMs: 5 };
    expect(await approvals.ask(question, { signal: never, answer })).toEqual({ kind: "approved", approvalId: "apr_1", by: "bea" });
    expect(approvals.redeem("apr_1", operation)).toEqual({ kind: "redeemed" });
    await clock.advance(1000);
    expect(await approvals.ask(question, { signal: never })).toMatchObject({ kind: "denied", by: "nobody", reason: "Nobody answered in time" });
    expect(asked()).toBe(0);
  });

  test("keeps a question that is answered later, and what was denied in an earlier stretch of the run", async () => {
    const { approvals, ask } = desk(() => ({ kind: "pending" }));
    expect(await ask()).toEqual({ kind: "pending", approvalId: "apr_1" });
    expect(approvals.deniedBefore(operation)).toBeUndefined();
    approvals.remember(operation, "bea already refused it in this run: no");
    expect(approvals.deniedBefore(operation)).toBe("bea already refused it in this run: no");
  });

  test("br-015: an approval is used once", async () => {
    const { approvals, ask } = desk();
    const { approvalId } = await ask();
    expect(approvals.redeem(approvalId, operation)).toEqual({ kind: "redeemed" });
    expect(approvals.redeem(approvalId, operation)).toEqual({ kind: "refused", reason: "There is no such approval, or it was used already" });
  });

  test.each<[string, Partial<Operation>]>([
    ["who asks", { principal: { ...localPrincipal, user: "bob" } }],
    ["the run", { runId: "run_2" }],
    ["the call", { callId: "call_2" }],
    ["the tool", { tool: "crm.refund" }],
    ["the tool's definition", { definitionDigest: "sha256:d2" }],
    ["the arguments", { argsDigest: "sha256:a2" }],
    ["the policy", { policyVersion: "rules:2" }],
  ])("br-015: an approval is refused when %s has changed, and is spent by that", async (words, change) => {
    const { approvals, ask } = desk();
    const { approvalId } = await ask();
    expect(approvals.redeem(approvalId, { ...operation, ...change })).toEqual({ kind: "refused", reason: `Since it was approved, this has changed: ${words}` });
    expect(approvals.redeem(approvalId, operation).kind).toBe("refused");
  });

  test("br-015: an approval is refused after its expiry", async () => {
    const { approvals, ask, clock } = desk();
    const { approvalId } = await ask();
    await clock.advance(1000);
    expect(approvals.redeem(approvalId, operation)).toEqual({ kind: "refused", reason: "The approval has expired" });
  });

  test("names everything that has changed", async () => {
    const { approvals, ask } = desk();
    expect(approvals.redeem((await ask()).approvalId, { ...operation, runId: "run_2", policyVersion: "rules:2" })).toEqual({ kind: "refused", reason: "Since it was approved, this has changed: the run, the policy" });
  });

  test("performs the arguments that were kept with an answer; where they are not kept any more it is none", async () => {
    const { approvals } = desk();
    const wire = encodeValue({ amount: 3 });
    const args = { digest: digestOfWire(wire), summary: null };
    const answer = { kind: "approval" as const, approvalId: "apr_1", approved: true, by: "bea", atMs: 5 };
    const question = approvals.pose(operation);
    expect(await approvals.ask(question, { signal: never, answer: { ...answer, args: { ...args, clear: wire } } })).toEqual({ kind: "approved", approvalId: "apr_1", by: "bea", args: wire });
    expect(await approvals.ask(question, { signal: never, answer: { ...answer, args } })).toEqual({ kind: "denied", approvalId: "apr_1", by: "nobody", reason: "An answer in the name of bea does not count: the arguments given with it are not kept any more", refused: { by: "bea", why: "the arguments given with it are not kept any more" } });
  });

  test("keeps a signed answer as it is signed where it counts, and judges one that does not", async () => {
    const signed = { kind: "approval" as const, approvalId: "apr_1", approved: true, by: "bea", atMs: 5 };
    const said: unknown[] = [];
    const kept: KeptAnswers = { keep: () => expect.fail("kept as unsigned"), keepSigned: (_question, signal) => { said.push(signal); return Promise.resolve({ kind: "kept", signal: { ...signal, by: "carol" } }); }, elsewhere: () => new Promise(() => undefined) };
    const answered = (signal: unknown, more: Partial<AskOptions> = {}) => { const { approvals } = desk(() => ({ kind: "signed", signal })); return approvals.ask(approvals.pose(operation), { signal: never, ...more }); };
    expect(await answered(signed)).toEqual({ kind: "approved", approvalId: "apr_1", by: "bea" });
    expect(await answered(signed, { kept })).toEqual({ kind: "approved", approvalId: "apr_1", by: "carol" });
    expect(await answered({ ...signed, by: "local" }, { kept })).toMatchObject({ kind: "denied", by: "nobody", refused: { by: "local" } });
    expect(said).toEqual([signed]);
    for (const nonsense of [undefined, null, "yes", { by: "bea" }, { approved: "yes", by: "bea" }, { approved: true }, { approved: true, by: 7 }]) expect(await answered(nonsense)).toMatchObject({ kind: "denied", by: "nobody", reason: "The approver gave no valid answer" });
  });

  test("what somebody said whose answer does not count is not remembered as a denial; a word about a call is judged as answers are", async () => {
    const { approvals, ask } = desk(() => ({ kind: "denied", by: "local" }));
    expect(await ask()).toMatchObject({ kind: "denied", refused: { by: "local" } });
    expect(approvals.deniedBefore(operation)).toBeUndefined();
    const strict = createApprovals({ approver: denyingApprover(), clock: virtualClock(0), newId: () => "apr_1", rules: { keys: [{ by: "ann", keyId: "k", verify: () => false }] } });
    const word = { kind: "resolution" as const, callId: "call_1", attempt: 1, happened: true, by: "bob", atMs: 1 };
    expect([approvals.wordRefusal(word), strict.wordRefusal(word)]).toEqual([undefined, "it is not signed, and this gate takes signed answers only"]);
  });

  test("refuses ids that were never given, or whose question was denied", async () => {
    const { approvals, ask } = desk(() => ({ kind: "denied", by: "ann" }));
    const { approvalId } = await ask();
    for (const id of [approvalId, "apr_9", "__proto__"]) expect(approvals.redeem(id, operation).kind).toBe("refused");
  });

  test("denies when nobody answers in time, and lets the approver know", async () => {
    const clock = virtualClock(0);
    let signal: AbortSignal | undefined;
    const approvals = createApprovals({ approver: { ask: (_question, inner) => { signal = inner; return new Promise(() => undefined); } }, clock, newId: () => "apr_1" });
    const asking = approvals.ask(approvals.pose(operation), { signal: never });
    await clock.advance(7 * 24 * 3600 * 1000 - 1);
    expect(signal?.aborted).toBe(false);
    await clock.advance(1);
    expect(await asking).toEqual({ kind: "denied", approvalId: "apr_1", by: "nobody", reason: "Nobody answered in time" });
    expect([signal?.aborted, clock.pendingTimers]).toEqual([true, 0]);
  });

  test.each<[string, () => unknown]>([
    ["throws", () => { throw new Error("console is gone"); }],
    ["gives nothing", () => undefined],
    ["gives true", () => true],
    ["gives an unknown kind", () => ({ kind: "yes", by: "ann" })],
    ["does not say by whom", () => ({ kind: "approved" })],
  ])("agent 31: denies when the approver %s", async (_name, answer) => {
    expect(await desk(answer).ask()).toMatchObject({ kind: "denied", by: "nobody" });
  });

  test("br-016: of an approval and a denial at once exactly the first counts", async () => {
    for (let round = 0; round < 100; round++) {
      const { promise, resolve } = Promise.withResolvers<ApprovalAnswer>();
      const { approvals, ask } = desk(() => promise);
      const asking = ask();
      const answers: ApprovalAnswer[] = round % 2 === 0 ? [{ kind: "approved", by: "ann" }, { kind: "denied", by: "bob" }] : [{ kind: "denied", by: "bob" }, { kind: "approved", by: "ann" }];
      for (const answer of answers) resolve(answer);
      const verdict = await asking;
      expect(verdict.kind).toBe(answers[0]?.kind);
      expect(approvals.redeem(verdict.approvalId, operation).kind).toBe(verdict.kind === "approved" ? "redeemed" : "refused");
    }
  });

  test("br-017: an answer after the question was cancelled changes nothing", async () => {
    const { promise, resolve } = Promise.withResolvers<ApprovalAnswer>();
    const { approvals, ask } = desk(() => promise);
    const abort = new AbortController();
    const asking = ask(abort.signal);
    abort.abort();
    expect(await asking).toEqual({ kind: "cancelled", approvalId: "apr_1" });
    resolve({ kind: "approved", by: "ann" });
    await Promise.resolve();
    expect(approvals.redeem("apr_1", operation).kind).toBe("refused");
  });

  test("remembers a denial for this run, tool and arguments, and nothing wider", async () => {
    const { approvals, ask } = desk(() => ({ kind: "denied", by: "ann", reason: "too much" }));
    expect(approvals.deniedBefore(operation)).toBeUndefined();
    await ask();
    expect(approvals.deniedBefore({ ...operation, callId: "call_2" })).toBe("ann already refused it in this run: too much");
    for (const other of [{ runId: "run_2" }, { tool: "crm.get" }, { argsDigest: "sha256:a2" as const }]) expect(approvals.deniedBefore({ ...operation, ...other })).toBeUndefined();
  });

  test("does not remember that nobody could be asked", async () => {
    const { approvals, ask } = desk(() => ({ kind: "unavailable", help: "Add a rule" }));
    expect(await ask()).toEqual({ kind: "unavailable", approvalId: "apr_1", help: "Add a rule" });
    expect(approvals.deniedBefore(operation)).toBeUndefined();
  });
});

describe("denyingApprover", () => {
  const question = { ...operation, approvalId: "apr_1", expiresAtMs: 1 };

  test("says which rule would allow the call", async () => {
    expect(await denyingApprover().ask(question, never)).toEqual({ kind: "unavailable", help: 'To allow it always, add the rule { "allow": "crm.pay" } to the configuration; to be asked, run it where a person can answer, or set "approvals": "keep" in the configuration: the question then outlives this process, the run waits, and callgate approvals answers it.' });
  });

  test("of a program that scanners found something in says which finding to take for a note", async () => {
    expect(await denyingApprover().ask({ ...question, ruleId: "JS_EVAL", isReview: true }, never)).toMatchObject({ kind: "unavailable", help: expect.stringContaining('set "check": { "scan": { "JS_EVAL": "note" } } in the configuration; to be asked, run it where') as string });
  });

  test("says what it was given to say", async () => {
    expect(await denyingApprover(({ tool }) => `Run with --allow ${tool}`).ask(question, never)).toEqual({ kind: "unavailable", help: "Run with --allow crm.pay" });
  });
});

describe("callbackApprover", () => {
  test("asks the function, which may answer at once or later, or throw", async () => {
    const question = { ...operation, approvalId: "apr_1", expiresAtMs: 1 };
    expect(await callbackApprover(({ tool }) => ({ kind: "approved", by: tool })).ask(question, never)).toEqual({ kind: "approved", by: "crm.pay" });
    await expect(callbackApprover(() => { throw new Error("no"); }).ask(question, never)).rejects.toThrow("no");
  });
});

test("keepingApprover asks nobody: its questions wait", async () => {
  expect(await keepingApprover().ask({ ...operation, approvalId: "apr_1", expiresAtMs: 1 }, never)).toEqual({ kind: "pending" });
});
