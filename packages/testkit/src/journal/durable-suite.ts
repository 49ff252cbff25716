import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { ApprovalQuestion, RunSignal, RunWait } from "@callgate/contract";
import type { JournalStore } from "./journal-store.ts";
import { alice, bob, digestText, ended, issued, leaseOf, printed, recorded, sampleFinish, sampleRun } from "./journal-samples.ts";
import { LEASE_MS, START_MS, twoOwners } from "./two-owners.ts";
import type { DurableSeams } from "./two-owners.ts";

const question = (approvalId: string, reason = "writes"): ApprovalQuestion => ({
  approvalId, principal: alice, runId: "r1", callId: "c0", tool: "crm.update", definitionDigest: digestText("d"), argsDigest: digestText("a"), argsSummary: { id: 1 },
  effect: "write", policyVersion: "p1", ruleId: "ask", reason, expiresAtMs: START_MS + 1_000_000,
});
const approvalWait = (approvalId: string, reason?: string): RunWait => ({ kind: "approval", seq: 0, question: question(approvalId, reason) });
const approval = (approvalId: string, by = "carol", approved = true): RunSignal => ({ kind: "approval", approvalId, approved, by, atMs: START_MS });
const event = (name: string, payload: unknown, id?: string): RunSignal => ({ kind: "event", name, ...(id === undefined ? {} : { id }), payload: recorded(payload), by: "carol", atMs: START_MS });

