import { CallgateError } from "@callgate/contract";
import type { Blobs, Durability, JournalEntry, RunFinish, RunLease, RunStart } from "@callgate/contract";
import { createRunOrder, digestOf, errorPlace, fencedError, finishOf, givenUpError, headOf, indexedNumber, notFoundError, payloadPlace, prepareEntries, programPlace, sealPayload } from "@callgate/runtime/journal-parts";
import type { MasterKey, PreparedEntry, RunKey } from "@callgate/runtime/journal-parts";
import { isLost } from "./database.ts";
import type { Database, Query, SqlRow, SqlValue, Sync } from "./database.ts";
import type { JournalTime } from "./journal-time.ts";
import type { Owners } from "./owners.ts";
import { newRunKey, openRunKey } from "./run-keys.ts";

export interface RunWriteSeams {
  readonly database: Database;
  readonly owners: Owners;
  readonly masterKey: MasterKey;
  readonly blobs: Blobs;
  readonly blobBytes: number;
  readonly time: JournalTime;
}

/** The state of a run as its next write needs it. */
export interface RunState {
  readonly tenant: string;
  readonly userId: string;
  readonly key: RunKey;
  /** Position of its next entry. */
  next: number;
}

/** Writes of runs: one statement each, in the order they were asked for, fenced on the epoch. */
export interface RunWrites {
  begin(run: RunStart, leaseMs: number): Promise<RunLease>;
  append(lease: RunLease, entries: readonly JournalEntry[], durability: Durability): Promise<void>;
  finish(lease: RunLease, finish: RunFinish): Promise<void>;
  /** Does `work` after every earlier write of the run. */
  after<T>(runId: string, work: () => Promise<T>): Promise<T>;
  /** What is known of a run may be wrong: another wrote it, or its key was removed. */
  forget(runId: string): void;
  idle(): Promise<void>;
}

const beginRun = `
with run as (
  insert into callgate.runs (run_id, tenant, user_id, agent, task, kind, status, lane, started_at_ms, program_digest, replay_of, head, owner, epoch, lease_until_ms, program_sealed)
  values ($1, $2, $3, $4, $5, $6, 'running', $7, $8, $9, $10, $11, $12, 1, callgate.now_ms($13) + $14, $15)
)
insert into callgate.run_keys (run_id, tenant, user_id, master_id, wrapped) values ($1, $2, $3, $16, $17)`;

// The position we expect makes a write happen once; the key is asked for, as another process may have erased the run.
const appendEntries = `
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

const endRun = `
update callgate.runs r set status = $3, ended_at_ms = $4, result_number = $5, finish = $6,
  error_sealed = case when exists (select 1 from callgate.run_keys where run_id = $1) then $7::bytea end,
  call_count = (select count(distinct seq) from callgate.entries where run_id = $1 and kind = 'call-issued')
