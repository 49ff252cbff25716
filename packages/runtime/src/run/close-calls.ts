import type { JournalEntry, RunSignal } from "@callgate/contract";
import { callOfRun } from "./call-of-run.ts";
import { openEnds } from "./open-ends.ts";
import { readRecordedCalls } from "./recorded-calls.ts";
import type { RecordedCall } from "./recorded-calls.ts";
import type { RunScope } from "./run-scope.ts";

export interface Closing {
  /** Why the calls end. */
  readonly message: string;
  readonly signal: AbortSignal;
  /** Tools are not asked: a call of theirs may be what takes the process down. */
  readonly asksNobody?: boolean;
}

/**
 * Ends the calls that a run leaves open when it ends without its guest. The tool of a write that may have taken place is
 * asked what became of it (`reconcile`), unless a person has said so; what goes on outside is stopped; nothing is
 * performed. Each is on record as soon as it is known, so that whoever goes on after a crash asks about the rest only.
 */
export async function closeCalls(scope: RunScope, { message, signal, asksNobody = false }: Closing): Promise<void> {
  const { seams: { journal, clock, reviews }, lease, runId, principal: { tenant } } = scope;
  const entries = await journal.readEntries(tenant, runId);
  const signals = await journal.readSignals(tenant, runId, { clear: true });
  const settled = asksNobody || !needsTools(scope, entries, signals) ? entries : await settle(scope, signals, signal);
  await journal.append(lease, openEnds(settled, { atMs: clock.now(), signals, message, reviews }), "full");
}

/** A record is read in clear only where some tool has to hear of it. */
function needsTools(scope: RunScope, entries: readonly JournalEntry[], signals: readonly RunSignal[]): boolean {
  return [...readRecordedCalls(entries, signals).values()].some((call) => isSettledByTool(scope, call));
}

/** The record as it stands then. What cannot be asked about (its tool is gone, its arguments are erased) is as it was. */
async function settle(scope: RunScope, signals: readonly RunSignal[], signal: AbortSignal): Promise<readonly JournalEntry[]> {
  const { seams: { journal, broker }, runId, principal: { tenant } } = scope;
  const calls = readRecordedCalls(await journal.readEntries(tenant, runId, { clear: true }), signals);
  await Promise.all([...calls].map(async ([seq, call]) => {
    const { issued, past } = call;
    if (issued?.args.clear === undefined || !isSettledByTool(scope, call)) return;
    await broker.perform({ ...callOfRun(scope), tool: issued.tool, args: issued.args.clear, callId: issued.callId, seq, occurrence: issued.occurrence ?? 0, signal, past, closing: true });
  }));
  return await journal.readEntries(tenant, runId);
}

function isSettledByTool({ view, seams: { reviews } }: RunScope, { issued, ended, past }: RecordedCall): boolean {
  if (issued === undefined || ended !== undefined || issued.compensates !== undefined || past.held !== undefined) return false;
  const tool = view.catalog.resolve(issued.tool)?.tool;
  if (tool === undefined) return false;
  if (past.job !== undefined) return true;
  const isSaid = past.said?.kind === "resolution" && reviews.wordRefusal(past.said) === undefined;
  return issued.effect !== "read" && past.begun && !isSaid && tool.reconcile !== undefined;
}
