import { expect, test } from "vitest";
import type { EffectReservation, JournalEntry } from "@callgate/contract";
import { bob, digestText, ended, issued, printed, recorded, sampleFinish, sampleRun } from "./journal-samples.ts";
import { START_MS, twoOwners } from "./two-owners.ts";
import type { DurableSeams } from "./two-owners.ts";

/** The one write an idempotency key stands for. */
export function effectSuite(seams: DurableSeams): void {
  const claimOf = (seq: number, changes: object = {}) => ({ tenant: "acme", idempotencyKey: "key", seq, callId: `c${seq}`, argsDigest: digestText("a"), ...changes });

  test("a key is one call's; the same call may take it again, another gets what is known of the write", async () => {
    const { first, second, lease } = await twoOwners(seams);
    const other = await second.begin(sampleRun("r2"));
    expect(await first.reserveEffect(lease, claimOf(0))).toEqual({ kind: "reserved" });
    expect(await first.reserveEffect(lease, claimOf(0))).toEqual({ kind: "reserved" });
    const holder = { runId: "r1", callId: "c0", seq: 0, argsDigest: digestText("a"), user: sampleRun("r1").principal.user };
    expect(await second.reserveEffect(other, claimOf(5))).toEqual({ kind: "taken", effect: { ...holder, effectStatus: "unknown", artifacts: [] } });
    expect(await first.reserveEffect(lease, claimOf(1))).toMatchObject({ kind: "taken", effect: holder });
    const result = recorded({ id: "rec-1" });
    await first.append(lease, [issued(0), ended(0, { result }), printed("beside"), ended(1)], "lazy");
    expect(await second.reserveEffect(other, claimOf(5))).toEqual({ kind: "taken", effect: { ...holder, outcome: "ok", effectStatus: "done", result, artifacts: [] } });
  });

  const settled: readonly (readonly [string, readonly JournalEntry[], "reserved" | "done" | "unknown"])[] = [
    ["failed and changed nothing", [ended(0, { outcome: "failed", effectStatus: "none" })], "reserved"],
    ["timed out", [ended(0, { outcome: "timed_out", effectStatus: "unknown" })], "unknown"],
    ["timed out and took place late", [ended(0, { outcome: "timed_out", effectStatus: "unknown" }), { kind: "call-late", atMs: 1, seq: 0, effectStatus: "done" }], "done"],
    ["timed out and a person knows that it did not happen", [ended(0, { outcome: "timed_out", effectStatus: "unknown" }), { kind: "call-resolved", atMs: 1, seq: 0, effectStatus: "none", how: "person", by: "carol" }], "reserved"],
    ["was lost and was found to have happened", [{ kind: "call-resolved", atMs: 1, seq: 0, effectStatus: "done", how: "reconciled" }], "done"],
  ];
  for (const [name, entries, expected] of settled) {
    test(`the key of a write that ${name} is ${expected === "reserved" ? "free again" : `taken, its effect ${expected}`}`, async () => {
      const { first, second, lease } = await twoOwners(seams);
      await first.reserveEffect(lease, claimOf(0));
      await first.append(lease, [issued(0), ...entries], "lazy");
      const other = await second.begin(sampleRun("r2"));
      const answer = await second.reserveEffect(other, claimOf(3));
      if (expected === "reserved") expect(answer).toEqual({ kind: "reserved" });
      else expect(answer).toMatchObject({ kind: "taken", effect: { runId: "r1", callId: "c0", effectStatus: expected } });
      if (expected === "reserved") expect(await first.reserveEffect(lease, claimOf(0))).toMatchObject({ kind: "taken", effect: { runId: "r2", callId: "c3" } });
    });
  }

  test("br-033: of 20 callers at once, over two users of the store, exactly one gets the key", async () => {
    const { first, second, lease } = await twoOwners(seams);
    const other = await second.begin(sampleRun("r2"));
    const answers = await Promise.all(Array.from({ length: 20 }, (_, seq): Promise<EffectReservation> => (seq % 2 === 0 ? first.reserveEffect(lease, claimOf(seq)) : second.reserveEffect(other, claimOf(seq)))));
    expect(answers.filter(({ kind }) => kind === "reserved")).toHaveLength(1);
    const winner = answers.findIndex(({ kind }) => kind === "reserved");
    for (const answer of answers) if (answer.kind === "taken") expect(answer.effect).toMatchObject({ callId: `c${winner}`, effectStatus: "unknown" });
  });

  test("keys of one tenant are free for another, and a run takes none for another tenant", async () => {
    const { first, second, lease } = await twoOwners(seams);
    await first.reserveEffect(lease, claimOf(0));
    const theirs = await second.begin(sampleRun("r2", { principal: bob }));
    expect(await second.reserveEffect(theirs, claimOf(0, { tenant: "rival" }))).toEqual({ kind: "reserved" });
    await expect(second.reserveEffect(theirs, claimOf(1))).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
  });

  for (const [name, entries, effect] of [
    ["took place", [issued(0), ended(0, { result: recorded({ id: "rec-1" }) })], { outcome: "ok", effectStatus: "done" }],
    ["is in doubt", [issued(0), ended(0, { outcome: "timed_out", effectStatus: "unknown" })], { outcome: "timed_out", effectStatus: "unknown" }],
    ["was lost", [issued(0)], { effectStatus: "unknown" }],
    ["took place late", [issued(0), ended(0, { outcome: "timed_out", effectStatus: "unknown" }), { kind: "call-late", atMs: 1, seq: 0, effectStatus: "done" }], { outcome: "timed_out", effectStatus: "done" }],
  ] as const satisfies readonly (readonly [string, readonly JournalEntry[], object])[]) {
    test(`the key of a write that ${name} outlives its values and its run`, async () => {
      const { first, second, lease } = await twoOwners(seams);
      await first.reserveEffect(lease, claimOf(0));
      await first.append(lease, entries, "lazy");
      await first.finish(lease, sampleFinish({ endedAtMs: START_MS }));
      await first.erase("acme", "r1");
      const other = await second.begin(sampleRun("r2"));
      expect(await second.reserveEffect(other, claimOf(1))).toMatchObject({ kind: "taken", effect: { effectStatus: effect.effectStatus } });
      expect(await first.prune({ olderThanMs: START_MS + 1 })).toMatchObject({ runs: 1 });
      expect(await second.readRun("acme", "r1")).toBeUndefined();
      const kept = { kind: "taken", effect: { runId: "r1", callId: "c0", seq: 0, argsDigest: digestText("a"), user: sampleRun("r1").principal.user, artifacts: [], ...effect } };
      expect(await second.reserveEffect(other, claimOf(1))).toEqual(kept);
      // The same call of the same run is not what took it: that run is gone.
      const again = await second.begin(sampleRun("r1"));
      expect(await second.reserveEffect(again, claimOf(0))).toEqual(kept);
    });
  }

  for (const [name, entries, undoing] of [
    ["was undone", [{ ...issued(1_000_000_000), compensates: 0 }, ended(1_000_000_000)], "done"],
    ["is being undone", [{ ...issued(1_000_000_000), compensates: 0 }], "unknown"],
    ["may be undone", [{ ...issued(1_000_000_000), compensates: 0 }, ended(1_000_000_000, { outcome: "timed_out", effectStatus: "unknown" })], "unknown"],
    ["could not be undone", [{ ...issued(1_000_000_000), compensates: 0 }, ended(1_000_000_000, { outcome: "failed", effectStatus: "none" })], undefined],
  ] as const satisfies readonly (readonly [string, readonly JournalEntry[], string | undefined])[]) {
    test(`whoever asks for the key of a write that ${name} is told so, also once its run was pruned`, async () => {
      const { first, second, lease } = await twoOwners(seams);
      await first.reserveEffect(lease, claimOf(0));
      await first.append(lease, [issued(0), ended(0), ...entries], "lazy");
      const other = await second.begin(sampleRun("r2"));
      const told = async () => {
        const answer = await second.reserveEffect(other, claimOf(1));
        return answer.kind === "taken" ? { effectStatus: answer.effect.effectStatus, undoing: answer.effect.undoing } : answer;
      };
      expect(await told()).toEqual({ effectStatus: "done", undoing });
      await first.finish(lease, sampleFinish({ endedAtMs: START_MS }));
      expect(await first.prune({ olderThanMs: START_MS + 1 })).toMatchObject({ runs: 1 });
      expect(await told()).toEqual({ effectStatus: "done", undoing });
    });
  }

  test("what became of a write whose run was pruned in doubt can be settled, once, by its own user; then the key is free, or its write done", async () => {
    const { first, second, lease } = await twoOwners(seams);
    for (const [seq, key] of [[0, "happened"], [1, "did not"]] as const) {
      await first.reserveEffect(lease, claimOf(seq, { idempotencyKey: key, callId: `r1.${seq}` }));
      await first.append(lease, [issued(seq), ended(seq, { outcome: "timed_out", effectStatus: "unknown" })], "lazy");
    }
    const { tenant, user } = sampleRun("r1").principal;
    expect(await first.settleEffect({ tenant, user, callId: "r1.0" }, "done")).toBeUndefined();
    await first.finish(lease, sampleFinish({ endedAtMs: START_MS }));
    await first.prune({ olderThanMs: START_MS + 1 });
    expect(await second.settleEffect({ tenant, user: "somebody else", callId: "r1.0" }, "none")).toBeUndefined();
    expect(await second.settleEffect({ tenant: "rival", user, callId: "r1.0" }, "none")).toBeUndefined();
    expect(await second.settleEffect({ tenant, user, callId: "r1.0" }, "done")).toBe("unknown");
    expect(await first.settleEffect({ tenant, user, callId: "r1.0" }, "none")).toBe("done");
    expect(await second.settleEffect({ tenant, user, callId: "r1.1" }, "none")).toBe("unknown");
    expect(await second.settleEffect({ tenant, user, callId: "r1.1" }, "none")).toBeUndefined();
    const other = await second.begin(sampleRun("r2"));
    expect(await second.reserveEffect(other, claimOf(5, { idempotencyKey: "happened" }))).toMatchObject({ kind: "taken", effect: { outcome: "timed_out", effectStatus: "done" } });
    expect(await second.reserveEffect(other, claimOf(6, { idempotencyKey: "did not" }))).toEqual({ kind: "reserved" });
  });

  test("the key of a write that changed nothing goes with its run", async () => {
    const { first, second, lease, store } = await twoOwners(seams);
    await first.reserveEffect(lease, claimOf(0, { idempotencyKey: "a-key-of-nothing" }));
    await first.append(lease, [issued(0), ended(0, { outcome: "failed", effectStatus: "none" })], "lazy");
    await first.finish(lease, sampleFinish({ endedAtMs: START_MS }));
    await first.prune({ olderThanMs: START_MS + 1 });
    await second.close();
    await first.close();
    expect((await store.bytes()).includes("a-key-of-nothing")).toBe(false);
  });

  test("keys of pruned runs are forgotten when they are older than asked, and those of kept runs never", async () => {
    const { clock, first, second, lease } = await twoOwners(seams);
    await first.reserveEffect(lease, claimOf(0));
    await first.append(lease, [issued(0), ended(0)], "lazy");
    await first.finish(lease, sampleFinish({ endedAtMs: START_MS }));
    const kept = await first.begin(sampleRun("r2"));
    await first.reserveEffect(kept, claimOf(0, { idempotencyKey: "of a run that is there" }));
    clock.set(START_MS + 1_000);
    await first.prune({ olderThanMs: START_MS + 1 });
    const other = await second.begin(sampleRun("r3"));
    await first.prune({ keysOlderThanMs: START_MS + 1_000 });
    expect(await second.reserveEffect(other, claimOf(1))).toMatchObject({ kind: "taken" });
    await first.prune({ keysOlderThanMs: START_MS + 1_001 });
    expect(await second.reserveEffect(other, claimOf(1))).toEqual({ kind: "reserved" });
    expect(await second.reserveEffect(other, claimOf(2, { idempotencyKey: "of a run that is there" }))).toMatchObject({ kind: "taken", effect: { runId: "r2" } });
  });
}
