import type { DatabaseSync } from "node:sqlite";
import { CallgateError } from "@callgate/contract";
import type { Blobs, CallError, Digest, JournalEntry, RunFilter, RunRecord, RunStart, RunStatus, RunTokens, WireValue } from "@callgate/contract";
import { joinEntry } from "./entry-codec.ts";
import type { Owners } from "./owners.ts";
import { blobPlace, openPayload, payloadPlace } from "./payload.ts";
import type { Payload } from "./payload.ts";
import type { RunKey, RunKeys } from "./run-keys.ts";
import { finishPosition, programPosition } from "./run-writer.ts";

/** Reads runs. Every query names the tenant; what belongs to another is not there. */
export interface RunReader {
  readRun(tenant: string, runId: string): RunRecord | undefined;
  listRuns(filter: RunFilter): readonly RunRecord[];
  readEntries(tenant: string, runId: string, clear: boolean): Promise<readonly JournalEntry[]>;
  readResult(tenant: string, runId: string, number: number): Promise<Extract<JournalEntry, { kind: "result" }> | undefined>;
}

type Row = Record<string, unknown>;

const DEFAULT_LIMIT = 50;

const runColumns = `
  r.*,
  (select count(*) from entries e where e.run_id = r.run_id and e.kind = 'call-issued' and e.seq is not null) as call_count,
  case when r.status = 'running' then (select max(e.at_ms) from entries e where e.run_id = r.run_id) end as last_at_ms`;

export function createRunReader(database: DatabaseSync, seams: { readonly keys: RunKeys; readonly owners: Owners; readonly blobs: Blobs }): RunReader {
  const { keys, owners, blobs } = seams;
  const selectRun = database.prepare(`select ${runColumns} from runs r where r.tenant = ? and r.run_id = ?`);
  // A run whose owner died reads as crashed, so a filter on status has to know the dead owners.
  const selectRuns = database.prepare(`
    select ${runColumns} from runs r
    where r.tenant = :tenant and r.started_at_ms < :beforeMs
      and (:status is null or :status = case when r.status = 'running' and r.owner in (select value from json_each(:dead)) then 'crashed' else r.status end)
    order by r.started_at_ms desc, r.rowid desc limit :limit`);
  const selectEntries = database.prepare(`
    select e.position, e.body, p.sealed from entries e
    left join payloads p on p.run_id = e.run_id and p.position = e.position and (p.texts = 1 or :clear = 1)
    where e.tenant = :tenant and e.run_id = :runId order by e.position`);
  const selectResult = database.prepare(`
    select e.position, e.body, p.sealed from entries e left join payloads p on p.run_id = e.run_id and p.position = e.position
    where e.tenant = ? and e.run_id = ? and e.kind = 'result' and e.seq = ? order by e.position desc limit 1`);
  const selectPayload = database.prepare("select sealed from payloads where tenant = ? and run_id = ? and position = ?");

  function textOf(tenant: string, runId: string, position: number): Payload["texts"] {
    const row = selectPayload.get(tenant, runId, position);
    const key = row === undefined ? undefined : keys.find(runId);
    if (row === undefined || key?.kind !== "box") return undefined;
    return openPayload(key.box, row["sealed"] as Uint8Array, payloadPlace(runId, position))?.texts;
  }

  async function readEntry(row: Row, scope: { readonly tenant: string; readonly runId: string; readonly key: RunKey }, clear: boolean): Promise<JournalEntry> {
    const body = JSON.parse(String(row["body"])) as JournalEntry;
    if (row["sealed"] === null || scope.key.kind !== "box") return body;
    const payload = openPayload(scope.key.box, row["sealed"] as Uint8Array, payloadPlace(scope.runId, Number(row["position"])));
    if (payload === undefined) throw damaged(scope.runId);
    const value = clear ? await valueOf(payload.value, scope) : undefined;
    return joinEntry(body, payload.texts, value);
  }

  async function valueOf(value: Payload["value"], scope: { readonly tenant: string; readonly runId: string; readonly key: RunKey }): Promise<WireValue | undefined> {
    if (value === undefined || "json" in value || scope.key.kind !== "box") return value as WireValue | undefined;
    const sealed = await blobs.get(scope.tenant, value.blob as Digest);
    if (sealed === undefined) return undefined; // Pruned from outside; the entry says so by having no clear value.
    const json = scope.key.box.open(sealed, blobPlace(scope.runId));
    if (json === undefined) throw damaged(scope.runId);
    return { tagged: value.tagged, json: json.toString("utf8") };
  }

  function clearKey(runId: string): RunKey {
    const key = keys.find(runId);
    if (key.kind !== "lost") return key;
    throw new CallgateError(
      "JOURNAL_KEY_LOST",
      `Cannot read the clear values of run ${runId}: they are sealed under the journal key ${key.masterId}, and the key file now holds another one. Restore the key file from a backup; summaries stay readable without it`,
      { details: { runId, masterId: key.masterId } },
    );
  }

  return {
    readRun(tenant, runId) {
      const row = selectRun.get(tenant, runId);
      return row === undefined ? undefined : toRecord(row, new Set(owners.dead()), textOf);
    },
    listRuns({ tenant, status, limit, beforeMs }) {
      const dead = owners.dead();
      const rows = selectRuns.all({ tenant, status: status ?? null, dead: JSON.stringify(dead), beforeMs: beforeMs ?? Number.MAX_SAFE_INTEGER, limit: limit ?? DEFAULT_LIMIT });
      const deadSet = new Set(dead);
      return rows.map((row) => toRecord(row, deadSet, textOf));
    },
    async readEntries(tenant, runId, clear) {
      const rows = selectEntries.all({ tenant, runId, clear: clear ? 1 : 0 });
      if (rows.length === 0) return [];
      const scope = { tenant, runId, key: clear ? clearKey(runId) : keys.find(runId) };
      const entries: JournalEntry[] = [];
      for (const row of rows) entries.push(await readEntry(row, scope, clear));
      return entries;
    },
    async readResult(tenant, runId, number) {
      const row = selectResult.get(tenant, runId, number);
      if (row === undefined) return undefined;
      return (await readEntry(row, { tenant, runId, key: clearKey(runId) }, true)) as Extract<JournalEntry, { kind: "result" }>;
    },
  };
}

