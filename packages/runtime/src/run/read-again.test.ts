import { ToolError } from "@callgate/contract";
import { testPolicy } from "@callgate/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { keepingApprover } from "../approval/approvers.ts";
import { plainChecker } from "./fixtures/plain-checker.ts";
import { createTestGate } from "./fixtures/test-gate.ts";
import type { TestTool } from "./fixtures/test-gate.ts";

/** A tool that gives `rows` rows of 100 characters, each beginning with `mark`, and writes that are counted. */
async function open(init: Partial<TestTool> = {}, policy = testPolicy()) {
  const world = { mark: "a", reads: 0, wrote: [] as unknown[], fails: false };
  const tools: readonly TestTool[] = [
    {
      name: "dump", effect: "read", reread: true,
      handler: (args) => {
        world.reads += 1;
        if (world.fails) throw new ToolError({ code: "DOWN", message: "the archive is down" });
        return Array.from({ length: (args as { rows: number }).rows }, () => world.mark.repeat(100));
      },
      ...init,
    },
    { name: "write", effect: "write", handler: (args) => { world.wrote.push(args); return 1; } },
  ];
  const { gate, journal } = await createTestGate(tools, { checkers: [plainChecker()], approver: keepingApprover(), policy, defaults: { suspendAfterMs: 0, budgetTokens: 100_000 } });
  onTestFinished(() => gate.close());
  const kinds = async (runId: string) => (await journal.readEntries("local", runId)).map(({ kind }) => kind);
  const ended = async (runId: string) => (await journal.readEntries("local", runId, { clear: true })).find((entry) => entry.kind === "call-ended");
  return { gate, world, kinds, ended };
}

const program = "const rows = await tools.t.dump({ rows: 1000 }); await tools.t.write({ n: 1 }); await waitFor('go'); await tools.t.write({ first: rows[0][0] }); return [rows.length, rows[0][0]]";

