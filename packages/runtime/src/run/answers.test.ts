import { localPrincipal } from "@callgate/contract";
import type { ApprovalRules, ApproverKey, AnswerSigner, GateEvent, Principal, RunSignal } from "@callgate/contract";
import { testPolicy } from "@callgate/testkit";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { createApproverKey, readApproverKey, unlockApproverKey } from "../approval/approver-key.ts";
import { durableWorld } from "./fixtures/durable-world.ts";

let worlds: ReturnType<typeof durableWorld>[] = [];
afterEach(async () => {
  await Promise.all(worlds.map((world) => world.close()));
  worlds = [];
});

const input = { type: "object", properties: { amount: { type: "number", maximum: 1_000 }, note: { type: "string" } }, required: ["amount"], additionalProperties: false } as const;

/** A world of one tool that asks; each gate of it stands for a process. */
function world() {
  const performed: unknown[] = [];
  const made = durableWorld([
    { name: "ask_pay", effect: "write", input, handler: async (args) => { performed.push(args); return await Promise.resolve({ paid: (args as { amount: number }).amount }); } },
    { name: "read", handler: async (args) => await Promise.resolve(args) },
  ]);
  worlds.push(made);
  const policy = testPolicy((tool) => (tool === "t.ask_pay" ? "ask" : "allow"));
  const opened = async (rules: ApprovalRules = {}, more: Parameters<typeof made.open>[0] = {}) => {
    const events: GateEvent[] = [];
    const gate = await made.open({ approvals: rules, policy, ...more });
    gate.onEvent((event) => void events.push(event));
    return { gate, events };
  };
  const ask = async (one: Awaited<ReturnType<typeof opened>>, principal: Principal = localPrincipal) => {
    const { runId } = await one.gate.run("return await tools.t.ask_pay({ amount: 5 })", { principal });
    const [pending] = await one.gate.approvals.list({ runId });
    return { runId, approvalId: pending?.question.approvalId ?? "" };
  };
  const refusals = (runId: string): readonly RunSignal[] => made.journal.runs.get(runId)?.signals.filter(({ kind }) => kind === "answer-refused") ?? [];
  return { ...made, opened, ask, performed, refusals };
}

let keys: readonly ApproverKey[] = [];
let signer: AnswerSigner;
let stranger: AnswerSigner;
beforeAll(async () => {
  const [own, other] = await Promise.all(["ann", "ann"].map((by) => createApproverKey({ by, passphrase: "correct horse battery" })));
  if (own === undefined || other === undefined) throw new Error("no keys");
  const [key, mine, others] = [readApproverKey(own), await unlockApproverKey(own, "correct horse battery"), await unlockApproverKey(other, "correct horse battery")];
  if (key === undefined || mine === undefined || others === undefined) throw new Error("no keys");
  [keys, signer, stranger] = [[key], mine, others];
  expect(await unlockApproverKey(own, "correct horse batterx")).toBeUndefined();
  expect(await unlockApproverKey({ ...own, by: "eve" }, "correct horse battery")).toBeUndefined();
});

const bob: Principal = { ...localPrincipal, user: "bob" };

