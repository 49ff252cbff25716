import { localPrincipal } from "@callgate/contract";
import type { AnswerSigner, ApprovalRules, GateEvent, GivenGrant, Policy, Principal, Tool } from "@callgate/contract";
import { testPolicy } from "@callgate/testkit";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { createApproverKey, readApproverKey, unlockApproverKey } from "../approval/approver-key.ts";
import { durableWorld, until } from "./fixtures/durable-world.ts";
import type { GateOptions } from "./gate-options.ts";
import type { TestTool } from "./fixtures/test-gate.ts";

let worlds: ReturnType<typeof durableWorld>[] = [];
afterEach(async () => {
  await Promise.all(worlds.map((world) => world.close()));
  worlds = [];
});

const input = { type: "object", properties: { amount: { type: "number" }, note: { type: "string" }, card: { type: "string" } }, required: ["amount"], additionalProperties: false } as const;
const ann: Principal = { ...localPrincipal, user: "ann" };
const annsAgent: Principal = { ...ann, agent: "claude" };
const inAnHour = (): number => Date.now() + 3_600_000;

/** A world of tools that ask; each gate of it stands for a process. */
function world(pay: Partial<Tool> = {}, rules: ApprovalRules = {}) {
  const performed: number[] = [];
  const tools: readonly TestTool[] = [
    { name: "ask_pay", effect: "write", input, sensitive: ["/input/card"], handler: async (args) => { performed.push((args as { amount: number }).amount); return await Promise.resolve({}); }, ...pay },
  ];
  const made = durableWorld(tools);
  worlds.push(made);
  const events: GateEvent[] = [];
  const open = async (given = tools, more: Partial<GateOptions> = {}) => {
    const gate = await made.open({ approvals: rules, ...more }, given);
    gate.onEvent((event) => void events.push(event));
    return gate;
  };
  const pays = (...amounts: readonly number[]): string => `const all = []; for (const amount of ${JSON.stringify(amounts)}) all.push(await tools.t.ask_pay({ amount })); return all.length`;
  return { ...made, tools, open, performed, events, pays };
}

const small = (more: Partial<GivenGrant> = {}): GivenGrant => ({ tool: "t.ask_pay", args: { "/amount": { lte: 100 } }, user: "ann", agent: "claude", maxUses: 2, expiresAtMs: inAnHour(), by: "ann", ...more });

