import { CallgateError } from "@callgate/contract";
import type { LedgerEvent } from "@callgate/contract";
import { bytesColumn, createSlots, nobodysTenant, noStamp } from "@callgate/runtime/journal-parts";
import type { AuditStamps, Stamp } from "@callgate/runtime/journal-parts";
import { isLost } from "./postgres-error.ts";
import type { Database, Query, SqlValue } from "./database.ts";

/**
 * Writes the ledger. A chain has one writer at a time, so every process has lanes of its own, as many as it has
 * connections: nobody waits for another process, and within one for a lane no longer than for a connection.
 */
export interface Lanes {
  /**
   * Does work in a lane of which nobody else writes meanwhile. What it writes with the pen must be in the one statement, or
   * the one transaction, that the work is. It is done once more, in a new lane, where the last line turned out to be lost.
   */
  write<T>(work: (pen: Pen) => Promise<T>): Promise<T>;
  /** Waits until nobody writes. */
  idle(): Promise<void>;
}

export interface Pen {
  /** Values of `lineSql`, for the next line. */
  line(tenant: string, events: readonly LedgerEvent[]): readonly SqlValue[];
  /** The same as a statement of its own in a transaction. */
  write(query: Query, tenant: string, events: readonly LedgerEvent[]): Promise<void>;
  /** After a statement that did nothing: throws when that was because the lane has lost its last line. */
  assertThere(query: Query): Promise<void>;
}

/** How many values `lineSql` takes. */
const LINE_VALUES = 8;

/** Parts of a statement that writes a line, its values from number `first` on. */
export function lineSql(first: number, written: string): { readonly isThere: string; readonly write: string } {
  const [lane, before, previous, tenant, atMs, body, stamp, tail] = Array.from({ length: LINE_VALUES }, (_, index) => `$${first + index}`);
  const last = `lane = ${lane}::int and position = ${before}::bigint and stamp = ${previous}::bytea`;
  return {
    isThere: `exists (select 1 from callgate.ledger where ${last})`,
    write: `line_before as (update callgate.ledger set tail = null where ${last} and exists (select 1 from ${written})),
line as (insert into callgate.ledger (lane, position, tenant, at_ms, body, stamp, tail)
  select ${lane}::int, ${before}::bigint + 1, ${tenant}::text, ${atMs}::float8, ${body}::text, ${stamp}::bytea, ${tail}::bytea where exists (select 1 from ${written}))`,
  };
}

const alone = lineSql(1, "last_line");
const writeLine = `with last_line as (select 1 where ${alone.isThere}), ${alone.write} select 1 from last_line`;

const LEDGER_LOCK = 0x63676c67;

interface Lane {
  readonly lane: number;
  position: number;
  stamp: Stamp;
}

/** A server that crashed had not written the end of a lane yet, or somebody cut it off. */
function laneLost(): CallgateError {
  return new CallgateError("JOURNAL_UNAVAILABLE", "The end of this process's ledger is gone: nothing was written; try again", { details: { lane: "lost" } });
}

function isLaneLost(error: unknown): boolean {
  return CallgateError.is(error) && error.details["lane"] === "lost";
}

export interface LaneOptions {
  readonly database: Database;
  readonly stamps: AuditStamps;
  readonly owner: string;
  readonly now: () => number;
  /** Lanes of this process at most. */
  readonly limit: number;
}

/** What is to be written is written, whoever waits for it. */
const never = new AbortController().signal;

export function createLanes(options: LaneOptions): Lanes {
  const { limit } = options;
  const idle: Lane[] = [];
  const slots = createSlots(limit);
  const atWork = new Set<Promise<unknown>>();

  async function once<T>(work: (pen: Pen) => Promise<T>): Promise<T> {
    const giveBack = await slots.take(never);
    try {
      const lane = idle.pop() ?? (await openLane(options));
      const next = { ...lane };
      try {
        const result = await work(createPen(next, options));
        idle.push(next);
        return result;
      } catch (error) {
        // What failed was rolled back; only where that is not known, or the lane is cut off, it is not gone on with.
        if (!(isLaneLost(error)) && !isLost(error)) idle.push(lane);
        throw error;
      }
    } finally {
      giveBack?.();
    }
  }

  async function write<T>(work: (pen: Pen) => Promise<T>): Promise<T> {
    try {
      return await once(work);
    } catch (error) {
      if (!(isLaneLost(error))) throw error;
      idle.length = 0; // What lost the end of one lane, a server that crashed, took it from all.
      return await once(work);
    }
  }

  return {
    write(work) {
      const working = write(work);
      atWork.add(working);
      const done = (): void => void atWork.delete(working);
      working.then(done, done);
      return working;
    },
    async idle() {
      await Promise.allSettled(atWork);
    },
  };
}

function createPen(lane: Lane, { stamps, now }: LaneOptions): Pen {
  const line = (tenant: string, events: readonly LedgerEvent[]): readonly SqlValue[] => {
    const [before, previous, body, atMs] = [lane.position, lane.stamp, JSON.stringify(events), now()];
    lane.position += 1;
    lane.stamp = stamps.line(previous, { lane: lane.lane, position: lane.position, tenant, atMs }, body);
    return [lane.lane, before, previous, tenant, atMs, body, lane.stamp, stamps.tail(lane.stamp)];
  };
  return {
    line,
    async write(query, tenant, events) {
      if ((await query(writeLine, line(tenant, events))).length === 0) throw laneLost();
    },
    async assertThere(query) {
      // The pen is one line ahead of what was not written.
      const [row] = await query("select max(position) as position from callgate.ledger where lane = $1", [lane.lane]);
      if (Number(row?.["position"]) !== lane.position - 1) throw laneLost();
    },
  };
}

/** Lists a new lane in lane 0 and begins it; one process at a time does. */
async function openLane({ database, stamps, owner, now }: LaneOptions): Promise<Lane> {
  return await database.transact("full", async (query) => {
    await query("select pg_advisory_xact_lock($1)", [LEDGER_LOCK]);
    const [row] = await query("select nextval('callgate.ledger_lanes')::int as lane");
    const lane = Number(row?.["lane"]);
    const [last] = await query("select position, stamp from callgate.ledger where lane = 0 order by position desc limit 1");
    const events: LedgerEvent[] = [{ kind: "lane-opened", lane, owner }];
    if (last === undefined) {
      const [count] = await query("select count(*) as n from callgate.runs where seal is null");
      events.unshift({ kind: "ledger-began", unchainedRuns: Number(count?.["n"]) });
    }
    const list = last === undefined ? undefined : { lane: 0, position: Number(last["position"]), stamp: bytesColumn(last, "stamp") };
    if (list === undefined) await writeFirst(query, { lane: 0, events, stamps, atMs: now() });
    else await createPen(list, { database, stamps, owner, now, limit: 1 }).write(query, nobodysTenant, events);
    return await writeFirst(query, { lane, events: [{ kind: "lane-opened", lane, owner }], stamps, atMs: now() });
  });
}

async function writeFirst(query: Query, { lane, events, stamps, atMs }: { readonly lane: number; readonly events: readonly LedgerEvent[]; readonly stamps: AuditStamps; readonly atMs: number }): Promise<Lane> {
  const body = JSON.stringify(events);
  const stamp = stamps.line(noStamp, { lane, position: 1, tenant: nobodysTenant, atMs }, body);
  await query("insert into callgate.ledger (lane, position, tenant, at_ms, body, stamp, tail) values ($1, 1, $2, $3, $4, $5, $6)", [lane, nobodysTenant, atMs, body, stamp, stamps.tail(stamp)]);
  return { lane, position: 1, stamp };
}
