import type { PolicyDecision } from "@callgate/contract";
import { testPolicy } from "@callgate/testkit";
import { afterEach, expect, test } from "vitest";
import { durableWorld, until } from "./fixtures/durable-world.ts";

const worlds: ReturnType<typeof durableWorld>[] = [];
afterEach(async () => {
  await Promise.all(worlds.splice(0).map((world) => world.close()));
});

const look: PolicyDecision = { kind: "ask", ruleId: "look", reason: "Exports are looked at" };

/** A world with a write whose result is asked about; each gate of it stands for a process. */
function world() {
  const performed: unknown[] = [];
  const made = durableWorld([
    { name: "export_rows", effect: "write", sensitive: ["/output/mail"], handler: async (args) => { performed.push(args); return await Promise.resolve({ rows: 3, mail: "ann@ours.example" }); } },
    { name: "read", handler: async () => await Promise.resolve(1) },
  ]);
  worlds.push(made);
  const policy = { ...testPolicy(), decideResult: ({ tool }: { readonly tool: string }) => (tool === "t.export_rows" ? look : ({ kind: "allow", ruleId: "test" } as const)) };
  const open = () => made.open({ policy });
  const ask = async () => {
    const gate = await open();
    const { runId, status } = await gate.run("const one = await tools.t.read({}); try { return [one, await tools.t.export_rows({ a: 1 })] } catch (error) { return error.code }", { language: "javascript" });
    const [pending] = await gate.approvals.list({ runId });
    return { gate, runId, status, approvalId: pending?.question.approvalId ?? "" };
  };
  return { ...made, open, ask, performed };
}

test("a result that waits is shown with what it holds, released in another process, and the call is not made again; the run replays", async () => {
  const { ask, open, performed, entries } = world();
  const { runId, status, approvalId } = await ask();
  expect([status, performed]).toEqual(["suspended", [{ a: 1 }]]);
  const elsewhere = await open();
  expect(await elsewhere.approvals.show(approvalId)).toMatchObject({ state: "open", isIntact: true, args: { a: 1 }, result: { rows: 3, mail: expect.not.stringContaining("ann@") as string } });
  await expect(elsewhere.approvals.answer(approvalId, { approved: true, by: "ann", args: { a: 2 } })).rejects.toMatchObject({ code: "USAGE", message: expect.stringContaining("has taken place") as string });
  await expect(elsewhere.approvals.answer(approvalId, { approved: true, by: "ann", grant: { maxUses: 1, expiresAtMs: Date.now() + 60_000 } })).rejects.toMatchObject({ code: "USAGE" });
  await elsewhere.approvals.answer(approvalId, { approved: true, by: "ann" });
  expect(await elsewhere.runs.resume(runId)).toMatchObject({ status: "completed", value: { value: [1, { rows: 3, mail: "ann@ours.example" }] }, calls: [{}, { outcome: "ok", effectStatus: "done" }] });
  expect(performed).toHaveLength(1);
  expect(entries(runId).find((entry) => entry.kind === "call-ended" && entry.seq === 1)).toMatchObject({ release: { released: true, by: "ann", ruleId: "look" } });
  expect((await elsewhere.runs.replay(runId)).divergence).toBeUndefined();
  expect(performed).toHaveLength(1);
});

test("withheld, the program goes on with a coded error; what the call did stays done", async () => {
  const { ask, performed } = world();
  const { gate, runId, approvalId } = await ask();
  await gate.approvals.answer(approvalId, { approved: false, by: "ann", reason: "not this one" });
  const result = await gate.runs.resume(runId);
  expect(result).toMatchObject({ status: "completed", value: { value: "RESULT_WITHHELD" }, calls: [{}, { outcome: "denied", effectStatus: "done", error: { code: "RESULT_WITHHELD" } }] });
  expect([JSON.stringify(result).includes("ann@ours"), performed.length]).toEqual([false, 1]);
  const told = (await gate.runs.explain(runId)).sentences.map(({ text }) => text).join(" ");
  expect(told).toMatch(/it called t\.export_rows.*The change took place\. Rule look asks about results: ann withheld it/);
  expect(told).not.toContain("was not allowed to");
});

test("a result that was changed on record since it was asked about is found out", async () => {
  const { ask, entries } = world();
  const { gate, runId, approvalId } = await ask();
  const held = entries(runId).find((entry) => entry.kind === "result-held");
  if (held?.kind !== "result-held") throw new Error("nothing is held");
  Object.assign(held, { result: { ...held.result, clear: { json: '{"rows":4}', tagged: false } } });
  expect(await gate.approvals.show(approvalId)).toMatchObject({ isIntact: false, result: { rows: 4 } });
  await gate.approvals.answer(approvalId, { approved: true, by: "ann" });
  expect(await gate.runs.resume(runId)).toMatchObject({ value: { value: "RESULT_WITHHELD" } });
});

test("a run that is cancelled meanwhile says that the call took effect", async () => {
  const { ask, performed } = world();
  const { gate, runId } = await ask();
  expect(await gate.runs.cancel(runId)).toMatchObject({ status: "cancelled", calls: [{}, { effectStatus: "done" }] });
  expect(performed).toHaveLength(1);
});

test("a process that is lost while it asks has lost nothing: who takes the run over asks the same question", async () => {
  const { open, performed, lose, journal } = world();
  const [first, second] = [await open(), await open()];
  const running = first.run("return (await tools.t.export_rows({})).rows", { language: "javascript", suspendAfterMs: Infinity });
  const asked = () => [...journal.runs.values()].find((run) => run.entries.some(({ kind }) => kind === "approval-asked"));
  await until(() => asked() !== undefined);
  const runId = asked()?.start.runId ?? "";
  lose(runId);
  expect((await second.runs.resume(runId, { suspendAfterMs: 0 })).status).toBe("suspended");
  const [pending, ...others] = await second.approvals.list({ runId });
  expect(others).toEqual([]);
  await second.approvals.answer(pending?.question.approvalId ?? "", { approved: true, by: "ann" });
  expect(await second.runs.resume(runId)).toMatchObject({ status: "completed", value: { value: 3 } });
  await running.catch(() => undefined);
  expect(performed).toHaveLength(1);
});
