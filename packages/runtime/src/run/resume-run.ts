import { CallgateError } from "@callgate/contract";
import type { CallError, ClaimedRun, JournalEntry, Principal, RunRecord, RunResult, SandboxDriver, UnavailableNamespace } from "@callgate/contract";
import { isAnswered, signalName } from "../journal/signal-codec.ts";
import { race } from "../lib/race.ts";
import { outerScopes } from "../provenance/taint-scopes.ts";
import type { CatalogView } from "./catalog-view.ts";
import { closeCalls } from "./close-calls.ts";
import { compensate } from "./compensate.ts";
import { withCompensation } from "./end-runs.ts";
import { lossesOf, maxLosses } from "./losses.ts";
import { pinnedInterfaces } from "./pinned-interfaces.ts";
import { recordedPlan } from "./recorded-plan.ts";
import { recordedResult } from "./recorded-result.ts";
import { refusalsOf } from "./recorded-calls.ts";
import { assumingReads, readAgain } from "./read-again.ts";
import { earlierReview } from "./review-program.ts";
import { readResumePoint } from "./resume-point.ts";
import type { ResumePoint } from "./resume-point.ts";
import { rerunOf } from "./rerun-source.ts";
import { changesSince } from "./run-changes.ts";
import type { RunRequest } from "./run-request.ts";
import type { RunScope, RunSeams } from "./run-scope.ts";
import { driverFor, requestFor, scopeOf } from "./runner.ts";
import type { Runner } from "./runner.ts";
import { waitedMs } from "./waited-time.ts";
import { watchLease } from "./watch-lease.ts";

export interface ResumerOptions {
  readonly seams: RunSeams;
  readonly runner: Runner;
  readonly drivers: readonly SandboxDriver[];
  readonly viewFor: (principal: Principal) => CatalogView;
  readonly budgetTokens: number;
  /** Ends a run whose cancel was begun by a process that was lost. */
  readonly goOnCancelling: (claimed: ClaimedRun) => Promise<RunResult>;
}

export interface Resuming {
  readonly signal: AbortSignal;
  readonly suspendAfterMs: number;
  readonly acceptChanges: boolean;
  readonly leave?: AbortSignal;
}

/** A run that was claimed and has not ended. */
export type OpenClaim = ClaimedRun & { readonly reason: "due" | "taken_over" };

export function isOpenClaim(claimed: ClaimedRun): claimed is OpenClaim {
  return claimed.reason !== "undoing";
}

/** Goes on with runs from where their record ends (DESIGN D7, D14). */
export interface Resumer {
  /** Until the run has ended or waits again; whoever drives it. Errors: RUN_NOT_FOUND, RUN_NOT_RESUMABLE. */
  resume(run: RunRecord, resuming: Resuming): Promise<RunResult>;
  /** Drives a run that was claimed. Errors: RUN_NOT_RESUMABLE; the run is suspended again by then. */
  drive(claimed: OpenClaim, resuming: Resuming): Promise<RunResult>;
  /** What the record says of a run. */
  recorded(run: RunRecord): Promise<RunResult>;
}

/** How often somebody else's run is looked at. */
const lookEveryMs = 200;
/** A run that cannot go on because of what has changed is tried again after this: it takes a person to change it back. */
const changedRetryMs = 60_000;
/** One that something else kept from going on, such as a connection that was lost. */
const faultRetryMs = 2_000;

