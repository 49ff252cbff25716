import { CallgateError } from "@callgate/contract";
import type { JournalEntry, RunLease } from "@callgate/contract";
import { digestOf, indexedNumber, payloadPlace, rowCells, sealedDigestOf, sealPayload } from "@callgate/runtime/journal-parts";
import type { AuditStamps, PreparedEntry } from "@callgate/runtime/journal-parts";
import { isLost } from "./postgres-error.ts";
import type { Database, SqlValue, Sync } from "./database.ts";
import type { Lanes } from "./lanes.ts";
import { beginChain } from "./run-chain.ts";
import type { RunChain } from "./run-chain.ts";
import type { RunState, RunStates } from "./run-states.ts";

// The position we expect makes a write happen once; the key is asked for, as another process may have erased the run.
export const appendEntries = `
with run as (
  update callgate.runs set next_position = next_position + $4, program_digest = $5, stamp = $15, seal = $16
  where run_id = $1 and epoch = $2 and next_position = $3 returning tenant, user_id
), refs as (
  insert into callgate.blob_refs (run_id, digest, tenant, user_id, bytes)
  select $1, b.digest, run.tenant, run.user_id, b.bytes from run, unnest($12::text[], $13::bigint[]) as b (digest, bytes) on conflict do nothing
)
insert into callgate.entries (run_id, position, tenant, user_id, kind, at_ms, seq, body, texts, stamp, sealed, sealed_digest)
select $1, $3 + e.n - 1, run.tenant, run.user_id, e.kind, e.at_ms, e.seq, e.body, e.texts, e.stamp,
  case when k.has then e.sealed end, case when not k.has then encode(sha256(e.sealed), 'hex') end
from run, (select exists (select 1 from callgate.run_keys where run_id = $1) as has) k,
  unnest($6::text[], $7::float8[], $8::int[], $9::text[], $10::bool[], $11::bytea[], $14::bytea[]) with ordinality as e (kind, at_ms, seq, body, texts, sealed, stamp, n)
returning 1`;

interface AppendSeams {
  readonly database: Database;
  readonly states: RunStates;
  readonly stamps: AuditStamps;
  readonly lanes: Lanes;
}

interface Append {
  readonly asked: readonly { readonly entry: JournalEntry; readonly prepared: PreparedEntry }[];
  readonly sync: Sync;
}

/** Appends entries in one statement. Where its answer was lost it is looked up, and what is not there is tried once more. */
export async function appendPrepared({ database, states, stamps, lanes }: AppendSeams, lease: RunLease, { asked, sync }: Append): Promise<void> {
  const { runId } = lease;
  for (let failed: unknown; ; ) {
    const state = await states.find(lease).catch((error: unknown) => Promise.reject(failed === undefined || CallgateError.is(error) && error.code !== "JOURNAL_UNAVAILABLE" ? error : failed));
    const entries = asked.filter(({ entry }) => !states.isWritten(entry));
    if (entries.length === 0) return;
    if (state.chain === undefined) {
      await lanes.write((pen) => database.transact("lazy", (query) => beginChain(query, lease, { stamps, pen })));
      states.forget(runId);
      continue;
    }
    try {
      const { values, after } = appendValues(lease, { ...state, chain: state.chain }, { stamps, entries: entries.map(({ prepared }) => prepared) });
      const rows = await database.query(sync, appendEntries, values);
      if (rows.length > 0) return void Object.assign(state, after);
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

/** A state whose run is chained. */
export type ChainedState = RunState & { readonly chain: RunChain };

/** @returns values of the statement, and how the run stands after it */
export function appendValues({ runId, epoch }: RunLease, state: ChainedState, { stamps, entries }: { readonly stamps: AuditStamps; readonly entries: readonly PreparedEntry[] }): { readonly values: readonly SqlValue[]; readonly after: Pick<RunState, "next" | "chain" | "programDigest"> } {
  const { key, next, tenant, userId, chain, end } = state;
  const bodies = entries.map(({ split }) => split.body);
  const code = entries.map(({ split }) => (split.body.kind === "checked" ? split.texts?.["code"] : undefined)).findLast((text) => text !== undefined);
  const sealed = entries.map(({ payload }, index) => (payload === undefined || key.kind !== "box" ? null : sealPayload(key.box, payload, payloadPlace(runId, next + index))));
  const blobs = entries.flatMap((entry) => entry.blobs);
  const texts = bodies.map((body) => JSON.stringify(body));
  let { stamp } = chain;
  const made = entries.map(({ payload, split: { body } }, index) => {
    const calls = body.kind === "call-issued" ? 1 : 0;
    const cells = rowCells({ tenant, userId, kind: body.kind, atMs: body.atMs, seq: indexedNumber(body), size: 1, calls, texts: payload?.texts === undefined ? 0 : 1 });
    stamp = stamps.row(stamp, { runId, position: next + index, cells, body: texts[index] ?? "", sealedDigest: sealedDigestOf(sealed[index]) });
    return stamp;
  });
  const programDigest = code === undefined ? state.programDigest : digestOf(code);
  const after = { next: next + entries.length, chain: { ...chain, stamp }, programDigest };
  const values = [
    runId, epoch, next, entries.length, programDigest,
    bodies.map((body) => body.kind), bodies.map((body) => body.atMs), bodies.map(indexedNumber), texts,
    entries.map(({ payload }) => payload?.texts !== undefined), sealed,
    blobs.map(({ digest }) => digest), blobs.map(({ sizeBytes }) => sizeBytes),
    made, stamp, stamps.seal({ runId, from: chain.from, next: after.next, last: stamp, programDigest, end }),
  ];
  return { values, after };
}
