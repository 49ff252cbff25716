import type { Artifact } from "./artifact.ts";
import type { CallError } from "./call-error.ts";
import type { Capabilities, RunParent } from "./capabilities.ts";
import type { JournalAudit } from "./audit.ts";
import type { AnswerSignature, ApprovalQuestion } from "./approval.ts";
import type { BudgetAnswer, BudgetClaim, BudgetCount, BudgetSettlement, CallCost } from "./budgets.ts";
import type { Diagnostic, Lane, ProgramForm, Reach, Repair } from "./checker.ts";
import type { ClaimOptions, EffectClaim, EffectReservation, RunHolder, RunLease, RunSignal, RunWait, SignalReceipt, Suspension } from "./durable.ts";
import type { GuestConnection, GuestConsoleEntry } from "./guest-frames.ts";
import type { JournalGrants } from "./grant.ts";
import type { InterceptedHow } from "./interceptor.ts";
import type { Digest, JsonValue } from "./json.ts";
import type { RunLimits } from "./limits.ts";
import type { EffectStatus, OutcomeKind, RunStatus } from "./outcome.ts";
import type { NextDecision } from "./policy.ts";
import type { Principal } from "./principal.ts";
import type { RecordedValue } from "./recorded-value.ts";
import type { RecordedThen, RunEdit } from "./run-edit.ts";
import type { ProgramLanguage, SessionBlock } from "./sandbox-driver.ts";
import type { SimulatedBy } from "./simulation.ts";
import type { TaintMark, TaintScope } from "./taint.ts";
import type { Effect, Label } from "./tool-spec.ts";
import type { TraceContext } from "./trace-context.ts";

/**
 * `program`: a program was run. `call`: one direct tool call. `replay`: a program re-executed with recorded answers.
 * `rehearsal`: a program was run whose reads were live and whose writes were only recorded. It never goes on elsewhere.
 * `agent`: turns of a model, which makes calls and programs that are runs of their own.
 */
export type RunKind = "program" | "call" | "replay" | "rehearsal" | "agent";

/** The head of a run: what it was started with. */
export interface RunStart {
  readonly runId: string;
  readonly kind: RunKind;
  readonly principal: Principal;
  readonly startedAtMs: number;
  readonly lane: Lane;
  readonly language: ProgramLanguage | undefined;
  /** Model's own text; stored encrypted under the run's key. Absent for a direct call. */
  readonly programText: string | undefined;
  /** What the guest executed; replay runs exactly this. Set by a `checked` entry. */
  readonly programDigest: Digest | undefined;
  readonly seed: string;
  readonly limits: RunLimits;
  readonly driver: string | undefined;
  /** Interface digests of tools it was pinned to before the check, by qualified name; what it can reach is in `checked`. */
  readonly interfaces: Readonly<Record<string, Digest>>;
  readonly policyVersion: string;
  /** The run this one replays. Of a rehearsal: the one with other placeholders that it is held against. */
  readonly replayOf?: string;
  /** Names the piece of work over several runs (DESIGN P6). */
  readonly taskId?: string;
  /** What the model may see of it, in o200k tokens; needed when another process ends the run. */
  readonly budgetTokens?: number;
  /** What becomes of the effects when it does not complete. Default `compensate`. */
  readonly onFailure?: OnFailure;
  /** Whose context what it returns goes into: labels gather there beyond the run. */
  readonly conversation?: string;
  /** The plan that it is pinned to, which is in its `planned` entry: without that it does not go on. */
  readonly planId?: string;
  /** Where whoever asked for it stood in a trace. */
  readonly trace?: TraceContext;
  /** What it asks waits for an answer through the journal, whoever its gate would ask. */
  readonly questions?: "keep";
  /** It executes a changed program: calls that this run made before are answered from its record. */
  readonly edits?: RunEdit;
  /** What its calls keep to, whatever the policy allows beyond. */
  readonly capabilities?: Capabilities;
  /** The call on whose behalf it runs. */
  readonly parent?: RunParent;
  /** The program's clock at its start, where that is not when the run started. */
  readonly clockMs?: number;
  /** The session whose block it is. It can never go on elsewhere: its state was in one process. */
  readonly session?: Pick<SessionBlock, "sessionId" | "generation" | "block">;
}

