import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Gate, Journal } from "@callgate/contract";
import { describe, expect, onTestFinished, test } from "vitest";
import { openJournal } from "../journal/fixtures/open-journal.ts";
import { until } from "./fixtures/durable-world.ts";
import { plainChecker } from "./fixtures/plain-checker.ts";
import { createTestGate } from "./fixtures/test-gate.ts";

/** A run whose process is lost in its second write: its journal has closed, so that the other knows it is gone. */
async function lostRun(program: string): Promise<{ readonly gate: Gate; readonly runId: string; readonly log: readonly string[] }> {
  const folder = mkdtempSync(join(tmpdir(), "callgate-lost-"));
  const log: string[] = [];
  const tools = [
    { name: "a", effect: "write", handler: () => void log.push("a"), compensate: () => void log.push("undo a") },
    { name: "hang", effect: "write", timeoutMs: 600_000, handler: () => (log.push("hang"), log.filter((line) => line === "hang").length === 1 ? new Promise(() => undefined) : undefined) },
  ] as const;
  const open = async (journal: Journal) => await createTestGate(tools, { checkers: [plainChecker()], defaults: { suspendAfterMs: 5, settleGraceMs: 1 }, wrapJournal: () => journal });
  const [lost, journal] = [await openJournal(folder), await openJournal(folder)];
  const [{ gate: first }, { gate }] = [await open(lost), await open(journal)];
  onTestFinished(async () => {
    await Promise.all([first.close(), gate.close()]);
    rmSync(folder, { recursive: true });
  });
  first.run(program).catch(() => undefined);
  await until(() => log.includes("hang"));
  await lost.close();
  const [run] = await gate.runs.list();
  expect(run).toMatchObject({ status: "crashed", isLost: true, error: { code: "RUN_INTERRUPTED", retryable: true } });
  return { gate, runId: run?.runId ?? "", log };
}

describe("a run whose process was lost has not ended", () => {
  test("its record says so, and who takes it over; an event for it is kept, and there once it goes on", async () => {
    const { gate, runId, log } = await lostRun("await tools.t.a({}); try { await tools.t.hang({}) } catch {} return await waitFor('go')");
    const shown = await gate.runs.show(runId);
    expect(shown?.run.error?.message).toContain(`any worker takes it over, and so does callgate runs resume ${runId}`);
    expect((await gate.runs.explain(runId)).sentences.map(({ text }) => text).join(" ")).toMatch(/Its process was lost after .*, with 2 calls\. It has not ended/);
    expect(await gate.runs.signal(runId, { name: "go", payload: 7 })).toEqual({ known: false });
    await expect(gate.runs.rollback(runId)).rejects.toMatchObject({ code: "RUN_NOT_RESUMABLE", message: expect.stringContaining("has lost its process and can still go on") as string });
    await gate.runs.resolve(`${runId}.1`, { happened: true });
    expect(await gate.runs.resume(runId)).toMatchObject({ status: "completed", value: { value: 7 } });
    expect(log).toEqual(["a", "hang"]);
    expect((await gate.runs.show(runId))?.run).not.toHaveProperty("isLost");
  });

  test("and is cancelled from outside: what it did is undone, what is in doubt is listed, and the program does not go on", async () => {
    const { gate, runId, log } = await lostRun("await tools.t.a({}); await tools.t.hang({}); await tools.t.a({});");
    expect(await gate.runs.cancel(runId)).toMatchObject({ status: "cancelled", error: { code: "CANCELLED" }, compensation: { undone: [`${runId}.0`], remaining: [{ tool: "t.hang", why: "it is not known whether it took effect" }] } });
    expect(log).toEqual(["a", "hang", "undo a"]);
    await expect(gate.runs.signal(runId, { name: "go" })).rejects.toMatchObject({ code: "SIGNAL_REFUSED", message: expect.stringContaining("was cancelled") as string });
    expect((await gate.runs.resume(runId)).status).toBe("cancelled");
  });
});
