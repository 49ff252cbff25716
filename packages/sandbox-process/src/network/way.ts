import type { DoorRecord } from "./door-record.ts";
import type { NetworkPolicy } from "./network-policy.ts";

/** What every way out of a guest has in common: who decides, and where it is written down. */
export interface Way {
  readonly policy: NetworkPolicy;
  readonly record: DoorRecord;
}

/** Why a program's connection was not made, as HTTP. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
}
