import { CallgateError } from "@callgate/contract";
import type { Blobs, Digest, JournalEntry, RunFilter, RunRecord, RunSignal, WireValue } from "@callgate/contract";
import { blobPlace, damagedError, errorPlace, joinEntry, joinSignal, openPayload, payloadPlace, programPlace, recordOf, signalPlace, waitsPlace } from "@callgate/runtime/journal-parts";
import type { MasterKey, Payload, RunKey } from "@callgate/runtime/journal-parts";
import type { Database, SqlRow, SqlValue } from "./database.ts";
import type { Owners } from "./owners.ts";
import { openRunKey } from "./run-keys.ts";

/** Reads of the record. Every query names the tenant; what belongs to another is not there. */
export interface Reads {
  readRun(tenant: string, runId: string): Promise<RunRecord | undefined>;
  listRuns(filter: RunFilter): Promise<readonly RunRecord[]>;
  readEntries(tenant: string, runId: string, clear: boolean): Promise<readonly JournalEntry[]>;
  readResult(tenant: string, runId: string, number: number): Promise<Extract<JournalEntry, { kind: "result" }> | undefined>;
  /** What settles one call: its ends, late results and resolutions, with the clear values that are still there. */
  readSettled(tenant: string, runId: string, seq: number): Promise<readonly JournalEntry[]>;
  readSignals(tenant: string, runId: string, clear: boolean): Promise<readonly RunSignal[]>;
  readSignal(tenant: string, runId: string, position: number): Promise<RunSignal>;
}

export interface ReadSeams {
  readonly database: Database;
  readonly masterKey: MasterKey;
  readonly owners: Owners;
  readonly blobs: Blobs;
}

interface Scope {
  readonly tenant: string;
  readonly runId: string;
  readonly key: RunKey;
}

const runColumns = `
  r.*, k.master_id, k.wrapped,
  coalesce(r.call_count, (select count(distinct e.seq) from callgate.entries e where e.run_id = r.run_id and e.kind = 'call-issued')) as calls,
  case when r.status = 'running' then (select max(e.at_ms) from callgate.entries e where e.run_id = r.run_id) end as last_at_ms
  from callgate.runs r left join callgate.run_keys k using (run_id)`;

/** A run whose owner died reads as crashed. What is open is listed along an index of its own, so its status stands here as text. */
function hasStatus(status: RunFilter["status"], dead: readonly string[]): { readonly text: string; readonly values: readonly SqlValue[] } {
  const isLost = "coalesce(r.owner = any ($4::text[]), false)";
  if (status === undefined) return { text: "true", values: [] };
  if (status === "suspended") return { text: "r.status = 'suspended'", values: [] };
  if (status === "running") return { text: `r.status = 'running' and not ${isLost}`, values: [dead] };
  return { text: `(r.status = $5 or ($5 = 'crashed' and r.status = 'running' and ${isLost}))`, values: [dead, status] };
}

