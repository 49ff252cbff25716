import type { DatabaseSync } from "node:sqlite";
import type { Grant, GrantClaim, GrantUse, JournalGrants, KeptGrant, RunLease } from "@callgate/contract";
import { notFoundError } from "./fence.ts";
import { grantAnswer, grantGiven, grantOf, grantValues, insertGrant } from "./grant-rows.ts";
import type { Ledger } from "./ledger.ts";
import type { RunWriter } from "./run-writer.ts";

type Revoking = Parameters<JournalGrants["revoke"]>[0];

/** Standing grants. Methods that write belong inside a transaction. */
export interface Grants {
  give(grant: Grant): void;
  revoke(of: Revoking): KeptGrant | undefined;
  use(lease: RunLease, claim: GrantClaim): GrantUse;
  list(tenant: string): readonly KeptGrant[];
  all(): readonly KeptGrant[];
  /** Those that had expired before that, with their uses. */
  forget(beforeMs: number): void;
}

export interface GrantsSeams {
  readonly writer: RunWriter;
  readonly ledger: Ledger;
  readonly now: () => number;
}

export function createGrants(database: DatabaseSync, { writer, ledger, now }: GrantsSeams): Grants {
  const counted = "select g.*, (select count(*) from grant_uses u where u.grant_id = g.grant_id) as uses from grants g";
  const insert = database.prepare(`insert into grants ${insertGrant} values (?, ?, ?, ?, ?, ?)`);
  const revoke = database.prepare("update grants set revoked_at_ms = ?, revoked_by = ? where tenant = ? and grant_id = ? and revoked_at_ms is null");
  const selectOne = database.prepare(`${counted} where g.tenant = ? and g.grant_id = ?`);
  const selectOf = database.prepare(`${counted} where g.tenant = ? order by g.given_at_ms desc, g.grant_id`);
  const selectAll = database.prepare(counted);
  const selectUse = database.prepare("select 1 from grant_uses where grant_id = ? and call_id = ?");
  const insertUse = database.prepare("insert into grant_uses (grant_id, call_id, tenant, at_ms) values (?, ?, ?, ?)");
  const removeUses = database.prepare("delete from grant_uses where grant_id in (select grant_id from grants where expires_at_ms < ?)");
  const removeOld = database.prepare("delete from grants where expires_at_ms < ?");

  return {
    give(grant) {
      insert.run(...grantValues(grant));
      ledger.note(grant.tenant, grantGiven(grant));
    },
    revoke({ tenant, grantId, by }) {
      if (revoke.run(now(), by, tenant, grantId).changes === 0) return undefined;
      ledger.note(tenant, { kind: "grant-revoked", grantId, by });
      const row = selectOne.get(tenant, grantId);
      return row === undefined ? undefined : grantOf(row);
    },
    use(lease, claim) {
      const { tenant, grantId, callId } = claim;
      if (writer.scope(lease).tenant !== tenant) throw notFoundError(lease.runId);
      const row = selectOne.get(tenant, grantId);
      const isUsed = selectUse.get(grantId, callId) !== undefined;
      const answer = grantAnswer(claim, { row, isUsed, uses: Number(row?.["uses"] ?? 0), nowMs: now() });
      if (answer.kind === "used" && !isUsed) {
        insertUse.run(grantId, callId, tenant, now());
        ledger.note(tenant, { kind: "grant-used", grantId, callId });
      }
      return answer;
    },
    list: (tenant) => selectOf.all(tenant).map(grantOf),
    all: () => selectAll.all().map(grantOf),
    forget(beforeMs) {
      removeUses.run(beforeMs);
      removeOld.run(beforeMs);
    },
  };
}
