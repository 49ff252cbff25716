import type { DatabaseSync } from "node:sqlite";
import { CallgateError } from "@callgate/contract";
import type { Blobs, Digest, JournalEntry, RunSignal, WireValue } from "@callgate/contract";
import { bytesColumn, jsonColumn } from "./columns.ts";
import type { Row } from "./columns.ts";
import { joinEntry } from "./entry-codec.ts";
import { readRow } from "./entry-rows.ts";
import type { StoredEntry } from "./entry-rows.ts";
import { createEntrySelects } from "./entry-selects.ts";
import { keyLostError } from "./fence.ts";
import { blobPlace, openPayload } from "./payload.ts";
import type { Payload } from "./payload.ts";
import type { RunKey, RunKeys } from "./run-keys.ts";
import { settlesWrite } from "./settling.ts";
import { joinSignal, signalPlace } from "./signal-codec.ts";
import { signalShape } from "./stored-shapes.ts";

/** Reads what happened in runs. Every query names the tenant; what belongs to another is not there. */
export interface EntryReader {
  readonly readEntries: (tenant: string, runId: string, clear: boolean) => Promise<readonly JournalEntry[]>;
  readonly readResult: (tenant: string, runId: string, number: number) => Promise<Extract<JournalEntry, { kind: "result" }> | undefined>;
  /** What tells how the write of a call stands, its undoing included, with the clear values that are still there. */
  readonly readSettled: (tenant: string, runId: string, seq: number) => Promise<readonly JournalEntry[]>;
  readonly readSignals: (tenant: string, runId: string, clear: boolean) => Promise<readonly RunSignal[]>;
  readonly readSignal: (tenant: string, runId: string, position: number) => Promise<RunSignal>;
}

interface Scope {
  readonly tenant: string;
  readonly runId: string;
  readonly key: RunKey;
}

export function createEntryReader(database: DatabaseSync, { keys, blobs }: { readonly keys: RunKeys; readonly blobs: Blobs }): EntryReader {
  const rows = createEntrySelects(database);
  const scopeOf = (tenant: string, runId: string, clear: boolean): Scope => ({ tenant, runId, key: clear ? clearKey(keys, runId) : keys.find(runId) });
  return {
    async readEntries(tenant, runId, clear) {
      const found = withoutGaps(rows.all(tenant, runId, clear), runId);
      if (found.length === 0) return [];
      const scope = scopeOf(tenant, runId, clear);
      const entries: JournalEntry[] = [];
      for (const stored of openRows(found, scope)) entries.push(await joinStored(stored, { blobs, scope, clear }));
      return entries;
    },
    async readSettled(tenant, runId, seq) {
      const found = rows.settled(runId, seq);
      const scope = scopeOf(tenant, runId, false);
      return await Promise.all(openRows(found, scope).filter(({ body }) => settlesWrite(body, seq)).map((stored) => joinStored(stored, { blobs, scope, clear: true })));
    },
    async readResult(tenant, runId, number) {
      const found = rows.results(tenant, runId, number);
      if (found.length === 0) return undefined;
      const scope = scopeOf(tenant, runId, true);
      const stored = openRows(found, scope).findLast(({ body }) => body.kind === "result" && body.number === number);
      return stored === undefined ? undefined : ((await joinStored(stored, { blobs, scope, clear: true })) as Extract<JournalEntry, { kind: "result" }>);
    },
    ...createSignalReads(database, { blobs, scopeOf }),
  };
}

interface SignalReadSeams {
  readonly blobs: Blobs;
  readonly scopeOf: (tenant: string, runId: string, clear: boolean) => Scope;
}

