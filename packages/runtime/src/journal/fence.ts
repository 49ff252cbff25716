import { CallgateError } from "@callgate/contract";
import type { RunLease } from "@callgate/contract";

/** Another owner has the run: it was claimed since. */
export function fencedError({ runId, epoch }: RunLease, current: number): CallgateError {
  return new CallgateError("RUN_FENCED", `Run ${runId} was taken over by another owner (epoch ${current}, ours was ${epoch}). Nothing was written; the run goes on there`, { details: { runId, epoch, current } });
}

/** The lease is still the last one, but its owner gave the run up itself. */
export function givenUpError({ runId, epoch }: RunLease, status: string): CallgateError {
  return new CallgateError("RUN_FENCED", `Run ${runId} is ${status}: its owner gave it up, so nothing was written. Claim it to go on with it`, { details: { runId, epoch, status } });
}

export function notFoundError(runId: string): CallgateError {
  return new CallgateError("RUN_NOT_FOUND", `No run ${runId} is in the journal: it was never begun, or it was pruned`, { details: { runId } });
}