/** `compensate`: what the tools declare undoable is undone, in reverse order (DESIGN P7). `keep`: nothing is undone. */
export type OnFailure = "compensate" | "keep";

/** The end of a run. */
export interface RunFinish {
  readonly status: Exclude<RunStatus, "running" | "suspended">;
  readonly endedAtMs: number;
  readonly error?: CallError;
  readonly tokens: RunTokens;
  /** Number of the handle that holds the value. */
  readonly resultNumber?: number;
}

/** Token counts of one run, o200k. */
export interface RunTokens {
  /** What the model sees of the run: value or outline, console, errors. */
  readonly result: number;
  /** The program the model wrote. */
  readonly program: number;
  /** What the calls' arguments and results would have put into the model's context as direct calls. */
  readonly direct: number;
}

/**
 * Why the clear values of a run, and the texts of people and programs in it, cannot be read. `other_key`: they are sealed
 * under a master key that this process does not have; a process with that key reads them and goes on with the run.
 * `erased`: nobody can.
 */
export type RunUnreadable = "other_key" | "erased";

/** A run as listed. */
export interface RunRecord extends RunStart {
  /** Absent where they can be read. */
  readonly unreadable?: RunUnreadable;
  readonly status: RunStatus;
  /** Of a `crashed` one: its process was lost, and nobody has ended it. Whoever takes it over goes on with it, or ends it. */
  readonly isLost?: true;
  /** Of one that is lost: its last sign of life. */
  readonly endedAtMs: number | undefined;
  readonly error: CallError | undefined;
  readonly tokens: RunTokens | undefined;
  readonly resultNumber: number | undefined;
  readonly callCount: number;
  /** How often the run was claimed, from 1. */
  readonly epoch: number;
  /** While `suspended`. */
  readonly waits: readonly RunWait[];
  /** While `suspended`: when it goes on by itself, in milliseconds since the epoch. */
  readonly wakeAtMs: number | undefined;
}

