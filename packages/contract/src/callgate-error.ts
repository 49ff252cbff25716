import type { JsonObject } from "./json.ts";

/**
 * Every code Callgate can throw: faults of ours or of the set-up. What a program or tool normally ends in is a value
 * (`CallOutcome`, `RunResult`), never thrown. docs/reference/errors.md is printed from this table.
 */
export const callgateErrorCodes = {
  CONFIG_INVALID: "The configuration is broken: the message names file, line, key and fix",
  USAGE: "The command line or the options of a library call are wrong",
  TOOL_INVALID: "A tool's declaration is wrong: name, schema or field",
  TOOL_DUPLICATE: "Two tools or namespaces claim the same name",
  NOT_TRUSTED: "Code or configuration from a folder was not trusted yet",
  SOURCE_FAILED: "A source could not be opened",
  JOURNAL_LOCKED: "Another process holds the journal for longer than we wait",
  JOURNAL_CORRUPT: "The journal file is damaged and was kept aside, or the record of a run in it is not what was written there, and the run is not gone on from; the message says which",
  JOURNAL_UNAVAILABLE: "The journal cannot be written: disk full, read-only or gone",
  JOURNAL_VERSION: "The journal was written by a newer Callgate",
  JOURNAL_KEY_LOST: "The key of the journal is gone or another one; clear values cannot be read, summaries can",
  RUN_NOT_FOUND: "No run of that id is visible to the caller",
  RUN_FENCED: "Another owner has taken the run over; what was to be written was not written, and the run goes on there",
  RUN_NOT_RESUMABLE: "The run cannot go on: it has ended, or what it needs is missing or has changed",
  RUN_HELD: "Another process is undoing what the run did; nothing is undone twice",
  LEGAL_HOLD: "A legal hold covers the run: nothing of it is removed or erased until the hold is released",
  SIGNAL_REFUSED: "What was said to a run answers no question it has: unknown, expired or answered before",
  SIGNAL_LIMIT: "A run was told as many things as one run takes (limit maxSignals); the event was not kept",
  NOT_APPROVER: "The command is for an approver, and no key of one was opened: a wrong passphrase, or no key here",
  REPLAY_UNAVAILABLE: "The run cannot be replayed: its recorded values are missing, erased or were never kept",
  PLAN_INVALID: "What was given is no plan, was changed by hand, or was asked for a change that it cannot take; nothing was done",
  PLAN_STALE: "What the plan was made against has changed: a tool's definition, the policy or the principal; nothing was done",
  PLAN_NOT_APPROVED: "The plan has no approval that counts: none, an expired one, or one that is not signed by who may; nothing was done",
  REHEARSED_ANSWERS: "Answers on the record are placeholders of a rehearsal, with which nothing new is called for real; nothing ran",
  REHEARSAL_REFUSED: "The program could change things without a tool where it would run, so that it cannot be rehearsed there; nothing ran",
  WORKFLOW_INVALID: "A workflow's files are wrong, or none can be made of the run: the message names the place and the fix",
  RECORDING_INVALID: "A recording is damaged or of another version, or none can be made of the run: with placeholders for its sensitive values the program takes another way",
  MOUNT_REFUSED: "A mount would give programs of a sandbox what they must not have, or cannot be made; nothing was started with it",
  DRIVER_FAILED: "A sandbox driver could not start or broke its contract",
  SESSION_ENDED: "The session has ended, or there is none of that name: its variables and files are gone",
  CHECKER_FAILED: "The checker crashed or ran out of its own bounds",
  CLOSED: "The gate was closed",
  ASSERTION: "An invariant of Callgate is broken; please report it",
} as const;

export type CallgateErrorCode = keyof typeof callgateErrorCodes;

const BRAND = Symbol.for("callgate.error");

/** The one error class Callgate throws. Branch on `code`; the message is for people. */
export class CallgateError extends Error {
  override readonly name = "CallgateError";
  readonly code: CallgateErrorCode;
  /** Facts for a log or a person. JSON-safe; never holds a secret. */
  readonly details: JsonObject;

  constructor(code: CallgateErrorCode, message: string, init: { readonly cause?: unknown; readonly details?: JsonObject } = {}) {
    super(message, { cause: init.cause });
    this.code = code;
    this.details = init.details ?? {};
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** True for a `CallgateError` from any copy of this package in the process. */
  static is(value: unknown): value is CallgateError {
    return value instanceof Error && BRAND in value;
  }
}
