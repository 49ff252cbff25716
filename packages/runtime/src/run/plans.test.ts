import type { AuditRow, Plan, Policy, RunResult } from "@callgate/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { keepingApprover } from "../approval/approvers.ts";
import { createDefaultPolicy } from "../policy/default-policy.ts";
import { cancelOpen, planWorld } from "./fixtures/plan-world.ts";
import type { PlanWorld } from "./fixtures/plan-world.ts";

const worlds: PlanWorld[] = [];
const world = async (options?: Parameters<typeof planWorld>[0]): Promise<PlanWorld> => {
  const [shared] = worlds;
  const made = options === undefined && shared !== undefined ? shared : await planWorld(options);
  if (made !== shared) worlds.push(made);
  made.reset();
  return made;
};
beforeAll(async () => void worlds.push(await planWorld()));
afterAll(async () => {
  for (const { gate } of worlds.splice(0)) await gate.close();
});

async function rehearsed({ gate }: PlanWorld, program: string): Promise<Plan> {
  const result = await gate.run(program, { rehearse: true });
  if (result.plan === undefined) throw new Error(JSON.stringify(result.error ?? result.diagnostics));
  return result.plan;
}

async function rowsOf({ gate }: PlanWorld, runId: string): Promise<readonly AuditRow[]> {
  const rows: AuditRow[] = [];
  for await (const row of gate.audit.rows({ runId })) rows.push(row);
  return rows;
}

const approve = ({ gate }: PlanWorld, plan: Plan): Promise<Plan> => gate.plans.approve(plan, { by: "ann" });
const became = ({ planProgress }: RunResult) => planProgress?.items.map(({ id, became: end }) => `${id} ${end}`);

