import type { AnswerSigner, ApproverKey, Plan, Policy, RunResult } from "@callgate/contract";
import { afterEach, describe, expect, test } from "vitest";
import { createDefaultPolicy } from "../policy/default-policy.ts";
import { createRedactor } from "../secrets/redactor.ts";
import { cancelOpen, planWorld } from "./fixtures/plan-world.ts";
import type { PlanWorld } from "./fixtures/plan-world.ts";
import type { TestTool } from "./fixtures/test-gate.ts";

const worlds: PlanWorld[] = [];
const world = async (options: Parameters<typeof planWorld>[0]): Promise<PlanWorld> => {
  const made = await planWorld(options);
  worlds.push(made);
  return made;
};
afterEach(async () => {
  for (const { gate } of worlds.splice(0)) await gate.close();
});

async function rehearsed({ gate }: PlanWorld, program: string): Promise<Plan> {
  const { plan } = await gate.run(program, { rehearse: true });
  if (plan === undefined) throw new Error("no plan");
  return plan;
}

const became = ({ planProgress }: RunResult) => planProgress?.items.map(({ id, became: end }) => `${id} ${end}`);

/** Signs with its name: what it would take to forge one is not what these tests are about. */
const signerOf = (by: string, keyId = by): AnswerSigner => ({ by, sign: (digest) => ({ keyId, value: `${by} ${digest}` }) });
const keyOf = (by: string): ApproverKey => ({ by, keyId: by, verify: (digest, { value }) => value === `${by} ${digest}` });

/** The policy's version, as the test says that it is. */
function versioned(): { readonly policy: Policy; version: string } {
  const state = { version: "1" };
  const policy: Policy = { ...createDefaultPolicy(), get version() { return state.version; } };
  return Object.assign(state, { policy });
}

describe("whose approval of a plan counts", () => {
  test("where there are keys, a signed one: from the file, whatever the record knows", async () => {
    const { gate } = await world({ approvals: { keys: [keyOf("bea")] } });
    const { plan } = await gate.run("await tools.t.ticket({ title: 'x' })", { rehearse: true });
    if (plan === undefined) throw new Error("no plan");
    await expect(gate.plans.approve(plan, { by: "bea" })).rejects.toMatchObject({ code: "SIGNAL_REFUSED" });
    const approved = await gate.plans.approve(plan, { signer: signerOf("bea"), reason: "looked at it" });
    expect(approved.approval).toMatchObject({ by: "bea", reason: "looked at it", signature: { keyId: "bea" } });
    const forged = (change: Partial<NonNullable<Plan["approval"]>>): Plan => ({ ...approved, approval: { ...(approved.approval as NonNullable<Plan["approval"]>), ...change } });
    for (const bad of [forged({ reason: "other words" }), forged({ by: "carl" }), forged({ signature: { keyId: "carl", value: "x" } }), forged({ expiresAtMs: Date.now() + 1e12 })]) {
      await expect(gate.apply(bad)).rejects.toMatchObject({ code: "PLAN_NOT_APPROVED" });
    }
    expect(await gate.plans.problems(approved)).toEqual([]);
    expect((await gate.apply(JSON.parse(JSON.stringify(approved)) as Plan)).status).toBe("completed");
  });

  test("never that of who asked, nor of the user behind with four eyes; it is on record", async () => {
    const shop = await world({ approvals: { fourEyes: true }, defaults: { principal: { tenant: "local", user: "ann", agent: "helper", roles: [], claims: {} } } });
    const plan = await rehearsed(shop, cancelOpen);
    for (const by of ["helper", "Ann"]) await expect(shop.gate.plans.approve(plan, { by })).rejects.toMatchObject({ code: "SIGNAL_REFUSED" });
    expect((await shop.journal.readSignals("local", plan.rehearsal.runId)).filter(({ kind }) => kind === "answer-refused")).toMatchObject([{ kind: "answer-refused", by: "helper" }, { kind: "answer-refused", by: "Ann" }]);
  });

  test("none that is older than answers may be", async () => {
    const shop = await world({ approvals: { expiryMs: 0 } });
    const plan = await shop.gate.plans.approve(await rehearsed(shop, cancelOpen), { by: "bea" });
    await expect(shop.gate.apply(plan)).rejects.toMatchObject({ code: "PLAN_NOT_APPROVED" });
    expect(await shop.gate.plans.problems(plan)).toEqual(["the approval of bea has expired"]);
  });

  test("what an agent rehearsed, the person it acts for may apply: it runs as it was rehearsed", async () => {
    const shop = await world({});
    const principal = { tenant: "local", user: "local", agent: "helper", roles: [], claims: {} };
    const { plan } = await shop.gate.run(cancelOpen, { rehearse: true, principal });
    if (plan === undefined) throw new Error("no plan");
    await expect(shop.gate.plans.approve(plan, { by: "helper" })).rejects.toMatchObject({ code: "SIGNAL_REFUSED" });
    const { runId, status } = await shop.gate.apply(await shop.gate.plans.approve(plan, { by: "bea" }));
    expect(status).toBe("completed");
    expect((await shop.gate.runs.show(runId))?.run.principal).toEqual(principal);
  });

  test("a plan is good for whom it was made: nobody else applies it, and other tenants have none", async () => {
    const shop = await world({});
    const plan = await shop.gate.plans.approve(await rehearsed(shop, cancelOpen), { by: "bea" });
    const other = { tenant: "local", user: "carl", roles: [], claims: {} };
    await expect(shop.gate.apply(plan, { principal: other })).rejects.toMatchObject({ code: "PLAN_STALE" });
    await expect(shop.gate.plans.of(plan.rehearsal.runId, { principal: other })).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
    await expect(shop.gate.plans.approve(plan, { by: "bea", principal: { ...other, tenant: "elsewhere" } })).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
  });
});

