import type {
  ApprovalQuestion,
  ApprovalRules,
  Approver,
  Blobs,
  CallCost,
  CallOutcome,
  Clock,
  CostSpec,
  Digest,
  Effect,
  GateEvent,
  Journal,
  JournalEntry,
  JsonObject,
  Label,
  Lane,
  ParseResult,
  Policy,
  Principal,
  RecordedThen,
  Redactor,
  SensitiveMark,
  RunLease,
  RunLimits,
  SharedAnswers,
  SimulatedBy,
  Source,
  Tool,
  Tracing,
  UnavailableNamespace,
  WireValue, SecretVault,
} from "@callgate/contract";
import type { Stop } from "../lib/stop.ts";
import type { CallLimits } from "../limits/call-limits.ts";
import type { CallBounds } from "./call-bounds.ts";
import type { CallPast } from "./call-past.ts";
import type { CallRecord } from "./call-record.ts";
import type { IdempotencyKey } from "./idempotency-key.ts";
import type { OlderInterface } from "../catalog/older-interface.ts";
import type { RunTaint } from "../provenance/taint-keeper.ts";
import type { Interceptors } from "./interceptors.ts";
import type { PinnedPlan } from "./pinned-plan.ts";
import type { Rehearsal } from "./rehearsal.ts";
import type { SafeText } from "./safe-text.ts";

/** What the broker needs to know of a tool in a catalog. */
export interface BrokerTool {
  /** Qualified identifier, `namespace.tool`. */
  readonly name: string;
  readonly namespace: string;
  readonly tool: Tool;
  readonly source: Source;
  readonly definitionDigest: Digest;
  /** The older version that it is called as: what comes in and goes out has its form. All in between is of the tool as it is. */
  readonly older?: OlderInterface;
  validateInput(value: unknown): ParseResult | Promise<ParseResult>;
  validateOutput(value: unknown): ParseResult | Promise<ParseResult>;
}

/** What the broker needs of a catalog: an immutable snapshot that the run holds on to. */
export interface BrokerCatalog {
  /** Exact qualified identifier only. */
  resolve(name: string): BrokerTool | undefined;
  /** A namespace whose tools are not known because its source cannot be reached. Only where the principal may reach it. */
  unavailable?(namespace: string): UnavailableNamespace | undefined;
  nearest(name: string, visible?: (tool: BrokerTool) => boolean): string[];
}

/** A line a tool wrote through `context.log`, already redacted. */
export interface ToolLogRecord {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  readonly fields?: JsonObject;
  readonly atMs: number;
  readonly runId: string;
  /** On whose behalf the tool was called. */
  readonly principal: Principal;
  readonly callId: string;
  readonly tool: string;
}

/** Everything the broker reaches the world through. */
export interface BrokerSeams {
  readonly policy: Policy;
  readonly approver: Approver;
  /** Whose answers count. Default: anybody's but who asked. */
  readonly approvals?: ApprovalRules;
  readonly journal: Journal;
  readonly redactor: Redactor;
  readonly blobs: Blobs;
  readonly clock: Clock;
  /** How long a run stays ours without a sign of life. */
  readonly leaseMs: number;
  /** Default: none. */
  readonly limits?: CallLimits | undefined;
  /** What other processes were answered. Default: nothing. */
  readonly answers?: SharedAnswers | undefined;
  /** Makes spans of calls. Default: none. */
  readonly tracing?: Tracing | undefined;
  /** What programs can pass and not read. Default: nothing. */
  readonly secrets?: SecretVault | undefined;
  /** The host's own stages. Default: none. */
  readonly interceptors?: Interceptors | undefined;
  /** Hears what a tool answered that was really called, without secrets. Must not throw. Default: nobody does. */
  readonly answered?: ((tool: BrokerTool, tenant: string, value: unknown) => void) | undefined;
  /** A new id, at least 128 bits of randomness: `newId("apr")` gives `apr_...`. */
  newId(prefix: string): string;
  emit(event: GateEvent): void;
  /** Where tools' log lines and our own faults go. Default: nowhere. */
  readonly log?: (record: ToolLogRecord) => void;
}

export interface CallRequest {
  readonly catalog: BrokerCatalog;
  /** As the caller wrote it. */
  readonly tool: string;
  readonly args: WireValue;
  readonly principal: Principal;
  readonly runId: string;
  /** Under which everything of the call is written. */
  readonly lease: RunLease;
  readonly callId: string;
  /** Issue order in the run. */
  readonly seq: number;
  /** How many calls of this tool with these arguments the run issued before this one; part of the idempotency key. */
  readonly occurrence: number;
  readonly lane: Lane;
  readonly taskId: string | undefined;
  readonly signal: AbortSignal;
  readonly limits: RunLimits;
  /** Labels that have reached the run and what it is part of. */
  readonly taint: RunTaint;
  /**
   * Takes what there is to record of a read once it has ended, to be written before its answer is delivered. Absent: it is
   * written here.
   */
  readonly gather?: (entries: readonly JournalEntry[]) => void;
  /** A read that is on record and whose result was not kept: it is decided about, made and told as any, and not recorded. */
  readonly reread?: true;
  /** What the call must keep to, whatever the policy allows beyond. */
  readonly bounds?: CallBounds;
  /** A person is asked whatever the policy allows: the call is new in a changed program. */
  readonly asksAnyway?: true;
  /** Asked in place of the gate's own: the client of this request, through its own user interface. */
  readonly approver?: Approver;
  /** Absent for a call that is new. */
  readonly past?: CallPast;
  /** Its run ends without its guest: the tool is asked what became of the call, what goes on outside is stopped, and nothing is performed. */
  readonly closing?: true;
  /** The call is rehearsed: one that may write is answered by a placeholder and never made. */
  readonly rehearsal?: Rehearsal;
  /** The plan that the run is pinned to. */
  readonly plan?: PinnedPlan;
  /** This call undoes the effect of that one, with the tool's own `compensate`. */
  readonly undo?: { readonly seq: number; readonly output: unknown };
}

