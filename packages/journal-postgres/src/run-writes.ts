import { CallgateError } from "@callgate/contract";
import type { Blobs, Durability, JournalEntry, RunFinish, RunLease, RunStart } from "@callgate/contract";
import { createRunOrder, errorPlace, finishOf, givenUpError, headOf, prepareEntries, programPlace, sealPayload } from "@callgate/runtime/journal-parts";
import type { MasterKey } from "@callgate/runtime/journal-parts";
import { appendPrepared } from "./append-entries.ts";
import type { Database } from "./database.ts";
import type { JournalTime } from "./journal-time.ts";
import type { Owners } from "./owners.ts";
import { newRunKey } from "./run-keys.ts";
import { createRunLines } from "./run-lines.ts";
import { assertOurs, createRunStates } from "./run-states.ts";
import type { RunState } from "./run-states.ts";

export interface RunWriteSeams {
  readonly database: Database;
  readonly owners: Owners;
  readonly masterKey: MasterKey;
  readonly blobs: Blobs;
  readonly blobBytes: number;
  readonly time: JournalTime;
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

const endRun = `
update callgate.runs r set status = $3, ended_at_ms = $4, result_number = $5, finish = $6,
  error_sealed = case when exists (select 1 from callgate.run_keys where run_id = $1) then $7::bytea end,
  call_count = (select count(distinct seq) from callgate.entries where run_id = $1 and kind = 'call-issued')
where run_id = $1 and epoch = $2 and status = 'running' returning 1`;

export function createRunWrites(seams: RunWriteSeams): RunWrites {
  const { database, owners, masterKey, time } = seams;
  const order = createRunOrder();
  const lines = createRunLines();
  const states = createRunStates(seams);
  /** One write of a run at a time: each knows where the one before it ended. */
  const { after } = lines;

  return {
    async begin(run, leaseMs) {
      const { runId, principal } = run;
      const { tenant, user, agent, task } = principal;
      const { masterId, wrapped, key } = newRunKey(masterKey, runId);
      const program = run.programText === undefined || key.kind !== "box" ? null : sealPayload(key.box, { texts: { programText: run.programText }, value: undefined }, programPlace(runId));
      await after(runId, async () => {
        await owners.register();
        await database.query("lazy", beginRun, [runId, tenant, user, agent ?? null, task ?? null, run.kind, run.lane, run.startedAtMs, run.programDigest ?? null, run.replayOf ?? null, headOf(run), owners.ownerId, time.given(), leaseMs, program, masterId, wrapped]);
        states.remember(runId, { tenant, userId: user, key, next: 0 });
      });
      return { runId, epoch: 1 };
    },
    append(lease, entries, durability) {
      const scope = (): Promise<RunState> => after(lease.runId, () => states.find(lease));
      return order.after(lease.runId, prepareEntries({ ...seams, scope }, lease, entries), (prepared) => {
        const asked = entries.flatMap((entry, index) => (prepared[index] === undefined ? [] : [{ entry, prepared: prepared[index] }]));
        return after(lease.runId, () => appendPrepared({ database, states }, lease, { asked, sync: durability === "full" ? "full" : "lazy" }));
      });
    },
    finish(lease, finish) {
      const { runId, epoch } = lease;
      return order.after(runId, undefined, () =>
        after(runId, async () => {
          const { key } = await states.find(lease);
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
    forget: (runId) => states.forget(runId),
    async idle() {
      await order.idle();
      await lines.idle();
    },
  };
}
