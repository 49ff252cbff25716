import { localPrincipal } from "@callgate/contract";
import type { AnswerSigner, ApprovalRules, Grant, Label, Principal } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { readGrantTests } from "../approval/read-grant.ts";
import { signGrant } from "../approval/sign-grant.ts";
import { ruleDigest } from "../policy/asking-rules.ts";
import { allow, ask, deny, errorOf, testGate, testTool } from "./fixtures/test-broker.ts";
import type { TestTool } from "./fixtures/test-broker.ts";

const ann: Principal = { ...localPrincipal, user: "ann" };
const agent: Principal = { ...ann, agent: "claude" };
const pay = (more: TestTool = {}) => testTool("crm.pay", { run: () => null, ...more });

/** A gate whose policy asks about everything and where a person would refuse: what comes through came through a grant. */
function asking({ approvals = {}, decide = ask, tool = pay() }: { readonly approvals?: ApprovalRules; readonly decide?: typeof ask | typeof deny; readonly tool?: ReturnType<typeof pay> } = {}) {
  const state = { decide, questions: 0 };
  const gate = testGate({ tools: [tool], approvals, decide: () => state.decide(), answer: () => { state.questions += 1; return { kind: "denied", by: "bob", reason: "no" }; } });
  const grantOf = (more: Partial<Grant> = {}): Grant => ({ grantId: "grt_1", tenant: localPrincipal.tenant, tool: "crm.pay", args: readGrantTests({ "/amount": { lte: 100 } }), user: "ann", agent: "claude", definitions: { "crm.pay": tool.definitionDigest }, maxUses: 2, expiresAtMs: gate.clock.now() + 60_000, by: "ann", givenAtMs: gate.clock.now(), ...more });
  const call = async (amount: number, principal = agent, more: Parameters<typeof gate.call>[2] = {}) => (await gate.call("crm.pay", { amount }, { principal, ...more })).outcome.kind;
  return { gate, state, grantOf, call, give: (more: Partial<Grant> = {}) => gate.journal.grants.give(grantOf(more)) };
}