export function createResumer(options: ResumerOptions): Resumer {
  const { seams, runner, seams: { journal, clock } } = options;

  async function recorded(run: RunRecord): Promise<RunResult> {
    const entries = await journal.readEntries(run.principal.tenant, run.runId, { clear: true });
    return recordedResult(run, { entries, budgetTokens: run.budgetTokens ?? options.budgetTokens, counter: await seams.tokenCounter() });
  }

  async function resume({ runId, principal }: RunRecord, resuming: Resuming): Promise<RunResult> {
    for (;;) {
      const here = seams.live.resultOf(runId);
      if (here !== undefined) return await here;
      const claimed = await journal.claim({ runId, tenant: principal.tenant, leaseMs: seams.leaseMs });
      if (claimed !== undefined && isOpenClaim(claimed)) return await drive(claimed, resuming);
      const run = await journal.readRun(principal.tenant, runId);
      if (run === undefined) throw new CallgateError("RUN_NOT_FOUND", `There is no run ${runId} any more`, { details: { runId } });
      if (run.status !== "running" && run.status !== "suspended") return await recorded(run);
      if (run.kind === "rehearsal") throw rehearsalError(run);
      // Another process drives it.
      const signal = AbortSignal.any([resuming.signal, ...(resuming.leave === undefined ? [] : [resuming.leave])]);
      await race(() => new Promise<never>(() => undefined), { clock, timeoutMs: lookEveryMs, signal });
      if (signal.aborted) return await recorded(run);
    }
  }

  /** Whatever comes of it, the run is not kept from others when nobody drives it any more. */
  const drive = (claimed: OpenClaim, resuming: Resuming): Promise<RunResult> => goOn(claimed, resuming).finally(() => journal.letGo(claimed.lease));

  async function goOn(claimed: OpenClaim, resuming: Resuming): Promise<RunResult> {
    const [{ run, lease }, { signal, suspendAfterMs, leave }] = [claimed, resuming];
    const rerun = await rerunOf(run, { journal, clock, driver: options.drivers.find(({ name }) => name === run.driver) });
    const request: RunRequest = { ...(rerun === undefined ? {} : { rerun }), outer: await outerScopes(journal, run), ...requestFor(run, { view: options.viewFor(run.principal), budgetTokens: options.budgetTokens, signal, clock }), suspendAfterMs, ...(leave === undefined ? {} : { leave }) };
    const scope = scopeOf(seams, request, { lease, startedAtMs: run.startedAtMs });
    // Whatever keeps it from going on, the run is given back as it was.
    const goOnNow = await look(claimed, { scope, request, acceptChanges: resuming.acceptChanges }).catch((fault: unknown) => leaveWaiting(scope, run, fault));
    return await goOnNow();
  }

  /** What is to become of a run, from its record. Errors where it cannot go on now; nothing was done by then. */
  async function look(claimed: OpenClaim, { scope: opened, request: asked, acceptChanges }: { readonly scope: RunScope; readonly request: RunRequest; readonly acceptChanges: boolean }): Promise<() => Promise<RunResult>> {
    const { run } = claimed;
    const [entries, signals] = await Promise.all([journal.readEntries(run.principal.tenant, run.runId, { clear: true }), journal.readSignals(run.principal.tenant, run.runId, { clear: true })]);
    const scope = { ...opened, view: opened.view.pinnedTo(pinnedInterfaces(run, entries)), plan: recordedPlan(entries) };
    const request = { ...asked, view: scope.view, waitedMs: waitedMs({ startedAtMs: run.startedAtMs, endedAtMs: undefined }, [...entries, resumedNow(claimed, clock.now())]) };
    const end = (why: string, undoes = true) => () => giveUp(scope, { ...claimed, undoes, recorded }, why);
    if (lossesOf(entries) >= maxLosses - 1 && claimed.reason === "taken_over") return end(`its process was lost ${maxLosses} times at the same point; the program, or a tool it calls, takes the process down`, false);
    const told = (next: () => Promise<RunResult>) => () => {
      tellResumed(scope, claimed, []);
      return next();
    };
    if (entries.some(({ kind }) => kind === "cancelling")) return told(() => options.goOnCancelling(claimed));
    if (run.planId !== undefined && scope.plan === undefined) return end("the plan that it is pinned to is not on record, or was erased");
    if (run.session === undefined && run.kind === "program" && run.programText !== undefined && !entries.some(({ kind }) => kind === "checked")) return told(() => runner.restart(scope, request, earlierReview(entries, signals)));
    const known = lostSession(run) ?? orWhy(() => readResumePoint(run, assumingReads(entries), signals));
    if (typeof known === "string") return end(known);
    const driver = options.drivers.find(({ name, languages }) => name === run.driver && languages.includes(request.language)) ?? driverFor(options.drivers, request.language);
    if (!driver.replayable) return end(`the sandbox ${driver.name} cannot execute a program the same way twice`);
    const changes = changesSince(run, known.recorded, { view: request.view, policyVersion: seams.policy.version, driver: driver.name });
    if (!acceptChanges) assertUnchanged(run, changes);
    return async () => {
      tellResumed(scope, claimed, [...changes.tools, ...changes.away.map(({ namespace }) => `the source ${namespace} cannot be reached`), ...changes.others]);
      const whole = await readAgain(scope, entries, request.signal).catch((fault: unknown) => leaveWaiting(scope, run, fault));
      const point = whole === entries ? known : readResumePoint(run, whole, signals);
      for (const { tool, argsDigest, reason } of refusalsOf(entries)) seams.broker.remember({ runId: run.runId, tool, argsDigest }, reason);
      return await runner.resume({ ...scope, resultsBefore: point.results }, request, { driver, point });
    };
  }

  return { resume, drive, recorded };
}

/**
 * A run that can never go on ends here. Tools are asked about the writes that it leaves in doubt, and what it did is undone,
 * save where either may take this process down as well.
 */
