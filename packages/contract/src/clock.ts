/** Time as an argument. Implementations: the host's clock, a virtual one in tests. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /**
   * Monotonic milliseconds, for durations and leases. All processes of a machine count from the same moment until it starts
   * anew: a journal in a file tells by it whether a lease of another process is over, for the wall clock may be set.
   */
  monotonic(): number;
  /** Calls `fire` once after `delayMs`, unless cancelled. Never throws. */
  schedule(delayMs: number, fire: () => void): { cancel(): void };
}
