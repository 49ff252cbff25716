import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { leaseOf, sampleFinish, sampleRun, virtualClock } from "@callgate/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { openJournal } from "./fixtures/open-journal.ts";
import { currentProcess } from "./process-identity.ts";

const leaseMs = 30_000;
const dayMs = 86_400_000;

/** Two processes of one machine; the first one's timers fire only when it `beats`. A run of it is under way, and one is being undone. */
async function twoProcesses({ beats = true } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "callgate-leases-"));
  const clock = virtualClock();
  const [first, second] = [await openJournal(folder, {}, beats ? clock : { ...clock, schedule: () => ({ cancel: () => undefined }) }), await openJournal(folder, {}, clock)];
  onTestFinished(async () => {
    await Promise.all([first.close(), second.close()]);
    rmSync(folder, { recursive: true });
  });
  const lease = await first.begin(sampleRun("r1"), { leaseMs });
  await first.finish(await first.begin(sampleRun("r2"), { leaseMs }), sampleFinish({ status: "failed" }));
  await first.claimEnded("acme", "r2", { leaseMs });
  /** The owner is a process of another machine from now on, or of another container of this one. */
  const moveTo = async (machine: string): Promise<void> => {
    await first.renew(lease, leaseMs); // What was asked for before is in the file.
    const database = new DatabaseSync(join(folder, "journal.db"));
    database.exec(`update owners set machine = '${machine}'`);
    database.close();
  };
  const claims = async () => [await second.claim({ leaseMs }), await second.claim({ leaseMs, runId: "r1" }), await second.claimEnded("acme", "r2", { leaseMs })].map((claim) => (claim === undefined ? "none" : "kind" in claim ? claim.kind : claim.reason));
  return { clock, first, second, lease, moveTo, claims };
}

describe("a wall clock that is set", () => {
  test.each([["on by a day", dayMs], ["back by a day", -dayMs]])("%s ends no lease of a process that lives on this machine, and keeps none", async (_how, ms) => {
    const { clock, first, second, lease, claims } = await twoProcesses({ beats: false });
    clock.setWallClockOn(ms);
    expect(await claims()).toEqual(["none", "none", "held"]);
    expect(await second.claimEnded("acme", "r2", { leaseMs })).toMatchObject({ holder: { pid: process.pid, isHere: true, untilMs: clock.now() + leaseMs } });
    await clock.advance(leaseMs - 1);
    expect(await claims()).toEqual(["none", "none", "held"]);
    await first.renew(lease, leaseMs);
    await clock.advance(1);
    expect(await second.claim({ leaseMs })).toMatchObject({ reason: "undoing", lease: leaseOf("r2", 3) });
    expect(await second.claim({ leaseMs })).toBeUndefined();
    await clock.advance(leaseMs);
    expect(await second.claim({ leaseMs })).toMatchObject({ reason: "taken_over", lease: leaseOf("r1", 2) });
  });

  test("leaves what a process renews to it for as long as it lives", async () => {
    const { clock, claims } = await twoProcesses();
    for (let hour = 0; hour < 5; hour += 1) {
      clock.setWallClockOn(3_600_000);
      await clock.advance(leaseMs);
      expect(await claims()).toEqual(["none", "none", "held"]);
    }
  });

  test("ends no lease of a process in another container of this machine, which is heard of by the same time", async () => {
    const { clock, second, moveTo, claims } = await twoProcesses({ beats: false });
    await moveTo(`${currentProcess().machine.split(" ")[0]} pid:[1]`);
    clock.setWallClockOn(dayMs);
    expect(await claims()).toEqual(["none", "none", "held"]);
    await clock.advance(leaseMs);
    expect(new Set([await second.claim({ leaseMs }), await second.claim({ leaseMs })].map((claim) => claim?.lease.runId))).toEqual(new Set(["r1", "r2"]));
  });

  test("counts where the owner is on another machine: there is no other time that both know", async () => {
    const { clock, second, moveTo, claims } = await twoProcesses({ beats: false });
    await moveTo("another-machine pid:[1]");
    await clock.advance(leaseMs - 1);
    expect(await claims()).toEqual(["none", "none", "held"]);
    clock.setWallClockOn(1);
    expect(new Set([await second.claim({ leaseMs }), await second.claim({ leaseMs })].map((claim) => claim?.lease.runId))).toEqual(new Set(["r1", "r2"]));
  });
});
