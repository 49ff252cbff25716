import { bytesColumn, eventsOf, leading, nobodysTenant, removedIn, stampText } from "@callgate/runtime/journal-parts";
import type { Database, Query, SqlRow } from "./database.ts";
import type { Lanes } from "./lanes.ts";

/** Lines looked at in one transaction. */
const CHUNK_LINES = 500;

interface Cut {
  readonly beforeMs: number;
  readonly by: string;
  readonly reason: string;
}

/** Of these lines, the runs and grants that are still there, the holds that were not released, and the lanes that still have lines. */
const stillThere = `
select run_id as id from callgate.runs where run_id = any ($1::text[])
union all select grant_id from callgate.grants where grant_id = any ($1::text[])
union all select hold_id from callgate.holds where hold_id = any ($1::text[]) and released_at_ms is null
union all select 'lane ' || lane from callgate.ledger where lane = any ($2::int[])`;

/**
 * Removes the oldest lines of each lane: those from before a time, up to the first one about something that is still there.
 * What was removed is a line of its own, with the stamp the rest of the lane goes on from. A lane whose last line is that
 * old is nobody's any more, and goes as a whole; lane 0, the list, comes last.
 */
export async function cutLedger({ database, lanes }: { readonly database: Database; readonly lanes: Lanes }, cut: Cut): Promise<void> {
  const old = await database.read("select distinct lane from callgate.ledger where at_ms < $1 order by lane desc", [cut.beforeMs]);
  for (const row of old) {
    const lane = Number(row["lane"]);
    for (let lines = CHUNK_LINES; lines === CHUNK_LINES; ) lines = await lanes.write((pen) => database.transact("lazy", async (query) => {
      const page = await query(`select position, body, stamp from callgate.ledger where lane = $1 and at_ms < $2 and (tail is null or lane <> 0) order by position limit $3`, [lane, cut.beforeMs, CHUNK_LINES]);
      const over = await linesThatAreOver(query, page);
      const last = over.at(-1);
      if (last === undefined) return 0;
      await query("delete from callgate.ledger where lane = $1 and position <= $2", [lane, Number(last["position"])]);
      await pen.write(query, nobodysTenant, [{ kind: "ledger-cut", lane, upTo: Number(last["position"]), stamp: stampText(bytesColumn(last, "stamp")), runs: removedIn(over), by: cut.by, reason: cut.reason }]);
      return over.length;
    }));
  }
}

async function linesThatAreOver(query: Query, page: readonly SqlRow[]): Promise<readonly SqlRow[]> {
  const events = page.flatMap((line) => eventsOf(line) ?? []);
  const ids = events.flatMap((event) => ("runId" in event ? [event.runId] : "grantId" in event ? [event.grantId] : event.kind === "hold-placed" ? [event.hold.holdId] : []));
  // A lane tells of itself in its first line; only in the list that it is there is a reason to keep the line.
  const opened = Number(page[0]?.["position"]) === 1 && events.length > 0 && events[0]?.kind === "lane-opened" ? [] : events.flatMap((event) => (event.kind === "lane-opened" ? [event.lane] : []));
  const there = new Set((await query(stillThere, [ids, opened])).map((row) => String(row["id"])));
  return leading(page, (event) => {
    if ("runId" in event) return !there.has(event.runId);
    if ("grantId" in event) return !there.has(event.grantId);
    if (event.kind === "hold-placed") return !there.has(event.hold.holdId);
    return event.kind !== "lane-opened" || !there.has(`lane ${event.lane}`);
  });
}
