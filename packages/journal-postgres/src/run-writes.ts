import { CallgateError } from "@callgate/contract";
import type { Blobs, Durability, JournalEntry, RunFinish, RunLease, RunStart } from "@callgate/contract";
import { createRunOrder, errorPlace, finishOf, givenUpError, headOf, prepareEntries, programPlace, sealPayload, stampText, startedOrigin } from "@callgate/runtime/journal-parts";
import type { AuditStamps, MasterKey } from "@callgate/runtime/journal-parts";
import { appendPrepared } from "./append-entries.ts";
import type { ChainedState } from "./append-entries.ts";
import type { Database } from "./database.ts";
import type { JournalTime } from "./journal-time.ts";
import type { Owners } from "./owners.ts";
import { lineSql } from "./lanes.ts";
import type { Lanes } from "./lanes.ts";
import { beginChain, endOf } from "./run-chain.ts";
import { newRunKey } from "./run-keys.ts";
import { createRunLines } from "./run-lines.ts";
import { assertOurs, createRunStates } from "./run-states.ts";
import type { RunState, RunStates } from "./run-states.ts";

export interface RunWriteSeams {
  readonly database: Database;
  readonly owners: Owners;
  readonly masterKey: MasterKey;
  readonly blobs: Blobs;
  readonly blobBytes: number;
  readonly time: JournalTime;
  readonly stamps: AuditStamps;
  readonly lanes: Lanes;
  /** Runs that this process drives, or undoes, until it gives them up. */
  readonly held: () => readonly string[];
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

const begun = lineSql(20, "run");
const beginRun = `
with run as (
  insert into callgate.runs (run_id, tenant, user_id, agent, task, kind, status, lane, started_at_ms, program_digest, replay_of, head, owner, epoch, lease_until_ms, program_sealed, chained_from, stamp, seal)
  select $1, $2, $3, $4, $5, $6, 'running', $7, $8::float8, $9, $10, $11, $12, 1, callgate.now_ms($13) + $14::float8, $15::bytea, 0, $18::bytea, $19::bytea where ${begun.isThere}
  returning run_id
), ${begun.write}
insert into callgate.run_keys (run_id, tenant, user_id, master_id, wrapped) select $1, $2, $3, $16, $17::bytea from run returning 1`;

const ended = lineSql(10, "run");
const endRun = `
with run as (
  update callgate.runs r set status = $3, ended_at_ms = $4, result_number = $5, finish = $6,
    error_sealed = case when k.has then $7::bytea end, error_sealed_digest = case when not k.has then encode(sha256($7::bytea), 'hex') end,
    call_count = (select count(distinct seq) from callgate.entries where run_id = $1 and kind = 'call-issued'), seal = $8
  from (select exists (select 1 from callgate.run_keys where run_id = $1) as has) k
  where run_id = $1 and epoch = $2 and status = 'running' and next_position = $9 and ${ended.isThere} returning 1
), ${ended.write}
select 1 from run`;

/** Gives a lane back as it was. */
const notWritten = new CallgateError("ASSERTION", "The run was not as it was thought to be");

export function createRunWrites(seams: RunWriteSeams): RunWrites {
  const { database, owners, masterKey, time, stamps, lanes } = seams;
  const order = createRunOrder();
  const lines = createRunLines();
  const states = createRunStates(seams);
  /** One write of a run at a time: each knows where the one before it ended. */
  const { after } = lines;

  const end = createEnds(seams, states);

  return {
    async begin(run, leaseMs) {
      const { runId, principal } = run;
      const { tenant, user, agent, task } = principal;
      const { masterId, wrapped, key } = newRunKey(masterKey, runId);
      const program = run.programText === undefined || key.kind !== "box" ? null : sealPayload(key.box, { texts: { programText: run.programText }, value: undefined }, programPlace(runId));
      await after(runId, async () => {
        await owners.register();
        const [head, programDigest] = [headOf(run), run.programDigest ?? null];
        const stamp = stamps.origin(startedOrigin(run, head, program));
        const seal = stamps.seal({ runId, from: 0, next: 0, last: stamp, programDigest, end: null });
        const values = [runId, tenant, user, agent ?? null, task ?? null, run.kind, run.lane, run.startedAtMs, programDigest, run.replayOf ?? null, head, owners.ownerId, time.given(), leaseMs, program, masterId, wrapped, stamp, seal];
        await lanes.write(async (pen) => {
          const rows = await database.query("lazy", beginRun, [...values, ...pen.line(tenant, [{ kind: "run-began", runId, user, from: 0 }])]);
          if (rows.length === 0) await pen.assertThere(database.read);
        });
        states.remember(runId, { tenant, userId: user, key, next: 0, chain: { from: 0, stamp }, programDigest, end: null });
      });
      return { runId, epoch: 1 };
    },
    append(lease, entries, durability) {
      const scope = (): Promise<RunState> => after(lease.runId, () => states.find(lease));
      return order.after(lease.runId, prepareEntries({ ...seams, scope }, lease, entries), (prepared) => {
        const asked = entries.flatMap((entry, index) => (prepared[index] === undefined ? [] : [{ entry, prepared: prepared[index] }]));
        return after(lease.runId, () => appendPrepared({ database, states, stamps, lanes }, lease, { asked, sync: durability === "full" ? "full" : "lazy" }));
      });
    },
    finish(lease, finish) {
      const { runId } = lease;
      return order.after(runId, undefined, () =>
        after(runId, async () => {
          // What is known of the run may be old: another wrote to it under this lease.
          if (await end(lease, finish)) return;
          states.forget(runId);
          if (await end(lease, finish)) return;
          const { status } = await assertOurs(database.read, lease);
          if (status === "suspended") throw givenUpError(lease, status);
          throw new CallgateError("ASSERTION", `Run ${runId} has ended before; its end is not written twice`, { details: { runId } });
        }),
      );
    },
    after: (runId, work) => order.after(runId, undefined, () => after(runId, work)),
    forget: (runId) => states.forget(runId),
    async idle() {
      await order.idle();
      await lines.idle();
    },
  };
}

/** Ends runs. */
function createEnds({ database, stamps, lanes }: RunWriteSeams, states: RunStates): (lease: RunLease, finish: RunFinish) => Promise<boolean> {
  /** The state of a run, chained from here on if it was not. */
  async function chained(lease: RunLease): Promise<ChainedState> {
    for (;;) {
      const state = await states.find(lease);
      if (state.chain !== undefined) return state as ChainedState;
      await lanes.write((pen) => database.transact("lazy", (query) => beginChain(query, lease, { stamps, pen })));
      states.forget(lease.runId);
    }
  }

  /** False when the run was not as it was thought to be. */
  return async function end(lease: RunLease, finish: RunFinish): Promise<boolean> {
    const { runId, epoch } = lease;
    const state = await chained(lease);
    const { key, next, chain, programDigest, tenant } = state;
    const { error, status, endedAtMs, resultNumber } = finish;
    const sealed = error === undefined || key.kind !== "box" ? null : sealPayload(key.box, { texts: { error }, value: undefined }, errorPlace(runId));
    const kept = finishOf(finish);
    const cells = endOf({ status, endedAtMs, resultNumber, finish: kept, sealed });
    const seal = stamps.seal({ runId, from: chain.from, next, last: chain.stamp, programDigest, end: cells });
    const values = [runId, epoch, status, endedAtMs, resultNumber ?? null, kept, sealed, seal, next];
    const isWritten = await lanes.write(async (pen) => {
      const line = pen.line(tenant, [{ kind: "run-ended", runId, status, entries: next, stamp: stampText(chain.stamp) }]);
      const rows = await database.query("lazy", endRun, [...values, ...line]);
      if (rows.length > 0) return true;
      await pen.assertThere(database.read);
      throw notWritten;
    }).catch((failed: unknown) => {
      if (failed === notWritten) return false;
      throw failed;
    });
    if (isWritten) state.end = cells;
    return isWritten;
  };
}
