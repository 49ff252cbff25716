import type { JournalEntry, RunSignal } from "@callgate/contract";
import { assertWhole, damagedError, undoSeqOf } from "@callgate/runtime/journal-parts";
import type { Database, SqlRow } from "./database.ts";
import type { ReadSeams } from "./read-seams.ts";
import { createRunReads } from "./run-reads.ts";
import type { RunReads } from "./run-reads.ts";
import { createSealedRows } from "./sealed-rows.ts";
import type { RowScope, SealedRows } from "./sealed-rows.ts";

/** Reads of the record. Every query names the tenant; what belongs to another is not there. */
export interface Reads extends RunReads {
  readEntries(tenant: string, runId: string, clear: boolean): Promise<readonly JournalEntry[]>;
  readResult(tenant: string, runId: string, number: number): Promise<Extract<JournalEntry, { kind: "result" }> | undefined>;
  /** What tells how the write of a call stands, its undoing included, with the clear values that are still there. */
  readSettled(tenant: string, runId: string, seq: number): Promise<readonly JournalEntry[]>;
  readSignals(tenant: string, runId: string, clear: boolean): Promise<readonly RunSignal[]>;
  readSignal(tenant: string, runId: string, position: number): Promise<RunSignal>;
}

// One statement, so that what it says of the end of the record belongs to the entries it gives.
const entriesOfRun = `
  select e.position, e.body, case when e.texts or $3 then e.sealed end as sealed, r.next_position
  from callgate.runs r left join callgate.entries e using (tenant, run_id) where r.tenant = $1 and r.run_id = $2 order by e.position`;

export function createReads(seams: ReadSeams): Reads {
  const rows = createSealedRows(seams);
  return { ...createRunReads(seams), ...createEntryReads(seams.database, rows), ...createSignalReads(seams.database, rows) };
}

function createEntryReads(database: Database, { readKey, readEntry }: SealedRows): Pick<Reads, "readEntries" | "readResult" | "readSettled"> {
  async function entriesOf(rows: readonly SqlRow[], scope: RowScope, clear: boolean): Promise<readonly JournalEntry[]> {
    const entries: JournalEntry[] = [];
    for (const row of rows) entries.push(await readEntry(row, scope, clear));
    return entries;
  }

  return {
    async readEntries(tenant, runId, clear) {
      const rows = await database.read(entriesOfRun, [tenant, runId, clear]);
      const there = rows.filter(({ position }) => position !== null);
      if (rows[0] !== undefined) assertWhole(runId, { entries: there.length, written: Number(rows[0]["next_position"]) });
      return there.length === 0 ? [] : await entriesOf(there, { tenant, runId, key: await readKey(runId, clear) }, clear);
    },
    async readResult(tenant, runId, number) {
      const rows = await database.read("select position, body, sealed from callgate.entries where tenant = $1 and run_id = $2 and kind = 'result' and seq = $3 order by position desc limit 1", [tenant, runId, number]);
      if (rows.length === 0) return undefined;
      return (await entriesOf(rows, { tenant, runId, key: await readKey(runId, true) }, true))[0] as Extract<JournalEntry, { kind: "result" }>;
    },
    async readSettled(tenant, runId, seq) {
      const rows = await database.read("select position, body, sealed from callgate.entries where tenant = $1 and run_id = $2 and seq in ($3, $4) and kind in ('call-issued', 'call-ended', 'call-late', 'call-resolved') order by position", [tenant, runId, seq, undoSeqOf(seq)]);
      return rows.length === 0 ? [] : await entriesOf(rows, { tenant, runId, key: await readKey(runId, false) }, true);
    },
  };
}

function createSignalReads(database: Database, { readKey, readSignal }: SealedRows): Pick<Reads, "readSignals" | "readSignal"> {
  return {
    async readSignals(tenant, runId, clear) {
      const rows = await database.read("select position, body, sealed from callgate.signals where tenant = $1 and run_id = $2 order by position", [tenant, runId]);
      if (rows.length === 0) return [];
      const scope = { tenant, runId, key: await readKey(runId, clear) };
      return await Promise.all(rows.map((row) => readSignal(row, scope, clear)));
    },
    async readSignal(tenant, runId, position) {
      const row = (await database.read("select position, body, sealed from callgate.signals where tenant = $1 and run_id = $2 and position = $3", [tenant, runId, position]))[0];
      if (row === undefined) throw damagedError(runId);
      return await readSignal(row, { tenant, runId, key: await readKey(runId, false) }, true);
    },
  };
}
