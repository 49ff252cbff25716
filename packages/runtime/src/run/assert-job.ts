import { CallgateError } from "@callgate/contract";
import type { Journal, JournalEntry, RunRecord } from "@callgate/contract";
import { seqOf } from "./call-ids.ts";
import { readRecordedCalls } from "./recorded-calls.ts";
import { isOpen, standingOf } from "./standing.ts";

/**
 * Refuses the end of a job where no job can be waited for, with what is there. A call that is under way may become one:
 * what it began can be over before it is on record that it goes on in the background. The name of the tool whose job it is;
 * undefined when its end was told before.
 *
 * Errors: SIGNAL_REFUSED.
 */
export async function assertJob(journal: Journal, run: RunRecord, callId: string): Promise<string | undefined> {
  const { runId, principal: { tenant }, status } = run;
  const [entries, signals] = await Promise.all([journal.readEntries(tenant, runId), journal.readSignals(tenant, runId)]);
  if (signals.some((signal) => signal.kind === "job" && signal.callId === callId)) return undefined; // The first end counts, and is told.
  const why = notWaitedFor(run, entries, seqOf(callId));
  if (why !== undefined) throw new CallgateError("SIGNAL_REFUSED", `Nobody waits for the end of ${callId}: ${why}. Nothing was kept${status === "suspended" ? `; what the run waits for: callgate runs show ${runId}` : ""}`, { details: { callId } });
  return readRecordedCalls(entries, []).get(seqOf(callId))?.issued?.tool;
}

function notWaitedFor(run: RunRecord, entries: readonly JournalEntry[], seq: number): string | undefined {
  const { runId, status, waits } = run;
  if (!isOpen(run)) return `run ${runId} ${standingOf(run)}`;
  const call = readRecordedCalls(entries, []).get(seq);
  if (call?.issued === undefined) {
    const wait = waits.find((one) => one.seq === seq);
    return wait === undefined ? `the run has no call ${seq} on record` : `it is no call of a tool; the run waits for ${waited(wait)} there`;
  }
  if (call.ended !== undefined) return `${call.issued.tool} has ended (${call.ended.outcome})`;
  if (call.past.question !== undefined) return `${call.issued.tool} has not begun, for nobody has answered ${call.past.question.approvalId} yet`;
  return status === "suspended" && call.past.job === undefined ? `${call.issued.tool} has no background job` : undefined;
}

function waited(wait: RunRecord["waits"][number]): string {
  return wait.kind === "event" ? `the event "${wait.name}" (callgate runs signal)` : wait.kind === "timer" ? "the time" : `its ${wait.kind}`;
}
