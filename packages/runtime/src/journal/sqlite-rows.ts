import type { DatabaseSync } from "node:sqlite";
import { runSpan } from "./entry-rows.ts";
import type { Grants } from "./grants.ts";
import type { Holds } from "./holds.ts";
import { LANE } from "./ledger.ts";
import { grantUseOf } from "./grant-rows.ts";
import type { RecordRows } from "./record-rows.ts";

/** The rows of the SQLite journal, for whoever verifies them. */
export function createSqliteRows(database: DatabaseSync, { holds, grants }: { readonly holds: Holds; readonly grants: Grants }): RecordRows {
  const selectRuns = database.prepare("select * from runs where run_no > ? order by run_no limit ?");
  const selectRun = database.prepare("select * from runs where run_id = ?");
  const selectEntries = database.prepare(`
    select entry_id / ${runSpan} as run_no, entry_id % ${runSpan} as position, tenant, user_id, kind, at_ms, seq, size, calls, body, texts, sealed, sealed_digest, stamp
    from entries where entry_id > ? and entry_id < ? order by entry_id limit ?`);
  const selectSignals = database.prepare("select * from signals where run_id in (select value from json_each(?)) order by run_id, position");
  const selectLines = database.prepare("select position, tenant, at_ms, body, stamp, tail from ledger where position > ? order by position limit ?");
  const countLines = database.prepare("select count(*) as n from ledger");
  return {
    runs: (after, limit) => selectRuns.all(after, limit),
    run: (runId) => selectRun.get(runId),
    entries: (runs, { after, limit } = { after: -1, limit: -1 }) =>
      runs.flatMap((run) => {
        const first = Number(run["run_no"]) * runSpan;
        return selectEntries.all(first + after, first + runSpan, limit);
      }),
    signals: (runIds) => selectSignals.all(JSON.stringify(runIds)),
    lanes: () => (Number(countLines.get()?.["n"]) === 0 ? [] : [LANE]),
    lines: (_lane, after, limit) => selectLines.all(after, limit),
    holds: () => holds.all(),
    grants: () => grants.all(),
    grantUses: () => database.prepare("select grant_id, call_id from grant_uses").all().map(grantUseOf),
  };
}
