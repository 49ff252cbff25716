import type { Journal } from "@callgate/contract";
import { afterEach, expect, test } from "vitest";
import { startJournalProcess } from "./journal-process.ts";
import type { JournalProcess, JournalScenario } from "./journal-process.ts";
import { ended, issued, leaseOf, sampleRun } from "./journal-samples.ts";
import type { JournalStore } from "./journal-store.ts";

type SetUp = () => Promise<{ store: JournalStore; journal: Journal }>;

/** Processes that write to one store, live beside each other, and die. */
export function processSuite(setUp: SetUp): void {
  const children: JournalProcess[] = [];

  function start(store: JournalStore, scenario: JournalScenario, runId: string): JournalProcess {
    const child = startJournalProcess(store.child, scenario, runId);
    children.push(child);
    return child;
  }

  afterEach(async () => {
    for (const child of children.splice(0)) await child.kill("SIGKILL");
  });

  test("three processes write at once: every entry of every run is there, in its order", async () => {
    const { journal, store } = await setUp();
    const children = ["r1", "r2"].map((runId) => start(store, { name: "many" }, runId));
    await journal.begin(sampleRun("r3"));
    for (let seq = 0; seq < 100; seq += 1) await journal.append(leaseOf("r3"), [issued(seq), ended(seq)], seq % 4 === 0 ? "full" : "lazy");
    await Promise.all(children.map((child) => child.said("closed")));
    await Promise.all(children.map((child) => child.gone));
    for (const runId of ["r1", "r2", "r3"]) {
      const seqs = (await journal.readEntries("acme", runId)).map((entry) => ("seq" in entry ? entry.seq : -1));
      expect(seqs).toEqual(Array.from({ length: 200 }, (_, index) => Math.floor(index / 2)));
      expect(await journal.readRun("acme", runId)).toMatchObject({ status: runId === "r3" ? "running" : "completed", callCount: 100 });
    }
  });

  test("br-020: of the calls of two processes at once exactly as many are reserved for as their budget has", async () => {
    const { journal, store } = await setUp();
    const two = ["r1", "r2"].map((runId) => start(store, { name: "spend" }, runId));
    await Promise.all(two.map((child) => child.gone));
    expect(two.reduce((sum, { words }) => sum + Number(words.at(-1)), 0)).toBe(50);
    expect(await journal.readBudgets("acme")).toMatchObject([{ budgetId: "shared", spent: { calls: 50 } }]);
  });

  test("a run of another living process reads as running", async () => {
    const { journal, store } = await setUp();
    const child = start(store, { name: "oneWrite", stopAt: "issued" }, "r1");
    await child.said("issued");
    expect(await journal.readRun("acme", "r1")).toMatchObject({ status: "running", endedAtMs: undefined });
    await child.kill("SIGKILL");
    expect(await journal.readRun("acme", "r1")).toMatchObject({ status: "crashed" });
  });

  for (const [signal, word, status, kinds] of [
    ["SIGKILL", "begun", "crashed", []],
    ["SIGKILL", "issued", "crashed", ["call-issued"]],
    ["SIGKILL", "ended", "crashed", ["call-issued", "call-ended"]],
    ["SIGKILL", "finished", "completed", ["call-issued", "call-ended"]],
    ["SIGINT", "issued", "crashed", ["call-issued"]],
    ["SIGINT", "finished", "completed", ["call-issued", "call-ended"]],
  ] as const) {
      test(`br-006, br-007: a process gone by ${signal} after "${word}" leaves a run that reads as ${status}, with what was said`, async () => {
        const { journal, store } = await setUp();
        const child = start(store, { name: "oneWrite", stopAt: word }, "r1");
        await child.said(word);
        await child.kill(signal);
        expect(await journal.readRun("acme", "r1")).toMatchObject({ status, programText: sampleRun("r1").programText });
        expect((await journal.readEntries("acme", "r1", { clear: true })).map((entry) => entry.kind)).toEqual(kinds);
        expect((await journal.listRuns({ tenant: "acme", status })).map((run) => run.runId)).toEqual(["r1"]);
        expect(await journal.listRuns({ tenant: "acme", status: "running" })).toEqual([]);
      });
  }

  test("kill -9 in the middle of a stream loses nothing that was acknowledged, and no append is there in part", async () => {
    const { store } = await setUp();
    for (const untilSeq of [0, 3, 17, 40]) {
      const runId = `stream-${untilSeq}`;
      const child = start(store, { name: "stream" }, runId);
      await child.said(String(untilSeq));
      await child.kill("SIGKILL");
      const acknowledged = Number(child.words.at(-1));
      const journal = await store.open();
      const seqs = (await journal.readEntries("acme", runId, { clear: true })).flatMap((entry) => ("seq" in entry ? [entry.seq] : []));
      await journal.close();
      expect(seqs.length % 2).toBe(0);
      expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, index) => Math.floor(index / 2)));
      expect(seqs.length / 2).toBeGreaterThan(acknowledged);
    }
  });

  test("prunes the runs of processes that are gone, and none of one that lives", async () => {
    const { journal, store } = await setUp();
    const [living, dead] = [start(store, { name: "stream" }, "living"), start(store, { name: "stream" }, "dead")];
    await Promise.all([living.said("0"), dead.said("0")]);
    await dead.kill("SIGKILL");
    // One that can still be taken over goes by its age alone, from its last sign of life.
    expect(await journal.prune({ maxBytes: 0 })).toMatchObject({ runs: 0 });
    await journal.prune({ olderThanMs: Date.now() + 3_600_000 });
    expect((await journal.listRuns({ tenant: "acme" })).map((run) => run.runId)).toEqual(["living"]);
  });
}
