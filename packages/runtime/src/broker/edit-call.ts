import { decodeValue, encodeValue } from "@callgate/contract";
import type { WireValue } from "@callgate/contract";
import type { Ended, ReadyCall } from "./call.ts";
import { freezeArguments } from "./frozen-arguments.ts";
import { isEnded } from "./is-ended.ts";
import { businessKeyOf, keyOf } from "./open-call.ts";
import { inputMarks } from "./pointers.ts";
import { replaceArguments } from "./replace-arguments.ts";
import { validateInput } from "./validate-input.ts";

/**
 * The call with other arguments: what a person put in the place of the program's. They pass the tool's schema as any do.
 *
 * The digest stays that of the program's: it is what the call is known by in a replay, in the run's record and to whoever
 * submits the same work again (docs/decisions/0005). A business key is that of what is performed.
 */
export async function editCall(call: ReadyCall, wire: WireValue): Promise<ReadyCall | Ended> {
  const { tool } = call;
  const given = freezeArguments(decodeValue(wire));
  const valid = await validateInput(call, tool, given);
  if (isEnded(valid)) return valid;
  const business = businessKeyOf(call, tool, valid.args);
  if (typeof business === "object") return business;
  return { ...replaceArguments(call, { args: valid.args, written: given }), key: keyOf(call, call.argsDigest, business), keyed: business !== undefined };
}

/** Notes what is performed in the place of what the program asked for. */
export function noteEdit(call: ReadyCall, { args, approvalId, by }: { readonly args: WireValue; readonly approvalId: string; readonly by: string }): void {
  const { seams, request, record, tool } = call;
  const value: unknown = decodeValue(args);
  record.add({ kind: "call-edited", atMs: seams.clock.now(), seq: request.seq, approvalId, by, args: seams.redactor.record(value, encodeValue(value), inputMarks(tool)) });
}