describe("a large read whose tool says reread", () => {
  test("is not kept, and is made again when the run goes on; what it gave is on record by its digest", async () => {
    const { gate, world, ended, kinds } = await open();
    const { runId } = await gate.run(program);
    expect(await ended(runId)).toMatchObject({ outcome: "ok", reread: true, result: { digest: expect.stringMatching(/^sha256:/) as string } });
    expect(await ended(runId)).not.toHaveProperty("result.clear");
    await gate.runs.signal(runId, { name: "go" });
    const result = await gate.runs.resume(runId);
    expect(result).toMatchObject({ status: "completed", value: { value: [1000, "a"] } });
    expect(result.notices.join()).not.toContain("another one");
    expect([world.reads, world.wrote]).toEqual([2, [{ n: 1 }, { first: "a" }]]);
    expect((await kinds(runId)).filter((kind) => kind === "call-issued" || kind === "call-ended" || kind === "call-reread")).toEqual(["call-issued", "call-ended", "call-issued", "call-ended", "call-reread", "call-issued", "call-ended"]);
    await expect(gate.runs.replay(runId)).rejects.toMatchObject({ code: "REPLAY_UNAVAILABLE", message: expect.stringContaining("call 0 (t.dump) was not kept, for it is large") as string });
  });

  test("that gives something else now is told, and the program goes on with it", async () => {
    const { gate, world } = await open();
    const { runId } = await gate.run(program);
    world.mark = "b";
    await gate.runs.signal(runId, { name: "go" });
    const result = await gate.runs.resume(runId);
    expect(result).toMatchObject({ status: "completed", value: { value: [1000, "b"] } });
    expect(result.notices.join()).toMatch(/large result of t\.dump \(call 0\) was not kept\. Read again it is another one than before/);
    expect((await gate.runs.show(runId))?.entries).toContainEqual(expect.objectContaining({ kind: "call-reread", seq: 0, same: false }));
  });

  test("that makes the program do something else than its record ends the run as diverged, with both sides, and nothing is performed", async () => {
    const { gate, world } = await open();
    const { runId } = await gate.run("const rows = await tools.t.dump({ rows: 1000 }); await tools.t.write({ first: rows[0][0] }); await waitFor('go'); await tools.t.write({ n: 2 }); return 1");
    world.mark = "b";
    await gate.runs.signal(runId, { name: "go" });
    const result = await gate.runs.resume(runId);
    expect(result).toMatchObject({ status: "diverged", error: { code: "REPLAY_DIVERGED", details: { seq: 1 } } });
    expect(result.notices.join()).toContain("another one than before");
    expect(world.wrote).toEqual([{ first: "a" }]);
  });

  test("that cannot be made again leaves the run waiting, and it goes on later", async () => {
    const { gate, world } = await open();
    const { runId } = await gate.run(program);
    await gate.runs.signal(runId, { name: "go" });
    world.fails = true;
    await expect(gate.runs.resume(runId)).rejects.toMatchObject({ code: "RUN_NOT_RESUMABLE", message: expect.stringMatching(/call 0 \(t\.dump\) was not kept, and it cannot be read again: .*the archive is down/) as string });
    expect(await gate.runs.show(runId)).toMatchObject({ run: { status: "suspended" } });
    expect(world.wrote).toHaveLength(1);
    world.fails = false;
    expect(await gate.runs.resume(runId)).toMatchObject({ status: "completed", value: { value: [1000, "a"] } });
  });

  test.each([
    ["small results", {}, program.replace("1000", "10")],
    ["results of a tool that does not say so", { reread: false }, program],
  ] as const)("%s are kept as any", async (_name, init, text) => {
    const { gate, world, ended } = await open(init);
    const { runId } = await gate.run(text);
    expect(await ended(runId)).toMatchObject({ result: { clear: { tagged: false } } });
    await gate.runs.signal(runId, { name: "go" });
    expect(await gate.runs.resume(runId)).toMatchObject({ status: "completed" });
    expect(world.reads).toBe(1);
    expect(await gate.runs.replay(runId)).toMatchObject({ result: { status: "completed" } });
  });

  test("one that a person allowed is kept: nobody is asked twice", async () => {
    const { gate, world, ended } = await open({}, testPolicy((tool) => (tool === "t.dump" ? "ask" : "allow")));
    const { runId } = await gate.run(program);
    const [open1] = await gate.approvals.list();
    await gate.approvals.answer(open1?.question.approvalId ?? "", { approved: true, by: "carol" });
    expect(await gate.runs.resume(runId)).toMatchObject({ status: "suspended", waits: [{ kind: "event" }] });
    expect(await ended(runId)).toMatchObject({ result: { clear: { tagged: false } } });
    await gate.runs.signal(runId, { name: "go" });
    expect(await gate.runs.resume(runId)).toMatchObject({ status: "completed", value: { value: [1000, "a"] } });
    expect(world.reads).toBe(1);
  });

  test("many are made again no more at once than the run may make; after one that failed no other is begun", async () => {
    const seen = { open: 0, most: 0, begun: 0, fails: false };
    const { gate } = await open({
      handler: async () => {
        seen.begun += 1;
        seen.open += 1;
        seen.most = Math.max(seen.most, seen.open);
        const number = seen.begun;
        await new Promise((resolve) => setTimeout(resolve, 5 * number));
        seen.open -= 1;
        if (seen.fails) throw new Error("the archive is down");
        return Array.from({ length: 1_000 }, () => ["a", "x".repeat(40)]);
      },
    });
    const { runId } = await gate.run("const all = await Promise.all(Array.from({ length: 12 }, () => tools.t.dump({ rows: 1000 }))); await waitFor('go'); return all.length", { limits: { concurrentCalls: 3 } });
    await gate.runs.signal(runId, { name: "go" });
    Object.assign(seen, { most: 0, begun: 0, fails: true });
    await expect(gate.runs.resume(runId)).rejects.toMatchObject({ code: "RUN_NOT_RESUMABLE" });
    expect([seen.begun, seen.open]).toEqual([3, 0]);
    Object.assign(seen, { most: 0, begun: 0, fails: false });
    expect(await gate.runs.resume(runId)).toMatchObject({ status: "completed", value: { value: 12 } });
    expect([seen.begun, seen.most]).toEqual([12, 3]);
  });
});
