import type { JsonObject } from "./json.ts";

/**
 * Codes the gate itself gives to a call that did not end `ok`, or to a run that did not complete. A tool may fail with a code of its own (`ToolError`);
 * those are any UPPER_SNAKE word and are passed through unchanged.
 */
export const callErrorCodes = {
  TOOL_NOT_FOUND: "No tool of that name is visible to the caller",
  INVALID_INPUT: "The arguments do not match the tool's input schema",
  INVALID_OUTPUT: "The tool returned a value that does not match its output schema",
  DENIED: "Policy or a person refused the call; it did not happen and must not be retried",
  APPROVAL_UNAVAILABLE: "The call needs a person's approval and nobody can answer here; it did not happen",
  RESULT_WITHHELD: "The call took place, and policy or a person did not let the program have its result; `effectStatus` says what the call changed",
  JOB_END_REFUSED: "An end of the background job was told that does not count, for it was not signed by who may; how the job ended is not known",
  TOOL_HELD: "The tool's definition is not the one that was approved (callgate pins); the call did not happen",
  TOOL_FAILED: "The tool threw an error without a code",
  SECRET_REFUSED: "The arguments name a secret that this tool may not be given",
  TOOL_TIMEOUT: "The tool did not answer within its deadline",
  CANCELLED: "The call was cancelled before it ended",
  INTERCEPTOR_FAILED: "A stage of the host's own failed on the outcome of the call; the message says what is known of its effect",
  LIMIT_EXCEEDED: "A limit of the run, of the tool or of the caller was reached; `details` name it, and say when to call again where that is known",
  LIMIT_UNAVAILABLE: "What counts the caller's limits cannot be reached; the call did not happen",
  CIRCUIT_OPEN: "The source behind the tool failed several times in a row and is left alone for a while; the call did not happen, and `details.retryAfterMs` says when to call again",
  SOURCE_UNAVAILABLE: "The source behind the tool is down or could not be reached",
  VALUE_UNSUPPORTED: "A value cannot cross the wall between program and host",
  VALUE_TOO_LARGE: "A value is larger or deeper than the wall lets through",
  IDEMPOTENCY_MISMATCH: "The business key was already used in this task with other arguments; the call did not happen",
  EFFECT_UNKNOWN: "It is not known whether the write took effect, so it is not repeated; a person can settle it",
  EFFECT_ELSEWHERE: "The same write of the same task is under way in another run; this call did not happen",
  WAIT_TIMED_OUT: "The event the program waited for did not come in time",
  HANDLE_NOT_FOUND: "No such result handle is visible to the caller",
  HANDLE_REHEARSED: "The result is one of a rehearsal and may hold placeholders, so no program goes on with it",
  RUN_INTERRUPTED: "The process that ran the program ended before the run did; writes without a recorded end are unknown",
  PROGRAM_THREW: "The program threw an error that has no code of its own, and did not catch it",
  PROGRAM_STALLED: "The program awaits something that can no longer happen",
  SANDBOX_CRASHED: "The sandbox of the run ended unexpectedly",
  PLAN_DROPPED: "A person dropped this write from the plan that the run is pinned to; it did not happen",
  PLAN_DRIFT: "The program did something else than the approved plan says; it did not happen, nor anything after it",
  REHEARSAL_WAITS: "The rehearsed program waits for a person, an event or a long time; a rehearsal ends there, and nothing was changed",
  NEW_CALL: "A changed program made a call that the recorded run has no answer for, and was to stop there; nothing was called",
  REPLAY_DIVERGED: "The replayed program did something else than the recorded one",
  JOURNAL_LOCKED: "Another process keeps the journal locked, so that a write could not be written down before it is made; it did not happen",
  JOURNAL_UNAVAILABLE: "The journal cannot be written (disk full, read-only, damaged, gone), so that a write could not be written down before it is made; it did not happen",
  RUN_FENCED: "Another process has taken the run over; the call was not made here",
  INTERNAL: "A fault of Callgate itself; the id in the details finds it in the log",
} as const;

export type CallErrorCode = keyof typeof callErrorCodes;

/**
 * What a program, a model or a person is told about a call that did not end `ok`. It crosses walls as plain data.
 * It never holds a stack, a host path or a secret.
 */
export interface CallError {
  /** A `CallErrorCode`, or the tool's own code. */
  readonly code: string;
  /** One or two sentences: what happened, what did and did not take effect, what to do next. */
  readonly message: string;
  /** Qualified tool name, `namespace.tool`. */
  readonly tool: string;
  /** Whether calling again with the same arguments can help. */
  readonly retryable: boolean;
  /** JSON Pointer into the arguments (or the output), when one place is at fault. */
  readonly path?: string;
  readonly details?: JsonObject;
}

const BRAND = Symbol.for("callgate.tool-error");

export interface ToolErrorInit {
  /** UPPER_SNAKE, one of the tool's declared `errors` where it declares any. */
  readonly code: string;
  readonly message: string;
  /** Default false. */
  readonly retryable?: boolean;
  /** When the service behind the tool can be called again, e.g. its `Retry-After`: no retry comes sooner, and the caller is told in `details`. */
  readonly retryAfterMs?: number;
  /** True when the tool knows that nothing was changed; a write that fails without saying so is `unknown`. Default false. */
  readonly notApplied?: boolean;
  readonly details?: JsonObject;
  readonly cause?: unknown;
}

/** The error a tool's handler throws when it wants the program to see a code. */
export class ToolError extends Error {
  override readonly name = "ToolError";
  readonly code: string;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly notApplied: boolean;
  readonly details: JsonObject | undefined;

  constructor(init: ToolErrorInit) {
    super(init.message, { cause: init.cause });
    this.code = init.code;
    this.retryable = init.retryable ?? false;
    this.retryAfterMs = init.retryAfterMs;
    this.notApplied = init.notApplied ?? false;
    this.details = init.details;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** True for a `ToolError` from any copy of this package in the process. */
  static is(value: unknown): value is ToolError {
    return value instanceof Error && BRAND in value;
  }
}
