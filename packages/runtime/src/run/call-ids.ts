import { CallgateError } from "@callgate/contract";

/** The run of a call: `run_...` of `run_....3`. Errors: RUN_NOT_FOUND for what is no id of a call. */
export function runOf(callId: string): string {
  const runId = /^(.+)\.\d+$/s.exec(callId)?.[1];
  if (runId === undefined) throw new CallgateError("RUN_NOT_FOUND", `${callId} is no call: the id of one is RUN.NUMBER, as callgate runs show and callgate jobs ls write it`, { details: { callId } });
  return runId;
}

/** The call's place in its run: 3 of `run_....3`. */
export function seqOf(callId: string): number {
  return Number(placeOf(callId));
}

/** The call's place in its run, as people read it; an id of another form is itself. */
export function placeOf(callId: string): string {
  return callId.slice(callId.lastIndexOf(".") + 1);
}
