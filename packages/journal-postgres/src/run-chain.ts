import type { RunLease } from "@callgate/contract";
import { endCells, optionalText, originColumns, originOf, sealedDigestOf } from "@callgate/runtime/journal-parts";
import type { AuditStamps, Stamp } from "@callgate/runtime/journal-parts";
import type { Query, SqlRow } from "./database.ts";
import type { Pen } from "./lanes.ts";

/** The chain of a run as its next write needs it. */
export interface RunChain {
  readonly from: number;
  /** Of its last entry. */
  readonly stamp: Stamp;
}

/** What a run is sealed with beside its chain. */
export interface RunEnds {
  readonly programDigest: string | null;
  readonly end: ReturnType<typeof endCells>;
}

/** Undefined: it was begun by a version that did not chain. */
export function chainOf(row: SqlRow): RunChain | undefined {
  const stamp = row["stamp"];
  return stamp instanceof Uint8Array ? { from: Number(row["chained_from"]), stamp } : undefined;
}

/** Inside a transaction: chains such a run from its next entry on. */
export async function beginChain(query: Query, { runId }: Pick<RunLease, "runId">, { stamps, pen }: { readonly stamps: AuditStamps; readonly pen: Pen }): Promise<void> {
  const [row] = await query(`select next_position, stamp, program_digest, ended_at_ms, status, result_number, finish, error_sealed, error_sealed_digest, ${originColumns} from callgate.runs where run_id = $1 for update`, [runId]);
  if (row === undefined || row["stamp"] !== null) return;
  const from = Number(row["next_position"]);
  const stamp = stamps.origin(originOf(row, from));
  const seal = stamps.seal({ runId, from, next: from, last: stamp, programDigest: optionalText(row, "program_digest") ?? null, end: endCells(row) });
  await query("update callgate.runs set chained_from = $2, stamp = $3, seal = $4 where run_id = $1", [runId, from, stamp, seal]);
  await pen.write(query, String(row["tenant"]), [{ kind: "run-began", runId, user: String(row["user_id"]), from }]);
}

/** How the end of a run goes into its seal. */
export function endOf({ status, endedAtMs, resultNumber, finish, sealed }: { readonly status: string; readonly endedAtMs: number; readonly resultNumber: number | undefined; readonly finish: string; readonly sealed: Uint8Array | null }): RunEnds["end"] {
  return [status, endedAtMs, resultNumber ?? null, finish, sealedDigestOf(sealed)];
}
