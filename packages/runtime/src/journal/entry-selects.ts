import type { DatabaseSync } from "node:sqlite";
import type { Row } from "./columns.ts";
import { runSpan } from "./entry-rows.ts";
import { undoSeqOf } from "./undo-seq.ts";

/** Finds the rows of `entries` that hold what somebody looks for. Of a batch all of it is given: see `readRow`. */
export interface EntrySelects {
  /** Without `clear`, what is sealed is given only where texts are in it. Each row says where the record should end; of a record without entries one does. */
  all(tenant: string, runId: string, clear: boolean): readonly Row[];
  /** Rows that may hold results of that number. */
  results(tenant: string, runId: string, number: number): readonly Row[];
  /** Rows that may hold what tells how the write of that call stands. */
  settled(runId: string, seq: number): readonly Row[];
}

const ofRun = `from entries e join runs r on e.entry_id between r.run_no * ${runSpan} and r.run_no * ${runSpan} + ${runSpan - 1} where r.run_id = :runId`;

/** No index serves these: they cost every write two pages, and a run has few rows. The texts looked for only sift. */
export function createEntrySelects(database: DatabaseSync): EntrySelects {
  const all = database.prepare(`
    select e.entry_id, e.kind, e.size, e.body, case when e.texts = 1 or :clear = 1 then e.sealed end as sealed, r.next_position
    from runs r left join entries e on e.entry_id between r.run_no * ${runSpan} and r.run_no * ${runSpan} + ${runSpan - 1}
    where r.run_id = :runId and r.tenant = :tenant order by e.entry_id`);
  const results = database.prepare(`
    select e.entry_id, e.kind, e.body, e.sealed ${ofRun} and r.tenant = :tenant
      and ((e.kind = 'result' and e.seq = :number) or (e.kind = 'batch' and instr(e.body, :needle) > 0)) order by e.entry_id`);
  const settled = database.prepare(`
    select e.entry_id, e.kind, e.body, e.sealed ${ofRun}
      and ((e.kind in ('call-issued', 'call-ended', 'call-late', 'call-resolved') and e.seq in (:seq, :undoSeq)) or (e.kind = 'batch' and (instr(e.body, :needle) > 0 or instr(e.body, :undoNeedle) > 0))) order by e.entry_id`);
  return {
    all: (tenant, runId, clear) => all.all({ tenant, runId, clear: clear ? 1 : 0 }),
    results: (tenant, runId, number) => results.all({ tenant, runId, number, needle: `"number":${number}` }),
    settled: (runId, seq) => settled.all({ runId, seq, undoSeq: undoSeqOf(seq), needle: `"seq":${seq}`, undoNeedle: `"seq":${undoSeqOf(seq)}` }),
  };
}
