import { randomBytes } from "node:crypto";
import { currentProcess, ownerLives, textColumn } from "@callgate/runtime/journal-parts";
import type { Database, SqlRow } from "./database.ts";
import type { JournalTime } from "./journal-time.ts";

/** This process as a driver of runs, and what it knows of the others. */
export interface Owners {
  readonly ownerId: string;
  readonly machine: string;
  /** Writes our row, once. */
  register(): Promise<void>;
  /** Ids of owners that can no longer drive the runs they drive, or undo those they undo: dead on this machine, or silent elsewhere. */
  dead(): Promise<readonly string[]>;
  /** The same of rows of owners that somebody read. */
  deadOf(rows: readonly SqlRow[], nowMs: number): readonly string[];
  leave(): Promise<void>;
}

export function createOwners(database: Database, time: JournalTime): Owners {
  const self = currentProcess();
  const ownerId = `${self.pid}-${randomBytes(8).toString("hex")}`;
  let registered: Promise<unknown> | undefined;
  const deadOf = (rows: readonly SqlRow[], nowMs: number): readonly string[] => rows.filter((row) => row["owner_id"] !== ownerId && !ownerLives(ownerOf(row, nowMs), self)).map((row) => String(row["owner_id"]));
  return {
    ownerId,
    machine: self.machine,
    deadOf,
    async register() {
      registered ??= database.query("full", "insert into callgate.owners values ($1, $2, $3, $4, callgate.now_ms($5), callgate.now_ms($5)) on conflict do nothing", [ownerId, self.machine, self.pid, self.processStart ?? null, time.given()]);
      try {
        await registered;
      } catch (error) {
        registered = undefined;
        throw error;
      }
    },
    async dead() {
      const rows = await database.read("select o.*, callgate.now_ms($1) as now from callgate.owners o where owner_id in (select owner from callgate.runs where status = 'running' union all select owner from callgate.runs where undoing)", [time.given()]);
      return deadOf(rows, Number(rows[0]?.["now"]));
    },
    async leave() {
      await database.query("lazy", "update callgate.owners set closed_at_ms = callgate.now_ms($1) where owner_id = $2", [time.given(), ownerId]);
    },
  };
}

function ownerOf(row: SqlRow, nowMs: number): Parameters<typeof ownerLives>[0] {
  return {
    machine: String(row["machine"]),
    pid: Number(row["pid"]),
    processStart: row["process_start"] === null ? undefined : textColumn(row, "process_start"),
    silentMs: nowMs - Number(row["heartbeat_at_ms"]),
    closedAtMs: row["closed_at_ms"] === null ? undefined : Number(row["closed_at_ms"]),
  };
}
