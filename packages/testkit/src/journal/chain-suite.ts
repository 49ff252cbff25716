import { describe, expect, test } from "vitest";
import type { AuditFinding, AuditVerdict, Clock, Journal } from "@callgate/contract";
import type { JournalStore } from "./journal-store.ts";
import { alice, ended, issued, leaseOf, printed, sampleFinish, sampleRun } from "./journal-samples.ts";

interface Opening {
  readonly setUp: (clock?: Clock) => Promise<{ store: JournalStore; journal: Journal }>;
  readonly openAgain: (store: JournalStore) => Promise<Journal>;
}

/** Three runs: two that have ended, one under way. Each of their entries is a row of its own. */
async function recordRuns(journal: Journal): Promise<void> {
  for (const runId of ["r1", "r2", "r3"]) {
    await journal.begin(sampleRun(runId));
    for (const seq of [0, 1, 2]) {
      await journal.append(leaseOf(runId), [issued(seq)], "full");
      await journal.append(leaseOf(runId), [ended(seq)], "full");
    }
    if (runId !== "r3") await journal.finish(leaseOf(runId), sampleFinish());
  }
}

/** Without the words. */
function found({ findings }: AuditVerdict): readonly Partial<AuditFinding>[] {
  return findings.map((finding) => {
    const located: Partial<AuditFinding> = { ...finding };
    delete (located as { message?: string }).message;
    return located;
  });
}

