import type { RunStart } from "@callgate/contract";
import { sealedDigestOf } from "./audit-stamps.ts";
import type { RunOrigin, RunSealing, StampedRow } from "./audit-stamps.ts";
import { optionalText, textColumn } from "./columns.ts";
import type { Row } from "./columns.ts";

// What of the rows of a run goes into its stamps, in every database.

type Cell = string | number | null;

/** Columns of `runs` that `originOf` reads. */
export const originColumns = "run_id, tenant, user_id, agent, task, kind, lane, started_at_ms, replay_of, head, program_sealed, program_sealed_digest";

/** Columns of `runs` that `endCells` reads. */
export const endColumns = "status, ended_at_ms, result_number, finish, error_sealed, error_sealed_digest";

export function originOf(row: Row, from: number): RunOrigin {
  const cells = [cell(row["tenant"]), cell(row["user_id"]), cell(row["agent"]), cell(row["task"]), cell(row["kind"]), cell(row["lane"]), cell(row["started_at_ms"]), cell(row["replay_of"]), cell(row["head"])];
  return { runId: textColumn(row, "run_id"), from, cells, sealedDigest: digestIn(row, "program_sealed") };
}

/** Of a run that begins. `program` as it is sealed. */
export function startedOrigin(run: RunStart, head: string, program: Uint8Array | null): RunOrigin {
  const { runId, principal, kind, lane, startedAtMs, replayOf } = run;
  const { tenant, user, agent, task } = principal;
  return originOf({ run_id: runId, tenant, user_id: user, agent, task, kind, lane, started_at_ms: startedAtMs, replay_of: replayOf, head, program_sealed: program, program_sealed_digest: null }, 0);
}

/** Null while the run has no end. */
export function endCells(row: Row): RunSealing["end"] {
  if (row["ended_at_ms"] === null) return null;
  return [cell(row["status"]), cell(row["ended_at_ms"]), cell(row["result_number"]), cell(row["finish"]), digestIn(row, "error_sealed")];
}

/** Columns of a row of entries; a row for each entry has `size` 1. */
export interface RowColumns {
  readonly tenant: string;
  readonly userId: string;
  readonly kind: string;
  readonly atMs: number;
  readonly seq: number | null;
  readonly size: number;
  readonly calls: number;
  readonly texts: number;
}

export function rowCells({ tenant, userId, kind, atMs, seq, size, calls, texts }: RowColumns): StampedRow["cells"] {
  return [tenant, userId, kind, atMs, seq, size, calls, texts];
}

/** Cells of a signal. */
export function signalCells(row: Row): readonly Cell[] {
  return [cell(row["tenant"]), cell(row["user_id"]), cell(row["kind"]), cell(row["name"]), cell(row["key"])];
}

/** Digest of a sealed column, or what an erase left of it. */
export function digestIn(row: Row, column: string): string | null {
  const sealed = row[column];
  return sealed instanceof Uint8Array ? sealedDigestOf(sealed) : (optionalText(row, `${column}_digest`) ?? null);
}

function cell(value: unknown): Cell {
  return typeof value === "string" || typeof value === "number" ? value : null;
}
