import type { AuditHold, AuditRow, AuditRowFilter, AuditVerdict, HoldScope, LedgerLine, VerifyOptions } from "./audit.ts";
import type { Asker } from "./principal.ts";

/** The record as those see it who answer for it (docs/guide/audit.md). Nothing of it is reachable from a model or a guest. */
export interface GateAudit {
  /** Reads the whole record, of all tenants, and says what was changed or removed behind Callgate's back. */
  verify(options?: VerifyOptions): Promise<AuditVerdict>;
  /** Erasures, removals, legal holds and what was said to runs, of the caller's tenant, newest first. Default limit 100. */
  ledger(options?: Asker & { readonly limit?: number }): Promise<readonly LedgerLine[]>;
  /** Keeps runs of the caller's tenant from being removed or erased. Errors: USAGE without a reason. */
  hold(hold: { readonly covers: HoldScope; readonly reason: string }, options?: Asker): Promise<AuditHold>;
  /** Errors: USAGE when there is none of that id, or it was released before. */
  release(holdId: string, options?: Asker): Promise<void>;
  holds(options?: Asker): Promise<readonly AuditHold[]>;
  /**
   * The audit trail of the caller's tenant: newest run first, and of a run its latest call. Read as it is asked for, one run
   * at a time, so that however many there are do not sit in memory. Must not be reachable from a model. Errors: USAGE for a
   * pattern that can match no tool, RUN_NOT_FOUND.
   */
  rows(filter?: AuditRowFilter, options?: Asker): AsyncIterable<AuditRow>;
  /** One row. Errors: RUN_NOT_FOUND, also when the run has no such call. */
  row(callId: string, options?: Asker): Promise<AuditRow>;
}