describe("what a plan was made against", () => {
  test("another policy than then: it is not applied, edited or approved", async () => {
    const state = versioned();
    const shop = await world({ policy: state.policy });
    const plan = await rehearsed(shop, cancelOpen);
    const approved = await shop.gate.plans.approve(plan, { by: "bea" });
    state.version = "2";
    await expect(shop.gate.apply(approved)).rejects.toMatchObject({ code: "PLAN_STALE", details: { changes: ["the policy has changed"] } });
    await expect(shop.gate.plans.approve(plan, { by: "bea" })).rejects.toMatchObject({ code: "PLAN_STALE" });
    await expect(shop.gate.plans.edit(plan, { itemId: "1", args: { id: "o-1", reason: "y" } })).rejects.toMatchObject({ code: "PLAN_STALE" });
    expect(shop.wrote).toEqual([]);
  });

  test("a policy that changes while it is applied: the rest is asked about again", async () => {
    const state = versioned();
    const shop = await world({ policy: state.policy });
    const plan = await shop.gate.plans.approve(await rehearsed(shop, "await tools.t.ticket({ title: 'a' }); await tools.t.ticket({ title: 'b' });"), { by: "bea" });
    const stop = shop.gate.onEvent((event) => { if (event.kind === "call-ended" && event.effectStatus === "done") state.version = "2"; });
    const result = await shop.gate.apply(plan);
    stop();
    expect(result.status).toBe("completed");
    expect(shop.asked).toMatchObject([{ argsSummary: { title: "b" }, reason: expect.stringContaining("this has changed: the policy") as unknown }]);
  });

  test("what policy denies is denied in the plan, in the rehearsal and when it is applied", async () => {
    const policy: Policy = { ...createDefaultPolicy(), decide: ({ tool }) => (tool === "t.cancel" ? { kind: "deny", ruleId: "no-cancel", reason: "Not here" } : { kind: "allow", ruleId: "all" }) };
    const shop = await world({ policy });
    const program = "await tools.t.cancel({ id: 'o-1', reason: 'x' }).catch(() => undefined); await tools.t.ticket({ title: 'told' });";
    const plan = await rehearsed(shop, program);
    expect(plan.items).toMatchObject([{ tool: "t.cancel", decision: { kind: "deny", ruleId: "no-cancel" } }, { tool: "t.ticket", decision: { kind: "allow" } }]);
    const result = await shop.gate.apply(await shop.gate.plans.approve(plan, { by: "bea" }));
    expect(became(result)).toEqual(["1 refused", "2 done"]);
    expect(shop.asked).toEqual([]);
  });
});

describe("the file of a plan", () => {
  test("holds no secret of its program, which is applied as it was all the same", async () => {
    const shop = await world({ redactor: createRedactor({ secrets: ["hunter2-hunter2"], key: new Uint8Array(32).fill(9) }) });
    const plan = await rehearsed(shop, "const key = 'hunter2-hunter2'; await tools.t.ticket({ title: String(key.length) });");
    expect(JSON.stringify(plan)).not.toContain("hunter2");
    const approved = await shop.gate.plans.approve(plan, { by: "bea" });
    expect((await shop.gate.apply(approved)).status).toBe("completed");
    expect(shop.wrote).toEqual([{ tool: "ticket", args: { title: "15" } }]);
    await shop.gate.runs.erase(plan.rehearsal.runId);
    await expect(shop.gate.apply(approved)).rejects.toMatchObject({ code: "PLAN_INVALID" });
  });

  test("names the piece of work it was rehearsed for: what that has done already is not done again", async () => {
    const shop = await world({ policy: { ...createDefaultPolicy(), decide: () => ({ kind: "allow", ruleId: "all" }) } });
    await shop.gate.run("await tools.t.ticket({ title: 'x' })", { taskId: "work-7" });
    const { plan } = await shop.gate.run("await tools.t.ticket({ title: 'x' }); await tools.t.ticket({ title: 'y' });", { rehearse: true, taskId: "work-7" });
    if (plan === undefined) throw new Error("no plan");
    expect((await shop.gate.apply(await shop.gate.plans.approve(plan, { by: "bea" }))).status).toBe("completed");
    expect(shop.wrote.map(({ args }) => args)).toEqual([{ title: "x" }, { title: "y" }]);
  });
});