describe("a standing grant", () => {
  test("br-019: lets through as many calls as it says, then the next one asks; which grant it was is on record", async () => {
    const { open, performed, entries, pays, events } = world();
    const gate = await open();
    const { grantId } = await gate.grants.add(small());
    const result = await gate.run(pays(1, 2, 3), { principal: annsAgent });
    expect([result.status, performed]).toEqual(["suspended", [1, 2]]);
    expect(entries(result.runId).flatMap((entry) => (entry.kind === "call-decided" ? [[entry.seq, entry.decision, entry.answeredBy, entry.grantId]] : []))).toEqual([
      [0, "ask", undefined, undefined], [0, "allow", "ann", grantId],
      [1, "ask", undefined, undefined], [1, "allow", "ann", grantId],
      [2, "ask", undefined, undefined],
    ]);
    expect(events.flatMap((event) => (event.kind === "grant-used" ? [[event.callId, event.grantId, event.by, event.use, event.maxUses]] : []))).toEqual([[`${result.runId}.0`, grantId, "ann", 1, 2], [`${result.runId}.1`, grantId, "ann", 2, 2]]);
    expect(await gate.grants.list()).toMatchObject([{ grantId, uses: 2, state: "spent" }]);
  });

  test("is refused where it would be for who gives it; with four eyes also for their agent", async () => {
    const { open } = world();
    await expect((await open()).grants.add(small({ by: "claude" }))).rejects.toMatchObject({ code: "SIGNAL_REFUSED" });
    const strict = world({}, { fourEyes: true });
    await expect((await strict.open()).grants.add(small({ by: "Ann" }))).rejects.toMatchObject({ code: "SIGNAL_REFUSED" });
  });

  test("stands in for the rules of its day: after an edit of one the call asks again, and after one of another it does not", async () => {
    const { open, performed, pays } = world();
    const says = (...rules: readonly (readonly [string, string])[]): Policy => {
      const policy = testPolicy(() => "ask", JSON.stringify(rules));
      return { ...policy, inspection: { ...policy.inspection, rules: () => rules.map(([ruleId, cedar]) => ({ ruleId, place: ruleId, verdict: "ask", cedar })) } };
    };
    const first = await open(undefined, { policy: says(["test", "asks"], ["other", "asks"]) });
    await first.grants.add(small({ maxUses: 9 }));
    const asked = await first.run(pays(1_000), { principal: annsAgent });
    const [pending] = await first.approvals.list({ runId: asked.runId });
    await first.approvals.answer(pending?.question.approvalId ?? "", { approved: true, by: "ann", grant: { maxUses: 9, expiresAtMs: inAnHour(), args: { "/amount": { gte: 1_000 } } } });
    const elsewhere = await open(undefined, { policy: says(["test", "asks"], ["other", "asks more"], ["new", "asks"]) });
    expect((await elsewhere.run(pays(1, 1_001), { principal: annsAgent })).status).toBe("completed");
    const edited = await open(undefined, { policy: says(["test", "asks more"], ["other", "asks"]) });
    expect((await edited.run(pays(2), { principal: annsAgent })).status).toBe("suspended");
    expect((await edited.run(pays(1_002), { principal: annsAgent })).status).toBe("suspended");
    expect(performed).toEqual([1, 1_001]);
    // Of the one that was given ahead another rule is as it was.
    expect((await edited.grants.list()).map(({ state, approvalId }) => `${state}, ${approvalId === undefined ? "ahead" : "with an answer"}`).toSorted((one, other) => one.localeCompare(other))).toEqual(["open, ahead", "outdated, with an answer"]);
    await edited.grants.add(small({ maxUses: 9, anyVersion: true }));
    const again = await open(undefined, { policy: says(["test", "asks again"]) });
    expect((await again.run(pays(3), { principal: annsAgent })).status).toBe("completed");
  });

  test("is for the definition of its day, unless it says otherwise", async () => {
    const { open, performed, pays, tools } = world();
    const first = await open();
    await first.grants.add(small());
    const changed = await open(tools.map((tool) => ({ ...tool, description: "now something else" })));
    expect((await changed.run(pays(1), { principal: annsAgent })).status).toBe("suspended");
    await first.grants.add(small({ anyVersion: true }));
    expect((await changed.run(pays(2), { principal: annsAgent })).status).toBe("completed");
    expect(performed).toEqual([2]);
  });

  test("lets nothing through once it was revoked or has expired", async () => {
    const { open, performed, pays } = world();
    const gate = await open();
    const { grantId } = await gate.grants.add(small());
    await gate.run(pays(1), { principal: annsAgent });
    expect(await gate.grants.revoke(grantId, { by: "bob" })).toMatchObject({ state: "revoked", revoked: { by: "bob" }, uses: 1 });
    const soon = Date.now() + 300;
    await gate.grants.add(small({ expiresAtMs: soon }));
    await until(() => Date.now() > soon);
    expect((await gate.run(pays(2), { principal: annsAgent })).status).toBe("suspended");
    expect(performed).toEqual([1]);
    await expect(gate.grants.revoke(grantId, { by: "bob" })).rejects.toMatchObject({ code: "USAGE" });
  });

  test("a run that was lost and goes on elsewhere counts no use twice", async () => {
    const { open, performed, pays, lose, journal } = world();
    const [first, second] = [await open(), await open()];
    await first.grants.add(small());
    let runId = "";
    journal.before = (what, lease, entries) => {
      runId = lease.runId;
      // It is lost when the second call was let through, before that is written.
      if (what === "append" && lease.epoch === 1 && entries.some((entry) => entry.kind === "call-decided" && entry.seq === 1 && entry.grantId !== undefined)) throw new Error("the process is gone");
    };
    await first.run(pays(1, 2), { principal: annsAgent, onFailure: "keep" }).catch(() => undefined);
    journal.before = () => undefined;
    const run = journal.runs.get(runId);
    if (run === undefined) throw new Error("no run");
    Object.assign(run, { status: "running", finish: undefined, entries: run.entries.filter((entry) => !("seq" in entry && entry.seq === 1)) });
    lose(runId);
    expect((await second.runs.resume(runId, { principal: annsAgent })).status).toBe("completed");
    expect(performed).toEqual([1, 2]);
    expect(await second.grants.list()).toMatchObject([{ uses: 2 }]);
    await second.runs.replay(runId, { principal: annsAgent });
    expect(await second.grants.list()).toMatchObject([{ uses: 2 }]);
  });

  test("covers no undoing of what it let through", async () => {
    const { open, performed, events } = world({ compensate: async () => { performed.push(-5); await Promise.resolve(); } });
    const gate = await open();
    await gate.grants.add(small({ maxUses: 10 }));
    const running = gate.run("await tools.t.ask_pay({ amount: 5 }); throw new Error('no')", { principal: annsAgent });
    await until(() => events.some((event) => event.kind === "approval-asked"));
    expect(performed).toEqual([5]);
    const [pending] = await gate.approvals.list();
    expect(pending?.question.reason).toContain("This undoes call");
    await gate.approvals.answer(pending?.question.approvalId ?? "", { approved: true, by: "ann" });
    await running;
    expect(await gate.grants.list()).toMatchObject([{ uses: 1 }]);
  });

  test.each<[string, Partial<GivenGrant>, RegExp]>([
    ["a tool that is not here", { tool: "t.other" }, /covers no tool/],
    ["a sensitive argument in clear", { args: { "/amount": 1, "/card": "4111" } }, /\/card of t\.ask_pay is sensitive/],
    ["nobody who gives it", { by: undefined as unknown as string }, /say who does it/],
  ])("with %s is refused, and none is kept", async (_what, more, message) => {
    const gate = await world().open();
    await expect(gate.grants.add(small(more))).rejects.toThrow(message);
    expect(await gate.grants.list()).toEqual([]);
  });
});

