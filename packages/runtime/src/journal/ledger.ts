import type { DatabaseSync } from "node:sqlite";
import type { LedgerEvent } from "@callgate/contract";
import { noStamp } from "./audit-stamps.ts";
import type { AuditStamps, Stamp } from "./audit-stamps.ts";
import { bytesColumn } from "./columns.ts";

/**
 * The chained list of what happened to runs as wholes: that they began, ended, were erased or removed. What a transaction
 * notes is one line for each tenant, written when it ends.
 */
export interface Ledger {
  note(tenant: string, event: LedgerEvent): void;
  /** A transaction began. */
  reset(): void;
  /** A transaction ends. */
  flush(): void;
}

/** SQLite's lock orders the writers, so one lane serves them all. */
export const LANE = 0;

/** Of lines that are about the record as a whole. */
export const nobodysTenant = "";

export function createLedger(database: DatabaseSync, { stamps, now }: { readonly stamps: AuditStamps; readonly now: () => number }): Ledger {
  const selectLast = database.prepare("select position, stamp from ledger order by position desc limit 1");
  const insert = database.prepare("insert into ledger (position, tenant, at_ms, body, stamp, tail) values (?, ?, ?, ?, ?, ?)");
  const dropTail = database.prepare("update ledger set tail = null where position = ?");
  const countUnchained = database.prepare("select count(*) as n from runs where seal is null");
  const noted = new Map<string, LedgerEvent[]>();

  return {
    note(tenant, event) {
      const events = noted.get(tenant);
      if (events === undefined) noted.set(tenant, [event]);
      else events.push(event);
    },
    reset: () => noted.clear(),
    flush() {
      if (noted.size === 0) return;
      const lastRow = selectLast.get();
      const began: LedgerEvent[] = lastRow === undefined ? [{ kind: "ledger-began", unchainedRuns: Number(countUnchained.get()?.["n"]) }] : [];
      let last: { readonly position: number; readonly stamp: Stamp } = lastRow === undefined ? { position: 0, stamp: noStamp } : { position: Number(lastRow["position"]), stamp: bytesColumn(lastRow, "stamp") };
      const lines: [tenant: string, events: readonly LedgerEvent[]][] = began.length === 0 ? [...noted] : [[nobodysTenant, began], ...noted];
      if (last.position > 0) dropTail.run(last.position);
      lines.forEach(([tenant, events], index) => {
        const place = { lane: LANE, position: last.position + 1, tenant, atMs: now() };
        const body = JSON.stringify(events);
        const stamp = stamps.line(last.stamp, place, body);
        insert.run(place.position, tenant, place.atMs, body, stamp, index === lines.length - 1 ? stamps.tail(stamp) : null);
        last = { position: place.position, stamp };
      });
      noted.clear();
    },
  };
}
