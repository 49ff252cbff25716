import type { Digest, JsonValue } from "./json.ts";
import type { EffectStatus, OutcomeKind, RunStatus } from "./outcome.ts";
import type { Principal } from "./principal.ts";
import type { SimulatedBy } from "./simulation.ts";
import type { Effect } from "./tool-spec.ts";

/**
 * What verification can find. `…-changed`: it is not what was written, or not where it was written. `…-missing`: it is
 * gone, and no removal of it is on record. `run-unlisted`: the ledger knows no beginning of it. `run-returned`: it is
 * there although its removal is on record. `payload-missing`: sealed values are gone, and no erasure is on record.
 * `key-unknown`: written under another journal key than the one there is. `checkpoint`: the record is not a continuation
 * of the checkpoint: an older copy was put in its place, or its end was cut off.
 */
export type AuditFault =
  | "entry-changed"
  | "entry-missing"
  | "run-changed"
  | "run-missing"
  | "run-unlisted"
  | "run-returned"
  | "payload-missing"
  | "signal-changed"
  | "ledger-changed"
  | "ledger-missing"
  | "hold-changed"
  | "grant-changed"
  | "key-unknown"
  | "checkpoint";

/** One thing that is wrong with the record, and where. */
export interface AuditFinding {
  readonly fault: AuditFault;
  readonly runId?: string;
  /** Of the first entry of the row in its run, or of the line in its lane of the ledger; from 0 and from 1. */
  readonly position?: number;
  /** Of the ledger: 0 in SQLite, one for each writer in PostgreSQL. */
  readonly lane?: number;
  /** For people. */
  readonly message: string;
}

/**
 * How far a record had come: kept elsewhere, it finds that an older copy was put in place of the record, or that its end
 * was cut off together with what tells of it.
 */
export interface AuditCheckpoint {
  readonly atMs: number;
  /** Last line of each lane of the ledger, and its stamp in base64url. */
  readonly lanes: readonly { readonly lane: number; readonly position: number; readonly stamp: string }[];
}

/** What verification came to. */
export interface AuditVerdict {
  /** Whether nothing was found. */
  readonly ok: boolean;
  /** Entries of runs that are chained. */
  readonly entries: number;
  readonly runs: number;
  /** Without an end on record: under way, waiting, or lost with their process. */
  readonly openRuns: number;
  /** Written by a version that did not chain: nothing can be said of them. */
  readonly unchainedRuns: number;
  readonly erasedRuns: number;
  /** Runs whose removal is on record. */
  readonly removedRuns: number;
  /** Lines of the ledger. */
  readonly ledgerLines: number;
  /** The first hundred. */
  readonly findings: readonly AuditFinding[];
  readonly findingCount: number;
  readonly checkpoint: AuditCheckpoint;
}

/** A legal hold: what it covers is neither removed nor erased until it is released. */
export interface AuditHold {
  readonly holdId: string;
  readonly tenant: string;
  readonly covers: HoldScope;
  readonly reason: string;
  readonly by: string;
  readonly placedAtMs: number;
  readonly released?: { readonly by: string; readonly atMs: number };
}

/** Runs of the tenant for which all that is given holds. Nothing given: all of them. */
export interface HoldScope {
  readonly runId?: string;
  readonly user?: string;
  readonly agent?: string;
  readonly task?: string;
  /** Runs that started then or later, and before then; milliseconds since the epoch. */
  readonly fromMs?: number;
  readonly untilMs?: number;
}

/** What the ledger says beside beginnings and ends of runs: what people did to the record. */
export type LedgerEvent =
  /** The first line. What was recorded before is not chained. */
  | { readonly kind: "ledger-began"; readonly unchainedRuns: number }
  | { readonly kind: "lane-opened"; readonly lane: number; readonly owner: string }
  /** `from`: position of the first chained entry; 0 unless it began before the record was chained. */
  | { readonly kind: "run-began"; readonly runId: string; readonly user: string; readonly from: number }
  | { readonly kind: "run-ended"; readonly runId: string; readonly status: RunStatus; readonly entries: number; readonly stamp: string }
  /** What was said to a run: an answer to a question, an event. */
  | { readonly kind: "run-told"; readonly runId: string; readonly position: number; readonly what: string; readonly by: string; readonly stamp: string }
  | { readonly kind: "run-erased"; readonly runId: string; readonly by: string }
  | { readonly kind: "runs-removed"; readonly runs: readonly { readonly runId: string; readonly entries: number; readonly stamp: string }[]; readonly by: string; readonly reason: string }
  /** Lines up to that one were removed from the ledger itself; the stamp is that of the last of them. */
  | { readonly kind: "ledger-cut"; readonly lane: number; readonly upTo: number; readonly stamp: string; readonly runs: number; readonly by: string; readonly reason: string }
  | { readonly kind: "hold-placed"; readonly hold: AuditHold }
  | { readonly kind: "hold-released"; readonly holdId: string; readonly by: string }
  /** `digest`: of all of it. */
  | { readonly kind: "grant-given"; readonly grantId: string; readonly tool: string; readonly digest: Digest; readonly expiresAtMs: number; readonly by: string }
  | { readonly kind: "grant-used"; readonly grantId: string; readonly callId: string }
  | { readonly kind: "grant-revoked"; readonly grantId: string; readonly by: string };

