import type { Artifact, ArtifactInput } from "./artifact.ts";
import type { BackgroundJob } from "./background-job.ts";
import type { CallCost } from "./budgets.ts";
import type { JsonObject, JsonSchema, JsonValue } from "./json.ts";
import type { Principal } from "./principal.ts";
import type { DetectorSwitches } from "./redactor.ts";
import type { TraceContext } from "./trace-context.ts";

/** What calling a tool may do to the world. Unknown counts as `write`. */
export type Effect = "read" | "write" | "destructive";

/** A label that follows data, e.g. `untrusted`, `private`, `external`. */
export type Label = string;

export interface ToolExample {
  readonly description?: string;
  readonly input: JsonObject;
  readonly output?: unknown;
}

/** A failure the tool announces, so that a program can branch on it. */
export interface ToolErrorSpec {
  /** UPPER_SNAKE. */
  readonly code: string;
  readonly description: string;
  readonly retryable?: boolean;
}

/** Only for tools for which repeating a failed call is safe. */
export interface RetrySpec {
  /** Attempts after the first, 1 to 10. */
  readonly retries: number;
  /** First wait; doubles each time, with jitter. Default 200. */
  readonly minDelayMs?: number;
  /** Default 5,000. A service that asks for a longer pause (`ToolError.retryAfterMs`) is not tried again by the same call. */
  readonly maxDelayMs?: number;
}

/** Only for tools whose answer for equal arguments and principal may be reused. */
export interface CacheSpec {
  readonly ttlMs: number;
}

/** What one attempt costs at most. What it really cost, the tool may report (`ToolContext.reportCost`). */
export interface CostSpec {
  /** Millionths of a US dollar. */
  readonly microUsdPerCall?: number;
  /** Tokens of a model behind the tool. */
  readonly tokensPerCall?: number;
}

/** Everything a tool declares, without its code. Static: read once at registration. */
export interface ToolSpec {
  /** Within its namespace, as written by its author; the catalog derives the identifier from it. */
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  /** One sentence for search and for the model: in which situation to reach for it. */
  readonly whenToUse?: string;
  readonly input: JsonSchema;
  readonly output?: JsonSchema;
  readonly effect: Effect;
  readonly tags: readonly string[];
  /** What the caller must hold, as words a policy understands. */
  readonly permissions: readonly string[];
  readonly labels: readonly Label[];
  /** Names of secrets that it may be given as `secret://NAME`: the host's word, not the tool's. */
  readonly secrets?: readonly string[];
  readonly version: string;
  /** Why not to use it, and what to use instead. */
  readonly deprecated?: string;
  /** Deadline of one attempt. */
  readonly timeoutMs: number;
  readonly retry?: RetrySpec;
  readonly cache?: CacheSpec;
  /** Repeating it under the same idempotency key changes nothing more. A write of unknown effect is then repeated, not asked about. */
  readonly idempotent?: boolean;
  /**
   * For reads with large results: one of more than 32 Ki characters of JSON is not kept in the journal. When its run goes
   * on after a pause the call is made again, and a difference is told; such a run cannot be replayed. Default false.
   */
  readonly reread?: boolean;
  /**
   * Gives its result page by page: the output is `{ page, next? }`, where `next` holds the arguments that differ in the call
   * of the next page. Programs then have `tool.pages(input)`, each page of which is a call of the tool. Default false.
   */
  readonly paged?: boolean;
  /** Calls of this tool under way at once in one gate. */
  readonly concurrency?: number;
  readonly cost?: CostSpec;
  readonly examples: readonly ToolExample[];
  readonly errors: readonly ToolErrorSpec[];
  /** JSON Pointers into input (`/input/...`) or output (`/output/...`); `*` stands for every item. */
  readonly sensitive?: readonly string[];
  /**
   * Detectors (`DetectorName`) switched off or on at and below JSON Pointers as in `sensitive`: an order number that could
   * be a card, a note in which names of mailboxes are wanted.
   */
  readonly detect?: Readonly<Record<string, DetectorSwitches>>;
}

/** What a handler is given beside its arguments. */
export interface ToolContext {
  /** Aborted at the deadline, on cancel and when the run ends. Honour it. */
  readonly signal: AbortSignal;
  readonly principal: Principal;
  readonly runId: string;
  readonly callId: string;
  /** Stable over retries, resumes and resubmission of the same task (DESIGN P6). Hand it to the service behind the tool. */
  readonly idempotencyKey: string;
  readonly log: ToolLogger;
  /** Where the call stands in a trace, to be sent along with what it asks of others. Absent: nobody traces it. */
  readonly trace?: TraceContext | undefined;
  /** Reports progress. `fraction` is 0 to 1 when known. */
  progress(message: string, fraction?: number): void;
  /**
   * Says what the call really cost, e.g. what a model behind the tool charged. Reports of one call are added up and stand in
   * for what the tool declares. Numbers that are not from 0 on are left out.
   */
  reportCost(cost: Partial<CallCost>): void;
  /** Waits for a person: what that takes is none of the call's deadline. Absent in hooks, and where nobody keeps that time. */
  waitForPerson?<Waited>(wait: () => Promise<Waited>): Promise<Waited>;
  /** Adds a file or picture to the call's result. Resolves once it is stored. */
  attach(artifact: ArtifactInput): Promise<Artifact>;
}