/** One thing that happened in a run. Append-only; `seq` is the call's issue order. */
export type JournalEntry =
  /** `interfaces` are those of the tools the program can reach, by qualified name; `modulesDigest` is the guest's. */
  | { readonly kind: "checked"; readonly atMs: number; readonly ok: boolean; readonly code?: string; readonly lineOffset?: number; readonly shiftedLines?: readonly { readonly line: number; readonly columns: number }[]; readonly form?: ProgramForm; readonly diagnostics: readonly Diagnostic[]; readonly repairs: readonly Repair[]; readonly reach?: Reach; readonly interfaces?: Readonly<Record<string, Digest>>; readonly modulesDigest?: string; readonly durationMs: number; /** What a person said of the program, where a rule asked. */ readonly review?: { readonly approvalId: string; readonly ruleIds: readonly string[]; readonly approved: boolean; readonly by: string; readonly reason?: string }; /** Of a policy that is tried out, where it would have decided otherwise about the run. */ readonly next?: NextDecision }
  /** Intent. For a write it is on disk before the effect (DESIGN D15). */
  | { readonly kind: "call-issued"; readonly atMs: number; readonly seq: number; readonly callId: string; readonly tool: string; readonly definitionDigest: Digest | undefined; readonly effect: Effect; readonly args: RecordedValue; /** Of a call that may write; a read is not told apart by one. */ readonly idempotencyKey?: string; readonly occurrence?: number; /** The call whose effect this one undoes. */ readonly compensates?: number }
  /** The run is pinned to a plan that `by` approved. Written before its program is checked. */
  | { readonly kind: "planned"; readonly atMs: number; readonly planId: string; readonly by: string; readonly approvalId: string; readonly plan: RecordedValue }
  /** An interceptor of the host did something with the call. `args`: what is performed from there on. */
  | { readonly kind: "call-intercepted"; readonly atMs: number; readonly seq: number; readonly by: string; readonly how: InterceptedHow; readonly args?: RecordedValue }
  /** A question went out for the call; recorded before anyone is told. */
  | { readonly kind: "approval-asked"; readonly atMs: number; readonly seq: number; readonly question: ApprovalQuestion }
  /** The call has taken place, and its result waits for a word on whether the program may have it; the question follows. */
  | { readonly kind: "result-held"; readonly atMs: number; readonly seq: number; readonly effectStatus: EffectStatus; readonly attempts: number; readonly result: RecordedValue; readonly artifacts: readonly Artifact[] }
  /** A person approved the call with other arguments. Those of `call-issued` are the program's, for replay; these are performed. */
  | { readonly kind: "call-edited"; readonly atMs: number; readonly seq: number; readonly approvalId: string; readonly by: string; readonly args: RecordedValue }
  | { readonly kind: "call-decided"; readonly atMs: number; readonly seq: number; readonly decision: "allow" | "ask" | "deny"; readonly ruleId: string; readonly reason?: string; readonly answeredBy?: string; /** The standing grant that let it through, without a question; `answeredBy` gave it. */ readonly grantId?: string; /** The item of the plan that the run is pinned to. */ readonly planItem?: string; /** The policy allows it; the plan is asked as well. */ readonly isPinned?: true; /** What would have been decided, were the policy enforced; `reason` is the reason of that. */ readonly unobserved?: "ask" | "deny"; /** Labels that had reached the run. */ readonly taint?: readonly Label[]; /** Of a policy that is tried out, where it would have decided otherwise. */ readonly next?: NextDecision }
  | { readonly kind: "call-ended"; readonly atMs: number; readonly seq: number; readonly outcome: OutcomeKind; readonly effectStatus: EffectStatus; readonly durationMs: number; readonly attempts: number; readonly cached: boolean; readonly result?: RecordedValue; readonly error?: CallError; readonly artifacts: readonly Artifact[]; /** The older interface of the tool whose form the result has: what the program was checked against. */ readonly asInterface?: Digest; /** Its large result is not kept, as the tool allows: the call is made again when the run goes on. */ readonly reread?: true; /** Where the tool declares or reports any. */ readonly cost?: CallCost; /** The interceptor whose answer it is; the tool was not called. */ readonly answeredBy?: string; /** The answer is that of a recorded run; the tool was not called. */ readonly recorded?: RecordedThen; /** It was rehearsed, not made: the answer is a placeholder, and nothing was changed. */ readonly simulated?: SimulatedBy; /** Where a policy had a say in whether the program gets the result. `by`: "policy" where nobody was asked. */ readonly release?: { readonly released: boolean; readonly ruleId: string; readonly by: string; readonly approvalId?: string }; /** Where another policy would have had a say in that: the one that is not enforced, or the next. */ readonly resultDecided?: { readonly unobserved?: NextDecision; readonly next?: NextDecision } }
  /** A read whose result was not kept was made again; `digest` is that of what it gave, `same` whether that is what it had given. */
  | { readonly kind: "call-reread"; readonly atMs: number; readonly seq: number; readonly durationMs: number; readonly digest: Digest; readonly same: boolean }
  /** A result that came after the call had ended; settles the effect, is never delivered. */
  | { readonly kind: "call-late"; readonly atMs: number; readonly seq: number; readonly effectStatus: EffectStatus; readonly result?: RecordedValue; readonly error?: CallError }
  /** An effect that was unknown is known. `repeated`: done again under the same key. `nobody`: given up, it stays unknown. `refused`: what was said in the name of `by` does not count, so it stays unknown. */
  | { readonly kind: "call-resolved"; readonly atMs: number; readonly seq: number; readonly effectStatus: EffectStatus; readonly how: "reconciled" | "repeated" | "person" | "nobody" | "refused"; readonly by?: string; readonly signature?: AnswerSignature }
  /** A tool said that the work of the call goes on without it. */
  | { readonly kind: "call-backgrounded"; readonly atMs: number; readonly seq: number; readonly token: JsonValue; readonly pollAfterMs?: number; readonly untilMs: number }
  /** The guest was torn down; nothing is held. */
  | { readonly kind: "suspended"; readonly atMs: number; readonly waits: readonly RunWait[]; readonly reason?: string }
  /**
   * The run ends, though its program would go on: whoever drives it from here on undoes and ends it, and executes nothing.
   * Without `status` somebody cancelled it while it was suspended; else it had ended so, and what it did was to be undone.
   */
  | { readonly kind: "cancelling"; readonly atMs: number; readonly status?: Extract<RunStatus, "cancelled" | "limit" | "crashed"> }
  /** `changes`: what is not as it was when the program was checked (tools, policy, driver). */
  | { readonly kind: "resumed"; readonly atMs: number; readonly epoch: number; readonly reason: "due" | "taken_over"; readonly changes: readonly string[] }
  /** A call that was issued after the run had settled; it never ran. */
  | { readonly kind: "call-refused"; readonly atMs: number; readonly seq: number; readonly tool: string }
  /** The `ord`-th completion handed to the guest, for tool calls, built-ins and timers alike. `answer` is absent for tool calls: it is their `call-ended`. */
  | { readonly kind: "delivered"; readonly atMs: number; readonly ord: number; readonly seq: number; readonly call: DeliveredCall; readonly answer?: RecordedValue }
  | { readonly kind: "console"; readonly atMs: number; readonly entries: readonly GuestConsoleEntry[]; readonly droppedBytes: number }
  | { readonly kind: "text"; readonly atMs: number; readonly text: string }
  | { readonly kind: "progress"; readonly atMs: number; readonly message: string; readonly fraction?: number }
  /** What the program reached, or was refused, through its sandbox's way out. */
  | { readonly kind: "connection"; readonly atMs: number; readonly connection: GuestConnection }
  /** A value kept under `result://<runId>/<number>`. */
  | { readonly kind: "result"; readonly atMs: number; readonly number: number; readonly label: string; readonly value: RecordedValue; readonly artifact?: Artifact };

