import type { Digest, JournalEntry, RunSignal, WireValue } from "@callgate/contract";
import { asWritten, blobPlace, damagedError, entryOf, joinEntry, joinSignal, jsonColumn, keyLostError, openPayload, payloadPlace, signalPlace, signalShape } from "@callgate/runtime/journal-parts";
import type { Payload, RunKey } from "@callgate/runtime/journal-parts";
import type { SqlRow } from "./database.ts";
import type { ReadSeams } from "./read-seams.ts";
import { openRunKey } from "./run-keys.ts";

/** Whose rows are read, and what opens what is sealed in them. */
export interface RowScope {
  readonly tenant: string;
  readonly runId: string;
  readonly key: RunKey;
}

/** Makes entries and signals of rows; clear values only where asked for. */
export interface SealedRows {
  /** Errors: JOURNAL_KEY_LOST when clear values are needed and sealed under another master key. */
  readonly readKey: (runId: string, isNeeded: boolean) => Promise<RunKey>;
  readonly readEntry: (row: SqlRow, scope: RowScope, clear: boolean) => Promise<JournalEntry>;
  readonly readSignal: (row: SqlRow, scope: RowScope, clear: boolean) => Promise<RunSignal>;
}

export function createSealedRows({ database, masterKey, blobs }: Pick<ReadSeams, "database" | "masterKey" | "blobs">): SealedRows {
  async function readKey(runId: string, isNeeded: boolean): Promise<RunKey> {
    const key = openRunKey(masterKey, runId, (await database.read("select master_id, wrapped from callgate.run_keys where run_id = $1", [runId]))[0]);
    if (key.kind !== "lost" || !isNeeded) return key;
    throw keyLostError(runId, key.masterId);
  }

  async function readValue(value: Payload["value"], { tenant, runId, key }: RowScope): Promise<WireValue | undefined> {
    if (value === undefined || "json" in value) return value;
    const sealed = await blobs.get(tenant, value.blob as Digest);
    if (sealed === undefined || key.kind !== "box") return undefined;
    const json = key.box.open(sealed, blobPlace(runId));
    if (json === undefined) throw damagedError(runId);
    return { tagged: value.tagged, json: json.toString("utf8") };
  }

  async function open(row: SqlRow, scope: RowScope, place: string): Promise<{ readonly texts: Payload["texts"]; readonly read: () => Promise<WireValue | undefined> }> {
    const sealed = row["sealed"];
    if (!(sealed instanceof Uint8Array) || scope.key.kind !== "box") return { texts: undefined, read: () => Promise.resolve(undefined) };
    const payload = openPayload(scope.key.box, sealed, place);
    if (payload === undefined) throw damagedError(scope.runId);
    return { texts: payload.texts, read: () => readValue(payload.value, scope) };
  }

  async function readEntry(row: SqlRow, scope: RowScope, clear: boolean): Promise<JournalEntry> {
    const { texts, read } = await open(row, scope, payloadPlace(scope.runId, Number(row["position"])));
    return joinEntry(asWritten(scope.runId, () => entryOf(JSON.parse(String(row["body"])))), texts, clear ? await read() : undefined);
  }

  async function readSignal(row: SqlRow, scope: RowScope, clear: boolean): Promise<RunSignal> {
    const { texts, read } = await open(row, scope, signalPlace(scope.runId, Number(row["position"])));
    return joinSignal(jsonColumn<RunSignal>({ ...row, run_id: scope.runId }, "body", signalShape), texts, clear ? await read() : undefined);
  }

  return { readKey, readEntry, readSignal };
}
