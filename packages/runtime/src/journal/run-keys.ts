import { randomBytes } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { LRUCache } from "lru-cache";
import type { MasterKey } from "../secrets/master-key.ts";
import { createSealedBox } from "../secrets/sealed-box.ts";
import type { SealedBox } from "../secrets/sealed-box.ts";

/** `lost`: there is a key, wrapped by a master key we do not have. `erased`: there is none. */
export type RunKey = { readonly kind: "box"; readonly box: SealedBox } | { readonly kind: "lost"; readonly masterId: string } | { readonly kind: "erased" };

/** The keys of runs. All methods are synchronous; `create` and `remove` belong inside a transaction. */
export interface RunKeys {
  create(run: { readonly runId: string; readonly tenant: string; readonly userId: string }): SealedBox;
  find(runId: string): RunKey;
  remove(runId: string): void;
}

/** Runs under way at once are far fewer; beyond it a key is unwrapped again. */
const CACHED_KEYS = 256;

export function createRunKeys(database: DatabaseSync, masterKey: MasterKey): RunKeys {
  const insert = database.prepare("insert into run_keys (run_id, tenant, user_id, master_id, wrapped) values (?, ?, ?, ?, ?)");
  const select = database.prepare("select master_id, wrapped from run_keys where run_id = ?");
  const remove = database.prepare("delete from run_keys where run_id = ?");
  const cache = new LRUCache<string, SealedBox>({ max: CACHED_KEYS });

  return {
    create({ runId, tenant, userId }) {
      const key = randomBytes(32);
      insert.run(runId, tenant, userId, masterKey.id, masterKey.box.seal(key, runId));
      const box = createSealedBox(key);
      cache.set(runId, box);
      return box;
    },
    find(runId) {
      // The row is read each time: another process may have erased the run.
      const row = select.get(runId);
      if (row === undefined) return { kind: "erased" };
      const cached = cache.get(runId);
      if (cached !== undefined) return { kind: "box", box: cached };
      const key = masterKey.box.open(row["wrapped"] as Uint8Array, runId);
      if (key === undefined) return { kind: "lost", masterId: String(row["master_id"]) };
      const box = createSealedBox(key);
      cache.set(runId, box);
      return { kind: "box", box };
    },
    remove(runId) {
      remove.run(runId);
      cache.delete(runId);
    },
  };
}