function damaged(runId: string): CallgateError {
  return new CallgateError("JOURNAL_CORRUPT", `Cannot read run ${runId}: a sealed value was changed or moved after it was written`, { details: { runId } });
}

type TextOf = (tenant: string, runId: string, position: number) => Payload["texts"];

/** What `head` of the table `runs` holds. */
type RunHead = Pick<RunStart, "language" | "seed" | "limits" | "driver" | "interfaces" | "policyVersion"> & Pick<RunStart["principal"], "roles" | "claims">;

function toRecord(row: Row, dead: ReadonlySet<string>, textOf: TextOf): RunRecord {
  const { roles, claims, language, seed, limits, driver, interfaces, policyVersion } = JSON.parse(String(row["head"])) as RunHead;
  const tenant = String(row["tenant"]);
  const runId = String(row["run_id"]);
  const programText = textOf(tenant, runId, programPosition)?.["programText"];
  return {
    runId,
    kind: row["kind"] as RunRecord["kind"],
    principal: { tenant, user: String(row["user_id"]), ...optional("agent", row["agent"]), ...optional("task", row["task"]), roles, claims },
    startedAtMs: Number(row["started_at_ms"]),
    lane: row["lane"] as RunRecord["lane"],
    language,
    programText: programText === undefined ? undefined : String(programText),
    programDigest: (row["program_digest"] ?? undefined) as Digest | undefined,
    seed,
    limits,
    driver,
    interfaces,
    policyVersion,
    ...optional("replayOf", row["replay_of"]),
    ...endOf(row, dead, textOf),
    callCount: Number(row["call_count"]),
  };
}

/** How the run stands. A run whose owner died is crashed, whatever its row says: nobody was left to write it. */
function endOf(row: Row, dead: ReadonlySet<string>, textOf: TextOf): Pick<RunRecord, "status" | "endedAtMs" | "error" | "tokens" | "resultNumber"> {
  const resultNumber = row["result_number"] === null ? undefined : Number(row["result_number"]);
  if (row["status"] === "running" && dead.has(String(row["owner"]))) {
    return { status: "crashed", endedAtMs: Number(row["last_at_ms"] ?? row["started_at_ms"]), error: interrupted, tokens: undefined, resultNumber };
  }
  const finish = row["finish"] === null ? undefined : (JSON.parse(String(row["finish"])) as { readonly tokens: RunTokens; readonly error?: CallError });
  const error = textOf(String(row["tenant"]), String(row["run_id"]), finishPosition)?.["error"] as CallError | undefined;
  return {
    status: row["status"] as RunStatus,
    endedAtMs: row["ended_at_ms"] === null ? undefined : Number(row["ended_at_ms"]),
    error: error ?? finish?.error,
    tokens: finish?.tokens,
    resultNumber,
  };
}

const interrupted: CallError = {
  code: "RUN_INTERRUPTED",
  message: "The process that ran the program ended before the run did. Calls that were recorded as ended stand; a write that was issued and has no recorded end may or may not have happened",
  tool: "",
  retryable: false,
};

function optional<Key extends string>(key: Key, value: unknown): Partial<Record<Key, string>> {
  return (value === null || value === undefined ? {} : { [key]: String(value) }) as Partial<Record<Key, string>>;
}
