import { CallgateError, nothingSpent } from "@callgate/contract";
import type { ClaimedRun, Journal, JournalEntry, RunFinish, RunHolder, RunRecord, RunResult } from "@callgate/contract";
import { closeCalls } from "./close-calls.ts";
import { compensate } from "./compensate.ts";
import { compensationText } from "./waits-text.ts";
import { watchLease } from "./watch-lease.ts";
import { lossesOf, maxLosses } from "./losses.ts";
import { readRecordedCalls } from "./recorded-calls.ts";
import { standingOf } from "./standing.ts";
import type { RunScope, RunSeams } from "./run-scope.ts";

export interface RunEnderOptions {
  readonly seams: RunSeams;
  /** For a run that nobody drives. */
  readonly scopeFor: (run: RunRecord, lease: RunScope["lease"]) => RunScope;
  readonly recorded: (run: RunRecord) => Promise<RunResult>;
}

/** Ends runs without executing them, and undoes what they did. */
export interface RunEnder {
  /** Of a run that is suspended or lost its process. Errors: RUN_NOT_RESUMABLE of others. */
  cancel(run: RunRecord, signal: AbortSignal): Promise<RunResult>;
  /** Errors: RUN_NOT_RESUMABLE when it has not ended, RUN_HELD while another does it, RUN_FENCED once another has taken it over. */
  rollback(run: RunRecord, signal: AbortSignal): Promise<RunResult>;
  /** Finishes a cancel whose process was lost. */
  goOnCancelling(claimed: ClaimedRun, signal: AbortSignal): Promise<RunResult>;
  /** Finishes what a process was undoing when it was lost. */
  goOnUndoing(claimed: ClaimedRun, signal: AbortSignal): Promise<RunResult>;
}

export function createRunEnder({ seams, scopeFor, recorded }: RunEnderOptions): RunEnder {
  const { journal, clock } = seams;

  /** Undoes and ends a run that somebody cancelled. What is on record of that first, so that no other process takes it up as a program. */
  async function endCancelled({ run, lease }: ClaimedRun, signal: AbortSignal): Promise<RunResult> {
    const { runId, principal } = run;
    const scope = scopeFor(run, lease);
    const letGo = haveRun(scope);
    try {
      const entries = await endCalls(scope, signal);
      const compensation = run.onFailure === "keep" ? undefined : await undoAll(scope, signal);
      const end = endOf(entries);
      await scope.log.finish({ ...end, endedAtMs: clock.now(), tokens: { result: 0, program: 0, direct: 0 } });
      if (scope.fence.signal.aborted) throw new CallgateError("RUN_FENCED", `Run ${runId} was taken over by another process, which ends it; nothing more was undone here`, { details: { runId } });
      seams.emit({ kind: "run-ended", atMs: clock.now(), runId, principal, status: end.status, durationMs: clock.now() - run.startedAtMs });
      return withCompensation(await recorded(await again(journal, run)), compensation);
    } finally {
      letGo();
    }
  }

  /** Under a lease of its own, so that no other process undoes the same at the same time. */
  async function undoClaimed({ run, lease }: Pick<ClaimedRun, "run" | "lease">, signal: AbortSignal, ...first: readonly JournalEntry[]): Promise<RunResult> {
    const scope = scopeFor(run, lease);
    const letGo = haveRun(scope);
    try {
      if (first.length > 0) await journal.append(lease, first, "lazy");
      const compensation = await undoAll(scope, signal);
      await journal.release(lease); // Also finds out whether it is still ours.
      return withCompensation(await recorded(await again(journal, run)), compensation);
    } catch (fault) {
      // Stopped here, not lost: nobody goes on by itself. Where even that cannot be written the lease ends, and a worker does.
      await journal.release(lease).catch(() => undefined);
      throw fault;
    } finally {
      letGo();
    }
  }

  async function goOnUndoing({ run, lease }: ClaimedRun, signal: AbortSignal): Promise<RunResult> {
    const entries = await journal.readEntries(run.principal.tenant, run.runId);
    if (lossesOf(entries) < maxLosses - 1) return await undoClaimed({ run, lease }, signal, { kind: "resumed", atMs: clock.now(), epoch: lease.epoch, reason: "taken_over", changes: [] });
    await journal.release(lease);
    return await recorded(run);
  }

  return {
    async cancel(run, signal) {
      const { runId, principal } = run;
      const claimed = run.status === "suspended" || run.isLost === true ? await journal.claim({ runId, tenant: principal.tenant, leaseMs: seams.leaseMs }) : undefined;
      if (claimed === undefined) throw await notOurs(journal, run, new CallgateError("RUN_NOT_RESUMABLE", cancelText(run), { details: { runId, status: run.status } }));
      return await endCancelled(claimed, signal);
    },
    goOnCancelling: (claimed, signal) => endCancelled(claimed, signal),
    async rollback(run, signal) {
      const { runId, principal } = run;
      const claim = await journal.claimEnded(principal.tenant, runId, { leaseMs: seams.leaseMs });
      switch (claim.kind) {
        case "claimed": return await undoClaimed(claim, signal);
        case "held": throw heldError(runId, claim.holder);
        case "open": throw await notOurs(journal, run, openError(run));
      }
    },
    goOnUndoing: (claimed, signal) => goOnUndoing(claimed, signal).finally(() => journal.letGo(claimed.lease)),
  };
}