/** Who drives a run: begin, renew, claim, and what a lost lease may not do. */
export function leaseSuite(seams: DurableSeams): void {
  test("a run begins at epoch 1 and is nobody else's until its lease is over; then it is taken over at the next epoch", async () => {
    const { clock, second, lease } = await twoOwners(seams);
    expect(lease).toEqual({ runId: "r1", epoch: 1 });
    clock.set(START_MS + LEASE_MS - 1);
    expect(await second.claim({ leaseMs: LEASE_MS })).toBeUndefined();
    expect(await second.claim({ leaseMs: LEASE_MS, runId: "r1" })).toBeUndefined();
    clock.set(START_MS + LEASE_MS);
    const claimed = await second.claim({ leaseMs: LEASE_MS });
    expect(claimed).toMatchObject({ lease: { runId: "r1", epoch: 2 }, reason: "taken_over", run: { status: "running", epoch: 2, programText: sampleRun("r1").programText } });
    expect(await second.claim({ leaseMs: LEASE_MS })).toBeUndefined();
  });

  test("renew keeps a run for so long from now, and a run that was claimed, suspended or finished is not renewed", async () => {
    const { clock, first, second, lease } = await twoOwners(seams);
    clock.set(START_MS + LEASE_MS - 1);
    await first.renew(lease, 2 * LEASE_MS);
    clock.set(START_MS + 3 * LEASE_MS - 2);
    expect(await second.claim({ leaseMs: LEASE_MS })).toBeUndefined();
    clock.set(START_MS + 3 * LEASE_MS);
    const claimed = await second.claim({ leaseMs: LEASE_MS });
    await expect(first.renew(lease, LEASE_MS)).rejects.toMatchObject({ code: "RUN_FENCED" });
    await second.finish(claimed?.lease ?? lease, sampleFinish());
    await expect(second.renew(claimed?.lease ?? lease, LEASE_MS)).rejects.toMatchObject({ code: "RUN_FENCED" });
    const other = await first.begin(sampleRun("r2"));
    await first.suspend(other, { atMs: START_MS, waits: [] });
    await expect(first.renew(other, LEASE_MS)).rejects.toMatchObject({ code: "RUN_FENCED" });
    await expect(first.renew(leaseOf("r3"), LEASE_MS)).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
  });

  test("a lease that is over but that nobody took is still ours", async () => {
    const { clock, first, second, lease } = await twoOwners(seams);
    clock.set(START_MS + 2 * LEASE_MS);
    await first.append(lease, [issued(0)], "full");
    await first.renew(lease, LEASE_MS);
    expect(await second.claim({ leaseMs: LEASE_MS })).toBeUndefined();
  });

  test("an owner does not take what it drives itself after its clock has jumped, by name or not; what it lets go it may, and so may others at once", async () => {
    const { clock, first, second, lease } = await twoOwners(seams);
    const undone = await first.begin(sampleRun("r2"), { leaseMs: LEASE_MS });
    await first.finish(undone, sampleFinish({ status: "failed" }));
    await first.claimEnded("acme", "r2", { leaseMs: LEASE_MS });
    clock.set(START_MS + 31 * LEASE_MS);
    for (const runId of [undefined, "r1", "r2"]) expect(await first.claim({ leaseMs: LEASE_MS, ...(runId === undefined ? {} : { runId }) })).toBeUndefined();
    expect(await first.claimEnded("acme", "r2", { leaseMs: LEASE_MS })).toMatchObject({ kind: "held" });
    await first.append(lease, [issued(0)], "full");
    first.letGo(lease);
    expect(await first.claim({ leaseMs: LEASE_MS })).toMatchObject({ reason: "taken_over", lease: { runId: "r1", epoch: 2 } });
    expect(await second.claim({ leaseMs: LEASE_MS })).toMatchObject({ reason: "undoing", lease: { runId: "r2", epoch: 3 } });
    clock.set(START_MS + 62 * LEASE_MS);
    expect(await second.claim({ leaseMs: LEASE_MS })).toMatchObject({ reason: "taken_over", lease: { runId: "r1", epoch: 3 } });
    await second.suspend(leaseOf("r1", 3), { atMs: START_MS, waits: [], wakeAtMs: START_MS });
    expect(await first.claim({ leaseMs: LEASE_MS })).toMatchObject({ reason: "due", lease: { runId: "r1", epoch: 4 } });
  });

  test("a user with another master key takes none of the runs it could not read, waiting or lost, says so of one it names, and leaves it as it was", async () => {
    const { clock, store, first, lease } = await twoOwners(seams);
    const stranger = await seams.openAgain(store, clock, 9);
    const waits = [approvalWait("apr_1", "sends money")];
    await first.suspend(lease, { atMs: START_MS, waits, wakeAtMs: START_MS });
    const lost = await first.begin(sampleRun("r2"), { leaseMs: LEASE_MS });
    const undone = await first.begin(sampleRun("r3"), { leaseMs: LEASE_MS });
    await first.finish(undone, sampleFinish());
    clock.set(START_MS + 2 * LEASE_MS);
    expect(await stranger.claim({ leaseMs: LEASE_MS })).toBeUndefined();
    for (const runId of ["r1", "r2"]) await expect(stranger.claim({ leaseMs: LEASE_MS, runId })).rejects.toMatchObject({ code: "JOURNAL_KEY_LOST", message: expect.stringContaining("another") as string });
    await expect(stranger.claimEnded("acme", "r3", { leaseMs: LEASE_MS })).rejects.toMatchObject({ code: "JOURNAL_KEY_LOST" });
    await expect(stranger.signal("acme", "r1", approval("apr_1"))).rejects.toMatchObject({ code: "JOURNAL_KEY_LOST" });
    // It sees that they are there, and that it is its key that is missing.
    expect((await stranger.listRuns({ tenant: "acme" })).map(({ runId, unreadable }) => [runId, unreadable])).toEqual(["r3", "r2", "r1"].map((runId) => [runId, "other_key"]));
    expect([(await stranger.readRun("acme", "r1"))?.unreadable, (await first.readRun("acme", "r1"))?.unreadable]).toEqual(["other_key", undefined]);
    expect(await first.readRun("acme", "r1")).toMatchObject({ status: "suspended", epoch: 1, waits });
    expect([await first.readSignals("acme", "r1"), (await first.readRun("acme", "r2"))?.epoch, (await first.readRun("acme", "r3"))?.epoch]).toEqual([[], lost.epoch, undone.epoch]);
    expect(await first.claim({ leaseMs: LEASE_MS, runId: "r1" })).toMatchObject({ reason: "due" });
    const own = await stranger.begin(sampleRun("r4"), { leaseMs: LEASE_MS });
    await stranger.suspend(own, { atMs: START_MS, waits: [], wakeAtMs: START_MS });
    expect(await stranger.claim({ leaseMs: LEASE_MS })).toMatchObject({ lease: { runId: "r4" } });
  });

  test("an owner that lost its run writes nothing: append, finish, suspend, renew, reserve", async () => {
    const { clock, first, second, lease } = await twoOwners(seams);
    await first.append(lease, [issued(0)], "full");
    clock.set(START_MS + LEASE_MS);
    const claimed = await second.claim({ leaseMs: LEASE_MS });
    const before = [await second.readRun("acme", "r1"), await second.readEntries("acme", "r1", { clear: true })];
    const large = recorded("x".repeat(300_000));
    const writes = [
      () => first.append(lease, [ended(0)], "lazy"),
      () => first.append(lease, [ended(0, { result: large })], "full"),
      () => first.append(lease, [ended(0)], "later"),
      () => first.finish(lease, sampleFinish()),
      () => first.suspend(lease, { atMs: START_MS, waits: [], wakeAtMs: 1 }),
      () => first.renew(lease, 10 * LEASE_MS),
      () => first.reserveEffect(lease, { tenant: "acme", idempotencyKey: "k", seq: 0, callId: "c0", argsDigest: digestText("a") }),
    ];
    for (const write of writes) await expect(write()).rejects.toMatchObject({ code: "RUN_FENCED" });
    expect([await second.readRun("acme", "r1"), await second.readEntries("acme", "r1", { clear: true })]).toEqual(before);
    const other = await second.begin(sampleRun("r2"));
    expect(await second.reserveEffect(other, { tenant: "acme", idempotencyKey: "k", seq: 0, callId: "c9", argsDigest: digestText("a") })).toEqual({ kind: "reserved" });
    await second.append(claimed?.lease ?? lease, [ended(0)], "lazy");
    expect(await second.readEntries("acme", "r1")).toHaveLength(2);
  });

  test("append goes on after suspend and finish under the same lease, nothing else does", async () => {
    const { first, lease } = await twoOwners(seams);
    await first.append(lease, [issued(0)], "full");
    await first.suspend(lease, { atMs: START_MS, waits: [] });
    await first.append(lease, [ended(0)], "lazy");
    await expect(first.finish(lease, sampleFinish())).rejects.toMatchObject({ code: "RUN_FENCED" });
    await expect(first.suspend(lease, { atMs: START_MS, waits: [] })).rejects.toMatchObject({ code: "RUN_FENCED" });
    await expect(first.reserveEffect(lease, { tenant: "acme", idempotencyKey: "k", seq: 0, callId: "c0", argsDigest: digestText("a") })).rejects.toMatchObject({ code: "RUN_FENCED" });
    expect((await first.readEntries("acme", "r1")).map(({ kind }) => kind)).toEqual(["call-issued", "suspended", "call-ended"]);
  });

  test("of many claimers at once each run is got by exactly one", async () => {
    for (const [runs, claimers] of [[1, 2], [1, 12], [2, 3], [3, 3], [6, 12], [12, 7]] as const) {
      const { clock, first, second, lease, store } = await twoOwners(seams);
      const third = await seams.openAgain(store, clock);
      const starter = await seams.openAgain(store, clock); // Nobody takes its own.
      await first.finish(lease, sampleFinish());
      for (let index = 0; index < runs; index += 1) {
        const begun = await starter.begin(sampleRun(`run-${index}`), { leaseMs: LEASE_MS });
        if (index % 2 === 0) await starter.suspend(begun, { atMs: START_MS, waits: [], wakeAtMs: START_MS });
      }
      clock.set(START_MS + LEASE_MS);
      const journals = [first, second, third];
      const claimed = await Promise.all(Array.from({ length: claimers }, (_, index) => (journals[index % 3] ?? first).claim({ leaseMs: LEASE_MS })));
      const got = claimed.flatMap((claim) => (claim === undefined ? [] : [claim.lease.runId]));
      expect(new Set(got).size).toBe(got.length);
      expect(got.length).toBe(Math.min(runs, claimers));
    }
  }, 120_000);

  test("the oldest that is due comes first, of one tenant where one is named", async () => {
    const { clock, first, second, lease } = await twoOwners(seams);
    await first.finish(lease, sampleFinish());
    const wakes = { late: 300, early: 100, middle: 200 };
    for (const [runId, wakeMs] of Object.entries(wakes)) await first.suspend(await first.begin(sampleRun(runId)), { atMs: START_MS, waits: [{ kind: "timer", seq: 0, untilMs: START_MS + wakeMs }], wakeAtMs: START_MS + wakeMs });
    await first.suspend(await first.begin(sampleRun("theirs", { principal: bob })), { atMs: START_MS, waits: [], wakeAtMs: START_MS + 50 });
    clock.set(START_MS + 250);
    expect(await second.claim({ leaseMs: LEASE_MS, tenant: "acme", runId: "theirs" })).toBeUndefined();
    expect((await second.claim({ leaseMs: LEASE_MS, tenant: "acme" }))?.lease.runId).toBe("early");
    expect((await second.claim({ leaseMs: LEASE_MS }))?.lease.runId).toBe("theirs");
    expect((await second.claim({ leaseMs: LEASE_MS }))?.lease.runId).toBe("middle");
    expect(await second.claim({ leaseMs: LEASE_MS })).toBeUndefined();
  });

  test("what ended, and a direct call or replay whose owner is lost, is never claimed", async () => {
    const { clock, first, second, lease } = await twoOwners(seams);
    await first.finish(lease, sampleFinish({ status: "failed" }));
    await first.begin(sampleRun("call", { kind: "call" }), { leaseMs: 1 });
    await first.begin(sampleRun("replay", { kind: "replay" }), { leaseMs: 1 });
    clock.set(START_MS + LEASE_MS);
    for (const runId of [undefined, "r1", "call", "replay", "nope"]) expect(await second.claim({ leaseMs: LEASE_MS, ...(runId === undefined ? {} : { runId }) })).toBeUndefined();
  });

  test("a program whose process was lost is as old as its last sign of life: neither its start nor a full journal takes it from whoever goes on with it", async () => {
    const { clock, store, first, second, lease } = await twoOwners(seams);
    const day = 86_400_000;
    clock.set(START_MS + 40 * day);
    await first.renew(lease, LEASE_MS);
    await first.begin(sampleRun("call", { kind: "call", startedAtMs: START_MS }));
    await first.close();
    expect(await second.prune({ olderThanMs: START_MS + 39 * day, maxBytes: 0 })).toMatchObject({ runs: 1 });
    expect(await second.claim({ leaseMs: LEASE_MS })).toMatchObject({ reason: "taken_over", lease: { runId: "r1", epoch: 2 } });
    await second.close();
    const third = await seams.openAgain(store, clock);
    expect(await third.prune({ olderThanMs: START_MS + 41 * day })).toMatchObject({ runs: 1 });
  });

  test("times that an owner with a wrong clock wrote move no lease: the journal's now counts", async () => {
    const { clock, first, second, lease } = await twoOwners(seams);
    const behind = await first.begin(sampleRun("behind", { startedAtMs: START_MS - 3_600_000 }), { leaseMs: LEASE_MS });
    await first.append(lease, [printed("x"), { kind: "text", atMs: START_MS + 86_400_000, text: "from tomorrow" }], "lazy");
    await first.append(behind, [{ kind: "text", atMs: 1, text: "from long ago" }], "lazy");
    expect(await second.claim({ leaseMs: LEASE_MS })).toBeUndefined();
    await first.suspend(behind, { atMs: START_MS - 3_600_000, waits: [{ kind: "timer", seq: 0, untilMs: START_MS + 10 }], wakeAtMs: START_MS + 10 });
    await second.signal("acme", "behind", { ...approval("apr_1"), atMs: START_MS + 86_400_000 });
    expect(await second.claim({ leaseMs: LEASE_MS })).toBeUndefined();
    clock.set(START_MS + 10);
    expect((await second.claim({ leaseMs: LEASE_MS }))?.lease.runId).toBe("behind");
  });
}