/** The end of a call, as its run needs it. */
export interface PerformedCall {
  readonly kind: "performed";
  readonly outcome: CallOutcome;
  /** Without the time a person took to answer. */
  readonly durationMs: number;
  /** Of the tool; `write` when there is none, for what is unknown counts as that. */
  readonly effect: Effect;
  /** Of the arguments as the program gave them. */
  readonly argsDigest: Digest;
  /** The encoded value when `ok`, for the guest. */
  readonly wire?: WireValue;
  /** Clear texts of the arguments and the result that the tool declares sensitive: no record of the run may hold them. */
  readonly sensitiveValues: readonly string[];
  /** Where the tool declares or reports any. */
  readonly cost?: CallCost;
  /** It was rehearsed, not made. */
  readonly simulated?: SimulatedBy;
  /** The answer is that of a recorded run: what the call came to then, and the program's clock when it came. */
  readonly recordedThen?: RecordedThen & { readonly atMs: number };
  /**
   * Settles once the end is recorded, with what is then worth saying, e.g. that it could not be. Of a write it has settled
   * already; nobody waits for the record of a read (DESIGN D15). Never rejects. Absent: there is nothing to wait for here.
   */
  readonly recorded?: Promise<readonly string[]>;
}

/** One call on its way through the stages: what every stage may look at. */
export interface CallScope {
  readonly seams: BrokerSeams;
  readonly request: CallRequest;
  /** Stops with the run, with the caller, and when the broker closes. */
  readonly stop: Stop;
  readonly record: CallRecord;
  readonly safe: SafeText;
  readonly state: CallState;
  /** Settles once the call's end is recorded, or it was parked. */
  readonly over: Promise<void>;
}

/** By both clocks: one stands still while a machine sleeps, the other may be set back. */
export interface Moment {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** The little of a call that changes while it is under way. */
export interface CallState {
  /** When the journal was last asked for a word that the run is ours, and gave it. */
  confirmedAt?: Moment;
  /** Attempts that were begun. */
  attempts: number;
  /** True once the outcome is known; a tool that still runs is late. */
  over: boolean;
  /** Time a person took to answer. */
  personMs: number;
  /** A person was asked about it. */
  wasAsked?: true;
  /** Budgets hold something for it. */
  reserved?: true;
  /** Clear texts of sensitive arguments that interceptors made. */
  sensitive?: readonly string[];
  /** What its tool said that it cost. */
  reportedCost?: Partial<CallCost>;
}

/** A call's end inside the broker, before it is recorded and told. */
export interface Ended {
  readonly kind: "ended";
  readonly outcome: CallOutcome;
  /** When `ok`. */
  readonly wire?: WireValue;
  /** What `wire` was encoded from, for the record; absent when the answer was another call's. */
  readonly value?: unknown;
  /** True when another call's answer was used. */
  readonly cached: boolean;
  readonly attempts: number;
  /** Said to the caller beside the outcome. */
  readonly notice?: string;
  /** The older interface whose form the answer has. Absent: the tool's own. */
  readonly asInterface?: Digest;
  /** The interceptor that answered in the tool's place. */
  readonly answeredBy?: string;
  /** It was rehearsed, not made. */
  readonly simulated?: SimulatedBy;
  /** Where a policy had a say in whether the program gets the result. */
  readonly release?: Extract<JournalEntry, { kind: "call-ended" }>["release"];
  readonly resultDecided?: Extract<JournalEntry, { kind: "call-ended" }>["resultDecided"];
}

/** What is known of a call however far it came. */
export interface Known {
  /** Qualified name, or what the caller wrote, bounded. */
  readonly tool: string;
  readonly effect: Effect;
  /** The tool's large results need not be kept. */
  readonly reread: boolean;
  /** As the tool declares it. */
  readonly cost?: CostSpec;
  /** What its answers bring along. */
  readonly labels: readonly Label[];
  readonly argsDigest: Digest;
  /** Into the output. */
  readonly sensitiveOutput: readonly SensitiveMark[];
  /** Clear values of sensitive arguments, which no record may hold. */
  readonly sensitiveValues: readonly string[];
}

/** A call whose tool, arguments and key are known. Nothing of it changes any more. */
export interface ReadyCall extends CallScope {
  readonly tool: BrokerTool;
  readonly effect: Effect;
  readonly argsDigest: Digest;
  /** Bounded, sensitive parts hashed; of the arguments as they will be performed. */
  readonly argsSummary: ApprovalQuestion["argsSummary"];
  /** The one snapshot: decided about, shown, performed. */
  readonly args: FrozenArguments;
  /** The same before the schema: as the program wrote them, or an interceptor. */
  readonly written: FrozenArguments;
  /** As the program wrote them, in the form of the older version that the tool is called as. Absent once somebody changed them. */
  readonly olderArgs?: FrozenArguments;
  readonly key: IdempotencyKey;
  /** True when the tool named its own business key: then the same key is the same write. */
  readonly keyed: boolean;
}

/** Arguments that nobody can change. */
export interface FrozenArguments {
  /** Deep-frozen. Dates, maps, sets and bytes in it cannot be frozen; `take` hands those out as copies. */
  readonly value: unknown;
  /** The value for one user of it: the same object where all of it is frozen, a copy where it is not. */
  take(): unknown;
}