// oxlint-disable-next-line max-lines-per-function -- one object of the reads of a journal; each is a few lines
export function createReads({ database, masterKey, owners, blobs }: ReadSeams): Reads {
  function textsOf(row: SqlRow, column: string, place: (runId: string) => string): Payload["texts"] {
    const runId = String(row["run_id"]);
    const key = openRunKey(masterKey, runId, row);
    const sealed = row[column];
    return sealed instanceof Uint8Array && key.kind === "box" ? openPayload(key.box, sealed, place(runId))?.texts : undefined;
  }

  function toRecord(row: SqlRow, dead: readonly string[]): RunRecord {
    const texts = { ...textsOf(row, "program_sealed", programPlace), ...textsOf(row, "error_sealed", errorPlace), ...textsOf(row, "waits_sealed", waitsPlace) };
    return recordOf(row, { dead, texts });
  }

  async function readKey(runId: string, isNeeded: boolean): Promise<RunKey> {
    const key = openRunKey(masterKey, runId, (await database.read("select master_id, wrapped from callgate.run_keys where run_id = $1", [runId]))[0]);
    if (key.kind !== "lost" || !isNeeded) return key;
    throw new CallgateError(
      "JOURNAL_KEY_LOST",
      `Cannot read the clear values of run ${runId}: they are sealed under the journal key ${key.masterId}, and this process has another one. All machines of a journal need the same key file; summaries stay readable without it`,
      { details: { runId, masterId: key.masterId } },
    );
  }

  async function readValue(value: Payload["value"], { tenant, runId, key }: Scope): Promise<WireValue | undefined> {
    if (value === undefined || "json" in value) return value;
    const sealed = await blobs.get(tenant, value.blob as Digest);
    if (sealed === undefined || key.kind !== "box") return undefined;
    const json = key.box.open(sealed, blobPlace(runId));
    if (json === undefined) throw damagedError(runId);
    return { tagged: value.tagged, json: json.toString("utf8") };
  }

  async function open(row: SqlRow, scope: Scope, place: string): Promise<{ readonly texts: Payload["texts"]; readonly read: () => Promise<WireValue | undefined> }> {
    const sealed = row["sealed"];
    if (!(sealed instanceof Uint8Array) || scope.key.kind !== "box") return { texts: undefined, read: () => Promise.resolve(undefined) };
    const payload = openPayload(scope.key.box, sealed, place);
    if (payload === undefined) throw damagedError(scope.runId);
    return { texts: payload.texts, read: () => readValue(payload.value, scope) };
  }

  async function readEntry(row: SqlRow, scope: Scope, clear: boolean): Promise<JournalEntry> {
    const { texts, read } = await open(row, scope, payloadPlace(scope.runId, Number(row["position"])));
    return joinEntry(JSON.parse(String(row["body"])) as JournalEntry, texts, clear ? await read() : undefined);
  }

  async function readSignal(row: SqlRow, scope: Scope, clear: boolean): Promise<RunSignal> {
    const { texts, read } = await open(row, scope, signalPlace(scope.runId, Number(row["position"])));
    return joinSignal(JSON.parse(String(row["body"])) as RunSignal, texts, clear ? await read() : undefined);
  }

  async function entriesOf(rows: readonly SqlRow[], scope: Scope, clear: boolean): Promise<readonly JournalEntry[]> {
    const entries: JournalEntry[] = [];
    for (const row of rows) entries.push(await readEntry(row, scope, clear));
    return entries;
  }

  return {
    async readRun(tenant, runId) {
      const row = (await database.read(`select ${runColumns} where r.tenant = $1 and r.run_id = $2`, [tenant, runId]))[0];
      return row === undefined ? undefined : toRecord(row, await owners.dead());
    },
    async listRuns({ tenant, status, limit, beforeMs }) {
      const dead = await owners.dead();
      const { text, values } = hasStatus(status, dead);
      const rows = await database.read(`select ${runColumns} where r.tenant = $1 and r.started_at_ms < $2 and ${text} order by r.started_at_ms desc, r.ordinal desc limit $3`, [tenant, beforeMs ?? Number.MAX_SAFE_INTEGER, limit ?? 50, ...values]);
      return rows.map((row) => toRecord(row, dead));
    },
    async readEntries(tenant, runId, clear) {
      const rows = await database.read("select position, body, case when texts or $3 then sealed end as sealed from callgate.entries where tenant = $1 and run_id = $2 order by position", [tenant, runId, clear]);
      return rows.length === 0 ? [] : await entriesOf(rows, { tenant, runId, key: await readKey(runId, clear) }, clear);
    },
    async readResult(tenant, runId, number) {
      const rows = await database.read("select position, body, sealed from callgate.entries where tenant = $1 and run_id = $2 and kind = 'result' and seq = $3 order by position desc limit 1", [tenant, runId, number]);
      if (rows.length === 0) return undefined;
      return (await entriesOf(rows, { tenant, runId, key: await readKey(runId, true) }, true))[0] as Extract<JournalEntry, { kind: "result" }>;
    },
    async readSettled(tenant, runId, seq) {
      const rows = await database.read("select position, body, sealed from callgate.entries where tenant = $1 and run_id = $2 and seq = $3 and kind in ('call-ended', 'call-late', 'call-resolved') order by position", [tenant, runId, seq]);
      return rows.length === 0 ? [] : await entriesOf(rows, { tenant, runId, key: await readKey(runId, false) }, true);
    },
    async readSignals(tenant, runId, clear) {
      const rows = await database.read("select position, body, sealed from callgate.signals where tenant = $1 and run_id = $2 order by position", [tenant, runId]);
      if (rows.length === 0) return [];
      const scope = { tenant, runId, key: await readKey(runId, clear) };
      return await Promise.all(rows.map((row) => readSignal(row, scope, clear)));
    },
    async readSignal(tenant, runId, position) {
      const row = (await database.read("select position, body, sealed from callgate.signals where tenant = $1 and run_id = $2 and position = $3", [tenant, runId, position]))[0];
      if (row === undefined) throw damagedError(runId);
      return await readSignal(row, { tenant, runId, key: await readKey(runId, false) }, true);
    },
  };
}
