import type { CallError } from "./call-error.ts";
import type { RunFinish } from "./journal.ts";
import type { Handle } from "./run-result.ts";

/**
 * What is written down of an agent between its calls: a run of kind `agent`, which holds turns of its model as values
 * under handles. The calls of the agent are runs of their own.
 *
 * Nothing here throws: what the journal does not take is tried again with the next.
 */
export interface AgentRecord {
  readonly runId: string;
  /** Keeps plain data, redacted as every value of a run is: its summary in clear, itself sealed under the run's key. */
  keep(label: string, value: unknown): Handle;
  /** Does a call or program of the agent as a part of its span, where somebody traces. */
  within<Result>(work: () => Result): Result;
  /** Once; resolves when all of it is on record, or could not be. */
  end(finish: { readonly status: Extract<RunFinish["status"], "completed" | "failed" | "limit" | "cancelled">; readonly error?: CallError }): Promise<void>;
}
