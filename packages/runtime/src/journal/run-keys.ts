import { randomBytes } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { LRUCache } from "lru-cache";
import { atMost } from "../lib/at-most.ts";
import type { MasterKey } from "../secrets/master-key.ts";
import { createSealedBox } from "../secrets/sealed-box.ts";
import type { SealedBox } from "../secrets/sealed-box.ts";
import type { Row } from "./columns.ts";
import { keyLostError } from "./fence.ts";

/** `lost`: there is a key, wrapped by a master key we do not have. `erased`: there is none. */
export type RunKey = { readonly kind: "box"; readonly box: SealedBox } | { readonly kind: "lost"; readonly masterId: string } | { readonly kind: "erased" };

/** A key for a new run, and what its row holds of it. */
export interface NewRunKey {
  readonly box: SealedBox;
  readonly masterId: string;
  readonly wrapped: Uint8Array;
}

/** The keys of runs, kept in their rows. All methods are synchronous; `remove` belongs inside a transaction. */
export interface RunKeys {
  create(runId: string): NewRunKey;
  find(runId: string): RunKey;
  /** The key in a row of `runs` that was just read. */
  inRow(runId: string, row: Row): RunKey;
  remove(runId: string): void;
  /** Names the key that wraps those of new runs. */
  readonly masterId: string;
  /** Errors: JOURNAL_KEY_LOST when there is a key and it cannot be unwrapped here. */
  mustOpen(runId: string): void;
}

/** Runs under way at once are far fewer; beyond it a key is unwrapped again. */
const CACHED_KEYS = 256;

export function createRunKeys(database: DatabaseSync, masterKey: MasterKey): RunKeys {
  const select = database.prepare("select master_id, wrapped from runs where run_id = ?");
  const remove = database.prepare("update runs set master_id = null, wrapped = null where run_id = ?");
  const cache = new LRUCache<string, SealedBox>(atMost(CACHED_KEYS));

  function inRow(runId: string, row: Row): RunKey {
    const wrapped = row["wrapped"];
    if (!(wrapped instanceof Uint8Array)) return { kind: "erased" };
    const cached = cache.get(runId);
    if (cached !== undefined) return { kind: "box", box: cached };
    const key = masterKey.box.open(wrapped, runId);
    if (key === undefined) return { kind: "lost", masterId: String(row["master_id"]) };
    const box = createSealedBox(key);
    cache.set(runId, box);
    return { kind: "box", box };
  }

  const find = (runId: string): RunKey => {
    // The row is read each time: another process may have erased the run.
    const row = select.get(runId);
    return row === undefined ? { kind: "erased" } : inRow(runId, row);
  };

  return {
    masterId: masterKey.id,
    find,
    mustOpen(runId) {
      const key = find(runId);
      if (key.kind === "lost") throw keyLostError(runId, key.masterId);
    },
    create(runId) {
      const key = randomBytes(32);
      // Not cached before its row is there: a run that is begun twice keeps its first key.
      const box = createSealedBox(key);
      return { box, masterId: masterKey.id, wrapped: masterKey.box.seal(key, runId) };
    },
    inRow,
    remove(runId) {
      remove.run(runId);
      cache.delete(runId);
    },
  };
}
