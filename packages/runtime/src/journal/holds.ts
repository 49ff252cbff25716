import { randomUUID } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import type { AuditHold } from "@callgate/contract";
import { holdCovers, holdOf, holdValues, insertHold, noHoldError } from "./hold-rows.ts";
import type { Ledger } from "./ledger.ts";

/** Legal holds. Methods that write belong inside a transaction. */
export interface Holds {
  place(hold: Omit<AuditHold, "holdId" | "placedAtMs" | "released">): AuditHold;
  release(tenant: string, holdId: string, by: string): void;
  /** The hold a run is under, if it is. */
  on(tenant: string, runId: string): AuditHold | undefined;
  list(tenant: string): readonly AuditHold[];
  all(): readonly AuditHold[];
}

export function createHolds(database: DatabaseSync, { ledger, now }: { readonly ledger: Ledger; readonly now: () => number }): Holds {
  const insert = database.prepare(`insert into holds ${insertHold} values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const release = database.prepare("update holds set released_at_ms = ?, released_by = ? where tenant = ? and hold_id = ? and released_at_ms is null");
  const selectOn = database.prepare(`select h.* from holds h, runs r where r.tenant = ? and r.run_id = ? and ${holdCovers} limit 1`);
  const selectOf = database.prepare("select * from holds where tenant = ? order by placed_at_ms desc, hold_id");
  const selectAll = database.prepare("select * from holds");

  return {
    place(asked) {
      const hold: AuditHold = { ...asked, holdId: `hold_${randomUUID()}`, placedAtMs: now() };
      insert.run(...holdValues(hold));
      ledger.note(hold.tenant, { kind: "hold-placed", hold });
      return hold;
    },
    release(tenant, holdId, by) {
      if (release.run(now(), by, tenant, holdId).changes === 0) throw noHoldError(holdId);
      ledger.note(tenant, { kind: "hold-released", holdId, by });
    },
    on(tenant, runId) {
      const row = selectOn.get(tenant, runId);
      return row === undefined ? undefined : holdOf(row);
    },
    list: (tenant) => selectOf.all(tenant).map(holdOf),
    all: () => selectAll.all().map(holdOf),
  };
}
