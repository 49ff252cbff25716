import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { virtualClock } from "../virtual-clock.ts";
import { bob, ended, issued, leaseOf, sampleFinish, sampleRun } from "./journal-samples.ts";
import { pausedClock } from "./paused-clock.ts";
import { LEASE_MS, START_MS, twoOwners } from "./two-owners.ts";
import type { DurableSeams } from "./two-owners.ts";

/** Who undoes what an ended run did. */
export function endedSuite(seams: DurableSeams): void {
  async function endedRun() {
    const owners = await twoOwners(seams);
    await owners.first.append(owners.lease, [issued(0), ended(0)], "full");
    await owners.first.finish(owners.lease, sampleFinish({ status: "failed" }));
    return owners;
  }

  test("of many who claim an ended run at once one gets it, at the next epoch; the others are told who has it", async () => {
    const { first, second } = await endedRun();
    const claims = await Promise.all(Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? first : second).claimEnded("acme", "r1", { leaseMs: LEASE_MS })));
    const got = claims.filter(({ kind }) => kind === "claimed");
    expect(got).toHaveLength(1);
    expect(got[0]).toMatchObject({ lease: { runId: "r1", epoch: 2 }, run: { status: "failed", epoch: 2, callCount: 1, programText: sampleRun("r1").programText } });
    for (const claim of claims) if (claim.kind !== "claimed") expect(claim).toEqual({ kind: "held", holder: { pid: process.pid, isHere: true, untilMs: START_MS + LEASE_MS } });
  });

  test("who has it may append and renew, and it stays ended; the lease it ended with writes nothing any more", async () => {
    const { clock, first, second, lease } = await endedRun();
    await second.claimEnded("acme", "r1", { leaseMs: LEASE_MS });
    const ours = leaseOf("r1", 2);
    await second.append(ours, [issued(1)], "full");
    clock.set(START_MS + LEASE_MS - 1);
    await second.renew(ours, LEASE_MS);
    clock.set(START_MS + 2 * LEASE_MS - 2);
    expect(await first.claimEnded("acme", "r1", { leaseMs: LEASE_MS })).toMatchObject({ kind: "held" });
    await expect(first.append(lease, [issued(2)], "lazy")).rejects.toMatchObject({ code: "RUN_FENCED" });
    await expect(second.finish(ours, sampleFinish())).rejects.toMatchObject({ code: "ASSERTION" });
    expect(await first.readRun("acme", "r1")).toMatchObject({ status: "failed", endedAtMs: sampleFinish().endedAtMs, epoch: 2 });
    expect((await first.listRuns({ tenant: "acme", status: "running" }))).toEqual([]);
  });

  test("once it is released the next may claim it, and it is not renewed or released again", async () => {
    const { first, second } = await endedRun();
    await second.claimEnded("acme", "r1", { leaseMs: LEASE_MS });
    await second.release(leaseOf("r1", 2));
    await expect(second.release(leaseOf("r1", 2))).rejects.toMatchObject({ code: "RUN_FENCED" });
    await expect(second.renew(leaseOf("r1", 2), LEASE_MS)).rejects.toMatchObject({ code: "RUN_FENCED" });
    expect(await first.claim({ leaseMs: LEASE_MS })).toBeUndefined();
    expect(await first.claimEnded("acme", "r1", { leaseMs: LEASE_MS })).toMatchObject({ kind: "claimed", lease: { epoch: 3 } });
  });

  test("one whose lease is over is found by whoever looks for work, or claimed by name, and the slow one is fenced", async () => {
    const { clock, first, second } = await endedRun();
    await first.claimEnded("acme", "r1", { leaseMs: LEASE_MS });
    expect(await second.claim({ leaseMs: LEASE_MS })).toBeUndefined();
    clock.set(START_MS + LEASE_MS);
    expect(await second.claim({ leaseMs: LEASE_MS, runId: "r1" })).toBeUndefined();
    expect(await second.claim({ leaseMs: LEASE_MS })).toMatchObject({ reason: "undoing", lease: { runId: "r1", epoch: 3 }, run: { status: "failed" } });
    expect(await second.claim({ leaseMs: LEASE_MS })).toBeUndefined();
    for (const write of [() => first.append(leaseOf("r1", 2), [issued(1)], "full"), () => first.renew(leaseOf("r1", 2), LEASE_MS), () => first.release(leaseOf("r1", 2))]) await expect(write()).rejects.toMatchObject({ code: "RUN_FENCED" });
    clock.set(START_MS + 2 * LEASE_MS);
    expect(await first.claimEnded("acme", "r1", { leaseMs: LEASE_MS })).toMatchObject({ kind: "claimed", lease: { epoch: 4 } });
  });

  test("a process that ended while it had the run is known to be dead at once", async () => {
    const { first, second } = await endedRun();
    await first.claimEnded("acme", "r1", { leaseMs: LEASE_MS });
    await first.close();
    expect(await second.claim({ leaseMs: LEASE_MS })).toMatchObject({ reason: "undoing", lease: { epoch: 3 } });
  });

  test("a run that has not ended is open, also one that can still be taken over; a direct call that was lost has ended", async () => {
    const { first, second } = await endedRun();
    await first.begin(sampleRun("running"), { leaseMs: LEASE_MS });
    await first.begin(sampleRun("call", { kind: "call" }), { leaseMs: LEASE_MS });
    await first.append(leaseOf("call"), [issued(0)], "full");
    await first.suspend(await first.begin(sampleRun("suspended")), { atMs: START_MS, waits: [] });
    for (const runId of ["running", "call", "suspended"]) expect(await second.claimEnded("acme", runId, { leaseMs: LEASE_MS })).toEqual({ kind: "open" });
    await first.close();
    for (const runId of ["running", "suspended"]) expect(await second.claimEnded("acme", runId, { leaseMs: LEASE_MS })).toEqual({ kind: "open" });
    expect(await second.claimEnded("acme", "call", { leaseMs: LEASE_MS })).toMatchObject({ kind: "claimed", lease: { runId: "call", epoch: 2 }, run: { status: "crashed" } });
    await second.release(leaseOf("call", 2));
    expect(await second.readRun("acme", "call")).toMatchObject({ status: "crashed", error: { code: "RUN_INTERRUPTED" }, callCount: 1 });
  });

  test("br-021: a run of another tenant, or none, is not found", async () => {
    const { first } = await endedRun();
    await first.begin(sampleRun("theirs", { principal: bob }));
    await first.finish(leaseOf("theirs"), sampleFinish());
    for (const runId of ["theirs", "nope"]) await expect(first.claimEnded("acme", runId, { leaseMs: LEASE_MS })).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
    await expect(first.release(leaseOf("nope"))).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
  });

  test("a journal renews what it claimed by itself, and tells whoever watches when it turns out to be another's", async () => {
    const { setUp, openAgain } = seams;
    const [clock, theirs] = [virtualClock(START_MS), pausedClock(START_MS)];
    const { store, journal: first } = await setUp(clock);
    const second = await openAgain(store, theirs);
    await first.finish(await first.begin(sampleRun("r1"), { leaseMs: LEASE_MS }), sampleFinish());
    await first.claimEnded("acme", "r1", { leaseMs: LEASE_MS });
    const lost: string[] = [];
    first.watch(leaseOf("r1", 2), () => lost.push("watched"));
    first.watch(leaseOf("r1", 2), () => lost.push("not any more"))();
    first.watch(leaseOf("r1", 3), () => lost.push("a later lease"));
    await clock.advance(2 * (LEASE_MS / 3));
    // The two beats of that time may come to the store in any order.
    for (let untilMs = 0; untilMs <= START_MS + LEASE_MS; await sleep(2)) {
      const claim = await second.claimEnded("acme", "r1", { leaseMs: LEASE_MS });
      untilMs = claim.kind === "held" ? claim.holder.untilMs : expect.fail("it was not renewed");
    }
    expect(lost).toEqual([]);
    theirs.set(START_MS + 2 * LEASE_MS);
    expect(await second.claimEnded("acme", "r1", { leaseMs: LEASE_MS })).toMatchObject({ kind: "claimed", lease: { epoch: 3 } });
    for (; lost.length === 0; await sleep(2)) await clock.advance(LEASE_MS / 3);
    await clock.advance(LEASE_MS);
    expect(lost).toEqual(["watched"]);
  });

  test("a run that was let go, or whose end could not be written, is not renewed: once its lease is over it is anybody's", async () => {
    const { setUp, openAgain } = seams;
    const clock = virtualClock(START_MS);
    const { store, journal: first } = await setUp(clock);
    const second = await openAgain(store, clock);
    const kept = await first.begin(sampleRun("kept"), { leaseMs: LEASE_MS });
    first.letGo(await first.begin(sampleRun("let-go"), { leaseMs: LEASE_MS }));
    await first.begin(sampleRun("unended"), { leaseMs: LEASE_MS });
    await expect(first.finish(leaseOf("unended"), sampleFinish({ status: "\ud800\u0000" as "failed", endedAtMs: "never" as unknown as number }))).rejects.toBeDefined();
    for (let beats = 0; beats < 6; beats += 1) {
      await clock.advance(LEASE_MS / 3);
      await first.renew(kept, LEASE_MS); // After the beat: what is asked for is done in its order.
    }
    const claimed = [await second.claim({ leaseMs: LEASE_MS }), await second.claim({ leaseMs: LEASE_MS })];
    expect(new Set(claimed.map((claim) => claim?.run.runId))).toEqual(new Set(["let-go", "unended"]));
    expect(await second.claim({ leaseMs: LEASE_MS })).toBeUndefined();
  });

  test("is not pruned while somebody undoes it", async () => {
    const { first, second } = await endedRun();
    await second.claimEnded("acme", "r1", { leaseMs: LEASE_MS });
    expect(await first.prune({ olderThanMs: START_MS * 2 })).toMatchObject({ runs: 0 });
    await second.release(leaseOf("r1", 2));
    expect(await first.prune({ olderThanMs: START_MS * 2 })).toMatchObject({ runs: 1 });
  });
}
