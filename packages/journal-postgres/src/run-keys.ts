import { randomBytes } from "node:crypto";
import { createSealedBox, keyLostError } from "@callgate/runtime/journal-parts";
import type { MasterKey, RunKey } from "@callgate/runtime/journal-parts";
import type { Database, SqlRow } from "./database.ts";

export interface NewKey {
  readonly masterId: string;
  readonly wrapped: Uint8Array;
  readonly key: RunKey;
}

export function newRunKey(masterKey: MasterKey, runId: string): NewKey {
  const bytes = randomBytes(32);
  return { masterId: masterKey.id, wrapped: masterKey.box.seal(bytes, runId), key: { kind: "box", box: createSealedBox(bytes) } };
}

/** The key of a run from its row, or from the absence of one. Rows name `master_id` and `wrapped`. */
export function openRunKey(masterKey: MasterKey, runId: string, row: SqlRow | undefined): RunKey {
  if (row === undefined || row["wrapped"] === null || row["wrapped"] === undefined) return { kind: "erased" };
  const bytes = masterKey.box.open(row["wrapped"] as Uint8Array, runId);
  return bytes === undefined ? { kind: "lost", masterId: String(row["master_id"]) } : { kind: "box", box: createSealedBox(bytes) };
}

/** Errors: JOURNAL_KEY_LOST when the run has a key and it cannot be unwrapped here. */
export async function mustOpenRunKey({ database, masterKey }: { readonly database: Pick<Database, "read">; readonly masterKey: MasterKey }, runId: string): Promise<void> {
  const key = openRunKey(masterKey, runId, (await database.read("select master_id, wrapped from callgate.run_keys where run_id = $1", [runId]))[0]);
  if (key.kind === "lost") throw keyLostError(runId, key.masterId);
}
