import type { GrantClaim, GrantUse, JournalGrants, RunLease } from "@callgate/contract";
import { grantAnswer, grantGiven, grantOf, grantValues, insertGrant, notFoundError } from "@callgate/runtime/journal-parts";
import { assertOurs } from "./run-states.ts";
import type { RunWriteSeams } from "./run-writes.ts";

type Guard = <T>(what: string, work: () => Promise<T>) => Promise<T>;
type GrantSeams = Pick<RunWriteSeams, "database" | "lanes" | "time">;

export interface GrantOptions {
  readonly seams: GrantSeams;
  readonly guard: Guard;
  /** After every earlier write of the run. */
  readonly after: <T>(runId: string, work: () => Promise<T>) => Promise<T>;
}

/** Rows of grants with the number of their uses. */
export const countedGrants = "select g.*, (select count(*) from callgate.grant_uses u where u.grant_id = g.grant_id) as uses from callgate.grants g";

/** Standing grants in PostgreSQL. */
export function createPostgresGrants({ seams, guard, after }: GrantOptions): JournalGrants {
  const { database, lanes, time } = seams;
  return {
    give: (grant) =>
      guard("Cannot keep a grant", () => lanes.write((pen) => database.transact("full", async (query) => {
        await query(`insert into callgate.grants ${insertGrant} values ($1, $2, $3, $4, $5, $6)`, grantValues(grant));
        await pen.write(query, grant.tenant, [grantGiven(grant)]);
      }))),
    revoke: ({ tenant, grantId, by }) =>
      guard("Cannot revoke a grant", () => lanes.write((pen) => database.transact("full", async (query) => {
        const revoked = await query("update callgate.grants set revoked_at_ms = callgate.now_ms($3), revoked_by = $4 where tenant = $1 and grant_id = $2 and revoked_at_ms is null returning 1", [tenant, grantId, time.given(), by]);
        if (revoked.length === 0) return undefined;
        await pen.write(query, tenant, [{ kind: "grant-revoked", grantId, by }]);
        const [row] = await query(`${countedGrants} where g.grant_id = $1`, [grantId]);
        return row === undefined ? undefined : grantOf(row);
      }))),
    list: (tenant) => guard("Cannot read the journal", async () => (await database.read(`${countedGrants} where g.tenant = $1 order by g.given_at_ms desc, g.grant_id`, [tenant])).map(grantOf)),
    use: (lease, claim) => guard(`Cannot use a grant for run ${lease.runId}`, () => after(lease.runId, () => useGrant(seams, lease, claim))),
  };
}

/** The row of the grant is locked until it is written, so that all users of the store come one after the other. */
async function useGrant({ database, lanes, time }: GrantSeams, lease: RunLease, claim: GrantClaim): Promise<GrantUse> {
  const { tenant, grantId, callId } = claim;
  return await lanes.write((pen) => database.transact("full", async (query) => {
    const run = await assertOurs(query, lease, "for share of r");
    if (run["tenant"] !== tenant) throw notFoundError(lease.runId);
    const [row] = await query("select * from callgate.grants where tenant = $1 and grant_id = $2 for update", [tenant, grantId]);
    const [uses] = await query("select count(*) as uses, count(*) filter (where call_id = $2) as ours, callgate.now_ms($3) as now from callgate.grant_uses where grant_id = $1", [grantId, callId, time.given()]);
    const isUsed = Number(uses?.["ours"]) > 0;
    const answer = grantAnswer(claim, { row, isUsed, uses: Number(uses?.["uses"]), nowMs: Number(uses?.["now"]) });
    if (answer.kind === "used" && !isUsed) {
      await query("insert into callgate.grant_uses (grant_id, call_id, tenant, at_ms) values ($1, $2, $3, callgate.now_ms($4))", [grantId, callId, tenant, time.given()]);
      await pen.write(query, tenant, [{ kind: "grant-used", grantId, callId }]);
    }
    return answer;
  }));
}
