import type { DeliveredCall, GuestCall, GuestCompletion, RecordedValue } from "@callgate/contract";
import { digestOfWire } from "../lib/digest.ts";

/** A completion that is ready to be delivered, and what its record says of the call. */
export interface Answered {
  readonly seq: number;
  readonly call: DeliveredCall;
  readonly result: GuestCompletion["result"];
  /** Absent for tools: theirs is the broker's `call-ended`. */
  readonly answer?: RecordedValue;
  /** The program's clock at a recorded answer. Default: the time of its delivery. */
  readonly atMs?: number;
}

/** Of a built-in: what it was answered goes into the record with it. */
export function builtinAnswered({ seq, name, args }: Extract<GuestCall, { kind: "builtin" }>, result: GuestCompletion["result"]): Answered {
  // Kept as it was answered, error or value, for replay reads it back.
  const clear = { json: JSON.stringify(result), tagged: false };
  const answer: RecordedValue = { digest: digestOfWire(clear), summary: null, clear };
  return { seq, call: { kind: "builtin", name, argsDigest: digestOfWire(args) }, result, answer };
}