describe("a rehearsal", () => {
  test("reads live, writes nothing, asks nobody, and lists the writes", async () => {
    const shop = await world();
    const result = await shop.gate.run(cancelOpen, { rehearse: true });
    expect(result).toMatchObject({ status: "completed", value: { value: "done" } });
    expect(shop).toMatchObject({ wrote: [], asked: [], reads: 2 });
    expect(result.notices.join(" ")).toContain("The plan of what the program would write has 4 items: item 1 is t.cancel, item 2 is t.note,");
    expect(result.plan?.items.map(({ tool, args }) => ({ tool, args }))).toEqual([
      { tool: "t.cancel", args: { id: "o-1", reason: "closing" } },
      { tool: "t.note", args: { id: "o-1", text: "cancelled on request" } },
      { tool: "t.cancel", args: { id: "o-2", reason: "closing" } },
      { tool: "t.note", args: { id: "o-2", text: "cancelled on request" } },
    ]);
    expect(result.plan?.items[0]).toMatchObject({
      decision: { kind: "ask", ruleId: "default:write" },
      derivedFrom: [],
      origins: [{ path: "/id", origins: [{ kind: "result", tool: "t.list", path: "/0/id" }] }, { path: "/reason", origins: [{ kind: "program" }] }],
    });
    expect(result.plan?.items.some(({ isConditional, varies }) => isConditional === true || varies !== undefined)).toBe(false);
  });

  test("is on record as one: listed, explained, in the audit trail, with nothing changed", async () => {
    const shop = await world();
    const plan = await rehearsed(shop, cancelOpen);
    const { runId } = plan.rehearsal;
    const shown = await shop.gate.runs.show(runId);
    expect(shown?.run).toMatchObject({ kind: "rehearsal", status: "completed", replayOf: plan.rehearsal.against });
    expect((await shop.gate.runs.list({ limit: 2 })).map(({ kind }) => kind)).toEqual(["rehearsal", "rehearsal"]);
    const { sentences } = await shop.gate.runs.explain(runId);
    expect(sentences.map(({ text }) => text).join("\n")).toContain("rehearsed a TypeScript program");
    expect(sentences.find(({ text }) => text.includes("t.cancel") && text.includes("Call"))?.text).toContain("It was rehearsed and not made");
    const rows = await rowsOf(shop, runId);
    expect(rows.filter(({ effect }) => effect === "write")).toMatchObject(Array.from({ length: 4 }, () => ({ effectStatus: "none", simulated: "schema", decision: { kind: "ask" } })));
    expect(await shop.gate.plans.of(runId)).toMatchObject({ items: plan.items });
  });

  test("says what each write costs at most, as its tool declares", async () => {
    const shop = await world({ tools: [{ name: "render", effect: "write", cost: { tokensPerCall: 1_200, microUsdPerCall: 25_000 }, handler: () => null }] });
    const plan = await rehearsed(shop, "await tools.t.render({}); await tools.t.ticket({ title: 'x' });");
    expect(plan.items.map(({ tool, cost }) => [tool, cost])).toEqual([["t.render", { tokens: 1_200, microUsd: 25_000 }], ["t.ticket", undefined]]);
  });

  test("says of which answers nothing is known, and what was read of something that is not there", async () => {
    const shop = await world({ tools: [{ name: "odd", effect: "write", handler: () => ({ id: 1 }) }] });
    const plan = await rehearsed(shop, "const { ticket } = await tools.t.ticket({ title: 'x' }); await tools.t.get({ id: ticket }); return await tools.t.odd({});");
    expect(plan.notes).toEqual([expect.stringContaining("t.get"), expect.stringMatching(/Nothing is known of what these answer.*: t\.odd\./), expect.stringContaining("ends where one of these fails: t.ticket, t.odd")]);
  });

  test("what it returned goes into no program, for a placeholder would be written for real; people read it", async () => {
    const shop = await world();
    const { value, runId } = await shop.gate.run("const { ticket } = await tools.t.ticket({ title: 'x' }); return Array.from({ length: 400 }, () => 'about ' + ticket);", { rehearse: true, budgetTokens: 300 });
    if (value?.kind !== "outline") throw new Error("it was to be kept");
    const read = `const lines = await results.read("${value.handle}"); await tools.t.note({ id: "o-1", text: JSON.stringify(lines).slice(0, 40) });`;
    for (const run of [{}, { rehearse: true }]) expect(await shop.gate.run(read, run)).toMatchObject({ status: "failed", error: { code: "HANDLE_REHEARSED", message: expect.stringContaining(runId) as unknown } });
    expect(shop.wrote).toEqual([]);
    expect(await shop.gate.read(value.handle, { limit: 1 })).toMatchObject({ kind: "value" });
    // Of one that had no placeholder everything is real.
    const { value: real } = await shop.gate.run("const orders = await tools.t.list({}); return Array.from({ length: 400 }, () => orders[0].id);", { rehearse: true, budgetTokens: 300 });
    if (real?.kind !== "outline") throw new Error("it was to be kept");
    expect(await shop.gate.run(`return JSON.stringify(await results.read("${real.handle}", { limit: 1 })).includes("o-1")`)).toMatchObject({ status: "completed", value: { value: true } });
  });

  test("one that fails has no plan", async () => {
    const shop = await world();
    const result = await shop.gate.run("await tools.t.cancel({ id: 'o-1', reason: 'x' }); throw new Error('no');", { rehearse: true });
    expect(result).toMatchObject({ status: "failed", effects: { done: [], unknown: [] } });
    expect(result.plan).toBeUndefined();
    expect(result.notices.join(" ")).toContain("there is no plan");
    await expect(shop.gate.plans.of(result.runId)).rejects.toMatchObject({ code: "PLAN_INVALID" });
    expect(shop.wrote).toEqual([]);
  });

  test("one that would have to wait ends there", async () => {
    const shop = await world();
    const result = await shop.gate.run("await tools.sleep(3_600_000); await tools.t.ticket({ title: 'x' });", { rehearse: true, suspendAfterMs: 1 });
    expect(result).toMatchObject({ status: "failed", error: { code: "REHEARSAL_WAITS" } });
    expect(await shop.gate.runs.list({ status: "suspended" })).toEqual([]);
  });

  test("never writes by what can be done with its record: resume, rollback, replay", async () => {
    const shop = await world({ tools: [{ name: "undoable", effect: "write", handler: () => { throw new Error("made"); }, compensate: () => { throw new Error("undone"); } }] });
    const { rehearsal: { runId } } = await rehearsed(shop, "return await tools.t.undoable({});");
    await shop.gate.runs.resume(runId);
    expect((await shop.gate.runs.rollback(runId)).compensation).toEqual({ undone: [], remaining: [] });
    expect((await shop.gate.runs.replay(runId)).divergence).toBeUndefined();
  });

  test("is refused for a block of a session, and where the program could change things without a tool", async () => {
    const shop = await world({ surroundingsOf: () => ({ launcher: "bubblewrap", mounts: ["ro:/data", "rw:/work"], network: ["api.example.com:443"], packages: [] }) });
    await expect(shop.gate.run("return 1", { rehearse: true, session: "s" })).rejects.toMatchObject({ code: "USAGE" });
    await expect(shop.gate.run("return 1", { rehearse: true })).rejects.toMatchObject({ code: "REHEARSAL_REFUSED", details: { ways: ["the folder rw:/work", "the network (api.example.com:443)"] } });
  });
});

