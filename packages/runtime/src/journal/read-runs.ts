import type { DatabaseSync } from "node:sqlite";
import type { RunFilter, RunRecord } from "@callgate/contract";
import { bytesColumn, columnError, textColumn } from "./columns.ts";
import type { Row } from "./columns.ts";
import type { Owners } from "./owners.ts";
import { runSpan } from "./entry-rows.ts";
import { openPayload } from "./payload.ts";
import type { Payload } from "./payload.ts";
import type { RunKeys } from "./run-keys.ts";
import { errorPlace, programPlace, recordOf } from "./run-record.ts";
import { waitsPlace } from "./signal-codec.ts";

/** Reads the heads of runs. Every query names the tenant; what belongs to another is not there. */
export interface RunReader {
  readonly readRun: (tenant: string, runId: string) => RunRecord | undefined;
  readonly listRuns: (filter: RunFilter) => readonly RunRecord[];
}

const DEFAULT_LIMIT = 50;

const ofRun = `e.entry_id between r.run_no * ${runSpan} and r.run_no * ${runSpan} + ${runSpan - 1}`;

// A running run's calls are counted here; one that ended has their number in its row.
const runColumns = `
  r.*,
  coalesce(r.call_count, (select sum(e.calls) from entries e where ${ofRun}), 0) as calls,
  case when r.status = 'running' then (select max(e.at_ms) from entries e where ${ofRun}) end as last_at_ms`;

export function createRunReader(database: DatabaseSync, { keys, owners }: { readonly keys: RunKeys; readonly owners: Owners }): RunReader {
  const selectRun = database.prepare(`select ${runColumns} from runs r where r.tenant = ? and r.run_id = ?`);
  const listing = (where: string): string => `
    select ${runColumns} from runs r where r.tenant = :tenant and r.started_at_ms < :beforeMs and (r.ended_at_ms is null or r.ended_at_ms >= :activeSinceMs) and (:agent is null or r.agent = :agent) and (:kind is null or r.kind = :kind) and ${where}
    order by r.started_at_ms desc, r.run_no desc limit :limit`;
  const isLost = "r.owner in (select value from json_each(:dead))";
  // A run whose owner died reads as crashed. What is open is listed along the index runs_open: SQLite takes it where the index's own condition stands in the query.
  const isOpen = "r.status in ('running', 'suspended')";
  const selectRuns = {
    all: database.prepare(listing("true")),
    suspended: database.prepare(listing(`${isOpen} and r.status = 'suspended'`)),
    running: database.prepare(listing(`${isOpen} and r.status = 'running' and not coalesce(${isLost}, false)`)),
    // Asked before every program of an agent where the policy looks at it; its own index, for an agent may have made calls without number.
    completedBy: database.prepare(listing("r.agent = :agent and r.kind = 'program' and r.status = 'completed'")),
    ended: database.prepare(listing(`(r.status = :status or (:status = 'crashed' and r.status = 'running' and ${isLost}))`)),
  };

  /** Texts of the run that are sealed; none once it was erased, or without its key. */
  function textsOf(run: Row, column: string, place: (runId: string) => string): NonNullable<Payload["texts"]> {
    if (run[column] === null) return {};
    const runId = textColumn(run, "run_id");
    const key = keys.find(runId);
    if (key.kind !== "box") return {};
    const payload = openPayload(key.box, bytesColumn(run, column), place(runId));
    // Taken for erased, a run would be given up, and undone.
    if (payload === undefined) throw columnError(run, column);
    return payload.texts ?? {};
  }

  function toRecord(row: Row, dead: readonly string[]): RunRecord {
    const texts = { ...textsOf(row, "program_sealed", programPlace), ...textsOf(row, "error_sealed", errorPlace), ...textsOf(row, "waits_sealed", waitsPlace) };
    return recordOf(row, { dead, texts, key: keys.inRow(textColumn(row, "run_id"), row).kind });
  }

  function rowsOf(status: RunFilter["status"], filter: Readonly<Record<string, string | number | null>>, dead: string): readonly Row[] {
    if (status === undefined) return selectRuns.all.all(filter);
    if (status === "suspended") return selectRuns.suspended.all(filter);
    if (status === "completed" && filter["agent"] !== null && filter["kind"] === "program") return selectRuns.completedBy.all(filter);
    return status === "running" ? selectRuns.running.all({ ...filter, dead }) : selectRuns.ended.all({ ...filter, status, dead });
  }

  return {
    readRun(tenant, runId) {
      const row = selectRun.get(tenant, runId);
      return row === undefined ? undefined : toRecord(row, owners.dead());
    },
    listRuns({ tenant, status, kind, agent, limit, beforeMs, activeSinceMs }) {
      const dead = owners.dead();
      const filter = { tenant, beforeMs: beforeMs ?? Number.MAX_SAFE_INTEGER, activeSinceMs: activeSinceMs ?? 0, agent: agent ?? null, kind: kind ?? null, limit: limit ?? DEFAULT_LIMIT };
      return rowsOf(status, filter, JSON.stringify(dead)).map((row) => toRecord(row, dead));
    },
  };
}
