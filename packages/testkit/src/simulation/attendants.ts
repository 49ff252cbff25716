import { localPrincipal } from "@callgate/contract";
import type { Clock, Gate, Journal, RunRecord } from "@callgate/contract";
import { sampleFinish, sampleRun } from "../journal/journal-samples.ts";

export interface AttendantOptions {
  /** Opens processes that meet faults; undefined where one dies at once. */
  readonly stage: { open(): Promise<{ readonly gate: Gate } | undefined> };
  readonly clock: Clock;
  /** That nothing happens to. */
  readonly journal: Journal;
}

const dayMs = 86_400_000;
/** Who comes next waits so long for who came before: that process may be dead, or stand still. */
const nextAfterMs = 20_000;
/** Longer than any stop and the lease after it: a run that was lost meanwhile is not removed. */
const prunedAfterMs = 3_600_000;

/**
 * Looks after a run that waits for a person: one process answers its question, another removes old runs beside it. Both
 * meet the faults of the simulation, and others come until the question is answered. There is an old run to be removed.
 */
export async function createAttendants({ stage, clock, journal }: AttendantOptions): Promise<(run: RunRecord) => Promise<void>> {
  const endedAtMs = clock.now() - dayMs;
  const old = await journal.begin(sampleRun("old", { principal: localPrincipal, startedAtMs: endedAtMs - 1 }));
  await journal.finish(old, sampleFinish({ endedAtMs }));
  let cameAtMs = Number.NEGATIVE_INFINITY;
  return async ({ runId, waits }) => {
    const wait = waits.find(({ kind }) => kind === "approval");
    if (wait?.kind !== "approval" || clock.now() - cameAtMs < nextAfterMs) return;
    const { approvalId } = wait.question;
    const said = await journal.readSignals("local", runId);
    // A write that was approved, lost, and did not happen, is asked about anew.
    if (said.some((signal) => signal.kind === "approval" && signal.approvalId === approvalId)) return;
    cameAtMs = clock.now();
    const [answering, pruning] = [await stage.open(), await stage.open()];
    // A process that dies never answers; one whose turn it is not any more is refused.
    pruning?.gate.runs.prune({ olderThanMs: prunedAfterMs }).catch(() => undefined);
    answering?.gate.approvals.answer(approvalId, { approved: true, by: "ann" }).catch(() => undefined);
  };
}
