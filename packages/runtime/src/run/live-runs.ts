import type { RunResult } from "@callgate/contract";
import type { Rehearsal } from "../broker/rehearsal.ts";
import type { RunPlan } from "../plan/pinned-plan.ts";

/** Runs that this process drives. */
export interface LiveRuns {
  /** Notes a run while `work` drives it. */
  during(run: LiveRun, work: () => Promise<RunResult>): Promise<RunResult>;
  /** Something may have been said to a run. */
  heard(runId: string): void;
  /** The result of a run that is driven here. */
  resultOf(runId: string): Promise<RunResult> | undefined;
  /** A run that is driven here. */
  of(runId: string): LiveRun | undefined;
}

export interface LiveRun {
  readonly runId: string;
  readonly signals: { readonly heard: () => void };
  /** What the workflows that it calls keep to as well. */
  readonly rehearsal?: Rehearsal | undefined;
  readonly plan?: RunPlan | undefined;
}

export function createLiveRuns(): LiveRuns {
  const live = new Map<string, { readonly run: LiveRun; readonly result: Promise<RunResult> }>();
  return {
    async during(run, work) {
      const result = work();
      live.set(run.runId, { run, result });
      try {
        return await result;
      } finally {
        live.delete(run.runId);
      }
    },
    heard: (runId) => live.get(runId)?.run.signals.heard(),
    of: (runId) => live.get(runId)?.run,
    resultOf: (runId) => live.get(runId)?.result,
  };
}
