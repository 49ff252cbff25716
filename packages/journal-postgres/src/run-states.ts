import type { JournalEntry, RunLease } from "@callgate/contract";
import { endCells, endColumns, fencedError, notFoundError, optionalText } from "@callgate/runtime/journal-parts";
import type { MasterKey, RunKey } from "@callgate/runtime/journal-parts";
import type { Database, Query, SqlRow } from "./database.ts";
import { chainOf } from "./run-chain.ts";
import type { RunChain, RunEnds } from "./run-chain.ts";
import { openRunKey } from "./run-keys.ts";

/** The state of a run as its next write needs it. */
export interface RunState {
  readonly tenant: string;
  readonly userId: string;
  readonly key: RunKey;
  /** Position of its next entry. */
  next: number;
  /** Undefined: its chain begins with its next entry. */
  chain: RunChain | undefined;
  programDigest: RunEnds["programDigest"];
  end: RunEnds["end"];
}

/** From the row that `assertOurs` gives. */
export function stateOf(masterKey: MasterKey, runId: string, row: SqlRow): RunState {
  return {
    tenant: String(row["tenant"]),
    userId: String(row["user_id"]),
    next: Number(row["next_position"]),
    key: openRunKey(masterKey, runId, row),
    chain: chainOf(row),
    programDigest: optionalText(row, "program_digest") ?? null,
    end: endCells(row),
  };
}

/** What this process knows of the runs it writes, so that a write is one statement. */
export interface RunStates {
  /** Looked up where it is not known. Errors: RUN_NOT_FOUND, RUN_FENCED. */
  find(lease: RunLease): Promise<RunState>;
  remember(runId: string, state: RunState): RunState;
  /** It may be wrong: another wrote to the run, its key was removed, or a write failed. */
  forget(runId: string): void;
  /** The answer to a write was lost; `end` is where its run ends if the entries are there. */
  lost(runId: string, write: LostWrite): void;
  /** Whether an entry turned out to be there after all: asked for again, it is not written again. */
  isWritten(entry: JournalEntry): boolean;
}

interface LostWrite {
  readonly end: number;
  readonly entries: readonly JournalEntry[];
}

/** Runs whose key and position are remembered; one that is not is looked up with its next write. */
const REMEMBERED = 2_000;

export function createRunStates({ database, masterKey }: { readonly database: Database; readonly masterKey: MasterKey }): RunStates {
  const states = new Map<string, RunState>();
  const uncertain = new Map<string, LostWrite>();
  const written = new WeakSet<JournalEntry>();

  function remember(runId: string, state: RunState): RunState {
    states.delete(runId);
    states.set(runId, state);
    if (states.size > REMEMBERED) states.delete(states.keys().next().value ?? "");
    return state;
  }

  return {
    remember,
    async find(lease) {
      const { runId } = lease;
      const known = states.get(runId);
      if (known !== undefined) return known;
      const row = await assertOurs(database.read, lease);
      const lost = uncertain.get(runId);
      if (lost !== undefined && Number(row["next_position"]) >= lost.end) for (const entry of lost.entries) written.add(entry);
      uncertain.delete(runId);
      return remember(runId, stateOf(masterKey, runId, row));
    },
    forget: (runId) => void states.delete(runId),
    lost: (runId, write) => void uncertain.set(runId, write),
    isWritten: (entry) => written.has(entry),
  };
}

/** The row of a run that is ours. Errors: RUN_NOT_FOUND, RUN_FENCED. */
export async function assertOurs(query: Query, lease: RunLease, lock: "" | "for update of r" | "for share of r" = ""): Promise<SqlRow> {
  const { runId, epoch } = lease;
  const row = (await query(`select r.tenant, r.user_id, r.epoch, r.next_position, r.chained_from, r.stamp, r.program_digest, ${endColumns}, k.master_id, k.wrapped from callgate.runs r left join callgate.run_keys k using (run_id) where r.run_id = $1 ${lock}`, [runId]))[0];
  if (row === undefined) throw notFoundError(runId);
  if (row["epoch"] !== epoch) throw fencedError(lease, Number(row["epoch"]));
  return row;
}