const jobWait: RunWait = { kind: "job", seq: 0, callId: "c0", tool: "crm.export", token: { id: 7 }, untilMs: START_MS + 1_000_000 };
const resolutionWait: RunWait = { kind: "resolution", seq: 0, callId: "c0", attempt: 0, tool: "crm.update", argsSummary: { id: 1 } };
const eventWait = (occurrence: number): RunWait => ({ kind: "event", seq: 0, name: "paid", occurrence });

/** What a run waits for, and what is said to it. */
export function signalSuite(seams: DurableSeams): void {
  const { setUp, openAgain } = seams;

  test("a suspended run says what it waits for and when it goes on by itself; nothing but its name gets it before", async () => {
    const { clock, first, second, lease } = await twoOwners(seams);
    const waits = [approvalWait("apr_1"), { kind: "timer", seq: 1, untilMs: START_MS + 500 }] as const;
    await first.suspend(lease, { atMs: START_MS, waits, wakeAtMs: START_MS + 500 });
    expect(await second.readRun("acme", "r1")).toMatchObject({ status: "suspended", waits, wakeAtMs: START_MS + 500, endedAtMs: undefined });
    expect(await second.readEntries("acme", "r1")).toEqual([{ kind: "suspended", atMs: START_MS, waits }]);
    expect((await second.listRuns({ tenant: "acme", status: "suspended" })).map(({ runId }) => runId)).toEqual(["r1"]);
    expect(await second.claim({ leaseMs: LEASE_MS })).toBeUndefined();
    clock.set(START_MS + 500);
    expect(await second.claim({ leaseMs: LEASE_MS })).toMatchObject({ reason: "due", lease: { epoch: 2 }, run: { status: "running", waits: [], wakeAtMs: undefined } });
    await second.suspend(leaseOf("r1", 2), { atMs: START_MS, waits: [approvalWait("apr_1")] });
    expect(await first.claim({ leaseMs: LEASE_MS })).toBeUndefined();
    expect(await first.claim({ leaseMs: LEASE_MS, runId: "r1" })).toMatchObject({ reason: "due", lease: { epoch: 3 } });
  });

  test("a suspended run outlives its owner, and no lease runs out of it", async () => {
    const { clock, first, second, lease } = await twoOwners(seams);
    await first.suspend(lease, { atMs: START_MS, waits: [approvalWait("apr_1")] });
    await first.close();
    clock.set(START_MS + 30 * 86_400_000);
    expect(await second.readRun("acme", "r1")).toMatchObject({ status: "suspended" });
    expect(await second.claim({ leaseMs: LEASE_MS })).toBeUndefined();
    await second.signal("acme", "r1", approval("apr_1"));
    expect(await second.claim({ leaseMs: LEASE_MS })).toMatchObject({ reason: "due" });
  });

  const output = recorded({ paid: true });
  for (const [name, wait, missed, wanted] of [
    ["approval", approvalWait("apr_1"), approval("apr_2"), approval("apr_1")],
    ["job", jobWait, { kind: "job", callId: "c1", result: { kind: "value", value: output }, by: "w", atMs: 1 }, { kind: "job", callId: "c0", result: { kind: "value", value: output }, by: "w", atMs: 1 }],
    ["resolution", resolutionWait, { kind: "resolution", callId: "c1", attempt: 0, happened: true, by: "w", atMs: 1 }, { kind: "resolution", callId: "c0", attempt: 0, happened: true, output, by: "w", atMs: 1 }],
    ["first event", eventWait(0), event("refunded", 1), event("paid", 1)],
    ["second event", eventWait(1), event("paid", 1), event("paid", 2)],
  ] as const satisfies readonly (readonly [string, RunWait, RunSignal, RunSignal])[]) {
    test(`the ${name} a run waits for makes it due, before, after and between; another does not`, async () => {
      const { first, second, lease } = await twoOwners(seams);
      await first.suspend(lease, { atMs: START_MS, waits: [{ kind: "timer", seq: 9, untilMs: START_MS * 2 }, wait] });
      await second.signal("acme", "r1", missed);
      expect(await second.claim({ leaseMs: LEASE_MS })).toBeUndefined();
      await second.signal("acme", "r1", wanted);
      expect(await second.claim({ leaseMs: LEASE_MS })).toMatchObject({ reason: "due" });
      await second.suspend(leaseOf("r1", 2), { atMs: START_MS, waits: [wait] }); // What is waited for came long ago.
      expect(await first.claim({ leaseMs: LEASE_MS })).toMatchObject({ reason: "due", lease: { epoch: 3 } });
    });
  }

  test("no wake-up is lost when a run is suspended and signalled at the same time", async () => {
    const { first, second, lease } = await twoOwners(seams);
    await first.finish(lease, sampleFinish());
    for (let round = 0; round < 60; round += 1) {
      const runId = `race-${round}`;
      const begun = await first.begin(sampleRun(runId));
      const suspend = async (): Promise<void> => {
        if (round % 3 === 1) await sleep(Math.random() * 3);
        await first.suspend(begun, { atMs: START_MS, waits: [approvalWait("apr_1"), eventWait(0)] });
      };
      const signal = async (): Promise<void> => {
        if (round % 3 === 2) await sleep(Math.random() * 3);
        await second.signal("acme", runId, round % 2 === 0 ? approval("apr_1") : event("paid", 1));
      };
      await Promise.all([suspend(), signal()]);
      expect((await second.claim({ leaseMs: LEASE_MS }))?.lease.runId).toBe(runId);
    }
  }, 60_000);

  test("the first answer to a question counts, whoever else answers at the same time", async () => {
    const { first, second, lease } = await twoOwners(seams);
    await first.suspend(lease, { atMs: START_MS, waits: [approvalWait("apr_1")] });
    const receipts = await Promise.all(Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? first : second).signal("acme", "r1", approval("apr_1", `person-${index}`, index % 3 === 0))));
    expect(receipts.filter(({ kind }) => kind === "kept")).toHaveLength(1);
    const counts = receipts.find(({ kind }) => kind === "kept")?.signal;
    for (const { signal } of receipts) expect(signal).toEqual(counts);
    expect(await second.readSignals("acme", "r1")).toEqual([counts]);
    expect(await first.signal("acme", "r1", approval("apr_1", "late"))).toEqual({ kind: "known", signal: counts });
  });

  test("events are kept in their order, one for each id, and each without an id; clear values only where asked for", async () => {
    const { first, second } = await twoOwners(seams);
    const sent = [event("paid", { n: 1 }, "e1"), event("paid", { n: 2 }), event("shipped", { n: 3 }, "e1"), event("paid", "x".repeat(300_000), "e2"), event("paid", { n: 2 })];
    for (const [index, signal] of sent.entries()) expect(await (index % 2 === 0 ? first : second).signal("acme", "r1", signal)).toEqual({ kind: "kept", signal });
    expect(await second.signal("acme", "r1", event("paid", { n: 99 }, "e1"))).toEqual({ kind: "known", signal: sent[0] });
    expect(await second.readSignals("acme", "r1", { clear: true })).toEqual(sent);
    expect(JSON.stringify(await second.readSignals("acme", "r1"))).not.toContain('"clear"');
  });

  test("a run is told no more than 10,000 things: a further event is refused by name, an answer still counts, and so does an event again", async () => {
    const { store, first, lease } = await twoOwners(seams);
    await first.suspend(lease, { atMs: START_MS, waits: [approvalWait("apr_1")] });
    await first.signal("acme", "r1", event("paid", 1, "e1"));
    await store.edit("update signals set position = 9998 where run_id = 'r1'");
    expect(await first.signal("acme", "r1", event("paid", 2, "e2"))).toMatchObject({ kind: "kept" });
    for (const signal of [event("paid", 3), event("other", 4, "e3"), { kind: "answer-refused", approvalId: "apr_1", approved: true, by: "bob", why: "late", atMs: 1 } as const]) {
      await expect(first.signal("acme", "r1", signal)).rejects.toMatchObject({ code: "SIGNAL_LIMIT", message: expect.stringContaining("maxSignals") as string, details: { limit: "maxSignals", limitValue: 10_000 } });
    }
    expect(await first.signal("acme", "r1", event("paid", 2, "e2"))).toMatchObject({ kind: "known" });
    expect(await first.signal("acme", "r1", approval("apr_1"))).toMatchObject({ kind: "kept" });
    expect(await first.claim({ leaseMs: LEASE_MS })).toMatchObject({ reason: "due", lease: { runId: "r1" } });
  });

  test("every kind of signal comes back whole", async () => {
    const { first, second } = await twoOwners(seams);
    const error = { code: "EXPORT_FAILED", message: "no room for bob@acme.example", tool: "crm.export", retryable: false, details: { left: 0 } };
    const sent: readonly RunSignal[] = [
      { ...approval("apr_1", "carol", false), reason: "not this customer" } as RunSignal,
      { kind: "job", callId: "c1", result: { kind: "value", value: recorded([new Date(0), 10n]) }, by: "worker", atMs: 1 },
      { kind: "job", callId: "c2", result: { kind: "error", error }, by: "worker", atMs: 2 },
      { kind: "resolution", callId: "c3", attempt: 0, happened: true, output: recorded({ id: 3 }), by: "carol", atMs: 3 },
      { kind: "resolution", callId: "c4", attempt: 0, happened: false, by: "carol", atMs: 4 },
      { kind: "job", callId: "c5", result: { kind: "value", value: recorded(1) }, by: "ann", signature: { keyId: "ed25519:1", value: "c2ln" }, atMs: 5 },
      { kind: "resolution", callId: "c6", attempt: 1, happened: true, by: "ann", signature: { keyId: "ed25519:1", value: "c2ln" }, atMs: 6 },
    ];
    for (const signal of sent) await first.signal("acme", "r1", signal);
    expect(await second.readSignals("acme", "r1", { clear: true })).toEqual(sent);
  });

  test("br-021: nothing is said to, or read of, a run that is not there for the tenant; names the store cannot keep are refused", async () => {
    const { first, second } = await twoOwners(seams);
    await first.signal("acme", "r1", event("paid", "secret"));
    for (const [tenant, runId] of [["rival", "r1"], ["acme", "r2"], ["", "r1"]] as const) {
      await expect(second.signal(tenant, runId, event("paid", 1))).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
      expect(await second.readSignals(tenant, runId, { clear: true })).toEqual([]);
    }
    expect(await second.readSignals("acme", "r1")).toHaveLength(1);
    for (const name of ["a\u0000b", "\ud800"]) await expect(first.signal("acme", "r1", event(name, 1))).rejects.toMatchObject({ code: "USAGE" });
  });

  test("keeps nothing of a signal or a question readable at rest, and erase takes it", async () => {
    const { store, journal } = await setUp();
    const secret = "the-clear-secret-0815";
    const lease = await journal.begin(sampleRun("r1"));
    await journal.append(lease, [{ kind: "approval-asked", atMs: 1, seq: 0, question: question("apr_1", secret) }], "lazy");
    await journal.signal("acme", "r1", event("paid", secret));
    await journal.signal("acme", "r1", event("paid", secret.repeat(20_000), "large"));
    await journal.signal("acme", "r1", { ...approval("apr_9"), reason: secret } as RunSignal);
    await journal.suspend(lease, { atMs: START_MS, waits: [approvalWait("apr_1", secret)] });
    expect((await store.bytes()).includes(secret)).toBe(false);
    const other = await openAgain(store);
    expect(JSON.stringify(await other.readRun("acme", "r1"))).toContain(secret);
    await other.erase("acme", "r1");
    expect(JSON.stringify([await other.readRun("acme", "r1"), await other.readEntries("acme", "r1", { clear: true }), await other.readSignals("acme", "r1", { clear: true })])).not.toContain(secret);
    expect(await other.readSignals("acme", "r1")).toHaveLength(3);
    expect(await other.readRun("acme", "r1")).toMatchObject({ status: "suspended", waits: [{ kind: "approval", question: { approvalId: "apr_1" } }] });
  });
}

