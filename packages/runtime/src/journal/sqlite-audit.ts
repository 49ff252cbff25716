import type { DatabaseSync } from "node:sqlite";
import type { JournalAudit } from "@callgate/contract";
import type { AuditStamps } from "./audit-stamps.ts";
import type { Grants } from "./grants.ts";
import type { Holds } from "./holds.ts";
import { linesOf } from "./ledger-lines.ts";
import { createSqliteRows } from "./sqlite-rows.ts";
import { verifyRecord } from "./verify-record.ts";
import type { WriteQueue } from "./write-queue.ts";

export interface SqliteAuditSeams {
  readonly database: DatabaseSync;
  readonly queue: WriteQueue;
  readonly holds: Holds;
  readonly grants: Grants;
  readonly stamps: AuditStamps;
  readonly now: () => number;
  readonly guard: <T>(what: string, work: () => Promise<T> | T) => Promise<T>;
  readonly read: <T>(work: () => Promise<T> | T) => Promise<T>;
}

const LEDGER_LIMIT = 100;

/** The audit side of the SQLite journal. */
export function createSqliteAudit({ database, queue, holds, grants, stamps, now, guard, read }: SqliteAuditSeams): JournalAudit {
  const rows = createSqliteRows(database, { holds, grants });
  const selectLines = database.prepare("select position, at_ms, body from ledger where tenant = ? and position < ? order by position desc limit ?");
  return {
    verify: (options) => read(() => verifyRecord({ rows, stamps, nowMs: now() }, options)),
    ledger: (tenant, { limit = LEDGER_LIMIT } = {}) => read(() => linesOf((before, count) => selectLines.all(tenant, before, count), limit)),
    hold: (hold) => guard("Cannot place a legal hold", () => queue.write({ durability: "full", what: "Cannot place a legal hold" }, () => holds.place(hold))),
    release: (tenant, holdId, by) => guard("Cannot release a legal hold", () => queue.write({ durability: "full", what: "Cannot release a legal hold" }, () => holds.release(tenant, holdId, by))),
    holds: (tenant) => read(() => holds.list(tenant)),
  };
}