/** A line of the ledger for people: what was done to the record, when. */
export interface LedgerLine {
  readonly atMs: number;
  readonly event: LedgerEvent;
}

export interface VerifyOptions {
  /** Made earlier: the record must go on from it. */
  readonly checkpoint?: AuditCheckpoint;
  readonly signal?: AbortSignal;
  /** Heard now and then: entries looked at. */
  readonly onProgress?: (progress: { readonly entries: number; readonly runs: number }) => void;
}

/** The audit side of a journal (docs/guide/audit.md). */
export interface JournalAudit {
  /**
   * Reads the whole record, of all tenants, and checks every stamp. Runs may be written meanwhile. Takes about 100 bytes
   * of memory for each run. Errors: what `signal` was aborted with.
   */
  verify(options?: VerifyOptions): Promise<AuditVerdict>;
  /** Erasures, removals, holds, grants and what was said to runs of a tenant, newest first. Default limit 100. */
  ledger(tenant: string, options?: { readonly limit?: number }): Promise<readonly LedgerLine[]>;
  hold(hold: Omit<AuditHold, "holdId" | "placedAtMs" | "released">): Promise<AuditHold>;
  /** Errors: USAGE when there is none of that id, or it was released before. */
  release(tenant: string, holdId: string, by: string): Promise<void>;
  /** Released ones too; newest first. */
  holds(tenant: string): Promise<readonly AuditHold[]>;
}

/** A value of which only what may be read is told. */
export interface AuditValue {
  readonly digest: Digest;
  readonly summary: JsonValue;
}

/**
 * A line of the audit trail: a call with its decision and what became of it, or the review of a program. It is made from
 * the record of its run when it is asked for; nothing is written a second time.
 */
export interface AuditRow {
  /** Of the call; `<run>.program` of a review. */
  readonly callId: string;
  readonly kind: "call" | "review";
  readonly runId: string;
  /** Who (`agent`), and on whose behalf (`user`). */
  readonly principal: Pick<Principal, "tenant" | "user" | "agent" | "task" | "roles">;
  /** Of what the guest executed. Absent: a direct call, or a program that was not let through. */
  readonly programDigest?: Digest;
  /** Qualified name; "program" for a review. */
  readonly tool: string;
  readonly definitionDigest?: Digest;
  readonly effect: Effect;
  /** As the program wrote them. */
  readonly args?: AuditValue;
  /** What was performed in place of that, and who put it there: a person, or an interceptor. */
  readonly performed?: AuditValue & { readonly by: string };
  /** Absent: the call ended before anything was decided. */
  readonly decision?: { readonly kind: "allow" | "ask" | "deny"; readonly ruleId: string; /** Sealed in the record: not exported. */ readonly reason?: string; readonly unobserved?: "ask" | "deny" };
  /** The question, the standing grant or the item of the run's approved plan, and who answered, gave or approved it. */
  readonly approval?: { readonly approvalId?: string; readonly planItem?: string; readonly grantId?: string; readonly by?: string };
  /** Where policy had a say in whether the program got the result: it did, or it did not, and by whose word. */
  readonly release?: { readonly released: boolean; readonly ruleId: string; readonly by: string; readonly approvalId?: string };
  /** `open`: no end is recorded. */
  readonly outcome: OutcomeKind | "open";
  /** The last that is known of it. */
  readonly effectStatus: EffectStatus;
  readonly result?: AuditValue;
  readonly error?: { readonly code: string; /** Sealed in the record: not exported. */ readonly message: string };
  readonly atMs: number;
  readonly endedAtMs?: number;
  /** Without the time a person took. */
  readonly durationMs?: number;
  readonly attempts?: number;
  readonly cached?: boolean;
  /** The interceptor whose answer it is; the tool was not called. */
  readonly answeredBy?: string;
  /** It was rehearsed, not made: its answer was a placeholder. */
  readonly simulated?: SimulatedBy;
  readonly idempotencyKey?: string;
  /** The call whose effect this one undoes. */
  readonly undoes?: string;
  /** How an effect that was unknown became known, and who said so. */
  readonly settled?: { readonly how: "late" | "reconciled" | "repeated" | "person" | "nobody"; readonly by?: string };
}

/** Rows for which all that is given holds. */
export interface AuditRowFilter {
  readonly runId?: string;
  /** Qualified name, or a pattern as in rules: `crm.*`, `*.delete_*`. */
  readonly tool?: string;
  readonly user?: string;
  readonly agent?: string;
  readonly task?: string;
  readonly outcome?: AuditRow["outcome"];
  readonly decision?: "allow" | "ask" | "deny";
  /** Rows from then on, and before then; milliseconds since the epoch. */
  readonly fromMs?: number;
  readonly untilMs?: number;
}
