import type { AgentRecord } from "./agent-record.ts";
import type { CallOutcome } from "./outcome.ts";
import type { BudgetView, CallCost } from "./budgets.ts";
import type { CircuitView } from "./call-limits.ts";
import type { CallError } from "./call-error.ts";
import type { Capabilities, RunParent } from "./capabilities.ts";
import type { AnswerSigner } from "./approval.ts";
import type { Lane, UnavailableNamespace } from "./checker.ts";
import type { GateGrants } from "./grant.ts";
import type { GateEvent } from "./gate-event.ts";
import type { GuestConsoleEntry } from "./guest-frames.ts";
import type { Digest, JsonValue } from "./json.ts";
import type { LearnedOutput } from "./learned-output.ts";
import type { JournalEntry, OnFailure, PruneResult, RunFilter, RunRecord } from "./journal.ts";
import type { RunLimits } from "./limits.ts";
import type { Caller, Principal } from "./principal.ts";
import type { RunExplanation } from "./explanation.ts";
import type { GateAudit } from "./gate-audit.ts";
import type { RunLineage } from "./lineage.ts";
import type { Handle, RunResult, ShapedValue } from "./run-result.ts";
import type { ProgramLanguage, SessionStatus } from "./sandbox-driver.ts";
import type { GatePlans, Plan } from "./plan.ts";
import type { SourcePassThrough, SourceState } from "./source.ts";
import type { GateApprovals } from "./gate-approvals.ts";
import type { GatePolicy } from "./gate-policy.ts";
import type { GateTimeTravel } from "./gate-time-travel.ts";
import type { TaskTemplate } from "./task-template.ts";
import type { ToolSpec } from "./tool-spec.ts";

/** How much a search shows: the namespaces alone, names, one line, the signature, all. */
export type ToolDetail = "namespace" | "name" | "line" | "signature" | "full";

/** A tool as a caller finds it. What the caller may not call is never among these. */
export interface ToolView {
  /** Qualified identifier: what a program writes after `tools.` */
  readonly name: string;
  readonly namespace: string;
  readonly spec: ToolSpec;
  /** First sentence of the description. */
  readonly line: string;
  /** TypeScript signature, one line. */
  readonly signature: string;
  /** What it was seen to answer, where it declares no output and has been called. */
  readonly learned?: LearnedOutput;
  readonly definitionDigest: Digest;
  readonly interfaceDigest: Digest;
}

export interface SearchHit extends ToolView {
  /** Comparable within one answer only. */
  readonly score: number;
}

export interface SearchOptions extends Caller {
  /** Default 10. */
  readonly limit?: number;
  readonly namespace?: string;
  /** Which of the tools that the caller may call exist for who asks: the others take no place. Default: all. */
  readonly allows?: (tool: string) => boolean;
  /** Hears what the answer lacks: that an embedding model which is configured did not answer, so that words alone were compared. Must not throw. */
  readonly onNotice?: (message: string) => void;
}

/** What a caller is shown of a large catalog first. */
export interface FoundNamespace {
  readonly namespace: string;
  /** One line on what is behind it. */
  readonly purpose?: string;
  /** Tools there are for who asks. */
  readonly toolCount: number;
}

export interface NamespaceView {
  readonly namespace: string;
  readonly kind: string;
  readonly purpose: string | undefined;
  readonly state: SourceState;
  /** Tools the caller can see. */
  readonly toolCount: number;
  /** Set where the tools are not known because the source cannot be reached, for a caller who may call some of them. */
  readonly unavailable?: UnavailableNamespace;
  /** Its circuit breaker, where that is not closed: calls are refused for a while. */
  readonly circuit?: CircuitView;
}

/** Who says what became of a call. Where the gate knows the keys of approvers it counts only with a signature. */
interface Speaker extends Caller {
  /** Default: the `signer` of the gate's `approvals`. The name on the record is the signer's. */
  readonly signer?: AnswerSigner;
}

/** A caller that reads what comes back. */
interface Reader extends Caller {
  /**
   * Names whose context the answers go into, such as a client's connection or an agent's session, of this user. What has
   * been read in it counts for every later call of it, also of another run.
   */
  readonly conversation?: string;
}

