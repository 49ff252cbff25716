import { expect, test } from "vitest";
import type { Grant, GrantClaim } from "@callgate/contract";
import { bob, sampleFinish, sampleRun } from "./journal-samples.ts";
import { LEASE_MS, START_MS, twoOwners } from "./two-owners.ts";
import type { DurableSeams } from "./two-owners.ts";

const grant = (changes: Partial<Grant> = {}): Grant => ({ grantId: "grt_1", tenant: "acme", tool: "crm.pay", args: { kind: "tests", tests: { "/amount": { lte: 100 } } }, user: "alice", agent: "assistant", maxUses: 3, expiresAtMs: START_MS + 86_400_000, by: "carol", givenAtMs: START_MS, definitions: { "crm.pay": "sha256:1" }, signature: { keyId: "k", value: "v" }, ...changes });
const claim = (callId: string, changes: Partial<GrantClaim> = {}): GrantClaim => ({ tenant: "acme", grantId: "grt_1", callId, maxUses: 3, expiresAtMs: START_MS + 86_400_000, ...changes });

/** Standing grants: kept as they were signed, used exactly as often as they say over all users of a store. */
export function grantSuite(seams: DurableSeams): void {
  test("br-019: of 40 calls at once, over two users of the store, a grant for three lets three through", async () => {
    const { first, second, lease } = await twoOwners(seams);
    const other = await second.begin(sampleRun("r2"));
    await first.grants.give(grant());
    const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? first.grants.use(lease, claim(`r1.${index}`)) : second.grants.use(other, claim(`r2.${index}`)))));
    expect(answers.flatMap((answer) => (answer.kind === "used" ? [answer.use] : [])).toSorted((one, next) => one - next)).toEqual([1, 2, 3]);
    expect(answers.find(({ kind }) => kind === "refused")).toEqual({ kind: "refused", why: "spent" });
    expect(await second.grants.list("acme")).toEqual([{ ...grant(), uses: 3 }]);
    expect(await second.grants.list("rival")).toEqual([]);
    expect((await first.audit.verify()).findings).toEqual([]);
  });

  test("a call has one use of a grant, also when another owner of its run asks for it again", async () => {
    const { first, second, clock, lease } = await twoOwners(seams);
    await first.grants.give(grant({ maxUses: 1 }));
    const once = claim("r1.0", { maxUses: 1 });
    expect(await first.grants.use(lease, once)).toEqual({ kind: "used", use: 1 });
    clock.set(clock.now() + LEASE_MS + 1);
    const claimed = await second.claim({ runId: "r1", tenant: "acme", leaseMs: LEASE_MS });
    if (claimed === undefined) throw new Error("the run was not claimed");
    await expect(first.grants.use(lease, once)).rejects.toMatchObject({ code: "RUN_FENCED" });
    expect(await second.grants.use(claimed.lease, once)).toEqual({ kind: "used", use: 1 });
    expect(await second.grants.use(claimed.lease, claim("r1.1", { maxUses: 1 }))).toEqual({ kind: "refused", why: "spent" });
  });

  test("lets nothing through once it was revoked, has expired, or is another tenant's; what was said when it was given counts", async () => {
    const { first, second, clock, lease } = await twoOwners(seams);
    const theirs = await second.begin(sampleRun("r2", { principal: bob }));
    await first.grants.give(grant());
    expect(await first.grants.use(lease, claim("r1.0", { grantId: "grt_none" }))).toEqual({ kind: "refused", why: "unknown" });
    expect(await second.grants.use(theirs, claim("r2.0", { tenant: "rival" }))).toEqual({ kind: "refused", why: "unknown" });
    await expect(second.grants.use(theirs, claim("r2.0"))).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
    expect(await first.grants.use(lease, claim("r1.0", { maxUses: 1 }))).toEqual({ kind: "used", use: 1 });
    expect(await first.grants.use(lease, claim("r1.1", { maxUses: 1 }))).toEqual({ kind: "refused", why: "spent" });
    expect(await first.grants.use(lease, claim("r1.1", { expiresAtMs: clock.now() }))).toEqual({ kind: "refused", why: "expired" });
    expect(await second.grants.revoke({ tenant: "rival", grantId: "grt_1", by: "eve" })).toBeUndefined();
    const revoked = { ...grant(), uses: 1, revoked: { by: "dora", atMs: clock.now() } };
    expect(await second.grants.revoke({ tenant: "acme", grantId: "grt_1", by: "dora" })).toEqual(revoked);
    expect(await second.grants.revoke({ tenant: "acme", grantId: "grt_1", by: "dora" })).toBeUndefined();
    expect(await first.grants.list("acme")).toEqual([revoked]);
    for (const callId of ["r1.0", "r1.1"]) expect(await first.grants.use(lease, claim(callId))).toEqual({ kind: "refused", why: "revoked" });
    expect((await first.audit.ledger("acme")).flatMap(({ event }) => ("grantId" in event ? [`${event.kind} ${"by" in event ? event.by : event.callId}`] : [])).toSorted()).toEqual(["grant-given carol", "grant-revoked dora", "grant-used r1.0"]);
    expect((await first.audit.verify()).findings).toEqual([]);
  });

  test("uses outlive the runs of their calls; a grant that has expired goes with prune, and the record verifies still", async () => {
    const { first, lease, clock } = await twoOwners(seams);
    await first.grants.give(grant({ maxUses: 1 }));
    await first.grants.use(lease, claim("r1.0", { maxUses: 1 }));
    await first.finish(lease, sampleFinish({ endedAtMs: START_MS }));
    await first.prune({ olderThanMs: START_MS + 1 });
    const next = await first.begin(sampleRun("r2"));
    expect(await first.grants.use(next, claim("r2.0", { maxUses: 1 }))).toEqual({ kind: "refused", why: "spent" });
    expect((await first.audit.verify()).findings).toEqual([]);
    clock.set(START_MS + 3 * 86_400_000);
    await first.prune({ olderThanMs: START_MS + 2 * 86_400_000 });
    expect(await first.grants.list("acme")).toEqual([]);
    expect((await first.audit.verify()).findings).toEqual([]);
    await first.prune({ keysOlderThanMs: START_MS + 86_400_000 });
    expect((await first.audit.verify()).findings).toEqual([]);
  });

  test.each([
    ["a use that was taken off", "delete from grant_uses where call_id = 'r1.0'", /knows 2 uses, and there are 1/],
    ["a revocation that was taken back", "update grants set revoked_at_ms = null", /taken back/],
    ["a grant that was changed", "update grants set body = replace(body, '100', '900')", /was changed/],
    ["a grant that was removed", "delete from grants", /removed outside/],
    ["a grant that was put there", "insert into grants (grant_id, tenant, user_id, body, given_at_ms, expires_at_ms) select 'grt_2', tenant, user_id, replace(body, 'grt_1', 'grt_2'), given_at_ms, expires_at_ms from grants", /does not know it/],
  ])("%s behind the journal's back is found", async (_what, edit, message) => {
    const { first, second, store, lease } = await twoOwners(seams);
    await first.grants.give(grant());
    for (const callId of ["r1.0", "r1.1"]) await first.grants.use(lease, claim(callId));
    await first.grants.revoke({ tenant: "acme", grantId: "grt_1", by: "dora" });
    await second.close();
    await first.close();
    await store.edit(edit);
    const { ok, findings } = await (await seams.openAgain(store)).audit.verify();
    expect([ok, findings.map(({ fault }) => fault)]).toEqual([false, ["grant-changed"]]);
    expect(findings[0]?.message).toMatch(message);
  });
}