async function giveUp(scope: RunScope, { run, undoes, recorded }: GivenUp, why: string): Promise<RunResult> {
  const { seams } = scope;
  const { journal, clock } = seams;
  const { runId, principal } = run;
  const unwatch = watchLease(scope);
  try {
    const { signal } = scope.fence;
    await closeCalls(scope, { message: `The process that ran ${runId} was lost before the call ended`, signal, asksNobody: !undoes });
    const compensation = undoes && run.onFailure !== "keep" ? await compensate(scope, await journal.readEntries(principal.tenant, runId, { clear: true }), signal) : undefined;
    const error: CallError = { code: "RUN_INTERRUPTED", message: `The run cannot go on: ${why}. Writes of which nobody could tell are unknown.`, tool: "", retryable: false };
    const endedAtMs = clock.now();
    await scope.log.finish({ status: "crashed", endedAtMs, error, tokens: { result: 0, program: 0, direct: 0 } });
    seams.emit({ kind: "run-ended", atMs: endedAtMs, runId, principal, status: "crashed", durationMs: endedAtMs - run.startedAtMs });
    return withCompensation(await recorded((await journal.readRun(principal.tenant, runId)) ?? { ...run, status: "crashed", error }), compensation);
  } finally {
    unwatch();
  }
}

interface GivenUp extends OpenClaim {
  readonly recorded: Resumer["recorded"];
  readonly undoes: boolean;
}

/** Nothing is performed. The run waits for what it waited for, says why it did not go on, and is looked at again later. */
async function leaveWaiting({ seams: { journal, clock, redactor }, log }: RunScope, run: RunRecord, why: unknown): Promise<never> {
  const { runId, principal: { tenant } } = run;
  const [entries, signals] = await Promise.all([journal.readEntries(tenant, runId), journal.readSignals(tenant, runId)]);
  const said = signals.map(signalName);
  // A run that was claimed waits for nothing; what it waited for is in its record.
  const waited = entries.findLast((entry) => entry.kind === "suspended")?.waits ?? [];
  const waits = waited.filter((wait) => !isAnswered([wait], said));
  const isChanged = CallgateError.is(why) && (why.code === "RUN_NOT_RESUMABLE" || why.code === "SOURCE_FAILED");
  await log.suspend({ atMs: clock.now(), waits, wakeAtMs: clock.now() + (isChanged ? changedRetryMs : faultRetryMs), reason: redactor.text(why instanceof Error ? why.message : String(why)) });
  throw why;
}

function rehearsalError({ runId }: RunRecord): CallgateError {
  return new CallgateError("RUN_NOT_RESUMABLE", `Run ${runId} is a rehearsal, and nobody goes on with one. Nothing of it was written; rehearse again`, { details: { runId } });
}

/** Errors: SOURCE_FAILED, RUN_NOT_RESUMABLE. */
function assertUnchanged(run: RunRecord, { away, tools }: ReturnType<typeof changesSince>): void {
  if (away.length > 0) throw awayError(run, away);
  if (tools.length > 0) throw changedError(run, tools);
}

function awayError({ runId }: RunRecord, away: readonly UnavailableNamespace[]): CallgateError {
  return new CallgateError("SOURCE_FAILED", `Run ${runId} was not resumed, for it can reach tools of a source that is away. ${away.map(({ message }) => message).join(" ")} Nothing was performed; the run waits on, and is looked at again.`, { details: { runId, sources: away.map(({ namespace }) => namespace) } });
}

function changedError({ runId }: RunRecord, changed: readonly string[]): CallgateError {
  return new CallgateError("RUN_NOT_RESUMABLE", `Run ${runId} was not resumed, for what its program was checked against has changed: ${changed.join("; ")}. Nothing was performed. Resume it with acceptChanges (--accept-changes) if the program fits all the same, or cancel it.`, { details: { runId, changes: [...changed] } });
}

/** Why a block of a session cannot go on. */
function lostSession({ session }: RunRecord): string | undefined {
  return session === undefined ? undefined : `it was a block of the session ${session.sessionId}, and the state of that was in the process that was lost`;
}

/** A record that cannot be replayed says why. */
function orWhy(read: () => ResumePoint): ResumePoint | string {
  try {
    return read();
  } catch (fault) {
    if (!CallgateError.is(fault) || fault.code !== "REPLAY_UNAVAILABLE") throw fault;
    return fault.message;
  }
}

function resumedNow({ lease: { epoch }, reason }: OpenClaim, atMs: number, changes: readonly string[] = []): JournalEntry {
  return { kind: "resumed", atMs, epoch, reason, changes };
}

function tellResumed({ log, seams, runId, principal, lease, notices }: RunScope, claimed: OpenClaim, changes: readonly string[]): void {
  const atMs = seams.clock.now();
  const { reason, run: { trace } } = claimed;
  log.add(resumedNow(claimed, atMs, changes));
  log.flush();
  seams.emit({ kind: "run-resumed", atMs, runId, principal, epoch: lease.epoch, reason, changes, ...(trace === undefined ? {} : { trace }) });
  if (changes.length > 0) notices.add(`Since the program was checked: ${changes.join("; ")}`);
}
