import type { Approver, Blobs, Clock, GateEvent, Journal, Lane, Policy, Principal, ProgramLanguage, Redactor, RunLease, RunLimits, RunSurroundings, SandboxDriver, Tracing } from "@callgate/contract";
import type { Approvals } from "../approval/approvals.ts";
import type { Broker } from "../broker/broker.ts";
import type { CallBounds } from "../broker/call-bounds.ts";
import type { Rehearsal } from "../broker/rehearsal.ts";
import type { RandomBytes } from "../lib/new-id.ts";
import type { RunPlan } from "../plan/pinned-plan.ts";
import type { RunTaint, TaintKeeper } from "../provenance/taint-keeper.ts";
import type { TokenCounter } from "../result/token-counter.ts";
import type { CatalogView } from "./catalog-view.ts";
import type { JournalHealth } from "./journal-health.ts";
import type { LiveRuns } from "./live-runs.ts";
import type { OwedEnds } from "./owed-ends.ts";
import type { Rerun } from "./rerun.ts";
import type { RunLog } from "./run-log.ts";

/** What every run reaches the world through. */
export interface RunSeams {
  readonly broker: Broker;
  /** Questions about programs, which are asked before they run. */
  readonly reviews: Approvals;
  readonly journal: Journal;
  readonly taints: TaintKeeper;
  readonly tracing: Tracing | undefined;
  readonly journalHealth: JournalHealth;
  readonly owedEnds: OwedEnds;
  readonly blobs: Blobs;
  readonly policy: Policy;
  readonly redactor: Redactor;
  /** What is around programs of a language in a sandbox, for the policy. */
  surroundingsOf(driver: SandboxDriver, language: ProgramLanguage): RunSurroundings;
  readonly clock: Clock;
  readonly random: RandomBytes;
  emit(event: GateEvent): void;
  /** Hears every event of one run, until the returned function is called. */
  observe(runId: string, observer: (event: GateEvent) => void): () => void;
  tokenCounter(): Promise<TokenCounter>;
  readonly settleGraceMs: number;
  /** How long a run stays ours without a sign of life. */
  readonly leaseMs: number;
  readonly live: LiveRuns;
  /** How long a guest that only waits is kept, where a caller says nothing. */
  readonly suspendAfterMs: number;
}

/** One run under way: whose it is, what it may see, and where it is written down. */
export interface RunScope {
  readonly seams: RunSeams;
  readonly view: CatalogView;
  readonly runId: string;
  /** Under which everything of the run is written. */
  readonly lease: RunLease;
  readonly startedAtMs: number;
  readonly principal: Principal;
  readonly lane: Lane;
  readonly taskId: string | undefined;
  readonly limits: RunLimits;
  /** Asked in place of the gate's own. */
  readonly approver?: Approver | undefined;
  /** The approved plan that it is pinned to. */
  readonly plan?: RunPlan | undefined;
  /** The run is a rehearsal: what may write is answered by a placeholder. */
  readonly rehearsal?: Rehearsal | undefined;
  /** Labels that have reached it and what it is part of. */
  readonly taint: RunTaint;
  readonly log: RunLog;
  /** Things worth saying that are no error. Added to while the run goes on. */
  readonly notices: Notices;
  /** Clear texts that tools called sensitive. Added to while the run goes on; no summary of the run holds them. */
  readonly sensitive: Set<string>;
  /** Numbers of result handles that earlier stretches took. */
  readonly resultsBefore?: number;
  /** Told when something may have been said to the run; whoever waits for that listens. */
  readonly signals: { heard: () => void };
  /** Aborts once another owner has the run: nothing more is performed or written here. */
  readonly fence: Fence;
  /** What calls keep to, whatever the policy allows beyond. */
  readonly bounds?: CallBounds | undefined;
  /** Set while a changed program is executed with the answers of a recorded run. */
  readonly rerun?: Rerun | undefined;
}

export interface Fence {
  readonly signal: AbortSignal;
  raise(): void;
}

export function createFence(): Fence {
  const controller = new AbortController();
  return { signal: controller.signal, raise: () => controller.abort(new DOMException("Another owner has taken the run over", "AbortError")) };
}

export interface Notices {
  add(text: string): void;
  readonly all: readonly string[];
}

/** Says each thing once. */
export function createNotices(first: readonly string[] = []): Notices {
  const all = new Set(first);
  return { add: (text) => void all.add(text), get all() { return [...all]; } };
}