describe("a standing grant at the door", () => {
  test("br-019: stands in for the question as often as it says; what it let through is on record before the effect", async () => {
    const { gate, give, call, state } = asking();
    await give();
    expect([await call(1), await call(2), await call(3), state.questions]).toEqual(["ok", "ok", "denied", 1]);
    expect(gate.journal.rows.slice(0, 4).map(({ entry, durability }) => [entry.kind, durability, entry.kind === "call-decided" ? [entry.decision, entry.answeredBy, entry.grantId] : undefined])).toEqual([
      ["call-issued", "full", undefined],
      ["call-decided", "full", ["ask", undefined, undefined]],
      ["call-decided", "full", ["allow", "ann", "grt_1"]],
      ["call-ended", "lazy", undefined],
    ]);
    expect(gate.events.flatMap((event) => (event.kind === "grant-used" ? [[event.callId, event.grantId, event.by, event.use, event.maxUses]] : []))).toEqual([["call_1", "grt_1", "ann", 1, 2], ["call_2", "grt_1", "ann", 2, 2]]);
  });

  test.each<[string, Partial<Grant>, Principal, number]>([
    ["arguments that it does not mean", {}, agent, 101],
    ["another agent", {}, { ...ann, agent: "other" }, 1],
    ["the user's own call", {}, ann, 1],
    ["another user", {}, { ...agent, user: "bob" }, 1],
    ["another tenant", {}, { ...agent, tenant: "rival" }, 1],
    ["who gave it, whoever it is for", { user: "*", agent: "*", by: "claude" }, agent, 1],
    ["who gave it, in other letters", { user: "*", agent: "*", by: " CLAUDE" }, agent, 1],
    ["another definition of the tool", { definitions: { "crm.pay": "sha256:other" } }, agent, 1],
    ["anything once it has expired", { expiresAtMs: 0 }, agent, 1],
    ["a question of a rule that came after it", { rules: { another: "sha256:any" } }, agent, 1],
    ["a question of a rule that has changed since", { rules: { test: "sha256:before" } }, agent, 1],
  ])("does not cover %s", async (_what, more, principal, amount) => {
    const { give, call, state } = asking();
    await give(more);
    expect([await call(amount, principal), state.questions]).toEqual(["denied", 1]);
  });

  test("with four eyes it covers nothing for the user who gave it", async () => {
    const { give, call, state } = asking({ approvals: { fourEyes: true } });
    await give();
    expect([await call(1), state.questions]).toEqual(["denied", 1]);
  });

  test("widens no denial: of the policy, or of a person in this run", async () => {
    const { gate, give, call, state } = asking();
    expect(await call(5)).toBe("denied");
    await give();
    expect(errorOf(await gate.call("crm.pay", { amount: 5 }, { principal: agent })).message).toContain("already refused it in this run");
    state.decide = deny;
    expect(await call(6)).toBe("denied");
    expect((await gate.journal.grants.list(localPrincipal.tenant))[0]?.uses).toBe(0);
  });

  test("covers a question of the rule that it stands in for, as that was", async () => {
    const { gate, give, call, state } = asking();
    await give({ rules: { "ask-all": ruleDigest(gate.policy, "ask-all") } });
    expect([await call(1), state.questions]).toEqual(["ok", 0]);
  });

  test("what a call under a grant gave is kept however large it is, also of a tool that may be called again: its use was for this call", async () => {
    const { gate, give, call } = asking({ tool: pay({ effect: "read", reread: true, run: () => "x".repeat(40_000) }) });
    await give();
    expect(await call(1)).toBe("ok");
    const ended = gate.entries().find(({ kind }) => kind === "call-ended");
    expect(ended).toHaveProperty("result");
    expect(ended).not.toHaveProperty("reread");
  });

  test("lets nothing through once it was revoked, also not a call that had its use", async () => {
    const { gate, give, call } = asking();
    await give();
    expect(await call(1, agent, { callId: "c" })).toBe("ok");
    await gate.journal.grants.revoke({ tenant: localPrincipal.tenant, grantId: "grt_1", by: "bea" });
    expect([await call(2), await call(1, agent, { callId: "c", runId: "run_2" })]).toEqual(["denied", "denied"]);
  });

  test("is not used where the policy allows, and a call that comes again has the use it had", async () => {
    const { gate, give, call, state } = asking();
    await give();
    const uses = async () => (await gate.journal.grants.list(localPrincipal.tenant))[0]?.uses;
    expect([await call(1, agent, { callId: "c" }), await call(1, agent, { callId: "c" }), await uses()]).toEqual(["ok", "ok", 1]);
    state.decide = allow as unknown as typeof ask;
    expect([await call(2), await uses()]).toEqual(["ok", 1]);
  });

  test("covers no undoing of what it let through", async () => {
    const { give, call, state } = asking({ tool: pay({ compensate: async () => { await Promise.resolve(); } }) });
    await give();
    expect([await call(1, agent, { undo: { seq: 0, output: null } }), state.questions]).toEqual(["denied", 1]);
  });

  test("covers no call that could carry out what was read: private data, after untrusted text", async () => {
    const { give, call, state } = asking({ tool: pay({ labels: ["external"] }) });
    await give();
    const read = (...labels: readonly Label[]) => ({ taint: { refresh: () => undefined, add: () => undefined, labels, marks: labels.map((label) => ({ label, tool: "mail.read", runId: "run_1", seq: 0, atMs: 0 })) } });
    expect([await call(1, agent, read("private", "untrusted")), state.questions]).toEqual(["denied", 1]);
    expect([await call(2, agent, read("private")), state.questions]).toEqual(["ok", 1]);
  });

  test("of several that cover a call the one that ends first is used first", async () => {
    const { gate, give, grantOf, call } = asking();
    await give();
    await give({ grantId: "grt_2", expiresAtMs: grantOf().expiresAtMs - 1_000 });
    await call(1);
    expect((await gate.journal.grants.list(localPrincipal.tenant)).map(({ grantId, uses }) => [grantId, uses])).toEqual([["grt_1", 0], ["grt_2", 1]]);
  });

  describe("once a key is known", () => {
    const approvals: ApprovalRules = { keys: [{ by: "ann", keyId: "k1", verify: (digest, { value }) => value === `k1 ${digest}` }] };
    const signer = (by: string, keyId: string): AnswerSigner => ({ by, sign: (digest) => ({ keyId, value: `${keyId} ${digest}` }) });

    test("counts with its signature", async () => {
      const { gate, grantOf, call } = asking({ approvals });
      await gate.journal.grants.give(signGrant(grantOf(), signer("ann", "k1")));
      expect(await call(1)).toBe("ok");
    });

    test.each<[string, (grant: Grant) => Grant]>([
      ["unsigned", ({ signature: _signature, ...grant }) => grant],
      ["signed with another key", (grant) => signGrant(grant, signer("ann", "k2"))],
      ["signed in another name", (grant) => signGrant(grant, signer("bea", "k1"))],
      ["more uses", (grant) => ({ ...grant, maxUses: 100 })],
      ["another expiry", (grant) => ({ ...grant, expiresAtMs: grant.expiresAtMs + 1 })],
      ["wider arguments", (grant) => ({ ...grant, args: readGrantTests({ "/amount": { any: true } }) })],
      ["another user", (grant) => ({ ...grant, user: "*" })],
      ["another tool", (grant) => ({ ...grant, tool: "crm.*" })],
      ["any definition", ({ definitions: _definitions, ...grant }) => grant],
      ["another id, for new uses", (grant) => ({ ...grant, grantId: "grt_9" })],
    ])("a grant that was written straight into the journal lets nothing through: %s", async (_what, forge) => {
      const { gate, grantOf, call, state } = asking({ approvals });
      await gate.journal.grants.give(forge(signGrant(grantOf(), signer("ann", "k1"))));
      expect([await call(1), state.questions]).toEqual(["denied", 1]);
    });
  });
});
