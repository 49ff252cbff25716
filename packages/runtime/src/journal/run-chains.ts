import type { DatabaseSync } from "node:sqlite";
import { sealedDigestOf } from "./audit-stamps.ts";
import { runSpan, writtenRow } from "./entry-rows.ts";
import { notFoundError } from "./fence.ts";
import type { RunScope, RunScopeSeams } from "./run-scope.ts";
import { originColumns, originOf, rowCells } from "./run-stamps.ts";

/** Writes the rows of runs and what chains them. Inside a transaction. */
export interface RunChains {
  /** Begun where it is not there: the run is of a version that did not chain. */
  readonly chainOf: (scope: RunScope) => NonNullable<RunScope["chain"]>;
  /** Writes the entries that wait as a row; the run is not sealed yet. */
  readonly writeRow: (scope: RunScope) => void;
  /** The same, and seals the run. */
  readonly write: (scope: RunScope) => void;
}

export function createRunChains(database: DatabaseSync, { stamps, ledger }: Omit<RunScopeSeams, "keys">): RunChains {
  const selectOrigin = database.prepare(`select ${originColumns} from runs where run_no = ?`);
  const insert = database.prepare("insert into entries (entry_id, tenant, user_id, kind, at_ms, seq, size, calls, body, texts, sealed, stamp) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const seal = database.prepare("update runs set next_position = ?, program_digest = ?, chained_from = ?, stamp = ?, seal = ? where run_no = ?");

  /** A run of a version that did not chain: it is chained from here on. */
  function beginChain({ runId, runNo, tenant, userId, waiting, next }: RunScope): NonNullable<RunScope["chain"]> {
    const row = selectOrigin.get(runNo);
    if (row === undefined) throw notFoundError(runId);
    const from = waiting?.position ?? next;
    ledger.note(tenant, { kind: "run-began", runId, user: userId, from });
    return { from, stamp: stamps.origin(originOf(row, from)) };
  }

  const chainOf = (scope: RunScope): NonNullable<RunScope["chain"]> => (scope.chain ??= beginChain(scope));

  function writeRow(scope: RunScope): void {
    const { runId, runNo, tenant, userId, key, waiting } = scope;
    if (waiting === undefined) return;
    const row = writtenRow(runId, waiting, key.kind === "box" ? key.box : undefined);
    const { kind, atMs, seq, size, calls, body, texts, sealed } = row;
    const chain = chainOf(scope);
    chain.stamp = stamps.row(chain.stamp, { runId, position: waiting.position, cells: rowCells({ ...row, tenant, userId }), body, sealedDigest: sealedDigestOf(sealed) });
    insert.run(runNo * runSpan + waiting.position, tenant, userId, kind, atMs, seq, size, calls, body, texts, sealed, chain.stamp);
    scope.waiting = undefined;
    scope.unsealed = true;
  }

  function write(scope: RunScope): void {
    writeRow(scope);
    if (!scope.unsealed) return;
    const { runId, runNo, next, programDigest = null, end } = scope;
    const { from, stamp } = chainOf(scope);
    seal.run(next, programDigest, from, stamp, stamps.seal({ runId, from, next, last: stamp, programDigest, end }), runNo);
    scope.unsealed = false;
  }

  return { chainOf, writeRow, write };
}