describe("sensitive values in a plan", () => {
  const seen: unknown[] = [];
  const pay = { name: "pay", effect: "write", sensitive: ["/input/card"], input: { type: "object", required: ["card", "amount"], properties: { card: { type: "string" }, amount: { type: "number" } } }, handler: (args: unknown) => (seen.push(args), null) } as const;

  test("are hashes in its file; an edit that leaves them performs the values themselves", async () => {
    const shop = await world({ tools: [pay] });
    const plan = await rehearsed(shop, "await tools.t.pay({ card: '4111 1111 1111 1111', amount: 5 });");
    expect(JSON.stringify(plan.items)).not.toContain("4111");
    const [{ args }] = plan.items as readonly [Plan["items"][number]];
    const { card } = args as { card: string };
    expect(card).toMatch(/^hash:/);
    const edited = await shop.gate.plans.edit(plan, { itemId: "1", args: { card, amount: 4 } });
    expect(JSON.stringify(edited.items)).not.toContain("4111");
    const again = await shop.gate.plans.edit(edited, { itemId: "1", args: { card, amount: 3 } });
    const result = await shop.gate.apply(await shop.gate.plans.approve(again, { by: "bea" }));
    expect(became(result)).toEqual(["1 done"]);
    expect(seen).toEqual([{ card: "4111 1111 1111 1111", amount: 3 }]);
    const shown = await shop.gate.runs.show(result.runId);
    expect(JSON.stringify(shown)).not.toContain('"card":"4111');
  });

  test("which one tool answered are hashes where they are passed to another that does not declare them, in parts and among text too; they are performed in clear", async () => {
    const customer: TestTool = { name: "customer", sensitive: ["/output/email", "/output/pin"], input: { type: "object" }, output: { type: "object", properties: { email: { type: "string" }, pin: { type: "number" }, name: { type: "string" } } }, handler: () => ({ email: "ann.lee@example.org", pin: 4711, name: "Ann Lee" }) };
    const shop = await world({ tools: [customer] });
    const program = `
const { email, pin, name } = await tools.t.customer({});
await tools.t.ticket({ title: email });
await tools.t.note({ id: "o-1", text: "for " + name + ": " + email + ", pin " + pin });
await tools.t.ticket({ title: email.slice(0, 7) });`;
    const plan = await rehearsed(shop, program);
    const file = JSON.stringify(plan);
    for (const clear of ["ann.lee", "example.org", "4711"]) expect(file).not.toContain(clear);
    const hash = (plan.items[0]?.args as { title: string } | undefined)?.title;
    expect(hash).toMatch(/^hash:[0-9a-f]{16}$/);
    // The same value has the same hash wherever it stands, as in every record.
    expect(plan.items[1]?.args).toEqual({ id: "o-1", text: expect.stringMatching(new RegExp(`^for Ann Lee: ${hash}, pin hash:`)) as string });
    const row = (await shop.gate.runs.show(plan.rehearsal.runId))?.entries.find((entry) => entry.kind === "call-ended");
    expect(JSON.stringify(row)).toContain(hash);
    // A person edits what is around a hash, and may put it elsewhere.
    const edited = await shop.gate.plans.edit(plan, { itemId: "2", args: { id: "o-1", text: `write to ${hash}` } });
    expect(JSON.stringify(edited)).not.toContain("ann.lee");
    await expect(shop.gate.plans.edit(plan, { itemId: "2", args: { id: "o-1", text: "hash:0123456789abcdef" } })).rejects.toMatchObject({ code: "PLAN_INVALID", message: expect.stringContaining("nobody knows what hash:0123456789abcdef stands for") as string });
    const result = await shop.gate.apply(await shop.gate.plans.approve(edited, { by: "bea" }));
    expect(result.status).toBe("completed");
    expect(shop.wrote.map(({ args }) => args)).toEqual([{ title: "ann.lee@example.org" }, { id: "o-1", text: "write to ann.lee@example.org" }, { title: "ann.lee" }]);
  });

  test("which the program itself gives are hashes in its text in the file as well", async () => {
    const shop = await world({ tools: [pay] });
    const plan = await rehearsed(shop, "await tools.t.pay({ card: '4111 1111 1111 1111', amount: 5 });");
    expect(JSON.stringify(plan)).not.toContain("4111");
    expect((await shop.gate.apply(await shop.gate.plans.approve(plan, { by: "bea" }))).status).toBe("completed");
  });
});
