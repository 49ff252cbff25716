import type { TaintMark, TaintScope } from "@callgate/contract";
import type { Row } from "./columns.ts";

/** Columns of a scope, then those of a mark, in the order in which both journals write them. */
export const taintColumns = "tenant, scope_kind, scope_user, scope_id, label, tool, run_id, seq, at_ms";

/** In place of the number of a call, where no call brought the label. */
const outsideRuns = -1;

/** A row for each scope and mark. */
export function taintValues(tenant: string, scopes: readonly TaintScope[], marks: readonly TaintMark[]): readonly (readonly (string | number)[])[] {
  return scopes.flatMap(({ kind, user, id }) => marks.map(({ label, tool, runId = "", seq = outsideRuns, atMs }) => [tenant, kind, user, id, label, tool, runId, seq, atMs]));
}

/** A label once, the oldest of its marks, in the order they came. */
export function taintOf(rows: readonly Row[]): readonly TaintMark[] {
  const marks = rows.map((row): TaintMark => {
    const seq = Number(row["seq"]);
    return { label: String(row["label"]), tool: String(row["tool"]), ...(seq === outsideRuns ? {} : { runId: String(row["run_id"]), seq }), atMs: Number(row["at_ms"]) };
  });
  const first = new Map<string, TaintMark>();
  for (const mark of [...marks].sort((a, b) => a.atMs - b.atMs)) if (!first.has(mark.label)) first.set(mark.label, mark);
  return [...first.values()];
}
