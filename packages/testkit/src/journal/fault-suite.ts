import { CallgateError } from "@callgate/contract";
import type { Journal, JournalEntry } from "@callgate/contract";
import { expect, test } from "vitest";
import { ended, issued, leaseOf, printed, recorded, sampleFinish, sampleRun } from "./journal-samples.ts";
import type { JournalStore } from "./journal-store.ts";

type SetUp = () => Promise<{ store: JournalStore; journal: Journal }>;

const seqsOf = (entries: readonly JournalEntry[]): readonly number[] => entries.flatMap((entry) => (entry.kind === "call-issued" ? [entry.seq] : []));
const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, seq) => seq);
/** Large, and not so large that it is a blob. */
const bulk = "x".repeat(100_000);
const aCall = (seq: number): readonly JournalEntry[] => [issued(seq), printed(bulk), ended(seq)];

/** Writes until the store has no room; how many calls are there then, and what was said. */
async function writeUntilFull(journal: Journal): Promise<{ readonly written: number; readonly refusal: unknown }> {
  for (let written = 0; written < 100; written += 1) {
    try {
      await journal.append(leaseOf("r1"), aCall(written), written % 2 === 0 ? "full" : "lazy");
    } catch (refusal) {
      return { written, refusal };
    }
  }
  throw new Error("The store was not full");
}

/** A disk that is full, and connections that are cut. */
export function faultSuite(setUp: SetUp): void {
  test("what finds the disk full is refused as a whole and says so; reads go on; once there is room the same is written, once", async () => {
    const { store, journal } = await setUp();
    await journal.begin(sampleRun("r1"));
    const mend = await store.faults.fillDisk();
    const { written, refusal } = await writeUntilFull(journal);
    expect(refusal).toMatchObject({ code: "JOURNAL_UNAVAILABLE", message: expect.stringMatching(/space|full/) as string });
    const event = { kind: "event", name: "paid", payload: recorded(bulk), by: "shop", atMs: 1 } as const;
    await expect(journal.signal("acme", "r1", event)).rejects.toMatchObject({ code: "JOURNAL_UNAVAILABLE" });
    expect(await journal.readEntries("acme", "r1")).toHaveLength(written * 3);
    expect([(await journal.readRun("acme", "r1"))?.status, await journal.readSignals("acme", "r1")]).toEqual(["running", []]);
    await mend();
    await journal.append(leaseOf("r1"), aCall(written), "full");
    expect(await journal.signal("acme", "r1", event)).toMatchObject({ kind: "kept" });
    await journal.finish(leaseOf("r1"), sampleFinish());
    expect(seqsOf(await journal.readEntries("acme", "r1"))).toEqual(upTo(written + 1));
    expect([(await journal.readRun("acme", "r1"))?.status, await journal.readSignals("acme", "r1")]).toEqual(["completed", [expect.objectContaining({ name: "paid" })]]);
  }, 60_000);

  test("connections that are cut, all at once and unheard, cost a read nothing and a write at most an attempt; what was acknowledged is there once", async (context) => {
    const { store, journal } = await setUp();
    const { cutConnections } = store.faults;
    if (cutConnections === undefined) return context.skip("it has no connections");
    await journal.begin(sampleRun("r1"));
    const reads = (): Promise<unknown> => Promise.all(Array.from({ length: 6 }, () => journal.readRun("acme", "r1")));
    for (let seq = 0; seq < 4; seq += 1) {
      await reads(); // As many connections as there may be, and all of them idle.
      cutConnections();
      expect(await journal.readRun("acme", "r1")).toMatchObject({ status: "running" });
      await reads();
      cutConnections();
      await appended(journal, [issued(seq), ended(seq)]);
    }
    cutConnections();
    expect(seqsOf(await journal.readEntries("acme", "r1"))).toEqual(upTo(4));
  }, 60_000);
}

/** As a run log does: what failed is asked for again, the same entries. */
async function appended(journal: Journal, entries: readonly JournalEntry[]): Promise<void> {
  try {
    await journal.append(leaseOf("r1"), entries, "full");
  } catch (error) {
    if (!CallgateError.is(error) || error.code !== "JOURNAL_UNAVAILABLE") throw error;
    await journal.append(leaseOf("r1"), entries, "full");
  }
}