/** What was issued, so that replay can tell a divergence. */
export type DeliveredCall =
  | { readonly kind: "tool"; readonly tool: string; readonly argsDigest: Digest }
  | { readonly kind: "builtin"; readonly name: string; readonly argsDigest: Digest }
  | { readonly kind: "timer"; readonly delayMs: number };

/**
 * A run that is now ours. `due`: it was suspended and can go on (or was named). `taken_over`: it ran, and its owner has
 * lost it: the lease is over, or the process is known to be dead. `undoing`: it has ended, and so has the process that was
 * undoing what it did; whoever gets it finishes that and calls `release`.
 */
export interface ClaimedRun {
  readonly lease: RunLease;
  readonly run: RunRecord;
  readonly reason: "due" | "taken_over" | "undoing";
}

/** Of an ended run. `held`: another process undoes what it did. `open`: it has not ended, or goes on once it is taken over. */
export type EndedClaim = { readonly kind: "claimed"; readonly lease: RunLease; readonly run: RunRecord } | { readonly kind: "held"; readonly holder: RunHolder } | { readonly kind: "open" };

export interface RunFilter {
  readonly tenant: string;
  readonly status?: RunStatus;
  readonly kind?: RunKind;
  /** Only those that this agent acted in. */
  readonly agent?: string;
  /** Newest first, at most this many. Default 50. */
  readonly limit?: number;
  /** Only runs that started before this. */
  readonly beforeMs?: number;
  /** Only runs that had not ended before this. */
  readonly activeSinceMs?: number;
}

