/**
 * The bounds of one run. Each has a unit in its name and one error, `LIMIT_EXCEEDED` with `details.limit` = its name.
 * All are enforced outside the guest.
 */
export interface RunLimits {
  /** CPU time of the guest. Waiting on tools, timers or people is not counted. */
  readonly cpuMs: number;
  /** Wall time of the run without the time spent waiting for a person. */
  readonly wallMs: number;
  /** Memory of the guest, whole MiB. */
  readonly memoryMiB: number;
  /** Stack of the guest. */
  readonly stackKiB: number;
  /** UTF-8 bytes of the program text. */
  readonly sourceBytes: number;
  /** Tool calls in all. */
  readonly calls: number;
  /** Tool calls under way at once; more wait in a queue. */
  readonly concurrentCalls: number;
  /** Calls of one tool that fail in a row with the same code, and calls of the run that are denied, in all: with this one the run ends. */
  readonly likeFailures: number;
  /** Encoded arguments of one call. */
  readonly argumentBytes: number;
  /** Encoded result of one call as it enters the guest. */
  readonly callResultBytes: number;
  /** Console output of the run; what is beyond is counted and dropped. */
  readonly consoleBytes: number;
  /** Encoded final value of the run. */
  readonly resultBytes: number;
}

export type LimitName = keyof RunLimits;

export const defaultLimits: RunLimits = {
  cpuMs: 10_000,
  wallMs: 120_000,
  memoryMiB: 256,
  stackKiB: 256,
  sourceBytes: 256 * 1024,
  calls: 2_000,
  concurrentCalls: 20,
  likeFailures: 1_000,
  argumentBytes: 4 * 1024 * 1024,
  callResultBytes: 64 * 1024 * 1024,
  consoleBytes: 64 * 1024,
  resultBytes: 32 * 1024 * 1024,
};