export function backupSuite({ setUp, openAgain }: DurableSeams, track: (store: JournalStore) => void): void {
  test("a backup taken while runs go on opens, and what was suspended goes on from it", async () => {
    const { store, journal } = await setUp();
    const large = recorded("x".repeat(300_000));
    const lease = await journal.begin(sampleRun("r1"));
    await journal.append(lease, [issued(0), ended(0, { result: large })], "full");
    await journal.suspend(lease, { atMs: START_MS, waits: [approvalWait("apr_1")] });
    const running = await journal.begin(sampleRun("r2"));
    const copied = await store.copy();
    track(copied);
    await journal.append(running, [issued(0)], "full");
    await journal.signal("acme", "r1", approval("apr_1"));
    const restored = await openAgain(copied);
    expect(await restored.readSignals("acme", "r1")).toEqual([]);
    expect(await restored.readRun("acme", "r1")).toMatchObject({ status: "suspended", programText: sampleRun("r1").programText });
    await restored.signal("acme", "r1", approval("apr_1", "another person"));
    const claimed = await restored.claim({ leaseMs: LEASE_MS });
    expect(claimed).toMatchObject({ reason: "due", lease: { runId: "r1", epoch: 2 } });
    expect((await restored.readEntries("acme", "r1", { clear: true }))[1]).toMatchObject({ result: large });
    await restored.finish(claimed?.lease ?? lease, sampleFinish());
    expect(await journal.readRun("acme", "r1")).toMatchObject({ status: "suspended" });
  });
}