export interface PruneOptions {
  /** Runs that ended before this, in milliseconds since the epoch, are removed. */
  readonly olderThanMs?: number;
  /** Oldest ended runs are removed until the journal is below this. */
  readonly maxBytes?: number;
  /** Idempotency keys whose runs were removed before this are forgotten too. Without it none is. */
  readonly keysOlderThanMs?: number;
  /** Who removes, and why; kept in the ledger. Default: the journal itself, for its limits. */
  readonly by?: string;
  readonly reason?: string;
}

export interface PruneResult {
  readonly runs: number;
  readonly bytes: number;
  /** Runs that were left although the limits are against them: they are under a legal hold. */
  readonly heldRuns: number;
}

/**
 * `lazy` may be lost with the power, not with the process; `full` is on disk when the promise resolves. `later` is `lazy`
 * for what nobody waits for, such as the outcomes of reads and the end of a run that only read: the journal may gather it
 * for some milliseconds, and a process that dies meanwhile loses it. Whatever is written after it is never kept without it.
 */
export type Durability = "later" | "lazy" | "full";

/**
 * The record of runs. The suite `testJournal` in testkit is its definition.
 *
 * - Entries of one run are kept in the order they were appended; `append` of several is one transaction.
 * - `begin` may be gathered with what follows it, as `later`. What was asked for before a read is seen by it.
 * - `append` with `full` resolves after the entries, and all before them of that run, are on disk.
 * - Two processes may use one journal at once. `now` is the journal's own: of the database where several machines share
 *   it, so that their clocks may differ.
 * - Nothing of one tenant is visible with the id of another.
 * - A write under a lease that was lost throws RUN_FENCED and has written nothing. `append` stays allowed after `suspend`
 *   and `finish` under the same lease: a late result settles an effect.
 * - All methods may throw `CallgateError` JOURNAL_*; a failed write has written nothing.
 */
