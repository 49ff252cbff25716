/** The run of a call: `run_...` of `run_....3`; empty for what is no id of a call. */
export function runOf(callId: string): string {
  return callId.slice(0, Math.max(0, callId.lastIndexOf(".")));
}

/** The call's place in its run: 3 of `run_....3`. */
export function seqOf(callId: string): number {
  return Number(callId.slice(callId.lastIndexOf(".") + 1));
}
