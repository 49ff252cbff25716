import type { RunSignal } from "@callgate/contract";
import { testPolicy } from "@callgate/testkit";
import { afterEach, describe, expect, test } from "vitest";
import { durableWorld, until } from "./fixtures/durable-world.ts";
import type { GateInit } from "./fixtures/durable-world.ts";
import type { TestTool } from "./fixtures/test-gate.ts";

let worlds: ReturnType<typeof durableWorld>[] = [];
afterEach(async () => {
  await Promise.all(worlds.splice(0).map((world) => world.close()));
  worlds = [];
});

const asks = (tool: string): "ask" | "allow" => (tool.startsWith("t.ask") ? "ask" : "allow");

/** A run that waits for a person; each gate stands for a process. */
async function waiting(options: GateInit = {}) {
  const performed: unknown[] = [];
  const pay: TestTool = { name: "ask_pay", effect: "write", handler: (args) => performed.push(args) };
  const made = durableWorld([pay]);
  worlds.push(made);
  const first = await made.open(options);
  const ask = async () => {
    const { runId } = await first.run("try { return await tools.t.ask_pay({ amount: 5 }) } catch (error) { return error.code + ': ' + error.message }");
    const [pending] = await first.approvals.list({ runId });
    return { runId, question: pending?.question ?? expect.fail("nothing was asked") };
  };
  const approve = (approvalId: string) => first.approvals.answer(approvalId, { approved: true, by: "ann" });
  return { ...made, first, pay, ask, approve, performed, ...(await ask()) };
}

type Waiting = Awaited<ReturnType<typeof waiting>>;

/** What the program was told, and the row of the trail about its call. */
async function resumed({ runId, open, first }: Waiting, ...given: Parameters<Waiting["open"]>) {
  const gate = given.length === 0 ? first : await open(...given);
  const run = await gate.runs.resume(runId);
  const rows = [];
  for await (const { outcome, effectStatus, decision, approval } of gate.audit.rows({ runId })) rows.push({ outcome, effectStatus, decision: decision?.kind, reason: decision?.reason ?? "", by: approval?.by });
  return { told: (run.value as { value?: unknown } | undefined)?.value, rows };
}

describe("an approval that does not fit any more performs nothing, and the trail says who gave it and why it was refused", () => {
  test.each<[string, GateInit, (world: Waiting) => readonly TestTool[] | undefined, string]>([
    ["the tool's definition changed", {}, ({ pay }) => [{ ...pay, description: "Pays twice" }], "this has changed: the tool's definition"],
    ["the arguments changed", { interceptors: [{ name: "more", before: ({ args }) => ({ kind: "transform", args: { ...(args as object), amount: 500 } }) }] }, () => undefined, "this has changed: the arguments"],
    ["the policy changed", { policy: testPolicy(asks, "changed") }, () => undefined, "this has changed: the policy"],
    ["the policy denies it", { policy: testPolicy((tool) => (tool.startsWith("t.ask") ? "deny" : "allow")) }, () => undefined, "The test says so"],
  ])("%s", async (_what, options, tools, reason) => {
    const world = await waiting();
    await world.approve(world.question.approvalId);
    const { told, rows } = await resumed(world, options, tools(world));
    expect(world.performed).toEqual([]);
    expect(told).toMatch(/^DENIED: /);
    expect(rows).toMatchObject([{ outcome: "denied", effectStatus: "none", decision: "deny", reason: expect.stringContaining(reason) as string }]);
  });

  test("the principal lost the right to the tool: the run does not go on, and where somebody insists its call is refused", async () => {
    const world = await waiting();
    await world.approve(world.question.approvalId);
    const second = await world.open({ policy: { ...testPolicy(asks), visible: () => false } });
    await expect(second.runs.resume(world.runId)).rejects.toMatchObject({ message: expect.stringContaining("tool t.ask_pay is gone. Nothing was performed") as string });
    const run = await second.runs.resume(world.runId, { acceptChanges: true });
    const rows = [];
    for await (const { outcome, effectStatus, error } of second.audit.rows({ runId: world.runId })) rows.push({ outcome, effectStatus, code: error?.code });
    expect(world.performed).toEqual([]);
    expect(run).toMatchObject({ status: "completed", value: { value: expect.stringMatching(/^TOOL_NOT_FOUND: .*Nothing was changed/) as string } });
    expect(rows).toEqual([{ outcome: "failed", effectStatus: "none", code: "TOOL_NOT_FOUND" }]);
  });

  test("it expired before it was used, or nobody answered at all: the run goes on with a denial", async () => {
    for (const isAnswered of [true, false]) {
      const world = await waiting({ approvals: { expiryMs: 60 } });
      if (isAnswered) await world.approve(world.question.approvalId);
      // Silence wakes the run by itself.
      else expect((await world.first.runs.show(world.runId))?.run.wakeAtMs).toBe(world.question.expiresAtMs);
      await until(() => Date.now() >= world.question.expiresAtMs);
      const { told, rows } = await resumed(world);
      expect(world.performed).toEqual([]);
      expect(told).toMatch(/^DENIED: /);
      expect(rows).toMatchObject([{ outcome: "denied", effectStatus: "none", decision: "deny", reason: isAnswered ? "The approval has expired" : "Nobody answered in time" }]);
    }
  });

  test("it was given to another run: the same call of this one waits on", async () => {
    const world = await waiting();
    const other = await world.ask();
    await world.approve(other.question.approvalId);
    const stolen: RunSignal = { kind: "approval", approvalId: other.question.approvalId, approved: true, by: "ann", atMs: Date.now() };
    await world.journal.signal(world.first.principal.tenant, world.runId, stolen);
    expect((await world.first.runs.resume(world.runId)).status).toBe("suspended");
    expect(world.performed).toEqual([]);
    expect((await world.first.runs.resume(other.runId)).status).toBe("completed");
    expect(world.performed).toEqual([{ amount: 5 }]);
  });
});
