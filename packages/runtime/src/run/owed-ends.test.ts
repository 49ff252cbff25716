import { CallgateError } from "@callgate/contract";
import { virtualClock } from "@callgate/testkit";
import { expect, test } from "vitest";
import { durableWorld, until } from "./fixtures/durable-world.ts";
import type { TestTool } from "./fixtures/test-gate.ts";
import { createOwedEnds } from "./owed-ends.ts";

test("an end that could not be written is tried until it is there, one that nobody waits for is given up", async () => {
  const clock = virtualClock();
  const owed = createOwedEnds(clock);
  const tried: string[] = [];
  let isFull = true;
  owed.owe("r1", () => { tried.push("r1"); return isFull ? Promise.reject(new Error("full")) : Promise.resolve(); });
  owed.owe("r2", () => { tried.push("r2"); return Promise.reject(new CallgateError("RUN_FENCED", "another's")); });
  await clock.advance(2_000);
  expect(tried).toEqual(["r1", "r2"]);
  await clock.advance(2_000);
  isFull = false;
  await clock.advance(2_000);
  await clock.advance(60_000);
  expect(tried).toEqual(["r1", "r2", "r1", "r1"]);
  owed.owe("r3", () => { tried.push("r3"); return Promise.reject(new Error("full")); });
  await owed.close();
  await clock.advance(60_000);
  expect(tried.filter((run) => run === "r3")).toHaveLength(1);
});

test("a run whose end the disk did not take is not gone on with: what was refused stays refused, and its caller is told to look first", async () => {
  const paid: unknown[] = [];
  const pay: TestTool = { name: "pay", effect: "write", handler: (args) => { paid.push(args); return "paid"; } };
  const fill: TestTool = { name: "fill", handler: () => { made.journal.before = () => { throw new CallgateError("JOURNAL_UNAVAILABLE", "the disk is full"); }; return null; } };
  const made = durableWorld([pay, fill]);
  const gate = await made.open();
  const run = await gate.run("const out = []; for (const n of [1, 2, 3]) { if (n === 2) await tools.t.fill({}); try { await tools.t.pay({ n }); out.push(n) } catch (error) { out.push(error.code) } } return out;");
  expect([run.status, run.value]).toMatchObject(["completed", { value: [1, "JOURNAL_UNAVAILABLE", "JOURNAL_UNAVAILABLE"] }]);
  expect(run.notices.join(" ")).toContain(`Do not submit the same work again before callgate runs show ${run.runId} tells its end`);
  made.journal.before = () => undefined;
  // Closing tries once more, so that the next process finds the end and not a run to go on with.
  await gate.close();
  const next = await made.open();
  const worker = next.work();
  made.lose(run.runId);
  await until(() => made.journal.runs.get(run.runId)?.finish !== undefined);
  await worker.stop();
  expect(paid).toEqual([{ n: 1 }]);
  expect((await next.runs.show(run.runId))?.run.status).toBe("completed");
  await made.close();
});

test("a run that completes although nobody knows what became of a write says so", async () => {
  const made = durableWorld([{ name: "pay", effect: "write", handler: () => { throw new Error("the line broke"); } }]);
  const gate = await made.open();
  const run = await gate.run("for (const n of [1, 2]) try { await tools.t.pay({ n }) } catch {} return 1");
  expect(run).toMatchObject({ status: "completed", notices: [`Nobody knows whether these took effect: t.pay (${run.runId}.0), t.pay (${run.runId}.1). Find out before anything of it is done again; say what became of them with callgate runs resolve`] });
  await made.close();
});