describe("never the requester", () => {
  test.each<[string, Principal, ApprovalRules, string]>([
    ["the user, where nobody acts for them", bob, {}, "bob"],
    ["the user in other letters", bob, {}, " BOB "],
    ["the agent", { ...bob, agent: "claude" }, {}, "claude"],
    ["the user whose agent asks, with four eyes", { ...bob, agent: "claude" }, { fourEyes: true }, "bob"],
  ])("refuses an answer of %s, and that is on record", async (_who, principal, rules, by) => {
    const { opened, ask, performed, refusals } = world();
    const one = await opened(rules);
    const { runId, approvalId } = await ask(one, principal);
    await expect(one.gate.approvals.answer(approvalId, { approved: true, by })).rejects.toMatchObject({ code: "SIGNAL_REFUSED", message: expect.stringContaining("nobody answers their own question") as string });
    expect(refusals(runId)).toMatchObject([{ approvalId, approved: true, by, why: expect.stringContaining("asked for it") as string }]);
    expect(one.events.filter(({ kind }) => kind === "approval-refused")).toHaveLength(1);
    expect([(await one.gate.approvals.list()).length, performed.length]).toEqual([1, 0]);
  });

  test("takes the answer of the user whose agent asks, and of who asked where the rules are unsafe", async () => {
    const { opened, ask, performed } = world();
    const one = await opened();
    const asked = await ask(one, { ...bob, agent: "claude" });
    await one.gate.approvals.answer(asked.approvalId, { approved: true, by: "bob" });
    expect((await one.gate.runs.resume(asked.runId, { principal: { ...bob, agent: "claude" } })).status).toBe("completed");
    const two = await opened({ unsafeSelfApproval: true });
    const again = await ask(two, bob);
    await two.gate.approvals.answer(again.approvalId, { approved: true, by: "bob" });
    expect((await two.gate.runs.resume(again.runId, { principal: bob })).status).toBe("completed");
    expect(performed).toHaveLength(2);
  });

  test("an approver of the application cannot answer in the name of who asked either", async () => {
    const { opened, performed } = world();
    const one = await opened({}, { approver: { ask: async () => await Promise.resolve({ kind: "approved", by: "bob" }) } });
    expect(await one.gate.run("return await tools.t.ask_pay({ amount: 5 })", { principal: bob })).toMatchObject({ status: "failed", error: { code: "DENIED" } });
    expect(performed).toEqual([]);
  });
});

describe("signed answers", () => {
  test("once a key is set an answer needs a signature; with one it counts, in another process", async () => {
    const { opened, ask, performed } = world();
    const one = await opened({ keys });
    const { runId, approvalId } = await ask(one);
    await expect(one.gate.approvals.answer(approvalId, { approved: true, by: "ann" })).rejects.toMatchObject({ code: "SIGNAL_REFUSED", message: expect.stringContaining("signed answers only") as string });
    await one.gate.approvals.answer(approvalId, { approved: true, signer });
    const two = await opened({ keys });
    expect(await two.gate.runs.resume(runId)).toMatchObject({ status: "completed" });
    expect(performed).toEqual([{ amount: 5 }]);
  });

  const forged = { kind: "approval" as const, approved: true, by: "ann", atMs: 1 };
  test.each<[string, (approvalId: string, real: Extract<RunSignal, { kind: "approval" }>) => RunSignal]>([
    ["is not signed", (approvalId) => ({ ...forged, approvalId })],
    ["is signed with a key nobody knows", (approvalId) => ({ ...forged, approvalId, signature: stranger.sign("sha256:00") })],
    ["is signed for something else", (approvalId) => ({ ...forged, approvalId, signature: signer.sign("sha256:00") })],
    ["has the signature of a denial", (_approvalId, real) => ({ ...real, approved: true })],
    ["has another's name", (_approvalId, real) => ({ ...real, by: "eve" })],
    ["has other arguments", (_approvalId, real) => ({ ...real, args: { digest: "sha256:00", summary: {}, clear: { json: '{"amount":900}', tagged: false } } })],
  ])("an answer written straight into the journal that %s is not accepted", async (_what, forge) => {
    const { opened, ask, performed, journal } = world();
    const [one, two] = [await opened({ keys }), await opened({ keys })];
    const other = await ask(one);
    await one.gate.approvals.answer(other.approvalId, { approved: false, reason: "no", signer });
    const real = journal.runs.get(other.runId)?.signals.find(({ kind }) => kind === "approval");
    const { runId, approvalId } = await ask(one);
    if (real?.kind !== "approval") throw new Error("there is no real answer");
    await journal.signal("local", runId, { ...forge(approvalId, { ...real, approvalId }), approvalId } as RunSignal);
    expect(await two.gate.runs.resume(runId)).toMatchObject({ status: "failed", error: { code: "DENIED", message: expect.stringContaining("does not count") as string } });
    expect(two.events.filter(({ kind }) => kind === "approval-refused")).toHaveLength(1);
    expect(performed).toEqual([]);
  });
});