export interface ToolLogger {
  debug(message: string, fields?: JsonObject): void;
  info(message: string, fields?: JsonObject): void;
  warn(message: string, fields?: JsonObject): void;
  error(message: string, fields?: JsonObject): void;
}

/**
 * The code of a tool. Only `handler` is needed.
 *
 * All hooks get the same frozen snapshot of the arguments that was validated. `precheck`, `simulate` and `reconcile`
 * must not change anything. Any of them may throw a `ToolError`; other throws become `TOOL_FAILED`.
 */
export interface ToolHooks<Input = unknown, Output = unknown> {
  handler(args: Input, context: ToolContext): Promise<Output> | Output;
  /** Read-only test that the call can succeed (the record exists, is yours), before anyone is asked. Throws `ToolError` if not. */
  precheck?(args: Input, context: ToolContext): Promise<void> | void;
  /** The short form of an output that is over the token budget. Itself budgeted. */
  summarize?(output: Output): unknown;
  /** A plausible output without doing it, for rehearsal. */
  simulate?(args: Input, context: ToolContext): Promise<Output> | Output;
  /** Undoes the effect of a call that is `done`. */
  compensate?(args: Input, output: Output, context: ToolContext): Promise<void> | void;
  /** Finds out whether a call that is `unknown` took effect. */
  reconcile?(args: Input, context: ToolContext): Promise<ReconcileAnswer<Output>> | ReconcileAnswer<Output>;
  /** Asks how a background job stands that the handler started (`BackgroundJob`). Must not change anything. */
  poll?(token: JsonValue, context: ToolContext): Promise<PollAnswer<Output>> | PollAnswer<Output>;
  /**
   * Stops a background job: somebody cancelled it, or its run was. Called once, as far as one can tell; a job that has ended
   * meanwhile is no error. `notApplied` says that nothing was changed, for certain; else the effect of a write is unknown.
   */
  cancelJob?(token: JsonValue, context: ToolContext): Promise<JobCancelled | undefined | void> | JobCancelled | undefined | void;
  /** The caller's name for the record a write makes, so that the same task submitted again finds it. */
  businessKey?(args: Input): string | undefined;
}

export type ReconcileAnswer<Output = unknown> =
  | { readonly kind: "happened"; readonly output: Output }
  | { readonly kind: "did_not_happen" }
  /** It goes on outside: the call waits for its end, as if the handler had said so. */
  | { readonly kind: "goes_on"; readonly job: BackgroundJob }
  | { readonly kind: "unknown" };

export type PollAnswer<Output = unknown> =
  /** `notApplied`: it is known that nothing was changed. */
  | { readonly kind: "done"; readonly output: Output; readonly notApplied?: boolean }
  | { readonly kind: "failed"; readonly code: string; readonly message: string }
  /** `message` and `fraction` (0 to 1) are told as the call's progress. */
  | { readonly kind: "pending"; readonly pollAfterMs?: number; readonly message?: string; readonly fraction?: number };

export interface JobCancelled {
  readonly notApplied: boolean;
}

/**
 * An interface that a tool had before and still answers to: for programs and workflows that were checked against it. Inside
 * the gate such a call is one of the tool as it is now: policy, people, limits and the tool see today's form of it.
 *
 * The three functions are synchronous and change nothing; what they are given is frozen, or theirs alone.
 */
export interface OlderVersion {
  /** As the tool's `version` was. */
  readonly version: string;
  readonly input: JsonSchema;
  readonly output?: JsonSchema;
  /** As `ToolSpec.sensitive`, of this form. Default: all of each side of which the tool says that anything is sensitive. */
  readonly sensitive?: readonly string[];
  /** Arguments of then as those of now. Default: they are the same. */
  upgrade?(args: unknown): unknown;
  /** An answer of now as one of then. Default: it is the same. */
  downgrade?(output: unknown): unknown;
  /** The way back: the answer that `downgrade` made this of, for `compensate`. Without it what was done is not undone where there is a `downgrade`. */
  restore?(output: unknown): unknown;
}

/** A tool made of functions: declaration, code, and the validators its author wrote. */
export interface Tool extends ToolSpec, ToolHooks {
  /** Interfaces it had before. Not part of its definition: keeping one changes nothing for anybody else. */
  readonly older?: readonly OlderVersion[];
  /** The author's own schema's validation (Standard Schema), run after the JSON Schema; may transform the arguments. */
  readonly parseInput?: (value: unknown) => Promise<ParseResult> | ParseResult;
  readonly parseOutput?: (value: unknown) => Promise<ParseResult> | ParseResult;
}

export type ParseResult =
  | { readonly kind: "ok"; readonly value: unknown }
  | { readonly kind: "invalid"; readonly issues: readonly ParseIssue[] };

export interface ParseIssue {
  readonly message: string;
  /** JSON Pointer into the value. */
  readonly path: string;
}