export interface Journal {
  /** The run is ours from now, at epoch 1, until the lease is over. */
  begin(run: RunStart, options?: { readonly leaseMs?: number }): Promise<RunLease>;
  append(lease: RunLease, entries: readonly JournalEntry[], durability: Durability): Promise<void>;
  /** Default durability: `lazy`. */
  finish(lease: RunLease, finish: RunFinish, durability?: Durability): Promise<void>;
  /**
   * The journal renews the leases of what it began or claimed by itself while the process lives, a third of the lease
   * apart, until the run is given up (`suspend`, `finish` and `release`, also where they fail) or let go. Calls `lost` once when it finds that the run is another's, until the returned function is called.
   */
  readonly watch: (lease: RunLease, lost: () => void) => () => void;
  /** Nobody here drives the run any more, whatever came of it: once its lease is over it is anybody's. Writes nothing. */
  readonly letGo: (lease: RunLease) => void;
  /** Keeps a run ours for `leaseMs` from now. RUN_FENCED once it is another's, or was suspended, finished or released. */
  renew(lease: RunLease, leaseMs: number): Promise<void>;
  /**
   * Writes a `suspended` entry and gives the run up. A signal that one of the waits is for and that came before, or at
   * the same time, makes it due at once: no wake-up is lost.
   */
  suspend(lease: RunLease, suspension: Suspension): Promise<void>;
  /**
   * Of several at once exactly one gets the run. The oldest that is due comes first; `undoing` only where no run is named.
   * What this journal drives itself is left out, also when its lease is over because the process was stopped or its clock
   * jumped: it is renewed, or ends by itself.
   * Undefined: none can go on. A run that is sealed under another master key is not taken: JOURNAL_KEY_LOST where it is
   * named, as of `claimEnded` and `signal`.
   */
  claim(options: ClaimOptions): Promise<ClaimedRun | undefined>;
  /**
   * Takes a run that has ended, to undo what it did: of several at once one gets it, at the next epoch, and it is nobody
   * else's until `release`, or until the lease is over and another claims it. RUN_NOT_FOUND.
   */
  claimEnded(tenant: string, runId: string, options: { readonly leaseMs: number }): Promise<EndedClaim>;
  /** Gives a run back that was claimed to undo what it did. RUN_FENCED once it is another's, or was given back. */
  release(lease: RunLease): Promise<void>;
  /** Keeps what was said to a run and makes it due if it waits for that. RUN_NOT_FOUND; SIGNAL_LIMIT for an event once 10,000 things were said; JSON-safe. */
  signal(tenant: string, runId: string, signal: RunSignal): Promise<SignalReceipt>;
  /** In the order in which they were kept; clear values with `clear`. */
  readSignals(tenant: string, runId: string, options?: { readonly clear?: boolean }): Promise<readonly RunSignal[]>;
  /**
   * Takes the idempotency key for a write that is about to take place; on disk when it resolves. A key whose earlier
   * write is known to have changed nothing is free again; the same call may take its own key again. A key outlives its
   * run: once that was pruned, what is left of the write is its outcome and effect, without a result.
   */
  reserveEffect(lease: RunLease, claim: EffectClaim): Promise<EffectReservation>;
  /**
   * Says what became of a write whose run was pruned while that was unknown; on disk when it resolves. Answers what was
   * known before: only "unknown" is changed. Undefined when no pruned run of that user has such a call.
   */
  settleEffect(of: { readonly tenant: string; readonly user: string; readonly callId: string }, effectStatus: "done" | "none"): Promise<EffectStatus | undefined>;
  /**
   * Takes what a call is about to use up from all these counts, or from none; at once for all users of the store, so that
   * no count goes above its limit by what is reserved. It is spent from then on: a call that is never settled counts.
   */
  reserveBudgets(lease: RunLease, claim: BudgetClaim): Promise<BudgetAnswer>;
  /**
   * Puts what a call used up in the place of what was reserved for it, once; again, or where nothing was, it does nothing.
   * Need not be waited for: what is reserved through this journal afterwards, or read, finds it settled.
   */
  settleBudgets(lease: RunLease, settlement: BudgetSettlement): Promise<void>;
  /** The counts of a tenant, each budget's newest window first. Counts of a run go with it; windows over a month old with `prune`. */
  readBudgets(tenant: string): Promise<readonly BudgetCount[]>;
  /** Keeps marks for each of these scopes; of one label the first stays. On disk before what is written after it. */
  addTaint(tenant: string, scopes: readonly TaintScope[], marks: readonly TaintMark[]): Promise<void>;
  /** The marks of all these scopes, a label once: the oldest. They outlive their runs as keys do, and are forgotten with `keysOlderThanMs`. */
  readTaint(tenant: string, scopes: readonly TaintScope[]): Promise<readonly TaintMark[]>;
  /** Undefined when there is none for that tenant. `programText` is there while the run's key is. */
  readRun(tenant: string, runId: string): Promise<RunRecord | undefined>;
  /** `clear` also decrypts values (for replay and `read_result`). */
  readEntries(tenant: string, runId: string, options?: { readonly clear?: boolean }): Promise<readonly JournalEntry[]>;
  readResult(tenant: string, runId: string, number: number): Promise<Extract<JournalEntry, { kind: "result" }> | undefined>;
  listRuns(filter: RunFilter): Promise<readonly RunRecord[]>;
  /** Deletes the run's key: its clear values are gone, summaries and digests stay. RUN_NOT_FOUND; LEGAL_HOLD. */
  erase(tenant: string, runId: string, options?: { readonly by?: string }): Promise<void>;
  /** Ended runs only: one that is suspended is never removed, and none under a legal hold. */
  prune(options: PruneOptions): Promise<PruneResult>;
  readonly audit: JournalAudit;
  readonly grants: JournalGrants;
  close(): Promise<void>;
}
