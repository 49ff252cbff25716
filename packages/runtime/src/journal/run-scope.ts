import type { Digest } from "@callgate/contract";
import type { AuditStamps, Stamp } from "./audit-stamps.ts";
import type { WaitingRow } from "./entry-rows.ts";
import type { Ledger } from "./ledger.ts";
import type { RunKey, RunKeys } from "./run-keys.ts";
import type { endCells } from "./run-stamps.ts";

/** What a transaction knows of a run it writes to. */
export interface RunScope {
  readonly runId: string;
  /** The number under which its entries are kept. */
  readonly runNo: number;
  readonly epoch: number;
  readonly tenant: string;
  readonly userId: string;
  readonly key: RunKey;
  /** Position of the next entry. */
  next: number;
  /** How many calls it issued, where that is known without reading: of a run that began in this transaction. */
  calls: number | undefined;
  /** Entries that are not written yet. */
  waiting: WaitingRow | undefined;
  programDigest: Digest | undefined;
  /** The last of its chain; undefined: it was begun before runs were chained, and its chain begins with the next entry. */
  chain: { readonly from: number; stamp: Stamp } | undefined;
  /** Of its row; null while it has not ended. */
  end: ReturnType<typeof endCells>;
  /** Whether its row has to be sealed anew. */
  unsealed: boolean;
}

export interface RunScopeSeams {
  readonly keys: RunKeys;
  readonly stamps: AuditStamps;
  readonly ledger: Ledger;
}
