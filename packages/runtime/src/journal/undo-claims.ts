import type { DatabaseSync } from "node:sqlite";
import type { EndedClaim, RunLease } from "@callgate/contract";
import { textColumn } from "./columns.ts";
import type { Row } from "./columns.ts";
import { fencedError, givenUpError, notFoundError } from "./fence.ts";
import { leaseEnd } from "./lease-end.ts";
import type { BothTimes } from "./lease-end.ts";
import type { Owners } from "./owners.ts";
import { interruptedFinish } from "./run-record.ts";
import type { RunKeys } from "./run-keys.ts";
import type { RunWriter } from "./run-writer.ts";

/** Who undoes what an ended run did. Methods belong inside a transaction. */
export interface UndoClaims {
  /** Errors: RUN_NOT_FOUND, JOURNAL_KEY_LOST. */
  claim(run: { readonly tenant: string; readonly runId: string }, leaseMs: number): Exclude<EndedClaim, { readonly kind: "claimed" }> | { readonly kind: "claimed"; readonly lease: RunLease };
  /** Errors: RUN_NOT_FOUND, RUN_FENCED. */
  release(lease: RunLease): void;
}

export interface UndoClaimSeams {
  readonly keys: RunKeys;
  readonly writer: RunWriter;
  readonly owners: Owners;
  readonly times: BothTimes;
  /** Runs that this process drives, or undoes, until it gives them up. */
  readonly held: () => readonly string[];
}

export function createUndoClaims(database: DatabaseSync, { keys, writer, owners, times, held }: UndoClaimSeams): UndoClaims {
  const select = database.prepare("select status, kind, epoch, owner, undoing, lease_until_ms, lease_until_monotonic_ms from runs where tenant = ? and run_id = ?");
  const take = database.prepare(`
    update runs set undoing = 1, owner = :owner, lease_until_ms = :until, lease_until_monotonic_ms = :untilMonotonic, epoch = epoch + 1,
      ended_at_ms = coalesce(ended_at_ms, :now), finish = coalesce(finish, :finish), status = case when status = 'running' then 'crashed' else status end
    where run_id = :runId`);
  const release = database.prepare("update runs set undoing = 0, lease_until_ms = null, lease_until_monotonic_ms = null where run_id = ? and epoch = ? and undoing = 1");
  const selectState = database.prepare("select epoch, status from runs where run_id = ?");

  return {
    claim({ tenant, runId }, leaseMs) {
      const row = select.get(tenant, runId);
      if (row === undefined) throw notFoundError(runId);
      keys.mustOpen(runId);
      const [nowMs, leaseLeftMs] = [times.now(), owners.leaseLeftMs(row)];
      const standing = undoStanding(row, { dead: owners.dead(), leaseLeftMs, isOurs: row["owner"] === owners.ownerId && held().includes(runId) });
      if (standing === "open") return { kind: "open" };
      if (standing === "held") return { kind: "held", holder: { ...owners.place(textColumn(row, "owner")), untilMs: nowMs + leaseLeftMs } };
      owners.register();
      const until = leaseEnd(times, leaseMs);
      take.run({ runId, owner: owners.ownerId, until: until.wallMs, untilMonotonic: until.monotonicMs, now: nowMs, finish: interruptedFinish });
      writer.forget(); // What this transaction knows of the run is of its last owner.
      const lease = { runId, epoch: Number(row["epoch"]) + 1 };
      if (row["status"] === "running") writer.ended(lease);
      return { kind: "claimed", lease };
    },
    release(lease) {
      if (release.run(lease.runId, lease.epoch).changes > 0) return;
      const row = selectState.get(lease.runId);
      throw row === undefined ? notFoundError(lease.runId) : lostError(lease, row);
    },
  };
}

/** Why a lease is no lease any more, from the row of its run. */
export function lostError(lease: RunLease, row: Row): Error {
  const epoch = Number(row["epoch"]);
  return epoch === lease.epoch ? givenUpError(lease, String(row["status"])) : fencedError(lease, epoch);
}

/** Who may still be at a run. `isOurs`: this process is, whatever became of its lease meanwhile. */
export interface UndoHolders {
  readonly dead: readonly string[];
  /** Of the run's lease. */
  readonly leaseLeftMs: number;
  readonly isOurs: boolean;
}

/** Whether a run has ended and is free to be undone, from its row. A program whose process was lost has not: it is taken over. */
export function undoStanding(row: Row, { dead, leaseLeftMs, isOurs }: UndoHolders): "free" | "held" | "open" {
  const isDead = row["owner"] !== null && dead.includes(textColumn(row, "owner"));
  if (row["status"] === "suspended") return "open";
  if (row["status"] === "running") return row["kind"] !== "program" && isDead ? "free" : "open";
  return Number(row["undoing"]) === 1 && !isDead && (isOurs || leaseLeftMs > 0) ? "held" : "free";
}