export interface RunOptions extends Reader {
  /** Default `typescript`, which also takes JavaScript. */
  readonly language?: ProgramLanguage;
  /** Default `execute`. */
  readonly lane?: Lane;
  readonly limits?: Partial<RunLimits>;
  /** What the model may see of the run, in o200k tokens over all channels. Default 2,000. */
  readonly budgetTokens?: number;
  /** Names the piece of work: submitted again under the same id, keyed writes keep their keys (DESIGN P6). */
  readonly taskId?: string;
  /** 32 hex digits; default random. */
  readonly seed?: string;
  /** What becomes of the effects when the run does not complete. Default `compensate` (DESIGN P7). */
  readonly onFailure?: OnFailure;
  /** `keep`: what the run asks a person waits for `approvals.answer`, whoever the gate would ask otherwise. */
  readonly questions?: "keep";
  /**
   * How long the guest is kept alive when all it waits for is a person, an event, a job or the time. After that the run
   * is suspended and its result says `suspended`. Default 2,000; Infinity waits alive, however long it takes.
   */
  readonly suspendAfterMs?: number;
  /**
   * The session in which the text runs as its next block; see `Gate.sessions`. Its language is the session's. Errors:
   * SESSION_ENDED.
   */
  readonly session?: string;
  /**
   * Runs it with live reads and without a single write: what may write passes every check and is answered by a placeholder
   * (docs/guide/plans.md). Policy's word on each is recorded, nobody is asked. Default false. Errors: REHEARSAL_REFUSED, and
   * USAGE together with `session`.
   */
  readonly rehearse?: boolean;
  /** What its calls keep to, whatever the policy allows beyond. */
  readonly capabilities?: Capabilities;
  /**
   * Interfaces that it was checked against before, by qualified name: a tool that has another one by now and keeps that
   * (`OlderVersion`) is called as that version. One that does not keep it is as it is now, and the check says whether that fits.
   */
  readonly interfaces?: Readonly<Record<string, Digest>>;
  /** The call on whose behalf it runs: what has been read there counts here, and the other way round. */
  readonly parent?: RunParent;
  /** Hears what the program prints as it comes: all that is within `consoleBytes`, whatever the budget of the result. Must not throw. */
  readonly onOutput?: (entries: readonly GuestConsoleEntry[]) => void;
}

/** How a plan is applied. Language, lane, seed and program are the plan's. */
export type ApplyOptions = Pick<RunOptions, "principal" | "signal" | "conversation" | "limits" | "budgetTokens" | "questions" | "suspendAfterMs" | "onOutput"> & {
  /** What becomes of the effects when the run does not complete. Default `keep`: undoing is no part of the plan. */
  readonly onFailure?: OnFailure;
};

/** A session as its owner sees it. */
export interface SessionView extends SessionStatus {
  readonly principal: Principal;
  /** The sandbox it is in. */
  readonly driver: string;
  readonly openedAtMs: number;
  readonly memoryMiB: number;
  readonly idleMs: number;
  readonly totalMs: number;
}

export interface OpenSessionOptions extends Caller {
  /** One whose state a sandbox here keeps. Default `python`. */
  readonly language?: ProgramLanguage;
  /** Memory of the session as a whole. Default: the gate's `limits.memoryMiB`. */
  readonly memoryMiB?: number;
  /** It ends when no block ran for so long. Default 30 minutes. */
  readonly idleMs?: number;
  /** It ends so long after it was opened. Default 8 hours. */
  readonly totalMs?: number;
  /** What it is called: letters, digits, `-` and `_`. Default: a new id. */
  readonly sessionId?: string;
}

export interface ResumeOptions extends Caller {
  readonly suspendAfterMs?: number;
  /** Goes on although tools or policy have changed since the check. Default false: what changed is told instead. */
  readonly acceptChanges?: boolean;
  /**
   * Once it aborts the run is given back for another process to take: what is under way comes to its end first, so that
   * nothing is left in doubt, and the run comes back `suspended`. `signal` of the same call cancels it instead. A program
   * that cannot be executed a second time goes on to its end.
   */
  readonly leave?: AbortSignal;
}

