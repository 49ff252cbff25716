import type { Clock } from "@callgate/contract";

/** The two times of a clock. */
export type BothTimes = Pick<Clock, "now" | "monotonic">;

/** When a lease is over: by the wall clock, for whoever is on another machine, and by the clock of the machine, which nobody sets. */
export interface LeaseEnd {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

export function leaseEnd(clock: BothTimes, leaseMs: number): LeaseEnd {
  return { wallMs: clock.now() + leaseMs, monotonicMs: clock.monotonic() + leaseMs };
}