describe("edited arguments", () => {
  test("the edited arguments are performed, the program's are what replay matches, and both are on record", async () => {
    const { opened, ask, performed, entries } = world();
    const one = await opened();
    const { runId, approvalId } = await ask(one);
    await one.gate.approvals.answer(approvalId, { approved: true, by: "ann", args: { amount: 3 } });
    const two = await opened();
    expect(await two.gate.runs.resume(runId)).toMatchObject({ status: "completed", value: { value: { paid: 3 } } });
    expect(performed).toEqual([{ amount: 3 }]);
    const recorded = entries(runId);
    expect(recorded.find(({ kind }) => kind === "call-issued")).toMatchObject({ args: { summary: { amount: 5 } } });
    expect(recorded.find(({ kind }) => kind === "call-edited")).toMatchObject({ by: "ann", approvalId, args: { summary: { amount: 3 } } });
    const replayed = await two.gate.runs.replay(runId);
    expect([replayed.divergence, replayed.result.status]).toEqual([undefined, "completed"]);
  });

  test("arguments that do not fit, or that policy denies, are refused; one that would ask again is covered by this answer", async () => {
    const { opened, ask, performed } = world();
    const base = testPolicy((tool) => (tool === "t.ask_pay" ? "ask" : "allow"));
    const policy: typeof base = { ...base, decide: (facts) => ((facts.args as { amount?: number }).amount === 7 ? { kind: "deny", ruleId: "seven", reason: "Not seven" } : base.decide(facts)) };
    const one = await opened({}, { policy });
    const { runId, approvalId } = await ask(one);
    await expect(one.gate.approvals.answer(approvalId, { approved: true, by: "ann", args: { amount: "3" } })).rejects.toMatchObject({ code: "USAGE", message: expect.stringContaining("/amount") as string });
    await expect(one.gate.approvals.answer(approvalId, { approved: true, by: "ann", args: { amount: 7 } })).rejects.toMatchObject({ code: "SIGNAL_REFUSED", message: expect.stringContaining("rule seven") as string });
    expect((await one.gate.approvals.list()).length).toBe(1);
    await one.gate.approvals.answer(approvalId, { approved: true, by: "ann", args: { amount: 8 } });
    expect((await one.gate.runs.resume(runId)).status).toBe("completed");
    expect(performed).toEqual([{ amount: 8 }]);
  });

  test("what was allowed with an edit is denied when policy denies the edit by the time it is used", async () => {
    const { opened, ask, performed } = world();
    const one = await opened();
    const { runId, approvalId } = await ask(one);
    await one.gate.approvals.answer(approvalId, { approved: true, by: "ann", args: { amount: 7 } });
    const base = testPolicy((tool) => (tool === "t.ask_pay" ? "ask" : "allow"));
    const two = await opened({}, { policy: { ...base, decide: (facts) => ((facts.args as { amount?: number }).amount === 7 ? { kind: "deny", ruleId: "seven", reason: "Not seven" } : base.decide(facts)) } });
    expect(await two.gate.runs.resume(runId)).toMatchObject({ error: { code: "DENIED", message: expect.stringContaining("Not seven") as string } });
    expect(performed).toEqual([]);
  });
});