/** A background job: the work of a call that goes on without its handler. */
export interface JobView {
  /** Its handle: RUN.NUMBER. */
  readonly callId: string;
  readonly runId: string;
  readonly tool: string;
  readonly startedAtMs: number;
  /** When it is given up. */
  readonly untilMs: number;
  /** What the tool finds it by. */
  readonly token: JsonValue;
}

/** Works off runs of the journal until it is stopped. */
export interface RunWorker {
  /** Takes no new run, lets those under way come to a point at which another process can go on, and resolves. */
  stop(): Promise<void>;
}

export interface CallOptions extends Reader {
  readonly lane?: Lane;
  /** `refuse`: nobody is asked; a call that a person would have to allow ends as APPROVAL_UNAVAILABLE. */
  readonly questions?: "refuse";
  readonly budgetTokens?: number;
  readonly taskId?: string;
}

/** A direct call and the run that records it. */
export interface CallResult {
  readonly runId: string;
  readonly callId: string;
  readonly outcome: CallOutcome;
  /** The value within the budget, when `ok`. */
  readonly shaped?: ShapedValue;
  readonly artifacts: RunResult["artifacts"];
  /** Where the tool declares or reports any. */
  readonly cost?: CallCost;
}

export interface ReadOptions extends Reader {
  /** JSON Pointer, or dotted path, into the value. */
  readonly path?: string;
  /** Items, lines or characters to leave out, by the kind of value. */
  readonly offset?: number;
  readonly limit?: number;
  /** Regular expression over lines or items; linear time. */
  readonly grep?: string;
  /** Ranked passages for a query, for prose. */
  readonly search?: string;
  readonly budgetTokens?: number;
}

/** A part of a kept result. */
export type ReadResult =
  /**
   * `total` and `nextOffset` count what `offset` counts. `outlined` is true where the value shown is an outline or a cut
   * of something that is over the budget alone.
   */
  | { readonly kind: "value"; readonly value: unknown; readonly total?: number; readonly nextOffset?: number; readonly outlined?: true }
  | { readonly kind: "artifact"; readonly name: string; readonly mimeType: string; readonly bytes: Uint8Array }
  | { readonly kind: "error"; readonly error: CallError };

export interface ReplayResult {
  readonly result: RunResult;
  /** Undefined when the replay was equal. */
  readonly divergence?: { readonly seq: number; readonly recorded: JsonValue; readonly replayed: JsonValue; readonly message: string };
}