where run_id = $1 and epoch = $2 and status = 'running' returning 1`;

/** Runs whose key and position are remembered; one that is not is looked up with its next write. */
const REMEMBERED = 2_000;

// oxlint-disable-next-line max-lines-per-function -- one object of the write statements; each is a few lines
export function createRunWrites(seams: RunWriteSeams): RunWrites {
  const { database, owners, masterKey, time } = seams;
  const order = createRunOrder();
  const lines = new Map<string, Promise<unknown>>();
  const states = new Map<string, RunState>();
  /** Writes whose answer was lost: where their run ends if they are there. */
  const uncertain = new Map<string, { readonly end: number; readonly entries: readonly JournalEntry[] }>();
  /** Entries that turned out to be there after all: asked for again, they are not written again. */
  const written = new WeakSet<JournalEntry>();

  function remember(runId: string, state: RunState): RunState {
    states.delete(runId);
    states.set(runId, state);
    if (states.size > REMEMBERED) states.delete(states.keys().next().value ?? "");
    return state;
  }

  /** One write of a run at a time: each knows where the one before it ended. */
  async function after<T>(runId: string, work: () => Promise<T>): Promise<T> {
    const line = lines.get(runId) ?? Promise.resolve();
    const turn = line.then(work, work);
    const settled = turn.then(() => undefined, () => undefined);
    lines.set(runId, settled);
    try {
      return await turn;
    } finally {
      if (lines.get(runId) === settled) lines.delete(runId);
    }
  }

  async function stateOf(lease: RunLease): Promise<RunState> {
    const { runId } = lease;
    const known = states.get(runId);
    if (known !== undefined) return known;
    const row = await assertOurs(database.read, lease);
    const lost = uncertain.get(runId);
    if (lost !== undefined && Number(row["next_position"]) >= lost.end) for (const entry of lost.entries) written.add(entry);
    uncertain.delete(runId);
    return remember(runId, { tenant: String(row["tenant"]), userId: String(row["user_id"]), next: Number(row["next_position"]), key: openRunKey(masterKey, runId, row) });
  }

  async function write(lease: RunLease, asked: readonly { readonly entry: JournalEntry; readonly prepared: PreparedEntry }[], sync: Sync): Promise<void> {
    const { runId } = lease;
    for (let failed: unknown; ; ) {
      const state = await stateOf(lease).catch((error: unknown) => Promise.reject(failed === undefined || CallgateError.is(error) && error.code !== "JOURNAL_UNAVAILABLE" ? error : failed));
      const entries = asked.filter(({ entry }) => !written.has(entry));
      if (entries.length === 0) return;
      try {
        const rows = await database.query(sync, appendEntries, appendValues(lease, state, entries.map(({ prepared }) => prepared)));
        if (rows.length > 0) return void (state.next += entries.length);
        // Another wrote under this lease, or the lease is lost: looked up, it tells.
        throw new CallgateError("JOURNAL_UNAVAILABLE", `Cannot append to run ${runId}: others write to it under the same lease. Nothing was written`, { details: { runId, connection: "other" } });
      } catch (error) {
        states.delete(runId);
        if (isLost(error)) uncertain.set(runId, { end: state.next + entries.length, entries: entries.map(({ entry }) => entry) });
        const mayRetry = CallgateError.is(error) && error.details?.["connection"] !== undefined;
        if (failed !== undefined || !mayRetry) throw error;
        failed = error;
      }
    }
  }

  return {
    async begin(run, leaseMs) {
      const { runId, principal } = run;
      const { tenant, user, agent, task } = principal;
      const { masterId, wrapped, key } = newRunKey(masterKey, runId);
      const program = run.programText === undefined || key.kind !== "box" ? null : sealPayload(key.box, { texts: { programText: run.programText }, value: undefined }, programPlace(runId));
      await after(runId, async () => {
        await owners.register();
        await database.query("lazy", beginRun, [runId, tenant, user, agent ?? null, task ?? null, run.kind, run.lane, run.startedAtMs, run.programDigest ?? null, run.replayOf ?? null, headOf(run), owners.ownerId, time.given(), leaseMs, program, masterId, wrapped]);
        remember(runId, { tenant, userId: user, key, next: 0 });
      });
      return { runId, epoch: 1 };
    },
    append(lease, entries, durability) {
      const scope = (): Promise<RunState> => after(lease.runId, () => stateOf(lease));
      return order.after(lease.runId, prepareEntries({ ...seams, scope }, lease, entries), (prepared) => {
        const asked = entries.flatMap((entry, index) => (prepared[index] === undefined ? [] : [{ entry, prepared: prepared[index] }]));
        return after(lease.runId, () => write(lease, asked, durability === "full" ? "full" : "lazy"));
      });
    },
    finish(lease, finish) {
      const { runId, epoch } = lease;
      return order.after(runId, undefined, () =>
        after(runId, async () => {
          const { key } = await stateOf(lease);
          const { error } = finish;
          const sealed = error === undefined || key.kind !== "box" ? null : sealPayload(key.box, { texts: { error }, value: undefined }, errorPlace(runId));
          const rows = await database.query("lazy", endRun, [runId, epoch, finish.status, finish.endedAtMs, finish.resultNumber ?? null, finishOf(finish), sealed]);
          if (rows.length > 0) return;
          const { status } = await assertOurs(database.read, lease);
          if (status === "suspended") throw givenUpError(lease, status);
          throw new CallgateError("ASSERTION", `Run ${runId} has ended before; its end is not written twice`, { details: { runId } });
        }),
      );
    },
    after: (runId, work) => order.after(runId, undefined, () => after(runId, work)),
    forget: (runId) => void states.delete(runId),
    async idle() {
      await order.idle();
      await Promise.all(lines.values());
    },
  };
}

/** The row of a run that is ours. Errors: RUN_NOT_FOUND, RUN_FENCED. */
export async function assertOurs(query: Query, lease: RunLease, lock: "" | "for update of r" | "for share of r" = ""): Promise<SqlRow> {
  const { runId, epoch } = lease;
  const row = (await query(`select r.tenant, r.user_id, r.epoch, r.status, r.next_position, k.master_id, k.wrapped from callgate.runs r left join callgate.run_keys k using (run_id) where r.run_id = $1 ${lock}`, [runId]))[0];
  if (row === undefined) throw notFoundError(runId);
  if (row["epoch"] !== epoch) throw fencedError(lease, Number(row["epoch"]));
  return row;
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

export { appendEntries };