describe("given with an answer", () => {
  async function asked(arranged = world()) {
    const gate = await arranged.open();
    const { runId } = await gate.run(arranged.pays(5), { principal: annsAgent });
    const [pending] = await gate.approvals.list({ runId });
    return { ...arranged, gate, runId, approvalId: pending?.question.approvalId ?? "" };
  }

  test("br-019: it is for the same arguments of the same caller and tool, and no others", async () => {
    const { gate, runId, approvalId, performed, pays } = await asked();
    const { grant } = await gate.approvals.answer(approvalId, { approved: true, by: "ann", grant: { maxUses: 2, expiresAtMs: inAnHour() } });
    expect(grant).toMatchObject({ tool: "t.ask_pay", user: "ann", agent: "claude", args: { kind: "same" }, approvalId, by: "ann", uses: 0, state: "open" });
    await gate.runs.resume(runId, { principal: annsAgent });
    expect((await gate.run(pays(6), { principal: annsAgent })).status).toBe("suspended");
    expect((await gate.run("return await tools.t.ask_pay({ amount: 5, note: 'x' })", { principal: annsAgent })).status).toBe("suspended");
    expect((await gate.run(pays(5, 5, 5), { principal: annsAgent })).status).toBe("suspended");
    expect(performed).toEqual([5, 5, 5]);
  });

  test("it may name other arguments, and is given only where the answer counts", async () => {
    const { gate, runId, approvalId, performed, pays } = await asked();
    const given = { maxUses: 1, expiresAtMs: inAnHour(), args: { "/amount": { lt: 10 } } };
    for (const answer of [{ approved: false, by: "ann", grant: given }, { approved: true, by: "ann", args: { amount: 1 }, grant: given }, { approved: true, by: "ann", grant: { ...given, maxUses: 0 } }]) await expect(gate.approvals.answer(approvalId, answer)).rejects.toMatchObject({ code: "USAGE" });
    await expect(gate.approvals.answer(approvalId, { approved: true, by: "claude", grant: given })).rejects.toMatchObject({ code: "SIGNAL_REFUSED" });
    expect([await gate.grants.list(), (await gate.approvals.show(approvalId))?.state]).toEqual([[], "open"]);
    expect(await gate.approvals.answer(approvalId, { approved: true, by: "ann", grant: given })).toMatchObject({ known: false, grant: { uses: 0 } });
    expect((await gate.approvals.answer(approvalId, { approved: true, by: "bea", grant: given })).grant).toBeUndefined();
    await gate.runs.resume(runId, { principal: annsAgent });
    await gate.run(pays(9), { principal: annsAgent });
    expect([performed, (await gate.grants.list()).length]).toEqual([[5, 9], 1]);
  });
});

describe("once a key is known", () => {
  let rules: ApprovalRules;
  let signer: AnswerSigner;
  beforeAll(async () => {
    const made = await createApproverKey({ by: "ann", passphrase: "correct horse battery" });
    const [key, own] = [readApproverKey(made), await unlockApproverKey(made, "correct horse battery")];
    if (key === undefined || own === undefined) throw new Error("no key");
    [rules, signer] = [{ keys: [key] }, own];
  });

  test("a grant is given and revoked with it only", async () => {
    const { open, performed, pays } = world({}, rules);
    const gate = await open();
    await expect(gate.grants.add(small())).rejects.toMatchObject({ code: "SIGNAL_REFUSED" });
    const { grantId } = await gate.grants.add(small({ signer, by: "somebody" }));
    expect(await gate.grants.list()).toMatchObject([{ by: "ann", state: "open" }]);
    expect((await gate.run(pays(1), { principal: annsAgent })).status).toBe("completed");
    await expect(gate.grants.revoke(grantId, { by: "ann" })).rejects.toMatchObject({ code: "SIGNAL_REFUSED" });
    expect(await gate.grants.revoke(grantId, { signer })).toMatchObject({ state: "revoked" });
    expect(performed).toEqual([1]);
  });
});
