import type { AuditHold, KeptGrant } from "@callgate/contract";
import type { Row } from "./columns.ts";

/** A call that a grant has let through. */
export interface KeptGrantUse {
  readonly grantId: string;
  readonly callId: string;
}

type Maybe<T> = T | Promise<T>;

/** The rows of a record as they are, for whoever verifies them. Nothing is opened. */
export interface RecordRows {
  /** The next runs in the order they began, after the number `run_no` of one. */
  runs(after: number, limit: number): Maybe<readonly Row[]>;
  run(runId: string): Maybe<Row | undefined>;
  /** Rows of entries of these runs, in order, each with its run's `run_no`. After a position: of one run only, and at most `limit`. */
  entries(runs: readonly Row[], page?: { readonly after: number; readonly limit: number }): Maybe<readonly Row[]>;
  /** What was said to these runs, each with its `run_id`. */
  signals(runIds: readonly string[]): Maybe<readonly Row[]>;
  lanes(): Maybe<readonly number[]>;
  /** Lines of a lane after a position. */
  lines(lane: number, after: number, limit: number): Maybe<readonly Row[]>;
  holds(): Maybe<readonly AuditHold[]>;
  grants(): Maybe<readonly KeptGrant[]>;
  grantUses(): Maybe<readonly KeptGrantUse[]>;
}
