import type { DatabaseSync } from "node:sqlite";
import type { LedgerEvent } from "@callgate/contract";
import { stampText } from "./audit-stamps.ts";
import { bytesColumn } from "./columns.ts";
import type { Row } from "./columns.ts";
import { LANE, nobodysTenant } from "./ledger.ts";
import type { Ledger } from "./ledger.ts";
import { eventsOf } from "./ledger-book.ts";
import type { WriteQueue } from "./write-queue.ts";

/** Lines looked at in one transaction. */
const CHUNK_LINES = 500;

interface CutSeams {
  readonly database: DatabaseSync;
  readonly queue: WriteQueue;
  readonly ledger: Ledger;
}

export interface Cut {
  readonly beforeMs: number;
  readonly by: string;
  readonly reason: string;
}

/**
 * Removes the oldest lines of the ledger: those from before a time, up to the first one about a run or a grant that is
 * still there or a hold that was not released. What was removed is a line of its own, with the stamp the rest goes on from.
 */
export async function cutLedger({ database, queue, ledger }: CutSeams, { beforeMs, by, reason }: Cut): Promise<void> {
  const select = database.prepare("select position, body, stamp from ledger where at_ms < ? and tail is null order by position limit ?");
  const selectRun = database.prepare("select 1 from runs where run_id = ?");
  const selectHold = database.prepare("select 1 from holds where hold_id = ? and released_at_ms is null");
  const selectGrant = database.prepare("select 1 from grants where grant_id = ?");
  const remove = database.prepare("delete from ledger where position <= ?");
  const isOver = (event: LedgerEvent): boolean => {
    const isThere = "runId" in event ? selectRun.get(event.runId) : "grantId" in event ? selectGrant.get(event.grantId) : event.kind === "hold-placed" ? selectHold.get(event.hold.holdId) : undefined;
    return isThere === undefined;
  };
  if (select.all(beforeMs, 1).length === 0) return; // The usual answer, without taking the lock.
  for (let cut = CHUNK_LINES; cut === CHUNK_LINES; ) {
    cut = await queue.write({ durability: "lazy", what: "Cannot prune the journal" }, () => {
      const over = leading(select.all(beforeMs, CHUNK_LINES), isOver);
      const last = over.at(-1);
      if (last === undefined) return 0;
      remove.run(Number(last["position"]));
      ledger.note(nobodysTenant, { kind: "ledger-cut", lane: LANE, upTo: Number(last["position"]), stamp: stampText(bytesColumn(last, "stamp")), runs: removedIn(over), by, reason });
      return over.length;
    });
  }
}

/** The lines before the first of which something is not over. */
export function leading(lines: readonly Row[], isOver: (event: LedgerEvent) => boolean): readonly Row[] {
  const end = lines.findIndex((line) => !(eventsOf(line) ?? []).every(isOver));
  return end === -1 ? lines : lines.slice(0, end);
}

/** Runs of whose removal these lines tell. */
export function removedIn(lines: readonly Row[]): number {
  return lines.flatMap((line) => eventsOf(line) ?? []).reduce((sum, event) => sum + (event.kind === "runs-removed" ? event.runs.length : event.kind === "ledger-cut" ? event.runs : 0), 0);
}
