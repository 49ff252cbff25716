import type { JournalEntry } from "@callgate/contract";
import { callOfRun } from "./call-of-run.ts";
import { readRecordedCalls } from "./recorded-calls.ts";
import type { RunScope } from "./run-scope.ts";

/** Whether calls of a run go on outside. */
export function hasJobs(entries: readonly JournalEntry[]): boolean {
  return entries.some(({ kind }) => kind === "call-backgrounded");
}

/**
 * Lets the tools of a run that is cancelled stop what goes on outside, and records how those calls ended. What cannot be
 * stopped any more (its tool is gone, its arguments are erased) is left to `openEnds`.
 */
export async function stopJobs(scope: RunScope): Promise<void> {
  const { seams, view, principal, runId } = scope;
  const entries = await seams.journal.readEntries(principal.tenant, runId, { clear: true });
  const signal = AbortSignal.abort(new DOMException("The run was cancelled", "AbortError"));
  for (const [seq, { issued, ended, past }] of readRecordedCalls(entries, [])) {
    const args = issued?.args.clear;
    if (issued === undefined || ended !== undefined || past.job === undefined || args === undefined || view.catalog.resolve(issued.tool) === undefined) continue;
    await seams.broker.perform({ ...callOfRun(scope), tool: issued.tool, args, callId: issued.callId, seq, occurrence: issued.occurrence ?? 0, signal, past });
  }
}
