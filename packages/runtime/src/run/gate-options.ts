import type { ProgramCheckOptions } from "../check/program-check.ts";
import type { ApprovalRules, Approver, Blobs, Checker, Clock, Interceptor, Journal, LearnedOutputStore, Policy, Principal, ProgramLanguage, Queue, Redactor, RunLimits, RunSurroundings, SandboxDriver, SearchEmbedding, SearchIndexStore, SecretVault, SharedAnswers, TaskTemplate, Tracing } from "@callgate/contract";
import type { ToolLogRecord } from "../broker/call.ts";
import type { CallLimitOptions } from "../limits/call-limits.ts";
import type { CatalogListing } from "../catalog/catalog.ts";
import type { KeptTool } from "../catalog/compare-tools.ts";
import type { SpecParser } from "../catalog/validation/parse-spec.ts";
import type { RandomBytes } from "../lib/new-id.ts";
import type { LazyTokenCounter } from "../result/token-counter.ts";

/** A source and the user's word on it. */
export type GateSource = Omit<CatalogListing, "listing">;

/** What a gate does where a caller says nothing. */
export interface GateDefaults {
  /** Default: the local user. */
  readonly principal?: Principal;
  /** Over `defaultLimits`. */
  readonly limits?: Partial<RunLimits>;
  /** What a caller may raise limits to. Default: ten times the limits of the gate, and as much memory and stack as those have. */
  readonly maximums?: Partial<RunLimits>;
  /** Tokens of one run or call that the model may see. Default 2,000, at least 100. */
  readonly budgetTokens?: number;
  /** How long a source may take to list its tools before the gate goes on without it. Default 30,000. */
  readonly listTimeoutMs?: number;
  /** How long a guest that only waits is kept before its run is suspended. Default 2,000; Infinity waits alive. */
  readonly suspendAfterMs?: number;
  /** How long a run stays with a process that gives no sign of life. Default 30,000. */
  readonly leaseMs?: number;
  /** Sessions open at once. Default 16. */
  readonly maxSessions?: number;
  /** How long the calls of a cancelled run are waited for. Default 2,000. */
  readonly settleGraceMs?: number;
}

/** The parts a gate is made of. `createGate` owns them from then on: `close` closes them. */
export interface GateOptions {
  readonly sources: readonly GateSource[];
  /** One per language; the one for TypeScript also takes JavaScript. */
  readonly checkers: readonly Checker[];
  /** What becomes of the scanner's findings, where it differs from the rules' own (docs/guide/python.md). */
  readonly scan?: ProgramCheckOptions["scan"];
  readonly drivers: readonly SandboxDriver[];
  /** Kinds of tasks (docs/guide/templates.md). Default: none. */
  readonly templates?: readonly TaskTemplate[];
  readonly journal: Journal;
  readonly blobs: Blobs;
  readonly policy: Policy;
  /** What is around programs, for the policy. Default: the driver's name, and nothing beside tools in reach. */
  readonly surroundingsOf?: (driver: SandboxDriver, language: ProgramLanguage) => RunSurroundings;
  readonly approver: Approver;
  /** Whose answers count, and for how long a question waits. Default: anybody's but who asked, seven days. */
  readonly approvals?: ApprovalRules;
  readonly redactor: Redactor;
  /** Rate limits and what else holds calls (docs/guide/limits.md). The gate closes its store. Default: none. */
  readonly callLimits?: CallLimitOptions;
  /** Makes spans of what the gate does (docs/guide/monitoring.md). Default: none. */
  readonly tracing?: Tracing;
  /** What programs can pass to tools and not read (docs/guide/secrets.md). Default: nothing. */
  readonly secrets?: SecretVault;
  /** The host's own stages in the way of every call, in their order (docs/guide/interceptors.md). Default: none. */
  readonly interceptors?: readonly Interceptor[];
  /** Answers of tools that declare `cache`, kept between processes. The gate closes it. Default: this process's memory only. */
  readonly answers?: SharedAnswers;
  /** Spreads runs over workers. Default: workers look through the journal. The gate closes it. */
  readonly queue?: Queue;
  /** Default: the host's. */
  readonly clock?: Clock;
  /** Source of ids and seeds. Default: the operating system's. */
  readonly random?: RandomBytes;
  readonly defaults?: GateDefaults;
  /**
   * Loads the checker and the token table as soon as the sources are listed, so that the first program does not wait a
   * second or more for them. For processes that live long. Default false.
   */
  readonly warm?: boolean;
  /** Shared by the gates of one process, for its table takes a moment and some memory. Default: one of its own. */
  readonly tokenCounter?: LazyTokenCounter;
  /**
   * Hears which tools each source has, whenever that changes and it could be listed: for whoever keeps what they were
   * (`callgate diff`). Must not throw.
   */
  readonly listedTools?: (namespace: string, tools: readonly KeptTool[]) => void;
  /** Judges declarations of tools; several gates of a process may have one. Default: one of its own. */
  readonly specParser?: SpecParser;
  /** Keeps the words of large catalogs between processes (docs/guide/finding-tools.md). Default: in memory. */
  readonly searchIndex?: SearchIndexStore;
  /**
   * Searches compare meanings as well (docs/guide/finding-tools.md): definitions of all tools and every query are sent to its
   * provider, without known secrets. Default: words alone, and nothing is sent.
   */
  readonly embedding?: SearchEmbedding;
  /**
   * Learns what tools answer that declare no output, for declarations and as warnings of the check (docs/guide/tools-and-types.md).
   * Without a `store` it is forgotten with the gate. Default: nothing is learned.
   */
  readonly learnOutputs?: { readonly store?: LearnedOutputStore };
  /** What a person should know from the start, e.g. of the journal; the first of `Gate.problems`. */
  readonly notices?: readonly string[];
  /** Where tools' log lines go. Default: nowhere. */
  readonly log?: (record: ToolLogRecord) => void;
  /** Hears of faults that have nobody else to go to: a listener that threw. Default: nowhere. */
  readonly onFault?: (fault: unknown) => void;
}