/** What a change of the record behind the journal's back leaves to be found. */
export function chainSuite({ setUp, openAgain }: Opening): void {
  /** Edits a record of three runs with the journal closed, and verifies it. */
  async function verified(edit: (store: JournalStore) => Promise<void>): Promise<AuditVerdict> {
    const { store, journal } = await setUp();
    await recordRuns(journal);
    await journal.close();
    await edit(store);
    return await (await openAgain(store)).audit.verify();
  }

  describe("the chain", () => {
    test("an untouched record verifies, with what is under way and what was written after it", async () => {
      const { store, journal } = await setUp();
      await recordRuns(journal);
      expect(await journal.audit.verify()).toMatchObject({ ok: true, findings: [], runs: 3, entries: 18, openRuns: 1, unchainedRuns: 0, removedRuns: 0 });
      const other = await openAgain(store);
      await other.append(leaseOf("r1"), [{ kind: "call-late", atMs: 9, seq: 1, effectStatus: "done" }], "full");
      await other.signal("acme", "r3", { kind: "approval", approvalId: "a1", approved: true, by: "carol", reason: "fine", atMs: 1 });
      await journal.append(leaseOf("r3"), [printed("more")], "lazy");
      for (const one of [journal, other]) expect(await one.audit.verify()).toMatchObject({ ok: true, findings: [], entries: 20 });
    });

    test("a run that was undone after its end verifies; a number of calls that was changed is found all the same", async () => {
      const { store, journal } = await setUp();
      await recordRuns(journal);
      const claim = await journal.claimEnded("acme", "r1", { leaseMs: 30_000 });
      if (claim.kind !== "claimed") throw new Error(claim.kind);
      for (const seq of [2, 1]) await journal.append(claim.lease, [issued(1_000_000_000 + seq, { compensates: seq }), ended(1_000_000_000 + seq)], "full");
      await journal.release(claim.lease);
      expect(await journal.audit.verify()).toMatchObject({ ok: true, findings: [] });
      await journal.close();
      await store.edit("update runs set call_count = 5 where run_id = 'r1'");
      expect(found(await (await openAgain(store)).audit.verify())).toEqual([{ fault: "run-changed", runId: "r1" }]);
    });

    test("a record under which runs are written verifies", async () => {
      const { store, journal } = await setUp();
      await recordRuns(journal);
      const other = await openAgain(store);
      const writing = Array.from({ length: 8 }, async (_, index) => {
        const runId = `w${index}`;
        await other.begin(sampleRun(runId));
        for (let seq = 0; seq < 10; seq += 1) await other.append(leaseOf(runId), [issued(seq), ended(seq)], "lazy");
        await other.finish(leaseOf(runId), sampleFinish());
      });
      for (let look = 0; look < 5; look += 1) expect(found(await journal.audit.verify())).toEqual([]);
      await Promise.all(writing);
      expect(await journal.audit.verify()).toMatchObject({ ok: true, runs: 11, entries: 18 + 160 });
    });

    const edits: readonly (readonly [title: string, edit: (store: JournalStore) => Promise<void>, finding: Partial<AuditFinding>])[] = [
      ["an entry that was changed", (store) => store.edit(`update entries set body = replace(body, '"done"', '"none"') where ${store.rowAt("r1", 3)}`), { fault: "entry-changed", runId: "r1", position: 3 }],
      ["an entry that is no JSON any more", (store) => store.edit(`update entries set body = substr(body, 2) where ${store.rowAt("r1", 2)}`), { fault: "entry-changed", runId: "r1", position: 2 }],
      ["the time of an entry", (store) => store.edit(`update entries set at_ms = at_ms + 1 where ${store.rowAt("r2", 2)}`), { fault: "entry-changed", runId: "r2", position: 2 }],
      ["a sealed value that was changed", (store) => store.edit(`update entries set sealed = (select sealed from entries where ${store.rowAt("r2", 0)}) where ${store.rowAt("r1", 2)}`), { fault: "entry-changed", runId: "r1", position: 2 }],
      ["a sealed value that was taken away", (store) => store.edit(`update entries set sealed = null where ${store.rowAt("r1", 4)}`), { fault: "entry-changed", runId: "r1", position: 4 }],
      ["an entry that was dropped", (store) => store.edit(`delete from entries where ${store.rowAt("r1", 2)}`), { fault: "entry-missing", runId: "r1", position: 2 }],
      ["the last entry of a run that has ended", (store) => store.edit(`delete from entries where ${store.rowAt("r1", 5)}`), { fault: "entry-missing", runId: "r1", position: 5 }],
      ["the last entry of a run under way", (store) => store.edit(`delete from entries where ${store.rowAt("r3", 5)}`), { fault: "entry-missing", runId: "r3", position: 5 }],
      ["who a run was for", (store) => store.edit("update runs set user_id = 'mallory' where run_id = 'r2'"), { fault: "entry-changed", runId: "r2", position: 0 }],
      ["how a run ended", (store) => store.edit("update runs set status = 'failed' where run_id = 'r2'"), { fault: "run-changed", runId: "r2" }],
      ["the number of its calls", (store) => store.edit("update runs set call_count = 1 where run_id = 'r2'"), { fault: "run-changed", runId: "r2" }],
      ["a run that was dropped", (store) => store.edit("delete from runs where run_id = 'r1'"), { fault: "run-missing", runId: "r1" }],
      ["a run whose stamps were taken away", (store) => store.edit("update runs set seal = null, stamp = null, chained_from = null where run_id = 'r1'"), { fault: "run-changed", runId: "r1" }],
    ];

    test.each(edits)("br-031: finds and locates %s", async (_, edit, finding) => {
      const verdict = await verified(edit);
      expect(verdict.ok).toBe(false);
      expect(found(verdict)[0]).toEqual(finding);
      // Nothing else is said to be wrong, apart from the sum of it.
      expect(verdict.findings.filter(({ runId }) => runId !== undefined && runId !== finding.runId)).toEqual([]);
    });

    const unreadable: readonly (readonly [title: string, edit: (store: JournalStore) => Promise<void>])[] = [
      ["lost its last entry", (store) => store.edit(`delete from entries where ${store.rowAt("r3", 5)}`)],
      ["lost an entry", (store) => store.edit(`delete from entries where ${store.rowAt("r3", 2)}`)],
      ["has an entry that is no JSON", (store) => store.edit(`update entries set body = substr(body, 2) where ${store.rowAt("r3", 2)}`)],
    ];

    test.each(unreadable)("br-031: a record that %s is not read as if it were whole, and the others are", async (_, edit) => {
      const { store, journal } = await setUp();
      await recordRuns(journal);
      await journal.close();
      await edit(store);
      const again = await openAgain(store);
      await expect(again.readEntries("acme", "r3", { clear: false })).rejects.toMatchObject({ code: "JOURNAL_CORRUPT", message: expect.stringContaining("r3") as string });
      expect((await again.readEntries("acme", "r1", { clear: false })).length).toBeGreaterThan(0);
    });

    test("br-031: finds and locates entries that changed places", async () => {
      const swap = (store: JournalStore, from: number, to: number): string => `update entries set body = (select body from entries where ${store.rowAt("r1", from)}) where ${store.rowAt("r1", to)}`;
      const verdict = await verified(async (store) => {
        await store.edit(`create table kept as select body from entries where ${store.rowAt("r1", 1)}`);
        await store.edit(swap(store, 3, 1));
        await store.edit(`update entries set body = (select body from kept) where ${store.rowAt("r1", 3)}`);
        await store.edit("drop table kept");
      });
      expect(found(verdict)).toEqual([1, 3].map((position) => ({ fault: "entry-changed", runId: "r1", position })));
    });

    test("br-031: finds an answer that was put there, changed or taken away", async () => {
      for (const statement of ["update signals set body = replace(body, 'carol', 'mallory')", "delete from signals"]) {
        const { store, journal } = await setUp();
        await recordRuns(journal);
        await journal.signal("acme", "r3", { kind: "approval", approvalId: "a1", approved: true, by: "carol", atMs: 1 });
        expect(await journal.audit.verify()).toMatchObject({ ok: true });
        await store.edit(statement);
        expect(found(await journal.audit.verify())).toEqual([{ fault: "signal-changed", runId: "r3", position: 0 }]);
      }
    });

    test("br-031: finds a word about a call that nobody said: how its job ended, or what became of its write", async () => {
      for (const word of [{ kind: "resolution", callId: "r3.0", attempt: 0, happened: false, by: "carol", atMs: 1 }, { kind: "job", callId: "r3.0", result: { kind: "error", error: { code: "X", message: "x", tool: "", retryable: false } }, by: "carol", atMs: 1 }] as const) {
        const { store, journal } = await setUp();
        await recordRuns(journal);
        await journal.signal("acme", "r3", word);
        await store.edit("update signals set run_id = 'r2'");
        expect(found(await journal.audit.verify())).toEqual(expect.arrayContaining([{ fault: "signal-changed", runId: "r2", position: 0 }]));
      }
    });

    test("br-031: finds lines of the ledger that were changed, dropped or cut off", async () => {
      const last = "(select max(position) from ledger)";
      const some = await verified((store) => store.edit("update ledger set body = replace(body, 'completed', 'cancelled') where body like '%completed%'"));
      expect(some.findings[0]).toMatchObject({ fault: "ledger-changed" });
      const middle = await verified((store) => store.edit(`delete from ledger where position = ${last} - 1`));
      expect(middle.findings.map(({ fault }) => fault)).toContain("ledger-missing");
      const end = await verified((store) => store.edit(`delete from ledger where position = ${last}`));
      expect(end.findings.map(({ fault }) => fault)).toContain("ledger-missing");
    });

    test("br-031: finds an older copy in the place of the record by a checkpoint that was kept elsewhere", async () => {
      const { store, journal } = await setUp();
      await recordRuns(journal);
      await journal.close();
      const older = await store.copy();
      const again = await openAgain(store);
      await again.finish(leaseOf("r3"), sampleFinish());
      const { checkpoint } = await again.audit.verify();
      expect(await again.audit.verify({ checkpoint })).toMatchObject({ ok: true });
      await again.begin(sampleRun("r4"));
      expect(await again.audit.verify({ checkpoint })).toMatchObject({ ok: true });
      await again.close();
      const old = await openAgain(older);
      expect(await old.audit.verify()).toMatchObject({ ok: true });
      const verdict = await old.audit.verify({ checkpoint });
      expect([...new Set(verdict.findings.map(({ fault }) => fault))]).toEqual(["checkpoint"]);
      await old.close();
      await older.dispose();
    });

    test("an erased run verifies; a key that was taken without an erase is found", async () => {
      const { store, journal } = await setUp();
      await recordRuns(journal);
      await journal.signal("acme", "r3", { kind: "event", name: "go", payload: issued(0).args, by: "carol", atMs: 1 });
      for (const runId of ["r1", "r3"]) await journal.erase("acme", runId, { by: "carol" });
      await journal.append(leaseOf("r3"), [issued(3)], "full");
      expect(await journal.audit.verify()).toMatchObject({ ok: true, findings: [], erasedRuns: 2, entries: 19 });
      expect((await journal.audit.ledger("acme")).map(({ event }) => event)).toContainEqual({ kind: "run-erased", runId: "r1", by: "carol" });
      await store.edit(`update entries set body = replace(body, '"done"', '"none"') where ${store.rowAt("r1", 3)}`);
      expect(found(await journal.audit.verify())).toEqual([{ fault: "entry-changed", runId: "r1", position: 3 }]);
    });
  });

  describe("what is kept and what is removed", () => {
    test("a removal is on record with who, why and which runs, and the rest verifies", async () => {
      const { journal } = await setUp();
      await recordRuns(journal);
      await journal.prune({ olderThanMs: sampleFinish().endedAtMs + 1, by: "carol", reason: "no longer needed" });
      expect(await journal.audit.verify()).toMatchObject({ ok: true, findings: [], runs: 1, removedRuns: 2 });
      const removal = (await journal.audit.ledger("acme")).find(({ event }) => event.kind === "runs-removed")?.event;
      expect(removal).toMatchObject({ by: "carol", reason: "no longer needed", runs: [{ runId: "r1", entries: 6 }, { runId: "r2", entries: 6 }] });
    });

    test("the ledger is cut when it is old enough, up to runs that are still there, and what is left verifies", async () => {
      const { journal } = await setUp();
      await recordRuns(journal);
      await journal.prune({ olderThanMs: sampleFinish().endedAtMs + 1 });
      const before = await journal.audit.verify();
      await journal.prune({ keysOlderThanMs: Date.now() * 2, by: "carol", reason: "a year is over" });
      const cut = await journal.audit.verify();
      expect(cut).toMatchObject({ ok: true, findings: [], runs: 1, removedRuns: 2 });
      expect(cut.ledgerLines).toBeLessThan(before.ledgerLines);
      expect(await journal.audit.verify({ checkpoint: before.checkpoint })).toMatchObject({ ok: true });
      await journal.finish(leaseOf("r3"), sampleFinish());
      await journal.prune({ olderThanMs: sampleFinish().endedAtMs + 1 });
      await journal.prune({ keysOlderThanMs: Date.now() * 2 });
      await journal.begin(sampleRun("r4"));
      expect(await journal.audit.verify()).toMatchObject({ ok: true, findings: [], runs: 1, removedRuns: 3 });
    });

    test("a run under a legal hold is neither removed nor erased until the hold is released", async () => {
      const { journal } = await setUp();
      await recordRuns(journal);
      const hold = await journal.audit.hold({ tenant: "acme", covers: { runId: "r1" }, reason: "case 7", by: "carol" });
      const byUser = await journal.audit.hold({ tenant: "acme", covers: { user: "nobody" }, reason: "none of these", by: "carol" });
      await expect(journal.erase("acme", "r1")).rejects.toMatchObject({ code: "LEGAL_HOLD", message: expect.stringContaining("case 7") });
      expect(await journal.prune({ olderThanMs: sampleFinish().endedAtMs + 1 })).toMatchObject({ runs: 1, heldRuns: 1 });
      expect(await journal.readRun("acme", "r1")).toMatchObject({ status: "completed", programText: expect.any(String) });
      expect((await journal.audit.holds("acme")).map(({ holdId }) => holdId).sort()).toEqual([hold.holdId, byUser.holdId].sort());
      expect(await journal.audit.holds("rival")).toEqual([]);
      await expect(journal.audit.release("rival", hold.holdId, "bob")).rejects.toMatchObject({ code: "USAGE" });
      await journal.audit.release("acme", hold.holdId, "dave");
      await expect(journal.audit.release("acme", hold.holdId, "dave")).rejects.toMatchObject({ code: "USAGE" });
      expect((await journal.audit.holds("acme")).find(({ holdId }) => holdId === hold.holdId)).toMatchObject({ released: { by: "dave" } });
      expect(await journal.audit.verify()).toMatchObject({ ok: true, findings: [] });
      expect(await journal.prune({ olderThanMs: sampleFinish().endedAtMs + 1 })).toMatchObject({ runs: 1, heldRuns: 0 });
    });

    test.each([
      ["user", { user: alice.user }],
      ["agent", { agent: alice.agent ?? "" }],
      ["task", { task: alice.task ?? "" }],
      ["time", { fromMs: sampleRun("r").startedAtMs, untilMs: sampleRun("r").startedAtMs + 1 }],
      ["everything", {}],
    ])("a hold covers runs by %s", async (_, covers) => {
      const { journal } = await setUp();
      await recordRuns(journal);
      await journal.audit.hold({ tenant: "acme", covers, reason: "case 7", by: "carol" });
      expect(await journal.prune({ olderThanMs: sampleFinish().endedAtMs + 1 })).toMatchObject({ runs: 0, heldRuns: 2 });
    });

    test("a hold that was taken away behind the journal's back is found", async () => {
      const { store, journal } = await setUp();
      await recordRuns(journal);
      await journal.audit.hold({ tenant: "acme", covers: { runId: "r1" }, reason: "case 7", by: "carol" });
      await store.edit("delete from holds");
      expect(found(await journal.audit.verify())).toEqual([{ fault: "hold-changed" }]);
    });
  });
}
