import type { FrozenArguments, ReadyCall } from "./call.ts";
import { inputMarks, inputPointers } from "./pointers.ts";
import { sensitiveValues } from "./sensitive-values.ts";

/** The call with other arguments that fit its tool. What is sensitive of them no record of the call may hold. */
export function replaceArguments({ olderArgs: _olderArgs, ...call }: ReadyCall, { args, written }: { readonly args: FrozenArguments; readonly written: FrozenArguments }): ReadyCall {
  const secrets = sensitiveValues(args.value, inputPointers(call.tool));
  if (secrets.length > 0) call.state.sensitive = [...(call.state.sensitive ?? []), ...secrets];
  return { ...call, args, written, argsSummary: call.seams.redactor.summary(args.value, inputMarks(call.tool)) };
}
