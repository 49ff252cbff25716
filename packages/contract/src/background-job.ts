import type { JsonValue } from "./json.ts";

const JOB_BRAND = Symbol.for("callgate.background-job");

/**
 * A tool returns this when its work goes on after the handler has returned. The call stays open, and the run may be
 * suspended, until `poll` of the tool, or a signal, tells how the job ended. `token` finds the job again; JSON-safe, at
 * most 4 KiB, and no secret, for it is journalled in clear.
 */
export class BackgroundJob {
  readonly token: JsonValue;
  /** When to ask the tool's `poll` for the first time. Default 5,000. Ignored when the tool has none. */
  readonly pollAfterMs: number;
  /** How long it may take. Default seven days; then the call ends as timed out, its effect unknown. */
  readonly maxMs: number;

  constructor(token: JsonValue, options: { readonly pollAfterMs?: number; readonly maxMs?: number } = {}) {
    this.token = token;
    this.pollAfterMs = options.pollAfterMs ?? 5_000;
    this.maxMs = options.maxMs ?? 7 * 24 * 3_600_000;
    Object.defineProperty(this, JOB_BRAND, { value: true });
  }

  /** True for a `BackgroundJob` from any copy of this package in the process. */
  static is(value: unknown): value is BackgroundJob {
    return typeof value === "object" && value !== null && JOB_BRAND in value;
  }
}
