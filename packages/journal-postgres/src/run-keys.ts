import { randomBytes } from "node:crypto";
import { createSealedBox } from "@callgate/runtime/journal-parts";
import type { MasterKey, RunKey } from "@callgate/runtime/journal-parts";
import type { SqlRow } from "./database.ts";

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
