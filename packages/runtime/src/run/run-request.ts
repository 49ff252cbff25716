import type { Capabilities, Digest, GuestConsoleEntry, JournalEntry, Lane, OnFailure, Principal, ProgramLanguage, RunLimits, RunParent, SandboxDriver, SessionBlock, TaintScope } from "@callgate/contract";
import type { Rehearsal, RehearsalVariant } from "../broker/rehearsal.ts";
import type { RunPlan } from "../plan/pinned-plan.ts";
import type { CatalogView } from "./catalog-view.ts";
import type { Rerun } from "./rerun.ts";

/** One run as the gate asks for it: everything is decided. */
export interface RunRequest {
  readonly program: string;
  readonly view: CatalogView;
  readonly principal: Principal;
  readonly language: ProgramLanguage;
  readonly lane: Lane;
  readonly limits: RunLimits;
  readonly budgetTokens: number;
  /** Interfaces that it is pinned to before its check. */
  readonly interfaces: Readonly<Record<string, Digest>>;
  readonly taskId: string | undefined;
  readonly conversation: string | undefined;
  /** 32 hex digits. */
  readonly seed: string;
  readonly signal: AbortSignal;
  readonly notices: readonly string[];
  /** By the monotonic clock. */
  readonly startedMs: number;
  /** How long a run that goes on stood still before. */
  readonly waitedMs?: number;
  /** False for a check alone. */
  readonly recorded: boolean;
  readonly onFailure: OnFailure;
  /** The approved plan that the run is pinned to, and what is written down of it. */
  readonly plan?: { readonly pinned: RunPlan; readonly entry: JournalEntry };
  /** Reads are live, writes are only recorded. */
  readonly rehearsal?: RehearsalRequest;
  readonly questions?: "keep" | undefined;
  readonly suspendAfterMs: number;
  readonly onOutput?: (entries: readonly GuestConsoleEntry[]) => void;
  /** Aborts when the run is to be left to another process. */
  readonly leave?: AbortSignal;
  readonly capabilities?: Capabilities | undefined;
  readonly parent?: RunParent | undefined;
  /** Of a run that has to be found by something else than a list. Default: a new one. */
  readonly runId?: string;
  /** Where the labels gather of those on whose behalf it runs. */
  readonly outer?: readonly TaintScope[];
  /** Set for a changed program that gets the answers of a recorded run. */
  readonly rerun?: Rerun | undefined;
  /** Set for a block of a session whose turn it is. */
  readonly session?: BlockOfSession;
}

/** How a program is rehearsed. */
export interface RehearsalRequest {
  readonly variant: RehearsalVariant;
  /** The same text was let run in this rehearsal before: nobody is asked about it again. */
  readonly isReviewed?: true;
  /** The varied one that this one is held against. */
  readonly heldAgainst?: string;
  /** The rehearsal of the program that calls it as a workflow. */
  readonly within?: Rehearsal;
}

/** A block and the session it runs in. */
export interface BlockOfSession {
  readonly place: Pick<SessionBlock, "sessionId" | "generation" | "block">;
  /** Starts the block in the session. */
  readonly driver: SandboxDriver;
  /** Names that blocks before it may have defined. */
  readonly known: readonly string[];
  /** What became of the session's state, once the block is over. */
  readonly outcome: () => Promise<SessionBlock>;
}
