import type { RunFilter, RunRecord } from "@callgate/contract";
import { columnError, errorPlace, openPayload, programPlace, recordOf, waitsPlace } from "@callgate/runtime/journal-parts";
import type { Payload } from "@callgate/runtime/journal-parts";
import type { SqlRow, SqlValue } from "./database.ts";
import type { ReadSeams } from "./read-seams.ts";
import { openRunKey } from "./run-keys.ts";

/** Reads the heads of runs. */
export interface RunReads {
  readRun(tenant: string, runId: string): Promise<RunRecord | undefined>;
  listRuns(filter: RunFilter): Promise<readonly RunRecord[]>;
}

const runColumns = `
  r.*, k.master_id, k.wrapped,
  coalesce(r.call_count, (select count(distinct e.seq) from callgate.entries e where e.run_id = r.run_id and e.kind = 'call-issued')) as calls,
  case when r.status = 'running' then (select max(e.at_ms) from callgate.entries e where e.run_id = r.run_id) end as last_at_ms
  from callgate.runs r left join callgate.run_keys k using (run_id)`;

/** A run whose owner died reads as crashed. What is open is listed along an index of its own, so its status stands here as text. */
function hasStatus(status: RunFilter["status"], dead: readonly string[]): { readonly text: string; readonly values: readonly SqlValue[] } {
  const isLost = "coalesce(r.owner = any ($7::text[]), false)";
  if (status === undefined) return { text: "true", values: [] };
  if (status === "suspended") return { text: "r.status = 'suspended'", values: [] };
  if (status === "running") return { text: `r.status = 'running' and not ${isLost}`, values: [dead] };
  return { text: `(r.status = $8 or ($8 = 'crashed' and r.status = 'running' and ${isLost}))`, values: [dead, status] };
}

export function createRunReads({ database, masterKey, owners }: Pick<ReadSeams, "database" | "masterKey" | "owners">): RunReads {
  function textsOf(row: SqlRow, column: string, place: (runId: string) => string): Payload["texts"] {
    const runId = String(row["run_id"]);
    const key = openRunKey(masterKey, runId, row);
    const sealed = row[column];
    if (!(sealed instanceof Uint8Array) || key.kind !== "box") return undefined;
    const payload = openPayload(key.box, sealed, place(runId));
    // Taken for erased, a run would be given up, and undone.
    if (payload === undefined) throw columnError(row, column);
    return payload.texts;
  }

  function toRecord(row: SqlRow, dead: readonly string[]): RunRecord {
    const texts = { ...textsOf(row, "program_sealed", programPlace), ...textsOf(row, "error_sealed", errorPlace), ...textsOf(row, "waits_sealed", waitsPlace) };
    return recordOf(row, { dead, texts, key: openRunKey(masterKey, String(row["run_id"]), row).kind });
  }

  return {
    async readRun(tenant, runId) {
      const row = (await database.read(`select ${runColumns} where r.tenant = $1 and r.run_id = $2`, [tenant, runId]))[0];
      return row === undefined ? undefined : toRecord(row, await owners.dead());
    },
    async listRuns({ tenant, status, kind, agent, limit, beforeMs, activeSinceMs }) {
      const dead = await owners.dead();
      const { text, values } = hasStatus(status, dead);
      const rows = await database.read(`select ${runColumns} where r.tenant = $1 and r.started_at_ms < $2 and (r.ended_at_ms is null or r.ended_at_ms >= $4) and ($5::text is null or r.agent = $5) and ($6::text is null or r.kind = $6) and ${text} order by r.started_at_ms desc, r.ordinal desc limit $3`, [tenant, beforeMs ?? Number.MAX_SAFE_INTEGER, limit ?? 50, activeSinceMs ?? 0, agent ?? null, kind ?? null, ...values]);
      return rows.map((row) => toRecord(row, dead));
    },
  };
}
