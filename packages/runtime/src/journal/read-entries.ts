import type { DatabaseSync } from "node:sqlite";
import { CallgateError } from "@callgate/contract";
import type { Blobs, Digest, JournalEntry, RunSignal, WireValue } from "@callgate/contract";
import { bytesColumn, textColumn } from "./columns.ts";
import type { Row } from "./columns.ts";
import { joinEntry } from "./entry-codec.ts";
import { blobPlace, openPayload, payloadPlace } from "./payload.ts";
import type { Payload } from "./payload.ts";
import type { RunKey, RunKeys } from "./run-keys.ts";
import { joinSignal, signalPlace } from "./signal-codec.ts";

/** Reads what happened in runs. Every query names the tenant; what belongs to another is not there. */
export interface EntryReader {
  readonly readEntries: (tenant: string, runId: string, clear: boolean) => Promise<readonly JournalEntry[]>;
  readonly readResult: (tenant: string, runId: string, number: number) => Promise<Extract<JournalEntry, { kind: "result" }> | undefined>;
  /** What settles one call: its ends, late results and resolutions, with the clear values that are still there. */
  readonly readSettled: (tenant: string, runId: string, seq: number) => Promise<readonly JournalEntry[]>;
  readonly readSignals: (tenant: string, runId: string, clear: boolean) => Promise<readonly RunSignal[]>;
  readonly readSignal: (tenant: string, runId: string, position: number) => Promise<RunSignal>;
}

interface Scope {
  readonly tenant: string;
  readonly runId: string;
  readonly key: RunKey;
}

// oxlint-disable-next-line max-lines-per-function -- one object of the reads; each is a few lines
export function createEntryReader(database: DatabaseSync, { keys, blobs }: { readonly keys: RunKeys; readonly blobs: Blobs }): EntryReader {
  const selectEntries = database.prepare(`
    select position, body, case when texts = 1 or :clear = 1 then sealed end as sealed from entries
    where tenant = :tenant and run_id = :runId order by position`);
  const selectResult = database.prepare(`
    select position, body, sealed from entries where tenant = ? and run_id = ? and kind = 'result' and seq = ? order by position desc limit 1`);

  const selectSettled = database.prepare(`
    select position, body, sealed from entries
    where tenant = ? and run_id = ? and seq = ? and kind in ('call-ended', 'call-late', 'call-resolved') order by position`);
  const selectSignals = database.prepare("select position, body, texts, sealed from signals where tenant = ? and run_id = ? order by position");
  const selectSignal = database.prepare("select position, body, texts, sealed from signals where tenant = ? and run_id = ? and position = ?");

  async function openSignal(row: Row, scope: Scope, clear: boolean): Promise<RunSignal> {
    const body = JSON.parse(textColumn(row, "body")) as RunSignal;
    if (row["sealed"] === null || scope.key.kind !== "box") return body;
    const payload = openPayload(scope.key.box, bytesColumn(row, "sealed"), signalPlace(scope.runId, Number(row["position"])));
    if (payload === undefined) throw damagedError(scope.runId);
    return joinSignal(body, payload.texts, clear ? await readValue(payload.value, scope) : undefined);
  }

  async function readEntry(row: Row, scope: Scope, clear: boolean): Promise<JournalEntry> {
    const body = JSON.parse(textColumn(row, "body")) as JournalEntry;
    if (row["sealed"] === null || scope.key.kind !== "box") return body;
    const payload = openPayload(scope.key.box, bytesColumn(row, "sealed"), payloadPlace(scope.runId, Number(row["position"])));
    if (payload === undefined) throw damagedError(scope.runId);
    const value = clear ? await readValue(payload.value, scope) : undefined;
    return joinEntry(body, payload.texts, value);
  }

  async function readValue(value: Payload["value"], { tenant, runId, key }: Scope): Promise<WireValue | undefined> {
    if (value === undefined || "json" in value) return value;
    const sealed = await blobs.get(tenant, value.blob as Digest);
    if (sealed === undefined || key.kind !== "box") return undefined; // Removed from outside: the entry says so by having no clear value.
    const json = key.box.open(sealed, blobPlace(runId));
    if (json === undefined) throw damagedError(runId);
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
    async readEntries(tenant, runId, clear) {
      const rows = selectEntries.all({ tenant, runId, clear: clear ? 1 : 0 });
      if (rows.length === 0) return [];
      const scope = { tenant, runId, key: clear ? clearKey(runId) : keys.find(runId) };
      const entries: JournalEntry[] = [];
      for (const row of rows) entries.push(await readEntry(row, scope, clear));
      return entries;
    },
    async readSettled(tenant, runId, seq) {
      const scope = { tenant, runId, key: keys.find(runId) };
      return await Promise.all(selectSettled.all(tenant, runId, seq).map((row) => readEntry(row, scope, true)));
    },
    async readSignals(tenant, runId, clear) {
      const rows = selectSignals.all(tenant, runId);
      if (rows.length === 0) return [];
      const scope = { tenant, runId, key: clear ? clearKey(runId) : keys.find(runId) };
      return await Promise.all(rows.map((row) => openSignal(row, scope, clear)));
    },
    async readSignal(tenant, runId, position) {
      const row = selectSignal.get(tenant, runId, position);
      if (row === undefined) throw damagedError(runId);
      return await openSignal(row, { tenant, runId, key: keys.find(runId) }, true);
    },
    async readResult(tenant, runId, number) {
      const row = selectResult.get(tenant, runId, number);
      if (row === undefined) return undefined;
      return (await readEntry(row, { tenant, runId, key: clearKey(runId) }, true)) as Extract<JournalEntry, { kind: "result" }>;
    },
  };
}

export function damagedError(runId: string): CallgateError {
  return new CallgateError("JOURNAL_CORRUPT", `Cannot read run ${runId}: a sealed value was changed or moved after it was written`, { details: { runId } });
}
