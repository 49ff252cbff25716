import { CallgateError } from "@callgate/contract";
import type { RunLease } from "@callgate/contract";
import { maxSignals } from "./signal-codec.ts";

/** Another owner has the run: it was claimed since. */
export function fencedError({ runId, epoch }: RunLease, current: number): CallgateError {
  return new CallgateError("RUN_FENCED", `Run ${runId} was taken over by another owner (epoch ${current}, ours was ${epoch}). Nothing was written; the run goes on there`, { details: { runId, epoch, current } });
}

/** The lease is still the last one, but its owner gave the run up itself. */
export function givenUpError({ runId, epoch }: RunLease, status: string): CallgateError {
  return new CallgateError("RUN_FENCED", `Run ${runId} is ${status}: its owner gave it up, so nothing was written. Claim it to go on with it`, { details: { runId, epoch, status } });
}

/** The values of a run are sealed under another master key than the one this process has. */
export function keyLostError(runId: string, masterId: string): CallgateError {
  return new CallgateError(
    "JOURNAL_KEY_LOST",
    `Run ${runId} is sealed under the journal key ${masterId}, and this process has another one: its clear values cannot be read here, and it is left to a process that can. All processes of a journal need the same key file: restore it from a backup, or copy it from where the run began. Summaries stay readable without it`,
    { details: { runId, masterId } },
  );
}

export function notFoundError(runId: string): CallgateError {
  return new CallgateError("RUN_NOT_FOUND", `No run ${runId} is in the journal: it was never begun, or it was pruned`, { details: { runId } });
}

/** A run is told no more than this: whoever goes on with it reads all of it. */
export function signalLimitError(runId: string): CallgateError {
  return new CallgateError(
    "SIGNAL_LIMIT",
    `Run ${runId} was told ${maxSignals} things, and one run takes no more events than that (limit maxSignals). This one was not kept. Send many things as one event, or let a new run take the rest`,
    { details: { runId, limit: "maxSignals", limitValue: maxSignals } },
  );
}
