import { expect, test } from "vitest";
import type { BudgetClaim, BudgetCounter, Spent } from "@callgate/contract";
import { bob, sampleFinish, sampleRun } from "./journal-samples.ts";
import { LEASE_MS, twoOwners } from "./two-owners.ts";
import type { DurableSeams } from "./two-owners.ts";

const hourMs = 3_600_000;
const nothing: Spent = { calls: 0, bytes: 0, durationMs: 0, tokens: 0, microUsd: 0 };
const oneCall: Spent = { ...nothing, calls: 1, microUsd: 100 };

function counter(changes: Partial<BudgetCounter> = {}): BudgetCounter {
  return { budgetId: "daily", key: "alice", window: "day", ofRun: false, limits: { calls: 10 }, ...changes };
}

function claim(callId: string, changes: Partial<BudgetClaim> = {}): BudgetClaim {
  return { tenant: "acme", callId, amounts: oneCall, counters: [counter()], again: false, ...changes };
}

/** What budgets hold: reserved before, settled after, exact over all users of a store. */
export function budgetSuite(seams: DurableSeams): void {
  const settled = (callId: string, spent: Spent, earlier = false) => ({ tenant: "acme", callId, spent, earlier });

  test("br-020: of 100 calls at once, over two users of the store, exactly as many are reserved for as the budget has", async () => {
    const { first, second } = await twoOwners(seams);
    // Of one run one call after the other takes from a budget; those of several do so at once.
    const users = await Promise.all([first, second].flatMap((journal, owner) => Array.from({ length: 5 }, async (_, run) => ({ journal, lease: await journal.begin(sampleRun(`o${owner}r${run}`)) }))));
    const answers = await Promise.all(users.flatMap(({ journal, lease }) => Array.from({ length: 10 }, (_, call) => journal.reserveBudgets(lease, claim(`${lease.runId}.${call}`)))));
    expect(answers.filter(({ kind }) => kind === "reserved")).toHaveLength(10);
    const over = answers.find(({ kind }) => kind === "over");
    expect(over).toMatchObject({ kind: "over", budgetId: "daily", unit: "calls", limit: 10, spent: 10 });
    expect(await first.readBudgets("acme")).toMatchObject([{ budgetId: "daily", key: "alice", spent: { ...nothing, calls: 10, microUsd: 1_000 } }]);
    expect(await second.readBudgets("rival")).toEqual([]);
  });

  test("what a call used up takes the place of what was reserved for it, once", async () => {
    const { first, lease } = await twoOwners(seams);
    await first.reserveBudgets(lease, claim("c1"));
    const spent: Spent = { calls: 2, bytes: 500, durationMs: 30, tokens: 7, microUsd: 40 };
    await first.settleBudgets(lease, settled("c1", spent));
    await first.settleBudgets(lease, settled("c1", spent));
    await first.settleBudgets(lease, settled("never", spent));
    expect(await first.readBudgets("acme")).toMatchObject([{ spent }]);
    await first.reserveBudgets(lease, claim("c2"));
    await first.settleBudgets(lease, settled("c2", nothing));
    expect(await first.readBudgets("acme")).toMatchObject([{ spent }]);
  });

  test("what a call gave back is found by who reserves next, of whatever run, and by who reads, without being waited for", async () => {
    const { first, lease } = await twoOwners(seams);
    const other = await first.begin(sampleRun("r2"));
    const one = { counters: [counter({ limits: { calls: 1 } })] };
    for (const [index, of] of [lease, other, other, lease].entries()) {
      expect(await first.reserveBudgets(of, claim(`c${index}`, one))).toEqual({ kind: "reserved" });
      const settling = first.settleBudgets(of, settled(`c${index}`, nothing));
      if (index === 3) expect(await first.readBudgets("acme")).toMatchObject([{ spent: nothing }]);
      else expect(await first.reserveBudgets(lease, claim(`next${index}`, one))).toEqual({ kind: "reserved" });
      await settling;
      await first.settleBudgets(lease, settled(`next${index}`, nothing));
    }
  });

  test("takes from all of several counts or from none, whatever their order", async () => {
    const { first, second, lease } = await twoOwners(seams);
    const other = await second.begin(sampleRun("r2"));
    const both = [counter({ budgetId: "a", limits: { calls: 100 } }), counter({ budgetId: "b", limits: { calls: 3 } })];
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? first.reserveBudgets(lease, claim(`r1.${index}`, { counters: both })) : second.reserveBudgets(other, claim(`r2.${index}`, { counters: both.toReversed() })))));
    expect(answers.filter(({ kind }) => kind === "reserved")).toHaveLength(3);
    expect((await first.readBudgets("acme")).map(({ budgetId, spent }) => [budgetId, spent.calls])).toEqual([["a", 3], ["b", 3]]);
  });

  test("money that does not fit is not spent; of what nobody knows beforehand it is enough that some is left", async () => {
    const { first, lease } = await twoOwners(seams);
    const money = { counters: [counter({ limits: { microUsd: 250 } })] };
    expect(await first.reserveBudgets(lease, claim("c1", money))).toEqual({ kind: "reserved" });
    expect(await first.reserveBudgets(lease, claim("c2", money))).toEqual({ kind: "reserved" });
    expect(await first.reserveBudgets(lease, claim("c3", money))).toMatchObject({ kind: "over", unit: "microUsd", limit: 250, spent: 200 });
    const time = { counters: [counter({ budgetId: "time", limits: { durationMs: 50 } })] };
    expect(await first.reserveBudgets(lease, claim("c4", time))).toEqual({ kind: "reserved" });
    await first.settleBudgets(lease, settled("c4", { ...oneCall, durationMs: 60 }));
    expect(await first.reserveBudgets(lease, claim("c5", time))).toMatchObject({ kind: "over", unit: "durationMs", limit: 50, spent: 60 });
  });

  test("begins anew with each hour, day and month, and never where it has no window; it says when", async () => {
    const { first, lease, clock } = await twoOwners(seams);
    const one = (budgetId: string, window: "hour" | "day" | "month" | undefined) => ({ counters: [{ budgetId, key: "", ofRun: false, limits: { calls: 1 }, ...(window === undefined ? {} : { window }) }] });
    const windows = [["hour", hourMs], ["day", 24 * hourMs], ["month", 31 * 24 * hourMs]] as const;
    let calls = 0;
    for (const [window, lengthMs] of windows) {
      await first.reserveBudgets(lease, claim(`c${++calls}`, one(window, window)));
      const over = await first.reserveBudgets(lease, claim(`c${++calls}`, one(window, window)));
      expect(over).toMatchObject({ kind: "over", budgetId: window });
      const retryAfterMs = over.kind === "over" ? (over.retryAfterMs ?? 0) : 0;
      expect(retryAfterMs).toBeGreaterThan(0);
      expect(retryAfterMs).toBeLessThanOrEqual(lengthMs);
    }
    await first.reserveBudgets(lease, claim("ever", one("ever", undefined)));
    clock.set(clock.now() + 32 * 24 * hourMs);
    for (const [window] of windows) expect(await first.reserveBudgets(lease, claim(`c${++calls}`, one(window, window)))).toEqual({ kind: "reserved" });
    const ever = await first.reserveBudgets(lease, claim("ever2", one("ever", undefined)));
    expect(ever).toEqual({ kind: "over", budgetId: "ever", unit: "calls", limit: 1, spent: 1 });
  });

  test("what a lost process had reserved stays spent; what waits for a person is held for whoever goes on", async () => {
    const { first, second, clock, lease } = await twoOwners(seams);
    await first.reserveBudgets(lease, claim("asked"));
    await first.reserveBudgets(lease, claim("begun"));
    clock.set(clock.now() + LEASE_MS + 1);
    const claimed = await second.claim({ runId: "r1", tenant: "acme", leaseMs: LEASE_MS });
    if (claimed === undefined) throw new Error("the run was not claimed");
    await expect(first.reserveBudgets(lease, claim("late"))).rejects.toMatchObject({ code: "RUN_FENCED" });
    await expect(first.settleBudgets(lease, settled("begun", nothing))).rejects.toMatchObject({ code: "RUN_FENCED" });
    expect(await second.reserveBudgets(claimed.lease, claim("asked", { again: true }))).toEqual({ kind: "reserved" });
    expect(await second.reserveBudgets(claimed.lease, claim("begun"))).toEqual({ kind: "reserved" });
    expect(await second.readBudgets("acme")).toMatchObject([{ spent: { calls: 3 } }]);
    await second.settleBudgets(claimed.lease, settled("asked", nothing));
    await second.settleBudgets(claimed.lease, settled("begun", oneCall));
    expect(await second.readBudgets("acme")).toMatchObject([{ spent: { calls: 2 } }]);
  });

  test("what earlier owners reserved is settled too where the end of the call is known", async () => {
    const { first, second, clock, lease } = await twoOwners(seams);
    await first.reserveBudgets(lease, claim("job"));
    clock.set(clock.now() + LEASE_MS + 1);
    const claimed = await second.claim({ runId: "r1", tenant: "acme", leaseMs: LEASE_MS });
    if (claimed === undefined) throw new Error("the run was not claimed");
    await second.settleBudgets(claimed.lease, settled("job", { ...oneCall, bytes: 9 }, true));
    expect(await second.readBudgets("acme")).toMatchObject([{ spent: { calls: 1, bytes: 9 } }]);
  });

  test("counts outlive the process and its runs; those of one run go with it; one tenant's are no other's", async () => {
    const { first, second, lease } = await twoOwners(seams);
    const theirs = await second.begin(sampleRun("r2", { principal: bob }));
    await first.reserveBudgets(lease, claim("c1", { counters: [counter(), counter({ budgetId: "run", key: "r1", ofRun: true })] }));
    await second.reserveBudgets(theirs, claim("c1", { tenant: "rival" }));
    await expect(second.reserveBudgets(theirs, claim("c2"))).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
    await first.finish(lease, sampleFinish({ endedAtMs: 1 }));
    await first.close();
    expect((await second.readBudgets("acme")).map(({ budgetId }) => budgetId)).toEqual(["daily", "run"]);
    await second.prune({ olderThanMs: 2 });
    expect((await second.readBudgets("acme")).map(({ budgetId, spent }) => [budgetId, spent.calls])).toEqual([["daily", 1]]);
    expect(await second.readBudgets("rival")).toMatchObject([{ spent: { calls: 1 } }]);
    await second.prune({ olderThanMs: Date.now() * 2 });
    expect(await second.readBudgets("acme")).toEqual([]);
  });
}