function createSignalReads(database: DatabaseSync, { blobs, scopeOf }: SignalReadSeams): Pick<EntryReader, "readSignals" | "readSignal"> {
  const selectSignals = database.prepare("select position, body, texts, sealed from signals where tenant = ? and run_id = ? order by position");
  const selectSignal = database.prepare("select position, body, texts, sealed from signals where tenant = ? and run_id = ? and position = ?");

  async function openSignal(row: Row, scope: Scope, clear: boolean): Promise<RunSignal> {
    const body = jsonColumn<RunSignal>({ ...row, run_id: scope.runId }, "body", signalShape);
    if (row["sealed"] === null || scope.key.kind !== "box") return body;
    const payload = openPayload(scope.key.box, bytesColumn(row, "sealed"), signalPlace(scope.runId, Number(row["position"])));
    if (payload === undefined) throw damagedError(scope.runId);
    return joinSignal(body, payload.texts, clear ? await readValue(payload.value, blobs, scope) : undefined);
  }

  return {
    async readSignals(tenant, runId, clear) {
      const rows = selectSignals.all(tenant, runId);
      if (rows.length === 0) return [];
      const scope = scopeOf(tenant, runId, clear);
      return await Promise.all(rows.map((row) => openSignal(row, scope, clear)));
    },
    async readSignal(tenant, runId, position) {
      const row = selectSignal.get(tenant, runId, position);
      if (row === undefined) throw damagedError(runId);
      return await openSignal(row, scopeOf(tenant, runId, false), true);
    },
  };
}

/** A record that lost entries is not gone on from: what it does not say to have been done would be done again. */
function withoutGaps(rows: readonly Row[], runId: string): readonly Row[] {
  const there = rows.filter((row) => row["entry_id"] !== null);
  const [first] = rows;
  if (first !== undefined) assertWhole(runId, { entries: there.reduce((total, row) => total + Number(row["size"]), 0), written: Number(first["next_position"]) });
  return there;
}

function openRows(rows: readonly Row[], { runId, key }: Scope): readonly StoredEntry[] {
  return rows.flatMap((row) => {
    const stored = asWritten(runId, () => readRow(row, runId, key.kind === "box" ? key.box : undefined));
    if (stored === undefined) throw damagedError(runId);
    return stored;
  });
}

async function joinStored({ body, payload }: StoredEntry, { blobs, scope, clear }: { readonly blobs: Blobs; readonly scope: Scope; readonly clear: boolean }): Promise<JournalEntry> {
  return payload === undefined ? body : joinEntry(body, payload.texts, clear ? await readValue(payload.value, blobs, scope) : undefined);
}

async function readValue(value: Payload["value"], blobs: Blobs, { tenant, runId, key }: Scope): Promise<WireValue | undefined> {
  if (value === undefined || "json" in value) return value;
  const sealed = await blobs.get(tenant, value.blob as Digest);
  if (sealed === undefined || key.kind !== "box") return undefined; // Removed from outside: the entry says so by having no clear value.
  const json = key.box.open(sealed, blobPlace(runId));
  if (json === undefined) throw damagedError(runId);
  return { tagged: value.tagged, json: json.toString("utf8") };
}

function clearKey(keys: RunKeys, runId: string): RunKey {
  const key = keys.find(runId);
  if (key.kind !== "lost") return key;
  throw keyLostError(runId, key.masterId);
}

export function damagedError(runId: string, why = "a sealed value was changed or moved after it was written"): CallgateError {
  return new CallgateError("JOURNAL_CORRUPT", `Cannot read run ${runId}: ${why}`, { details: { runId } });
}

/** Throws JOURNAL_CORRUPT where a run has fewer entries, or more, than were written. */
export function assertWhole(runId: string, { entries, written }: { readonly entries: number; readonly written: number }): void {
  if (entries !== written) throw damagedError(runId, `${entries} of the ${written} entries of its record are there. Restore it from a backup; callgate audit verify says what is missing`);
}

/** What `read` reads, or `instead` of a record that is damaged: for who removes it, and must not fail for that. */
export function unlessDamaged<Value>(read: () => Value, instead: Value): Value {
  try {
    return read();
  } catch (fault) {
    if (CallgateError.is(fault) && fault.code === "JOURNAL_CORRUPT") return instead;
    throw fault;
  }
}

/** What `read` reads. Throws JOURNAL_CORRUPT where a text is not the JSON that was written. */
export function asWritten<Value>(runId: string, read: () => Value): Value {
  try {
    return read();
  } catch (fault) {
    throw fault instanceof SyntaxError ? damagedError(runId, "an entry of its record is not what was written there. Restore it from a backup; callgate audit verify says which") : fault;
  }
}
