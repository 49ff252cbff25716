import { CallgateError } from "@callgate/contract";
import type { JournalEntry, RunLease } from "@callgate/contract";
import { digestOf, indexedNumber, payloadPlace, sealPayload } from "@callgate/runtime/journal-parts";
import type { PreparedEntry } from "@callgate/runtime/journal-parts";
import { isLost } from "./database.ts";
import type { Database, SqlValue, Sync } from "./database.ts";
import type { RunState, RunStates } from "./run-states.ts";

// The position we expect makes a write happen once; the key is asked for, as another process may have erased the run.
export const appendEntries = `
with run as (
  update callgate.runs set next_position = next_position + $4, program_digest = coalesce($5, program_digest)
  where run_id = $1 and epoch = $2 and next_position = $3 returning tenant, user_id
), refs as (
  insert into callgate.blob_refs (run_id, digest, tenant, user_id, bytes)
  select $1, b.digest, run.tenant, run.user_id, b.bytes from run, unnest($12::text[], $13::bigint[]) as b (digest, bytes) on conflict do nothing
)
insert into callgate.entries (run_id, position, tenant, user_id, kind, at_ms, seq, body, texts, sealed)
select $1, $3 + e.n - 1, run.tenant, run.user_id, e.kind, e.at_ms, e.seq, e.body, e.texts,
  case when exists (select 1 from callgate.run_keys where run_id = $1) then e.sealed end
from run, unnest($6::text[], $7::float8[], $8::int[], $9::text[], $10::bool[], $11::bytea[]) with ordinality as e (kind, at_ms, seq, body, texts, sealed, n)
returning 1`;

interface AppendSeams {
  readonly database: Database;
  readonly states: RunStates;
}

interface Append {
  readonly asked: readonly { readonly entry: JournalEntry; readonly prepared: PreparedEntry }[];
  readonly sync: Sync;
}

/** Appends entries in one statement. Where its answer was lost it is looked up, and what is not there is tried once more. */
export async function appendPrepared({ database, states }: AppendSeams, lease: RunLease, { asked, sync }: Append): Promise<void> {
  const { runId } = lease;
  for (let failed: unknown; ; ) {
    const state = await states.find(lease).catch((error: unknown) => Promise.reject(failed === undefined || CallgateError.is(error) && error.code !== "JOURNAL_UNAVAILABLE" ? error : failed));
    const entries = asked.filter(({ entry }) => !states.isWritten(entry));
    if (entries.length === 0) return;
    try {
      const rows = await database.query(sync, appendEntries, appendValues(lease, state, entries.map(({ prepared }) => prepared)));
      if (rows.length > 0) return void (state.next += entries.length);
      // Another wrote under this lease, or the lease is lost: looked up, it tells.
      throw new CallgateError("JOURNAL_UNAVAILABLE", `Cannot append to run ${runId}: others write to it under the same lease. Nothing was written`, { details: { runId, connection: "other" } });
    } catch (error) {
      states.forget(runId);
      if (isLost(error)) states.lost(runId, { end: state.next + entries.length, entries: entries.map(({ entry }) => entry) });
      const mayRetry = CallgateError.is(error) && error.details?.["connection"] !== undefined;
      if (failed !== undefined || !mayRetry) throw error;
      failed = error;
    }
  }
}

export function appendValues({ runId, epoch }: RunLease, { key, next }: RunState, entries: readonly PreparedEntry[]): readonly SqlValue[] {
  const bodies = entries.map(({ split }) => split.body);
  const code = entries.map(({ split }) => (split.body.kind === "checked" ? split.texts?.["code"] : undefined)).findLast((text) => text !== undefined);
  const sealed = entries.map(({ payload }, index) => (payload === undefined || key.kind !== "box" ? null : sealPayload(key.box, payload, payloadPlace(runId, next + index))));
  const blobs = entries.flatMap((entry) => entry.blobs);
  return [
    runId, epoch, next, entries.length, code === undefined ? null : digestOf(code),
    bodies.map((body) => body.kind), bodies.map((body) => body.atMs), bodies.map(indexedNumber), bodies.map((body) => JSON.stringify(body)),
    entries.map(({ payload }) => payload?.texts !== undefined), sealed,
    blobs.map(({ digest }) => digest), blobs.map(({ sizeBytes }) => sizeBytes),
  ];
}
