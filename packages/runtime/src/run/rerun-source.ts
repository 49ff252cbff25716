import { CallgateError } from "@callgate/contract";
import type { Clock, Journal, NewCalls, RunRecord, SandboxDriver } from "@callgate/contract";
import { answersOf } from "./answer-book.ts";
import type { BookedAnswer } from "./answer-book.ts";
import { createRerun } from "./rerun.ts";
import type { Rerun } from "./rerun.ts";
import { readResumePoint } from "./resume-point.ts";

/** The recorded run whose answers a changed program gets. */
export interface RerunSource {
  readonly answers: readonly BookedAnswer[];
  /** The recorded program's clock at its start. */
  readonly startMs: number;
}

/** Errors: REPLAY_UNAVAILABLE naming what is missing. */
export async function readRerunSource(journal: Journal, run: RunRecord): Promise<RerunSource> {
  const entries = await journal.readEntries(run.principal.tenant, run.runId, { clear: true });
  return { answers: answersOf(readResumePoint(run, entries, [])), startMs: run.clockMs ?? run.startedAtMs };
}

export interface RerunSeams {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly driver: SandboxDriver | undefined;
}

/** For a run of a changed program that goes on. Where the answers are gone nothing new is called. */
export async function rerunOf(run: RunRecord, { journal, clock, driver }: RerunSeams): Promise<Rerun | undefined> {
  const { edits, principal: { tenant } } = run;
  if (edits === undefined) return undefined;
  const startMs = run.clockMs ?? run.startedAtMs;
  const plan = (answers: readonly BookedAnswer[], newCalls: NewCalls): Rerun => createRerun({ runId: edits.runId, newCalls, startMs, answers, isEager: driver?.replayable !== true }, clock);
  const original = await journal.readRun(tenant, edits.runId);
  if (original === undefined) return plan([], "stop");
  try {
    return plan((await readRerunSource(journal, original)).answers, edits.newCalls);
  } catch (fault) {
    if (!CallgateError.is(fault) || fault.code !== "REPLAY_UNAVAILABLE") throw fault;
    return plan([], "stop");
  }
}
