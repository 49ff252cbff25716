import { randomUUID } from "node:crypto";
import type { AuditHold, JournalAudit } from "@callgate/contract";
import { grantOf, grantUseOf, holdOf, holdValues, insertHold, linesOf, noHoldError, verifyRecord } from "@callgate/runtime/journal-parts";
import type { RecordRows } from "@callgate/runtime/journal-parts";
import type { Database } from "./database.ts";
import { countedGrants } from "./grants.ts";
import type { RunWriteSeams } from "./run-writes.ts";

const LEDGER_LIMIT = 100;

/** The audit side of the PostgreSQL journal. */
export function createPostgresAudit({ database, stamps, lanes, time }: RunWriteSeams, guard: <T>(what: string, work: () => Promise<T>) => Promise<T>): JournalAudit {
  const rows = createPostgresRows(database);
  const now = async (): Promise<number> => Number((await database.read("select callgate.now_ms($1) as now", [time.given()]))[0]?.["now"]);
  return {
    verify: (options) => guard("Cannot read the journal", async () => await verifyRecord({ rows, stamps, nowMs: await now() }, options)),
    ledger: (tenant, { limit = LEDGER_LIMIT } = {}) =>
      guard("Cannot read the journal", async () => {
        let offset = 0;
        return await linesOf(async (_before, count) => {
          const page = await database.read("select position, at_ms, body from callgate.ledger where tenant = $1 order by at_ms desc, lane, position desc limit $2 offset $3", [tenant, count, offset]);
          offset += page.length;
          return page;
        }, limit);
      }),
    hold: (asked) =>
      guard("Cannot place a legal hold", async () => {
        const hold: AuditHold = { ...asked, holdId: `hold_${randomUUID()}`, placedAtMs: await now() };
        await lanes.write((pen) => database.transact("full", async (query) => {
          await query(`insert into callgate.holds ${insertHold} values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`, holdValues(hold));
          await pen.write(query, hold.tenant, [{ kind: "hold-placed", hold }]);
        }));
        return hold;
      }),
    release: (tenant, holdId, by) =>
      guard("Cannot release a legal hold", () => lanes.write((pen) => database.transact("full", async (query) => {
        const released = await query("update callgate.holds set released_at_ms = callgate.now_ms($3), released_by = $4 where tenant = $1 and hold_id = $2 and released_at_ms is null returning 1", [tenant, holdId, time.given(), by]);
        if (released.length === 0) throw noHoldError(holdId);
        await pen.write(query, tenant, [{ kind: "hold-released", holdId, by }]);
      }))),
    holds: (tenant) => guard("Cannot read the journal", async () => (await database.read("select * from callgate.holds where tenant = $1 order by placed_at_ms desc, hold_id", [tenant])).map(holdOf)),
  };
}

const runColumns = "r.*, r.ordinal as run_no, k.wrapped from callgate.runs r left join callgate.run_keys k using (run_id)";

/** The rows of the PostgreSQL journal, for whoever verifies them. */
function createPostgresRows({ read }: Pick<Database, "read">): RecordRows {
  return {
    runs: (after, limit) => read(`select ${runColumns} where r.ordinal > $1 order by r.ordinal limit $2`, [after, limit]),
    run: async (runId) => (await read(`select ${runColumns} where r.run_id = $1`, [runId]))[0],
    entries: (runs, { after, limit } = { after: -1, limit: Number.MAX_SAFE_INTEGER }) =>
      read(
        `select r.ordinal as run_no, e.position, e.tenant, e.user_id, e.kind, e.at_ms, e.seq, 1 as size, (e.kind = 'call-issued')::int as calls, e.body, e.texts::int as texts, e.sealed, e.sealed_digest, e.stamp
         from callgate.entries e join callgate.runs r using (run_id) where e.run_id = any ($1::text[]) and e.position > $2 order by r.ordinal, e.position limit $3`,
        [runs.map((run) => String(run["run_id"])), after, limit],
      ),
    signals: (runIds) => read("select * from callgate.signals where run_id = any ($1::text[]) order by run_id, position", [runIds]),
    lanes: async () => (await read("select distinct lane from callgate.ledger order by lane")).map((row) => Number(row["lane"])),
    lines: (lane, after, limit) => read("select position, tenant, at_ms, body, stamp, tail from callgate.ledger where lane = $1 and position > $2 order by position limit $3", [lane, after, limit]),
    holds: async () => (await read("select * from callgate.holds")).map(holdOf),
    grants: async () => (await read(countedGrants)).map(grantOf),
    grantUses: async () => (await read("select grant_id, call_id from callgate.grant_uses")).map(grantUseOf),
  };
}
