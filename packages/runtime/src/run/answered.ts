import type { DeliveredCall, GuestCompletion, RecordedValue } from "@callgate/contract";

/** A completion that is ready to be delivered, and what its record says of the call. */
export interface Answered {
  readonly seq: number;
  readonly call: DeliveredCall;
  readonly result: GuestCompletion["result"];
  /** Absent for tools: theirs is the broker's `call-ended`. */
  readonly answer?: RecordedValue;
}
