import { CallgateError } from "@callgate/contract";
import type { CallError, RunRecord, RunResult } from "@callgate/contract";
import { compensate } from "./compensate.ts";
import { compensationText } from "./waits-text.ts";
import { openEnds } from "./open-ends.ts";
import type { RunScope, RunSeams } from "./run-scope.ts";

export interface RunEnderOptions {
  readonly seams: RunSeams;
  /** For a run that nobody drives. */
  readonly scopeFor: (run: RunRecord, lease: RunScope["lease"]) => RunScope;
  readonly recorded: (run: RunRecord) => Promise<RunResult>;
}

/** Ends runs without executing them, and undoes what they did. */
export interface RunEnder {
  /** Errors: RUN_NOT_RESUMABLE when it is not suspended. */
  cancel(run: RunRecord, signal: AbortSignal): Promise<RunResult>;
  /** Errors: RUN_NOT_RESUMABLE when it has not ended. */
  rollback(run: RunRecord, signal: AbortSignal): Promise<RunResult>;
}

export function createRunEnder({ seams, scopeFor, recorded }: RunEnderOptions): RunEnder {
  const { journal, clock } = seams;

  async function undoAll(scope: RunScope, signal: AbortSignal): Promise<RunResult["compensation"]> {
    const entries = await journal.readEntries(scope.principal.tenant, scope.runId, { clear: true });
    return await compensate(scope, entries, signal);
  }

  async function again({ principal, runId }: RunRecord): Promise<RunRecord> {
    const run = await journal.readRun(principal.tenant, runId);
    if (run === undefined) throw new CallgateError("RUN_NOT_FOUND", `There is no run ${runId} any more`, { details: { runId } });
    return run;
  }

  return {
    async cancel(run, signal) {
      const { runId, principal } = run;
      const claimed = run.status === "suspended" ? await journal.claim({ runId, tenant: principal.tenant, leaseMs: seams.leaseMs }) : undefined;
      if (claimed === undefined) throw new CallgateError("RUN_NOT_RESUMABLE", `Run ${runId} is ${run.status}; only a suspended run is cancelled from outside`, { details: { runId, status: run.status } });
      const scope = scopeFor(claimed.run, claimed.lease);
      const entries = await journal.readEntries(principal.tenant, runId);
      await journal.append(claimed.lease, openEnds(entries, { atMs: clock.now(), message: `Run ${runId} was cancelled before the call ended` }), "full");
      const compensation = run.onFailure === "keep" ? undefined : await undoAll(scope, signal);
      const error: CallError = { code: "CANCELLED", message: "The run was cancelled while it was suspended.", tool: "", retryable: true };
      await scope.log.finish({ status: "cancelled", endedAtMs: clock.now(), error, tokens: { result: 0, program: 0, direct: 0 } });
      seams.emit({ kind: "run-ended", atMs: clock.now(), runId, principal, status: "cancelled", durationMs: clock.now() - run.startedAtMs });
      return withCompensation(await recorded(await again(run)), compensation);
    },
    async rollback(run, signal) {
      const { runId, epoch, status } = run;
      if (status === "running" || status === "suspended") throw new CallgateError("RUN_NOT_RESUMABLE", `Run ${runId} is ${status}; cancel it, or let it end, before it is rolled back`, { details: { runId, status } });
      // An ended run is written to under the lease it ended with.
      const compensation = await undoAll(scopeFor(run, { runId, epoch }), signal);
      return withCompensation(await recorded(await again(run)), compensation);
    },
  };
}

export function withCompensation(result: RunResult, compensation: RunResult["compensation"]): RunResult {
  return compensation === undefined ? result : { ...result, compensation, notices: [...result.notices, ...compensationText(compensation)] };
}
