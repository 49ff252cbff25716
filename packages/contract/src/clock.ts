/** Time as an argument. Implementations: the host's clock, a virtual one in tests. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Monotonic milliseconds, for durations. */
  monotonic(): number;
  /** Calls `fire` once after `delayMs`, unless cancelled. Never throws. */
  schedule(delayMs: number, fire: () => void): { cancel(): void };
}
