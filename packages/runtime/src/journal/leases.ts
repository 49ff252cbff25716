import type { DatabaseSync } from "node:sqlite";
import type { ClaimOptions, ClaimedRun, RunLease, Suspension } from "@callgate/contract";
import { textColumn } from "./columns.ts";
import type { Row } from "./columns.ts";
import { eraseWait } from "./entry-codec.ts";
import { notFoundError } from "./fence.ts";
import { leaseEnd } from "./lease-end.ts";
import type { BothTimes, LeaseEnd } from "./lease-end.ts";
import type { Owners } from "./owners.ts";
import { sealPayload } from "./payload.ts";
import { prepareEntry } from "./prepare-entries.ts";
import type { RunKeys } from "./run-keys.ts";
import type { RunWriter } from "./run-writer.ts";
import { isAnswered, waitsPlace } from "./signal-codec.ts";
import type { Signals } from "./signals.ts";
import { lostError } from "./undo-claims.ts";

/** Who drives a run, and what makes a run that stands still go on. Methods that write belong inside a transaction. */
export interface Leases {
  /** Errors: RUN_NOT_FOUND, RUN_FENCED. */
  renew(lease: RunLease, until: LeaseEnd): void;
  /** As `renew`, without an error: whether the run is still ours. */
  keep(lease: RunLease, until: LeaseEnd): boolean;
  suspend(lease: RunLease, suspension: Suspension): void;
  /** Whether a claim would find a run; takes no lock. Errors, of it and of `claim`: JOURNAL_KEY_LOST of a run that is named. */
  canClaim(options: ClaimOptions): boolean;
  claim(options: ClaimOptions): Omit<ClaimedRun, "run"> & { readonly tenant: string } | undefined;
  /** A run whose record is damaged: from now on it is taken here only when it is named, so that it keeps nobody from the others. */
  passOver(runId: string): void;
}

export interface LeaseSeams {
  readonly writer: RunWriter;
  readonly keys: RunKeys;
  readonly owners: Owners;
  readonly signals: Signals;
  readonly times: BothTimes;
  /** Runs that this process drives, or undoes, until it gives them up. */
  readonly held: () => readonly string[];
}

// Only a program can go on after its process was lost; whatever was suspended was meant to go on. A run that is sealed
// under another master key is left to who can read it. What this process drives itself it does not take from itself when
// its lease is over (it was stopped, or its clock jumped): it renews it, or ends by itself.
const isLost = `(owner in (select value from json_each(:dead)) or case
  when lease_until_monotonic_ms is not null and owner in (select value from json_each(:near)) then lease_until_monotonic_ms <= :monotonic
  else lease_until_ms <= :now end)`;
const claimable = `
  select run_id, tenant, status, epoch from runs
  where (:runId is null or run_id = :runId) and (:tenant is null or tenant = :tenant) and coalesce(master_id = :masterId, true)
  and (:runId is not null or run_id not in (select value from json_each(:passedOver)))
  and (status = 'suspended' or owner is not :self or run_id not in (select value from json_each(:held))) and (
    (status = 'suspended' and (:runId is not null or due_at_ms <= :now))
    or (status = 'running' and kind = 'program' and ${isLost})
    or (undoing = 1 and :runId is null and ${isLost})
  )
  order by case when status = 'suspended' then due_at_ms else coalesce(lease_until_ms, started_at_ms) end limit 1`;

export function createLeases(database: DatabaseSync, { writer, keys, owners, signals, times, held }: LeaseSeams): Leases {
  const renew = database.prepare("update runs set lease_until_ms = ?, lease_until_monotonic_ms = ? where run_id = ? and epoch = ? and (status = 'running' or undoing = 1)");
  const selectState = database.prepare("select epoch, status from runs where run_id = ?");
  const suspend = database.prepare(`
    update runs set status = 'suspended', owner = null, lease_until_ms = null, lease_until_monotonic_ms = null, waits = ?, waits_sealed = ?, wake_at_ms = ?, due_at_ms = ?
    where run_id = ? and epoch = ? and status = 'running'`);
  const selectClaimable = database.prepare(claimable);
  const claim = database.prepare(`
    update runs set status = case when undoing = 1 then status else 'running' end, epoch = epoch + 1, owner = ?, lease_until_ms = ?, lease_until_monotonic_ms = ?, waits = null, waits_sealed = null, wake_at_ms = null, due_at_ms = null
    where run_id = ?`);

  const passedOver = new Set<string>();

  function lost(lease: RunLease): Error {
    const row = selectState.get(lease.runId);
    return row === undefined ? notFoundError(lease.runId) : lostError(lease, row);
  }

  function find({ runId, tenant }: ClaimOptions): Row | undefined {
    if (runId !== undefined) keys.mustOpen(runId);
    const { dead, near } = owners.look();
    return selectClaimable.get({
      runId: runId ?? null, tenant: tenant ?? null, masterId: keys.masterId, self: owners.ownerId,
      now: times.now(), monotonic: times.monotonic(), dead: JSON.stringify(dead), near: JSON.stringify(near), held: JSON.stringify(held()), passedOver: JSON.stringify([...passedOver]),
    });
  }

  const keep = (lease: RunLease, { wallMs, monotonicMs }: LeaseEnd): boolean => renew.run(wallMs, monotonicMs, lease.runId, lease.epoch).changes > 0;

  return {
    keep,
    passOver: (runId) => void passedOver.add(runId),
    renew(lease, until) {
      if (!keep(lease, until)) throw lost(lease);
    },
    suspend(lease, { atMs, waits, wakeAtMs, reason }) {
      const { runId, epoch } = lease;
      const dueAtMs = isAnswered(waits, signals.said(runId)) ? times.now() : wakeAtMs;
      const key = keys.find(runId);
      const sealed = key.kind === "box" ? sealPayload(key.box, { texts: { waits }, value: undefined }, waitsPlace(runId)) : null;
      const { changes } = suspend.run(JSON.stringify(waits.map(eraseWait)), sealed, wakeAtMs ?? null, dueAtMs ?? null, runId, epoch);
      if (changes === 0) throw lost(lease);
      writer.append(lease, [prepareEntry({ kind: "suspended", atMs, waits, ...(reason === undefined ? {} : { reason }) })]);
    },
    canClaim: (options) => find(options) !== undefined,
    claim(options) {
      const found = find(options);
      if (found === undefined) return undefined;
      const runId = textColumn(found, "run_id");
      owners.register();
      const until = leaseEnd(times, options.leaseMs);
      claim.run(owners.ownerId, until.wallMs, until.monotonicMs, runId);
      writer.forget(); // What this transaction knows of the run is of its last owner.
      return { lease: { runId, epoch: Number(found["epoch"]) + 1 }, tenant: textColumn(found, "tenant"), reason: reasonOf(found["status"]) };
    },
  };
}

/** Why a run could be claimed, from the status it had. */
export function reasonOf(status: unknown): ClaimedRun["reason"] {
  if (status === "suspended") return "due";
  return status === "running" ? "taken_over" : "undoing";
}