/** The gate as its users see it: agents, the MCP server, the command line. All paths to a tool go through it. */
export interface Gate {
  /** Resolves when every source has answered or failed; never rejects because of one. */
  ready(): Promise<void>;
  run(program: string, options?: RunOptions): Promise<RunResult>;
  /**
   * Runs the program of an approved plan, with live reads and pinned to the plan: its items happen without a question, each
   * once; what the plan could not know is asked about; at any other write the run ends as `diverged`. Applied again, it does
   * nothing twice. Errors: PLAN_INVALID, PLAN_NOT_APPROVED, PLAN_STALE; nothing ran by then.
   */
  apply(plan: Plan, options?: ApplyOptions): Promise<RunResult>;
  /** Must not be reachable from a model or a guest. */
  readonly plans: GatePlans;
  /** Checks without running. */
  check(program: string, options?: RunOptions): Promise<RunResult>;
  call(tool: string, args: unknown, options?: CallOptions): Promise<CallResult>;
  /** Best first. The first search of a large catalog makes its index, in slices between which the process does other things. */
  search(query: string, options?: SearchOptions): Promise<readonly SearchHit[]>;
  /** The namespaces of the tools that a search finds, best first; without words all of them, by name. */
  searchNamespaces(query: string, options?: Omit<SearchOptions, "namespace">): Promise<readonly FoundNamespace[]>;
  /** Kinds of tasks that the host has templates of, where the caller may call all of their tools. With `query`: those that fit it, best first. */
  templates(options?: Caller & { readonly query?: string }): readonly TaskTemplate[];
  /** Unknown names are left out; `nearest` helps with those. With `interfaces`, as the versions that have those. */
  describe(names: readonly string[], options?: Caller & Pick<RunOptions, "interfaces">): readonly ToolView[];
  nearest(name: string, options?: Pick<SearchOptions, "principal" | "allows">): readonly string[];
  tools(options?: Caller): readonly ToolView[];
  /** Of every source, for people: also those of which the caller sees no tool. A model is shown those with tools, or `unavailable`. */
  namespaces(options?: Caller): readonly NamespaceView[];
  /** Declarations of what the caller can see. */
  declarations(options?: Caller & { readonly language?: "typescript" | "python"; readonly namespaces?: readonly string[] }): string;
  read(handle: Handle, options?: ReadOptions): Promise<ReadResult>;
  readonly policy: GatePolicy;
  readonly audit: GateAudit;
  readonly runs: GateTimeTravel & {
    list(filter?: Partial<RunFilter>): Promise<readonly RunRecord[]>;
    show(runId: string, options?: Caller): Promise<{ readonly run: RunRecord; readonly entries: readonly JournalEntry[] } | undefined>;
    /** Those that were started on behalf of a call (`RunOptions.parent`), oldest first. */
    ofCall(callId: string, options?: Caller): Promise<readonly RunRecord[]>;
    replay(runId: string, options?: Caller): Promise<ReplayResult>;
    /** Which answers went into which arguments, found by content: it explains, and decides nothing. RUN_NOT_FOUND. */
    lineage(runId: string, options?: Caller): Promise<RunLineage>;
    /** The run in plain sentences, made from its record alone. Errors: RUN_NOT_FOUND. */
    explain(runId: string, options?: Caller): Promise<RunExplanation>;
    /** Removes runs that ended longer ago than `olderThanMs`, and the oldest until the journal is below `maxBytes`. Their idempotency keys stay. */
    prune(options: Caller & { readonly olderThanMs?: number; readonly maxBytes?: number; readonly reason?: string }): Promise<PruneResult>;
    /** Deletes the clear values of a run for good. Errors: RUN_NOT_FOUND, LEGAL_HOLD. */
    erase(runId: string, options?: Caller): Promise<void>;
    /**
     * Goes on with a run that is suspended or whose process was lost, from where its record ends. Of several at once one
     * goes on; the others, and anyone who comes after its end, get its result as it is recorded. A run that still waits
     * comes back `suspended`.
     *
     * Errors: RUN_NOT_FOUND, RUN_NOT_RESUMABLE (ended by a cancel, erased, or changed: see `acceptChanges`), SOURCE_FAILED (a source
     * whose tools it can reach is away; it waits on).
     */
    resume(runId: string, options?: ResumeOptions): Promise<RunResult>;
    /** Sends an event to a run that waits, or will wait, for it. `id` makes sending it twice harmless. Errors: RUN_NOT_FOUND, SIGNAL_REFUSED (it has ended, or was sent something else with that id), SIGNAL_LIMIT. */
    signal(runId: string, event: { readonly name: string; readonly payload?: unknown; readonly id?: string }, options?: Caller): Promise<{ readonly known: boolean }>;
    /** Says whether a write of unknown effect happened; `output` stands for the tool's answer. The first answer counts. Errors: SIGNAL_REFUSED, also for another answer than the first and for one that lacks the signature it needs. */
    resolve(callId: string, verdict: { readonly happened: boolean; readonly output?: unknown }, options?: Speaker): Promise<void>;
    /** Tells how a background job ended; the first end counts. Errors: RUN_NOT_FOUND, SIGNAL_REFUSED (no job of that call is waited for, another end was told before, or it lacks the signature it needs). */
    complete(callId: string, result: { readonly kind: "value"; readonly value: unknown } | { readonly kind: "error"; readonly code: string; readonly message: string }, options?: Speaker): Promise<{ readonly known: boolean }>;
    /** Ends a run that is suspended or whose process was lost, as cancelled; declared compensations run first. Errors: RUN_NOT_FOUND, RUN_NOT_RESUMABLE, RUN_HELD. */
    cancel(runId: string, options?: Caller): Promise<RunResult>;
    /**
     * Undoes the effects of an ended run in reverse order, as far as the tools declare it. Again: goes on where it stopped.
     * One process at a time does; what a process was undoing when it was lost, a worker finishes.
     *
     * Errors: RUN_NOT_FOUND, RUN_NOT_RESUMABLE (it can still go on), RUN_HELD (another process does), RUN_FENCED (this one
     * stood still until another took it over).
     */
    rollback(runId: string, options?: Caller): Promise<RunResult>;
  };
  /**
   * Interpreters whose state is kept from block to block. `run` with `session` runs a block: checked, decided, recorded and
   * shaped like any run; one at a time, the others wait in line. The result's `session` says whether the state is there
   * for the next one.
   *
   * A session belongs to the tenant and user who opened it; for others there is none. It lives as long as this gate: what
   * was open when it closed, or its process ended, is gone.
   */
  readonly sessions: {
    /** Starts nothing before the first block. Errors: USAGE for a language that no sandbox here keeps, a name that is taken, or too many. */
    open(options?: OpenSessionOptions): SessionView;
    /** Open ones, and the last that ended with the reason in `loss`; newest first. */
    list(options?: Caller): readonly SessionView[];
    show(sessionId: string, options?: Caller): SessionView | undefined;
    /** Stops the block under way as Ctrl-C does; the state is kept. False when none is under way. Errors: SESSION_ENDED. */
    interrupt(sessionId: string, options?: Caller): boolean;
    /** Ends what is under way and begins anew with nothing. Errors: SESSION_ENDED. */
    restart(sessionId: string, options?: Caller): Promise<SessionView>;
    /** Ends it, with what is under way. Errors: SESSION_ENDED when there is none of that name; again is no error. */
    close(sessionId: string, options?: Caller): Promise<SessionView>;
  };
  readonly jobs: {
    /** Background jobs of the caller's runs that have not ended, newest run first. */
    list(options?: Caller): Promise<readonly JobView[]>;
    /**
     * Ends the call of a job as cancelled: whoever goes on with its run (this process, a worker, `runs.resume`) lets the tool
     * stop the work (`cancelJob`). The first word on the end of a job counts; `known` says that there was one before.
     * Errors: RUN_NOT_FOUND, SIGNAL_REFUSED when there is no such job under way.
     */
    cancel(callId: string, options?: Caller): Promise<{ readonly known: boolean }>;
  };
  readonly approvals: GateApprovals;
  readonly grants: GateGrants;
  /** On whose behalf things happen where a caller says nothing. */
  readonly principal: Principal;
  /** How the budgets of the caller's tenant stand, over all processes and machines of the journal. Must not be reachable from a model. */
  budgets(options?: Caller): Promise<readonly BudgetView[]>;
  /** Goes on with every run of the journal that can: suspended and due, or lost by its process. Default concurrency 8. */
  work(options?: { readonly concurrency?: number; readonly tenant?: string }): RunWorker;
  /** Every event from now on. The iteration ends when the gate closes. */
  events(): AsyncIterable<GateEvent>;
  /** The same, synchronously; returns the function that stops it. The listener must not throw. */
  onEvent(listener: (event: GateEvent) => void): () => void;
  /**
   * Resources and prompts of the sources of which the caller may call something, by namespace; the others do not exist for
   * the caller. What is read brings the labels that the source has for all its tools into the `conversation`.
   * Errors: USAGE for a conversation that has no name.
   */
  passThrough(options?: Pick<ReadOptions, "principal" | "conversation">): ReadonlyMap<string, SourcePassThrough>;
  /** Begins to write down what an agent does between its calls. Errors: CLOSED, and USAGE for a conversation that has no name. */
  recordAgent(options?: Pick<CallOptions, "principal" | "conversation" | "taskId">): AgentRecord;
  readonly problems: readonly string[];
  close(): Promise<void>;
}