describe("an approved plan", () => {
  test("is applied without a question; applied again it does nothing twice", async () => {
    const shop = await world();
    const plan = await approve(shop, await rehearsed(shop, cancelOpen));
    const result = await shop.gate.apply(plan);
    expect(result).toMatchObject({ status: "completed", value: { value: "done" } });
    expect(became(result)).toEqual(["1 done", "2 done", "3 done", "4 done"]);
    expect(shop.asked).toEqual([]);
    expect(shop.wrote).toHaveLength(4);
    expect(shop.orders.get("o-1")).toEqual({ status: "cancelled", note: "cancelled on request" });
    const rows = await rowsOf(shop, result.runId);
    expect(rows.filter(({ effect }) => effect === "write").map(({ decision, approval }) => ({ kind: decision?.kind, ...approval }))).toEqual(["4", "3", "2", "1"].map((planItem) => ({ kind: "allow", planItem, by: "ann", approvalId: plan.approval?.approvalId })));
    const { sentences } = await shop.gate.runs.explain(result.runId);
    expect(sentences.map(({ text }) => text).join(" ")).toMatch(/pinned to plan pln_\w+, which ann had approved.*ann had approved it with the plan of the run \(item 3\)/);
    shop.orders.set("o-1", { status: "open", note: "" });
    shop.orders.set("o-2", { status: "open", note: "" });
    const again = await shop.gate.apply(plan);
    expect(again.status).toBe("completed");
    expect(shop.wrote).toHaveLength(4);
  });

  test("is not applied without an approval that counts", async () => {
    const shop = await world();
    const plan = await rehearsed(shop, cancelOpen);
    await expect(shop.gate.apply(plan)).rejects.toMatchObject({ code: "PLAN_NOT_APPROVED" });
    await expect(shop.gate.plans.approve(plan, { by: "local" })).rejects.toMatchObject({ code: "SIGNAL_REFUSED" });
    const approved = await approve(shop, plan);
    // Whoever writes a file is not whom the record knows.
    const forged = { ...plan, approval: { ...(approved.approval as NonNullable<Plan["approval"]>), by: "bob" } };
    await expect(shop.gate.apply(forged)).rejects.toMatchObject({ code: "PLAN_NOT_APPROVED" });
    // An approval is for the plan as it was.
    const dropped = { ...shop.gate.plans.drop(plan, "1"), approval: approved.approval } as Plan;
    await expect(shop.gate.apply(dropped)).rejects.toMatchObject({ code: "PLAN_NOT_APPROVED" });
    expect(() => shop.gate.plans.parse({ ...plan, items: plan.items.slice(1) })).toThrow(/changed by hand/);
    expect(shop.wrote).toEqual([]);
  });

  test("a dropped item is refused, an edited one is performed as edited", async () => {
    const shop = await world();
    const program = cancelOpen.replace("await tools.t.note", "try { await tools.t.note").replace('request" });', 'request" }); } catch (error) { if (error.code !== "PLAN_DROPPED") throw error; }');
    const plan = await rehearsed(shop, program);
    await expect(shop.gate.plans.edit(plan, { itemId: "1", args: { id: 5 } })).rejects.toMatchObject({ code: "PLAN_INVALID" });
    const changed = shop.gate.plans.drop(await shop.gate.plans.edit(plan, { itemId: "1", args: { id: "o-1", reason: "on request" } }), "4");
    expect(changed.items[0]).toMatchObject({ args: { id: "o-1", reason: "closing" }, change: { kind: "edited", args: { id: "o-1", reason: "on request" }, by: "local", paths: ["/reason"] } });
    const result = await shop.gate.apply(await approve(shop, changed));
    expect(became(result)).toEqual(["1 done", "2 done", "3 done", "4 dropped"]);
    expect(shop.wrote).toEqual([
      { tool: "cancel", args: { id: "o-1", reason: "on request" } },
      { tool: "note", args: { id: "o-1", text: "cancelled on request" } },
      { tool: "cancel", args: { id: "o-2", reason: "closing" } },
    ]);
    expect(shop.asked).toEqual([]);
  });

  test("an edited item has policy's word on its new arguments, and says who edited it, also where it is edited again", async () => {
    const policy: Policy = { ...createDefaultPolicy(), decide: ({ args }) => ((args as { reason?: string }).reason === "closing" ? { kind: "ask", ruleId: "closing", reason: "It closes" } : { kind: "allow", ruleId: "all" }) };
    const shop = await world({ policy });
    const plan = await rehearsed(shop, "await tools.t.cancel({ id: 'o-1', reason: 'closing' });");
    expect(plan.items[0]?.decision).toEqual({ kind: "ask", ruleId: "closing", reason: "It closes" });
    const once = await shop.gate.plans.edit(plan, { itemId: "1", args: { id: "o-2", reason: "on request" }, by: "bea" });
    expect(once.items[0]).toMatchObject({ decision: { kind: "allow", ruleId: "all" }, change: { by: "bea", paths: ["/id", "/reason"] } });
    const twice = await shop.gate.plans.edit(once, { itemId: "1", args: { id: "o-1", reason: "on request" }, by: "cleo" });
    expect(twice.items[0]).toMatchObject({ args: { id: "o-1", reason: "closing" }, change: { by: "cleo", paths: ["/reason"] } });
  });

  test("a branch on what a write answers is conditional, on both sides, and asked about when it comes", async () => {
    const shop = await world();
    const program = `
const { refunded } = await tools.t.cancel({ id: "o-2", reason: "closing" });
if (refunded) await tools.t.note({ id: "o-2", text: "refunded" });
else await tools.t.ticket({ title: "refund o-2" });
await tools.t.note({ id: "o-1", text: "seen" });`;
    const plan = await rehearsed(shop, program);
    expect(plan.items.map(({ tool, isConditional = false }) => `${tool} ${isConditional}`)).toEqual(["t.cancel false", "t.note true", "t.note false", "t.ticket true"]);
    const result = await shop.gate.apply(await approve(shop, plan));
    expect(result.status).toBe("completed");
    // The real answer was the other one.
    expect(became(result)).toEqual(["1 done", "2 not_reached", "3 done", "4 done"]);
    expect(shop.asked).toMatchObject([{ tool: "t.ticket", reason: expect.stringContaining("conditional") as unknown }]);
    expect(result.notices.join(" ")).toContain("2 t.note: did not come");
  });

  test("an id that only a write can give is a placeholder in the plan, and is asked about with what it then is", async () => {
    const shop = await world();
    const program = `
const { ticket } = await tools.t.ticket({ title: "call back" });
await tools.t.note({ id: "o-1", text: "see " + ticket });
const { note } = await tools.t.get({ id: "o-1" });
await tools.t.note({ id: "o-2", text: "fixed" });
return note;`;
    const plan = await rehearsed(shop, program);
    expect(plan.items[1]).toMatchObject({ tool: "t.note", derivedFrom: ["1"], varies: { paths: ["/text"] } });
    expect(plan.items[2]).not.toHaveProperty("varies");
    const result = await shop.gate.apply(await approve(shop, plan));
    expect(result).toMatchObject({ status: "completed", value: { value: "see T-1" } });
    expect(shop.asked).toMatchObject([{ tool: "t.note", argsSummary: { id: "o-1", text: "see T-1" } }]);
    expect(became(result)).toEqual(["1 done", "2 done", "3 done"]);
  });

  test("an argument that is another one each time, such as the time, is asked about and is no drift", async () => {
    const shop = await world();
    const plan = await rehearsed(shop, "await tools.t.list({}); await tools.t.note({ id: 'o-1', text: new Date().toISOString() });");
    expect(plan.items).toMatchObject([{ varies: { paths: ["/text"] }, derivedFrom: [] }]);
    const result = await shop.gate.apply(await approve(shop, plan));
    expect(result.status).toBe("completed");
    expect(shop.asked).toHaveLength(1);
  });

  test("a run that does something else stops there, and says what happened and what did not", async () => {
    const shop = await world();
    const plan = await approve(shop, await rehearsed(shop, cancelOpen));
    shop.orders.set("o-2", { status: "sent", note: "" });
    shop.orders.set("o-9", { status: "open", note: "" });
    const result = await shop.gate.apply(plan);
    expect(result).toMatchObject({ status: "diverged", error: { code: "PLAN_DRIFT" } });
    expect(shop.wrote.map(({ tool, args }) => `${tool} ${(args as { id: string }).id}`)).toEqual(["cancel o-1", "note o-1"]);
    expect(became(result)).toEqual(["1 done", "2 done", "3 not_reached", "4 not_reached"]);
    expect(result.effects).toMatchObject({ done: ["t.cancel (call 1)", "t.note (call 2)"], none: ["t.cancel (call 3, denied)"] });
    const record = await shop.gate.runs.resume(result.runId).catch((fault: unknown) => fault);
    expect(record).toMatchObject({ status: "diverged", planProgress: { items: result.planProgress?.items } });
  });

  test("a program that catches the refusal comes no further either", async () => {
    const shop = await world();
    const program = `
const orders = await tools.t.list({});
await tools.t.cancel({ id: orders[0].id, reason: "first" }).catch(() => undefined);
await tools.t.ticket({ title: "told" });`;
    const plan = await approve(shop, await rehearsed(shop, program));
    shop.orders.delete("o-1");
    const result = await shop.gate.apply(plan);
    expect(result.status).toBe("diverged");
    expect(shop.wrote).toEqual([]);
  });

  test("drift while a question is open: nobody is waited for, what was approved stays, and can be undone in the same run", async () => {
    const undone: unknown[] = [];
    const shop = await world({ approver: keepingApprover(), tools: [{ name: "send", effect: "write", examples: [{ input: {}, output: { id: "m-0" } }], handler: () => ({ id: "m-1" }), compensate: (args) => void undone.push(args) }] });
    const program = `
const [first] = await tools.t.list({});
const { id } = await tools.t.send({ to: "ann" });
await Promise.all([tools.t.send({ to: "bob", after: id }), tools.t.cancel({ id: first.id, reason: "x" })]);`;
    const plan = await rehearsed(shop, program);
    expect(plan.items[1]).toMatchObject({ varies: { paths: ["/after"] } });
    const approved = await approve(shop, plan);
    shop.orders.delete("o-1");
    const result = await shop.gate.apply(approved, { onFailure: "compensate" });
    expect(result).toMatchObject({ status: "diverged", error: { code: "PLAN_DRIFT" } });
    expect(became(result)).toEqual(["1 done", "2 failed", "3 not_reached"]);
    // Undoing is a write that asks, and no part of the plan.
    expect(result.compensation).toMatchObject({ undone: [], remaining: [{ tool: "t.send", why: expect.stringContaining("waits for approval") as unknown }] });
    const [question] = await shop.gate.approvals.list({ runId: result.runId });
    await shop.gate.approvals.answer(question?.question.approvalId ?? "", { approved: true, by: "ann" });
    expect((await shop.gate.runs.rollback(result.runId)).compensation).toMatchObject({ undone: [expect.any(String) as unknown], remaining: [] });
    expect(undone).toEqual([{ to: "ann" }]);
    expect(shop.wrote).toEqual([]);
  });

  test("writes at once are a multiset: their order is free", async () => {
    const shop = await world();
    const program = (ids: string) => `const ids = (await tools.t.list({})).map(({ id }) => id)${ids}; await Promise.all(ids.map((id) => tools.t.note({ id, text: "x" }))); await tools.t.note({ id: "o-1", text: "x" });`;
    const plan = await approve(shop, await rehearsed(shop, program("")));
    expect(plan.items.map(({ occurrence }) => occurrence)).toEqual([0, 0, 0, 1]);
    const sorted = [...shop.orders].toReversed();
    shop.orders.clear();
    for (const [id, order] of sorted) shop.orders.set(id, order);
    const result = await shop.gate.apply(plan);
    expect(result.status).toBe("completed");
    expect(became(result)?.every((end) => end.endsWith("done"))).toBe(true);
    expect(shop.wrote).toHaveLength(4);
  });
});
