import type { DatabaseSync } from "node:sqlite";
import type { CallError, Digest, RunFilter, RunRecord, RunStart, RunStatus, RunTokens, RunWait } from "@callgate/contract";
import { bytesColumn, optionalNumber, optionalText, textColumn } from "./columns.ts";
import type { Row } from "./columns.ts";
import type { Owners } from "./owners.ts";
import { openPayload } from "./payload.ts";
import type { Payload } from "./payload.ts";
import type { RunKeys } from "./run-keys.ts";
import { errorPlace, programPlace } from "./run-writer.ts";
import { waitsPlace } from "./signal-codec.ts";

/** Reads the heads of runs. Every query names the tenant; what belongs to another is not there. */
export interface RunReader {
  readonly readRun: (tenant: string, runId: string) => RunRecord | undefined;
  readonly listRuns: (filter: RunFilter) => readonly RunRecord[];
}

const DEFAULT_LIMIT = 50;

// A running run's calls are counted here; one that ended has their number in its row.
const runColumns = `
  r.*,
  coalesce(r.call_count, (select count(distinct e.seq) from entries e where e.run_id = r.run_id and e.kind = 'call-issued')) as calls,
  case when r.status = 'running' then (select max(e.at_ms) from entries e where e.run_id = r.run_id) end as last_at_ms`;

export function createRunReader(database: DatabaseSync, { keys, owners }: { readonly keys: RunKeys; readonly owners: Owners }): RunReader {
  const selectRun = database.prepare(`select ${runColumns} from runs r where r.tenant = ? and r.run_id = ?`);
  // A run whose owner died reads as crashed, so a filter on status has to know the dead owners.
  const selectRuns = database.prepare(`
    select ${runColumns} from runs r
    where r.tenant = :tenant and r.started_at_ms < :beforeMs
      and (:status is null or :status = case when r.status = 'running' and r.owner in (select value from json_each(:dead)) then 'crashed' else r.status end)
    order by r.started_at_ms desc, r.rowid desc limit :limit`);

  /** Texts of the run that are sealed; none once it was erased, or without its key. */
  function textsOf(run: Row, column: string, place: (runId: string) => string): NonNullable<Payload["texts"]> {
    if (run[column] === null) return {};
    const runId = textColumn(run, "run_id");
    const key = keys.find(runId);
    return (key.kind === "box" ? openPayload(key.box, bytesColumn(run, column), place(runId))?.texts : undefined) ?? {};
  }

  function toRecord(row: Row, dead: readonly string[]): RunRecord {
    const { programText } = textsOf(row, "program_sealed", programPlace);
    const { error } = textsOf(row, "error_sealed", errorPlace);
    return { ...startOf(row, programText), ...endOf(row, dead, error), callCount: Number(row["calls"]), epoch: Number(row["epoch"]), waits: waitsOf(row), wakeAtMs: optionalNumber(row, "wake_at_ms") };
  }

  function waitsOf(row: Row): readonly RunWait[] {
    if (row["waits"] === null) return [];
    const { waits } = textsOf(row, "waits_sealed", waitsPlace);
    return (waits as readonly RunWait[] | undefined) ?? (JSON.parse(textColumn(row, "waits")) as RunWait[]);
  }

  return {
    readRun(tenant, runId) {
      const row = selectRun.get(tenant, runId);
      return row === undefined ? undefined : toRecord(row, owners.dead());
    },
    listRuns({ tenant, status, limit, beforeMs }) {
      const dead = owners.dead();
      const filter = { tenant, status: status ?? null, dead: JSON.stringify(dead), beforeMs: beforeMs ?? Number.MAX_SAFE_INTEGER, limit: limit ?? DEFAULT_LIMIT };
      return selectRuns.all(filter).map((row) => toRecord(row, dead));
    },
  };
}

/** What `head` of the table `runs` holds. */
type RunHead = Pick<RunStart, "language" | "seed" | "limits" | "driver" | "interfaces" | "policyVersion" | "taskId" | "budgetTokens" | "onFailure"> & Pick<RunStart["principal"], "roles" | "claims">;

function startOf(row: Row, programText: unknown): RunStart {
  const { roles, claims, language, seed, limits, driver, interfaces, policyVersion, ...rest } = JSON.parse(textColumn(row, "head")) as RunHead;
  const [agent, task, replayOf] = [optionalText(row, "agent"), optionalText(row, "task"), optionalText(row, "replay_of")];
  return {
    runId: textColumn(row, "run_id"),
    kind: textColumn(row, "kind") as RunStart["kind"],
    principal: { tenant: textColumn(row, "tenant"), user: textColumn(row, "user_id"), ...(agent === undefined ? {} : { agent }), ...(task === undefined ? {} : { task }), roles, claims },
    startedAtMs: Number(row["started_at_ms"]),
    lane: textColumn(row, "lane") as RunStart["lane"],
    language,
    programText: typeof programText === "string" ? programText : undefined,
    programDigest: optionalText(row, "program_digest") as Digest | undefined,
    seed,
    limits,
    driver,
    interfaces,
    policyVersion,
    ...rest,
    ...(replayOf === undefined ? {} : { replayOf }),
  };
}

/** How the run stands. A run whose owner died is crashed, whatever its row says: nobody was left to write it. */
function endOf(row: Row, dead: readonly string[], sealedError: unknown): Pick<RunRecord, "status" | "endedAtMs" | "error" | "tokens" | "resultNumber"> {
  const resultNumber = optionalNumber(row, "result_number");
  const status = textColumn(row, "status") as RunStatus;
  const owner = optionalText(row, "owner");
  if (status === "running" && owner !== undefined && dead.includes(owner)) {
    const endedAtMs = optionalNumber(row, "last_at_ms") ?? Number(row["started_at_ms"]);
    return { status: "crashed", endedAtMs, error: interrupted, tokens: undefined, resultNumber };
  }
  const kept = optionalText(row, "finish");
  const finish = kept === undefined ? undefined : (JSON.parse(kept) as { readonly tokens: RunTokens; readonly error?: CallError });
  return { status, endedAtMs: optionalNumber(row, "ended_at_ms"), error: (sealedError as CallError | undefined) ?? finish?.error, tokens: finish?.tokens, resultNumber };
}

const interrupted: CallError = {
  code: "RUN_INTERRUPTED",
  message: "The process that ran the program ended before the run did. Calls with a recorded end stand as recorded; a write that was issued and has no recorded end may or may not have happened",
  tool: "",
  retryable: false,
};
