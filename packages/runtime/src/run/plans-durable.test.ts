import type { Plan, RunResult } from "@callgate/contract";
import { afterAll, expect, test } from "vitest";
import { durableWorld, sleepMs, until } from "./fixtures/durable-world.ts";

const wrote: string[] = [];
const hanging = { on: false };
const which = { n: 1 };
const tools = [
  { name: "step", effect: "write" as const, output: { type: "object" as const, required: ["id"], properties: { id: { type: "string" as const } } }, handler: async (args: unknown) => { const { n } = args as { n: number }; while (hanging.on && n === 2) await sleepMs(2); wrote.push(`step ${n}`); return { id: `s-${n}` }; } },
  { name: "which", handler: () => which.n },
  { name: "ask_note", effect: "write" as const, handler: (args: unknown) => { wrote.push(`note ${(args as { id: string }).id}`); return null; } },
];
const world = durableWorld(tools);
afterAll(() => world.close());

const program = "for (const n of [1, 2, 3]) await tools.t.step({ n }); const { id } = await tools.t.step({ n: 4 }); await tools.t.ask_note({ id }); return 'done';";
const became = ({ planProgress }: RunResult) => planProgress?.items.map(({ id, became: end }) => `${id} ${end}`);

/** The run that is under way. */
async function begun(): Promise<string> {
  const last = () => [...world.journal.runs].findLast(([runId]) => world.entries(runId).some(({ kind }) => kind === "planned"))?.[0];
  await until(() => last() !== undefined);
  return last() ?? "";
}

async function approvedPlan(gate: Awaited<ReturnType<typeof world.open>>): Promise<Plan> {
  const { plan } = await gate.run(program, { rehearse: true });
  if (plan === undefined) throw new Error("no plan");
  return await gate.plans.approve(plan, { by: "bea" });
}

test("a process that is lost in the middle: another one goes on, held against the same plan, and nothing is done twice", async () => {
  const first = await world.open();
  const plan = await approvedPlan(first);
  expect(wrote).toEqual([]);
  hanging.on = true;
  const lost = first.apply(plan);
  const runId = await begun();
  await until(() => world.entries(runId).some((entry) => entry.kind === "call-issued" && entry.seq === 1));
  world.lose(runId);
  const second = await world.open();
  const doubt = await second.runs.resume(runId);
  // A write that was under way when its process was lost: a person says what became of it, and it counts as in the plan.
  expect(doubt).toMatchObject({ status: "suspended", waits: [{ kind: "resolution", tool: "t.step" }] });
  await second.runs.resolve(`${runId}.1`, { happened: true, output: { id: "s-2" } });
  hanging.on = false;
  const result = await second.runs.resume(runId);
  // The last one is made of what another answered: it waits for a person.
  expect(result).toMatchObject({ status: "suspended", waits: [{ kind: "approval", question: { tool: "t.ask_note", argsSummary: { id: "s-4" } } }] });
  const third = await world.open();
  const [question] = await third.approvals.list({ runId });
  await third.approvals.answer(question?.question.approvalId ?? "", { approved: true, by: "bea" });
  const end = await third.runs.resume(runId);
  expect(end).toMatchObject({ status: "completed", value: { value: "done" } });
  expect(became(end)).toEqual(["1 done", "2 done", "3 done", "4 done", "5 done"]);
  await lost;
  for (const step of ["step 1", "step 2", "step 3", "step 4", "note s-4"]) expect(wrote.filter((one) => one === step)).toEqual([step]);
});

test("a run that had deviated when its process was lost ends as that, and makes no further write", async () => {
  const gate = await world.open();
  which.n = 1;
  const { plan } = await gate.run("const n = await tools.t.which({}); await tools.t.step({ n }).catch(() => undefined); await tools.t.step({ n: 3 });", { rehearse: true });
  if (plan === undefined) throw new Error("no plan");
  const approved = await gate.plans.approve(plan, { by: "bea" });
  which.n = 7;
  wrote.length = 0;
  // Lost between the refusal and the end of the run.
  const second = await world.open();
  const resumed = Promise.withResolvers<RunResult>();
  const stop = gate.onEvent((event) => {
    if (event.kind !== "call-ended" || event.error?.code !== "PLAN_DRIFT") return;
    world.lose(event.runId);
    second.runs.resume(event.runId).then(resumed.resolve, resumed.reject);
  });
  expect((await gate.apply(approved)).status).toBe("running");
  stop();
  const result = await resumed.promise;
  expect(result).toMatchObject({ status: "diverged", error: { code: "PLAN_DRIFT" } });
  expect(became(result)).toEqual(["1 not_reached", "2 not_reached"]);
  expect(wrote).toEqual([]);
});

test("an item that was left out keeps an equal one from nothing, also after a pause", async () => {
  const gate = await world.open();
  const { plan } = await gate.run("await tools.t.step({ n: 5 }).catch(() => undefined); await tools.sleep(100); await tools.t.step({ n: 5 });", { rehearse: true, suspendAfterMs: 60_000 });
  if (plan === undefined) throw new Error("no plan");
  wrote.length = 0;
  const paused = await gate.apply(await gate.plans.approve(gate.plans.drop(plan, "1"), { by: "bea" }));
  expect(paused.status).toBe("suspended");
  const result = await (await world.open()).runs.resume(paused.runId, { suspendAfterMs: 60_000 });
  expect(result.status).toBe("completed");
  expect(became(result)).toEqual(["1 dropped", "2 done"]);
  expect(wrote).toEqual(["step 5"]);
});

test("a run whose plan is not on record does not go on without it", async () => {
  const gate = await world.open();
  const { plan } = await gate.run("await tools.sleep(100); await tools.t.step({ n: 6 });", { rehearse: true, suspendAfterMs: 60_000 });
  if (plan === undefined) throw new Error("no plan");
  wrote.length = 0;
  const { runId } = await gate.apply(await gate.plans.approve(plan, { by: "bea" }));
  const entries = world.journal.runs.get(runId)?.entries ?? [];
  entries.splice(entries.findIndex(({ kind }) => kind === "planned"), 1);
  expect(await (await world.open()).runs.resume(runId)).toMatchObject({ status: "crashed", error: { code: "RUN_INTERRUPTED", message: expect.stringContaining("the plan that it is pinned to is not on record") as unknown } });
  expect(wrote).toEqual([]);
});
