import { setTimeout as sleep } from "node:timers/promises";
import type { Durability, Journal, JournalEntry } from "@callgate/contract";
import { printed, sampleFinish } from "@callgate/testkit";
import { describe, expect, test } from "vitest";
import { createJournalHealth } from "./journal-health.ts";
import { createRunLog, firstLease } from "./run-log.ts";
import type { RunLog } from "./run-log.ts";

function harness() {
  const appended: { readonly texts: readonly string[]; readonly durability: Durability }[] = [];
  const degraded: string[] = [];
  const state = { fails: false, finishMs: 0 };
  const textOf = (entry: JournalEntry): string => (entry.kind === "console" ? (entry.entries[0]?.text ?? "") : entry.kind);
  const journal: Pick<Journal, "append" | "finish"> = {
    append: async (_lease, entries, durability) => {
      if (state.fails) throw new Error("disk full");
      appended.push({ texts: entries.map(textOf), durability });
    },
    finish: async (_lease, _finish, durability = "lazy") => {
      await sleep(state.finishMs);
      if (state.fails) throw new Error("disk full");
      appended.push({ texts: ["finish"], durability });
    },
  };
  const journalHealth = createJournalHealth();
  const owed: (() => Promise<void>)[] = [];
  const newLog = (): RunLog => createRunLog({ journal: journal as Partial<Journal> as Journal, journalHealth, owedEnds: { owe: (_runId, write) => void owed.push(write) } }, firstLease("r1"), { degraded: (message, isLate) => void degraded.push(isLate ? `late: ${message}` : message) });
  return { log: newLog(), newLog, appended, degraded, state, journalHealth, owed };
}

describe("createRunLog", () => {
  test("what is gathered goes along with the next flush, else by itself soon", async () => {
    const { log, appended } = harness();
    log.gather([printed("a"), printed("b")]);
    log.add(printed("c"));
    log.flush();
    await sleep(30);
    log.gather([printed("d")]);
    log.gather([printed("e")]);
    await sleep(30);
    expect(appended).toEqual([{ texts: ["a", "b", "c"], durability: "later" }, { texts: ["d", "e"], durability: "later" }]);
  });

  test("the end of a run that only read is not waited for once the journal was seen to work", async () => {
    const { log, newLog, appended, state, journalHealth } = harness();
    await log.finish(sampleFinish(), { onlyRead: true });
    expect(appended).toEqual([{ texts: ["finish"], durability: "lazy" }]);
    expect(journalHealth.isSound).toBe(true);
    state.finishMs = 20;
    const next = newLog();
    next.add(printed("read"));
    await next.finish(sampleFinish(), { onlyRead: true });
    expect(appended.filter(({ texts }) => texts[0] === "finish")).toHaveLength(1);
    await sleep(60);
    expect(appended.slice(1)).toEqual([{ texts: ["read"], durability: "later" }, { texts: ["finish"], durability: "later" }]);
    await newLog().finish(sampleFinish());
    expect(appended.at(-1)).toEqual({ texts: ["finish"], durability: "lazy" });
  });

  test("a journal that fails is waited for again, and what failed after the answer is told as late", async () => {
    const { log, newLog, degraded, state, journalHealth } = harness();
    await log.finish(sampleFinish(), { onlyRead: true });
    state.fails = true;
    await newLog().finish(sampleFinish(), { onlyRead: true });
    await sleep(20);
    expect(degraded).toEqual(["late: disk full"]);
    expect(journalHealth.isSound).toBe(false);
    await newLog().finish(sampleFinish(), { onlyRead: true });
    expect(degraded).toEqual(["late: disk full", "disk full"]);
    state.fails = false;
    await newLog().finish(sampleFinish(), { onlyRead: true });
    expect(journalHealth.isSound).toBe(true);
  });

  test("is written before the end of its run; what comes after the end is written at once", async () => {
    const { log, appended } = harness();
    log.gather([printed("read")]);
    await log.finish(sampleFinish());
    log.gather([printed("late")]);
    expect(appended.map(({ texts }) => texts)).toEqual([["read"], ["finish"], ["late"]]);
    await sleep(30);
    expect(appended).toHaveLength(3);
  });

  test("what could not be written is told once, kept, and goes first with the next", async () => {
    const { log, appended, degraded, state } = harness();
    state.fails = true;
    log.gather([printed("a")]);
    await sleep(30);
    log.gather([printed("b")]);
    await sleep(30);
    state.fails = false;
    log.gather([printed("c")]);
    await sleep(30);
    expect(degraded).toEqual(["disk full"]);
    expect(appended.map(({ texts }) => texts)).toEqual([["a", "b", "c"]]);
  });
});