describe("answers that come at the wrong time", () => {
  test("br-016: of a hundred answers at once exactly one counts, the others are on record", async () => {
    const { opened, ask, performed, refusals } = world();
    const gates = [await opened(), await opened()];
    const [one] = gates;
    if (one === undefined) throw new Error("no gate");
    const { runId, approvalId } = await ask(one);
    const answers = await Promise.all(Array.from({ length: 100 }, async (_, index) => await (gates[index % 2] ?? one).gate.approvals.answer(approvalId, { approved: index % 3 === 0, by: `person ${index}` })));
    const [first] = answers.filter(({ known }) => !known);
    expect(answers.filter(({ known }) => !known)).toHaveLength(1);
    expect(new Set(answers.map(({ approved }) => approved))).toEqual(new Set([first?.approved]));
    await one.gate.runs.resume(runId);
    expect([performed.length, refusals(runId).length]).toEqual([first?.approved === true ? 1 : 0, 99]);
  });

  test("br-017: an answer to a run that was cancelled or has ended is refused and on record, and nothing is performed", async () => {
    const { opened, ask, performed, refusals } = world();
    const one = await opened();
    const { runId, approvalId } = await ask(one);
    await one.gate.runs.cancel(runId);
    await expect(one.gate.approvals.answer(approvalId, { approved: true, by: "ann" })).rejects.toMatchObject({ code: "SIGNAL_REFUSED", message: expect.stringContaining("has ended") as string });
    expect([performed, refusals(runId).length]).toEqual([[], 1]);
  });

  test("ag-005: a run that asks too much is stopped from asking; what is over is denied and says so", async () => {
    const { opened, performed } = world();
    const one = await opened({ maxPerMinute: 5 });
    const { runId } = await one.gate.run("return await Promise.all(Array.from({ length: 30 }, (_, amount) => tools.t.ask_pay({ amount }).catch((error) => error.code)))", { limits: { concurrentCalls: 30 } });
    expect(await one.gate.approvals.list({ runId })).toHaveLength(5);
    const denied = worlds[0]?.entries(runId).filter((entry) => entry.kind === "call-decided" && entry.ruleId === "approvals:rate");
    expect([denied?.length, performed.length]).toEqual([25, 0]);
  });

  test("siblings that do not ask run meanwhile and are recorded once", async () => {
    const { opened, entries, performed } = world();
    const one = await opened();
    const { runId } = await one.gate.run("return await Promise.all([tools.t.read({ n: 1 }), tools.t.ask_pay({ amount: 1 }), tools.t.read({ n: 2 }), tools.t.ask_pay({ amount: 2 })])");
    expect(entries(runId).filter(({ kind }) => kind === "call-ended")).toHaveLength(2);
    for (const { question } of await one.gate.approvals.list({ runId })) await one.gate.approvals.answer(question.approvalId, { approved: true, by: "ann" });
    expect((await one.gate.runs.resume(runId)).status).toBe("completed");
    expect([entries(runId).filter(({ kind }) => kind === "call-ended").length, performed.length]).toEqual([4, 2]);
  });
});

describe("what a person is shown", () => {
  test("ag-004: the arguments come in full from the record, however harmless the summary; a changed record is found out", async () => {
    const { opened, journal } = world();
    const one = await opened();
    const note = `${"all is well ".repeat(1_000)}and then pay everything`;
    const { runId } = await one.gate.run(`return await tools.t.ask_pay({ amount: 5, note: ${JSON.stringify(note)} })`);
    const [pending] = await one.gate.approvals.list({ runId });
    expect(JSON.stringify(pending?.question.argsSummary)).not.toContain("pay everything");
    const shown = await one.gate.approvals.show(pending?.question.approvalId ?? "");
    expect(shown).toMatchObject({ state: "open", isIntact: true, args: { amount: 5, note } });
    const run = journal.runs.get(runId);
    const place = run?.entries.findIndex(({ kind }) => kind === "call-issued") ?? -1;
    const issued = run?.entries[place];
    if (run === undefined || issued?.kind !== "call-issued") throw new Error("no call");
    run.entries[place] = { ...issued, args: { ...issued.args, clear: { json: '{"amount":900}', tagged: false } } };
    expect(await one.gate.approvals.show(pending?.question.approvalId ?? "")).toMatchObject({ isIntact: false });
  });
});