/** Writes down that the run is cancelled, and how the calls ended that it leaves open. What was on record before. */
async function endCalls(scope: RunScope, signal: AbortSignal): Promise<readonly JournalEntry[]> {
  const { seams: { journal, clock }, lease, runId, principal: { tenant } } = scope;
  const before = await journal.readEntries(tenant, runId);
  await freeUnanswered(scope, before);
  await journal.append(lease, [{ kind: "cancelling", atMs: clock.now() }], "full");
  await closeCalls(scope, { message: `Run ${runId} was cancelled before the call ended`, signal: AbortSignal.any([signal, scope.fence.signal]) });
  return before;
}

/** Nobody will answer any more: what budgets hold for calls that only wait for that was not used up. */
async function freeUnanswered({ seams, lease, principal: { tenant } }: RunScope, entries: readonly JournalEntry[]): Promise<void> {
  for (const { issued, ended, past } of readRecordedCalls(entries, []).values()) {
    if (issued !== undefined && ended === undefined && past.question !== undefined && !past.begun) await seams.journal.settleBudgets(lease, { tenant, callId: issued.callId, spent: nothingSpent, earlier: true });
  }
}

/** Hears when the run is lost, until the returned function is called: from then on it is kept from nobody. */
function haveRun(scope: RunScope): () => void {
  const unwatch = watchLease(scope);
  return () => {
    unwatch();
    scope.seams.journal.letGo(scope.lease);
  };
}

/** How a run ends that does not go on: as it had ended before its process was lost, or as cancelled from outside. */
function endOf(entries: readonly JournalEntry[]): Pick<RunFinish, "status" | "error"> {
  const status = entries.find((entry) => entry.kind === "cancelling")?.status;
  if (status === undefined) return { status: "cancelled", error: { code: "CANCELLED", message: "The run was cancelled from outside, while no process drove it.", tool: "", retryable: true } };
  const message = "The process of the run was lost while what it had done was undone; another one finished that.";
  return { status, error: { code: status === "cancelled" ? "CANCELLED" : status === "limit" ? "LIMIT_EXCEEDED" : "RUN_INTERRUPTED", message, tool: "", retryable: status === "cancelled" } };
}

async function again(journal: Journal, { principal, runId }: RunRecord): Promise<RunRecord> {
  const run = await journal.readRun(principal.tenant, runId);
  if (run === undefined) throw new CallgateError("RUN_NOT_FOUND", `There is no run ${runId} any more`, { details: { runId } });
  return run;
}

/** A run that somebody is cancelling has not ended, and yet does not go on. */
async function notOurs(journal: Journal, { runId, principal: { tenant } }: RunRecord, otherwise: CallgateError): Promise<CallgateError> {
  const run = await journal.readRun(tenant, runId);
  const isCancelled = run?.status === "running" && (await journal.readEntries(tenant, runId)).some(({ kind }) => kind === "cancelling");
  return isCancelled ? new CallgateError("RUN_HELD", `Run ${runId} is being cancelled: another process or another caller undoes what it did. Nothing was done here. Wait for its end: callgate runs show ${runId}`, { details: { runId } }) : otherwise;
}

/** Only what nobody drives is cancelled from outside. */
function cancelText(run: RunRecord): string {
  const { runId, status } = run;
  const standing = `Run ${runId} ${standingOf(run)}`;
  if (run.isLost === true) return `${standing} and is another's by now. Look again: callgate runs show ${runId}`;
  if (status === "running" || status === "suspended") return `${standing}: only a run that waits is cancelled from outside. Interrupt its process (Ctrl-C): callgate run cancels it there; callgate runs resume and callgate worker give it back, so that it can be cancelled`;
  return `${standing}, so that there is nothing to cancel. What it did is undone with: callgate runs rollback ${runId}`;
}

function openError(run: RunRecord): CallgateError {
  const { runId, status } = run;
  return new CallgateError("RUN_NOT_RESUMABLE", `Run ${runId} ${standingOf(run)} and can still go on; cancel it, or let it end (callgate runs resume ${runId}), before it is rolled back`, { details: { runId, status } });
}

/** Until it is done, told to stop, or taken over. */
async function undoAll(scope: RunScope, signal: AbortSignal): Promise<NonNullable<RunResult["compensation"]>> {
  const entries = await scope.seams.journal.readEntries(scope.principal.tenant, scope.runId, { clear: true });
  return await compensate(scope, entries, AbortSignal.any([signal, scope.fence.signal]));
}

function heldError(runId: string, { pid, isHere, untilMs }: RunHolder): CallgateError {
  const holder = `process ${pid} ${isHere ? "of this machine" : "of another machine"}`;
  return new CallgateError("RUN_HELD", `Run ${runId} is being undone by ${holder}. Nothing was done here. Wait for it, or end that process: then callgate runs rollback ${runId} goes on where it stopped, and so does any worker`, { details: { runId, pid, isHere, untilMs } });
}

export function withCompensation(result: RunResult, compensation: RunResult["compensation"]): RunResult {
  return compensation === undefined ? result : { ...result, compensation, notices: [...result.notices, ...compensationText(compensation)] };
}
