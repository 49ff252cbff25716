import { randomBytes } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import type { Clock, RunHolder } from "@callgate/contract";
import { optionalNumber, optionalText, textColumn } from "./columns.ts";
import type { Row } from "./columns.ts";
import type { BothTimes } from "./lease-end.ts";
import { currentProcess, ownerLives, sharesTime } from "./process-identity.ts";
import type { ProcessIdentity } from "./process-identity.ts";

/** This process as a driver of runs, and what it knows of the others. */
export interface Owners {
  readonly ownerId: string;
  /** Writes our row; inside a transaction. */
  readonly register: () => void;
  /** Ids of owners that can no longer drive the runs they drive, or undo those they undo. */
  readonly dead: () => readonly string[];
  /** The same, and those whose monotonic time is ours, so that their leases are told by it. */
  readonly look: () => { readonly dead: readonly string[]; readonly near: readonly string[] };
  /** How long the lease in the row of a run is still good, in milliseconds; it is over when that is not more than 0. */
  readonly leaseLeftMs: (run: Row) => number;
  /** Which process an owner is. */
  readonly place: (ownerId: string) => Omit<RunHolder, "untilMs">;
  /** Says that we live; inside a transaction. */
  readonly beat: () => void;
  /** Says that we drive nothing any more; inside a transaction. */
  readonly leave: () => void;
}

export function createOwners(database: DatabaseSync, clock: Clock): Owners {
  const self = currentProcess();
  const ownerId = `${self.pid}-${randomBytes(8).toString("hex")}`;
  const insert = database.prepare("insert or ignore into owners (owner_id, machine, pid, process_start, started_at_ms, heartbeat_at_ms, heartbeat_monotonic_ms) values (?, ?, ?, ?, ?, ?, ?)");
  const beat = database.prepare("update owners set heartbeat_at_ms = ?, heartbeat_monotonic_ms = ? where owner_id = ?");
  const leave = database.prepare("update owners set closed_at_ms = ? where owner_id = ?");
  const running = database.prepare(`select * from owners where owner_id in (select owner from runs where status = 'running' union all select owner from runs where undoing = 1)`);
  const selectPlace = database.prepare("select machine, pid from owners where owner_id = ?");
  const isNear = (owner: Row | undefined): boolean => owner !== undefined && sharesTime(textColumn(owner, "machine"), self);
  const idsOf = (rows: readonly Row[]): readonly string[] => rows.map((row) => textColumn(row, "owner_id"));
  const deadOf = (rows: readonly Row[]): readonly string[] => idsOf(rows.filter((row) => !rowLives(row, self, clock)));
  return {
    ownerId,
    register: () => void insert.run(ownerId, self.machine, self.pid, self.processStart ?? null, clock.now(), clock.now(), clock.monotonic()),
    dead: () => deadOf(running.all()),
    look() {
      const rows = running.all();
      return { dead: deadOf(rows), near: idsOf(rows.filter(isNear)) };
    },
    leaseLeftMs(run) {
      const untilMs = optionalNumber(run, "lease_until_monotonic_ms");
      const owner = optionalText(run, "owner");
      if (untilMs !== undefined && owner !== undefined && isNear(selectPlace.get(owner))) return untilMs - clock.monotonic();
      return (optionalNumber(run, "lease_until_ms") ?? 0) - clock.now();
    },
    place(id) {
      const row = selectPlace.get(id);
      return { pid: Number(row?.["pid"]), isHere: row?.["machine"] === self.machine };
    },
    beat: () => void beat.run(clock.now(), clock.monotonic(), ownerId),
    leave: () => void leave.run(clock.now(), ownerId),
  };
}

/** True when an owner died without closing since the file was last checked; marks it as checked. */
export function needsCheck(database: DatabaseSync, clock: Clock): boolean {
  const self = currentProcess();
  const open = database.prepare("select * from owners where closed_at_ms is null and verified = 0").all();
  const dead = open.filter((row) => !rowLives(row, self, clock));
  const mark = database.prepare("update owners set verified = 1 where owner_id = ?");
  for (const row of dead) mark.run(textColumn(row, "owner_id"));
  return dead.length > 0;
}

/** Calls `beat` every so often between `start` and `stop`; `everyMs` is asked anew each time. */
export function createHeartbeat(clock: Clock, everyMs: () => number, beat: () => Promise<void>): { start(): void; stop(): void } {
  let timer: { cancel(): void } | undefined;
  const start = (): void => {
    timer ??= clock.schedule(everyMs(), () => {
      timer = undefined;
      start();
      beat().catch(() => undefined); // The next beat, or the next write, tells.
    });
  };
  return {
    start,
    stop() {
      timer?.cancel();
      timer = undefined;
    },
  };
}

function rowLives(row: Row, self: ProcessIdentity, times: BothTimes): boolean {
  const owner = {
    machine: textColumn(row, "machine"),
    pid: Number(row["pid"]),
    processStart: optionalText(row, "process_start"),
    silentMs: silentMs(row, self, times),
    closedAtMs: optionalNumber(row, "closed_at_ms"),
  };
  return ownerLives(owner, self);
}

function silentMs(row: Row, self: ProcessIdentity, times: BothTimes): number {
  const beatMs = optionalNumber(row, "heartbeat_monotonic_ms");
  if (beatMs === undefined || !sharesTime(textColumn(row, "machine"), self)) return times.now() - Number(row["heartbeat_at_ms"]);
  // A machine of that name counted further than ours does now: it was started anew since.
  return beatMs > times.monotonic() ? Number.POSITIVE_INFINITY : times.monotonic() - beatMs;
}
