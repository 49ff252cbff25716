import { setTimeout as sleep } from "node:timers/promises";
import type { Durability, Journal, JournalEntry } from "@callgate/contract";
import { printed, sampleFinish } from "@callgate/testkit";
import { describe, expect, test } from "vitest";
import { createRunLog, firstLease } from "./run-log.ts";

function harness() {
  const appended: { readonly texts: readonly string[]; readonly durability: Durability }[] = [];
  const degraded: string[] = [];
  const state = { fails: false };
  const textOf = (entry: JournalEntry): string => (entry.kind === "console" ? (entry.entries[0]?.text ?? "") : entry.kind);
  const journal: Pick<Journal, "append" | "finish"> = {
    append: async (_lease, entries, durability) => {
      if (state.fails) throw new Error("disk full");
      appended.push({ texts: entries.map(textOf), durability });
    },
    finish: async () => void appended.push({ texts: ["finish"], durability: "lazy" }),
  };
  const log = createRunLog(journal as Partial<Journal> as Journal, firstLease("r1"), { degraded: (message) => void degraded.push(message) });
  return { log, appended, degraded, state };
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
