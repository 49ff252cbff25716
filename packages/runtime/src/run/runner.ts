import { CallgateError } from "@callgate/contract";
import type { CheckReport, Clock, Diagnostic, GuestJob, PolicyDecision, ProgramLanguage, Redactor, RunRecord, RunResult, RunStart, SandboxDriver } from "@callgate/contract";
import { keepingApprover } from "../approval/approvers.ts";
import { createRehearsal } from "../broker/rehearsal.ts";
import { createCallBounds } from "../broker/call-bounds.ts";
import type { ProgramCheck } from "../check/program-check.ts";
import { newRunId } from "../lib/new-id.ts";
import { taintScopes } from "../provenance/taint-scopes.ts";
import type { BuiltinReader } from "./builtins.ts";
import type { EarlierPrograms } from "./earlier-programs.ts";
import { canCompensate, compensate } from "./compensate.ts";
import type { Compensation } from "./compensate.ts";
import { execute } from "./execute.ts";
import type { Executed } from "./execute.ts";
import { finishRun, rejectRun, suspendUnchecked } from "./finish-run.ts";
import type { FinishOptions } from "./finish-run.ts";
import { takeUntold } from "./journal-health.ts";
import { watchLease } from "./watch-lease.ts";
import { decideRun } from "./decide-run.ts";
import { asksForReview, reviewProgram } from "./review-program.ts";
import type { EarlierReview, ReviewEnd } from "./review-program.ts";
import { recordedJob } from "./recorded-job.ts";
import type { ResumePoint } from "./resume-point.ts";
import { hintDiagnostics } from "./run-error.ts";
import type { BlockOfSession, RunRequest } from "./run-request.ts";
import { createRunLog, firstLease } from "./run-log.ts";
import { rehearsalWaits } from "./waits-text.ts";
import { createFence, createNotices } from "./run-scope.ts";
import type { RunScope, RunSeams } from "./run-scope.ts";
import { sensitiveIn } from "./sensitive-in.ts";

export interface Runner {
  /** Checks, runs, settles, shapes. What a program can end in is a value; rejects with CHECKER_FAILED or USAGE only. */
  run(request: RunRequest): Promise<RunResult>;
  /** The same for a run that is ours and whose process was lost before its check was on record: nothing has happened yet. */
  restart(scope: RunScope, request: RunRequest, before: EarlierReview | undefined): Promise<RunResult>;
  /** Goes on with a run that is ours, from where its record ends. */
  resume(scope: RunScope, request: RunRequest, from: { readonly driver: SandboxDriver; readonly point: ResumePoint }): Promise<RunResult>;
  /** Checks only; nothing is recorded. */
  check(request: RunRequest): Promise<RunResult>;
  /** Records a block that was not run, as cancelled. */
  dropBlock(request: RunRequest & { readonly session: BlockOfSession }, why: string): Promise<RunResult>;
}

export interface RunnerOptions {
  readonly seams: RunSeams;
  readonly check: ProgramCheck;
  readonly drivers: readonly SandboxDriver[];
  readonly earlier: EarlierPrograms;
  readonly reader: (scope: Pick<RunScope, "principal" | "taint">) => BuiltinReader;
}

export function createRunner(options: RunnerOptions): Runner {
  const { seams, check } = options;
  const checkProgram = (request: RunRequest): Promise<CheckReport> =>
    check.check({ text: request.program, language: request.language, namespaces: request.view.declarations(request.language), unavailable: request.view.unavailable, limits: request.limits, lane: request.lane, ...(request.session === undefined ? {} : { block: { known: request.session.known } }) }, request.signal);

  async function checkAndCarryOut(scope: RunScope, request: RunRequest, { driver, before }: { readonly driver: SandboxDriver; readonly before?: EarlierReview | undefined }): Promise<RunResult> {
    let report: CheckReport;
    try {
      report = await checkProgram(request);
    } catch (fault) {
      return await failCheck(scope, request, fault);
    }
    const decision = await decideRun(scope, request, { driver, report });
    const goOn = (): Promise<RunResult> => reviewAndCarryOut(scope, request, { driver, report, decision, before });
    // What is answered meanwhile has to be heard here.
    return await (asksForReview(report, decision) ? seams.live.during(scope, goOn) : goOn());
  }

  async function reviewAndCarryOut(scope: RunScope, request: RunRequest, { driver, report, decision, before }: { readonly driver: SandboxDriver; readonly report: CheckReport; readonly decision: PolicyDecision; readonly before: EarlierReview | undefined }): Promise<RunResult> {
    const review = await reviewProgram(scope, request, { report, decision, before });
    // Nothing of the check is on record: whoever takes the run up begins with it.
    if (review.kind === "waits" && request.rehearsal !== undefined) return await rejectRun(scope, request, { ...report, kind: "refused", error: rehearsalWaits(scope.runId, review.suspension.waits) });
    if (review.kind === "waits") return await suspendUnchecked(scope, request, review.suspension);
    noteCheck(scope, report, { review, decision });
    // Asked for before the program runs: no effect of it may be on record without what was executed.
    scope.log.flush();
    if (report.kind === "rejected") return await rejectRun(scope, request, { ...report, diagnostics: hintDiagnostics(report.diagnostics, options.earlier, request.principal) });
    if (review.kind === "cancelled" || review.kind === "refused") return await rejectRun(scope, request, review.kind === "cancelled" ? review : { ...report, ...review });
    options.earlier.add(request.principal, { runId: scope.runId, text: request.program });
    return await carryOut(options, scope, { request, driver, job: jobOf(scope, request, report.code), report });
  }

  return {
    async run(request) {
      const driver = request.session?.driver ?? driverFor(options.drivers, request.language);
      // Of the first run of a process: the table is made in its own thread while the program is checked and runs.
      seams.tokenCounter().catch(() => undefined); // Whoever needs it tries again, and tells.
      const scope = openRun(seams, request, driver.name);
      try {
        return await checkAndCarryOut(scope, request, { driver });
      } finally {
        seams.journal.letGo(scope.lease);
      }
    },
    async restart(scope, request, before) {
      return await checkAndCarryOut(scope, request, { driver: driverFor(options.drivers, request.language), before });
    },
    async resume(scope, request, { driver, point }) {
      const { recorded } = point;
      for (const value of sensitiveIn(recorded, scope.view)) scope.sensitive.add(value);
      const { checked } = recorded;
      const report: FinishOptions["report"] = { form: checked.form ?? "script", diagnostics: checked.diagnostics, repairs: checked.repairs, lineOffset: checked.lineOffset ?? 0, shiftedLines: checked.shiftedLines ?? [] };
      return await carryOut(options, scope, { request, driver, job: recordedJob(scope, recorded), report, resumed: point });
    },
    dropBlock: (request, why) => rejectRun(openRun(seams, request, request.session.driver.name), request, { kind: "cancelled", why }),
    async check(request) {
      const report = await checkProgram(request);
      const diagnostics = hintDiagnostics(report.diagnostics, options.earlier, request.principal);
      const scope = newScope(seams, request);
      return await rejectRun(scope, { ...request, recorded: false }, { ...report, diagnostics });
    },
  };
}

interface Carrying {
  readonly request: RunRequest;
  readonly driver: SandboxDriver;
  readonly job: GuestJob;
  readonly report: FinishOptions["report"];
  readonly resumed?: ResumePoint;
}

/** Executes a checked program under its lease, and records and tells what came of it. */
async function carryOut({ reader, earlier, seams }: RunnerOptions, scope: RunScope, { request, driver, job, report, resumed }: Carrying): Promise<RunResult> {
  const release = watchLease(scope);
  const { suspendAfterMs, leave, onOutput } = request;
  return await seams.live.during(scope, async () => {
    try {
      const executed = await execute(scope, { driver, job, signal: request.signal, reader: reader(scope), suspendAfterMs, ...(onOutput === undefined ? {} : { onOutput }), ...(leave === undefined ? {} : { leave }), ...(resumed === undefined ? {} : { resumed }) });
      const block = await request.session?.outcome();
      if (block?.stateKept === false) scope.notices.add(block.loss?.message ?? "The state of the session is gone");
      const compensation = await undoIfFailed(scope, request, executed);
      return await finishRun(scope, request, { executed, report, definedBefore: (name) => earlier.definedBefore(request.principal, name), onlyRead: driver.replayable && executed.calls.every(({ effect }) => effect === "read"), ...(compensation === undefined ? {} : { compensation }) });
    } finally {
      release();
    }
  });
}

/** What is undone of a run that came to a bad end. One that diverged is left for a person: its record is in question. */
async function undoIfFailed(scope: RunScope, { onFailure }: RunRequest, { end, suspension, divergence, calls }: Executed): Promise<Compensation | undefined> {
  if (end.kind === "returned" || suspension !== undefined || divergence !== undefined || scope.fence.signal.aborted || onFailure === "keep") return undefined;
  const done = calls.filter((call) => call.effect !== "read" && call.end?.effectStatus === "done");
  if (!canCompensate(scope, done.map(({ tool }) => tool))) return undefined;
  // Executed again, the program would not come to this end, but go on with what is undone.
  if (end.kind !== "threw" && end.kind !== "stalled") scope.log.add({ kind: "cancelling", atMs: scope.seams.clock.now(), status: end.kind });
  await scope.log.settle();
  try {
    const entries = await scope.seams.journal.readEntries(scope.principal.tenant, scope.runId, { clear: true });
    return await compensate(scope, entries, new AbortController().signal);
  } catch (fault) {
    scope.notices.add(`What the run did was not undone, for its record could not be read: ${scope.seams.redactor.text(fault instanceof Error ? fault.message : String(fault))} Undo it with callgate runs rollback ${scope.runId}`);
    return undefined;
  }
}

export function driverFor(drivers: readonly SandboxDriver[], language: ProgramLanguage): SandboxDriver {
  const found = drivers.find(({ languages }) => languages.includes(language));
  if (found === undefined) {
    const known = [...new Set(drivers.flatMap(({ languages }) => languages))].join(", ");
    throw new CallgateError("USAGE", `No sandbox here runs ${language}; there is one for ${known === "" ? "no language" : known}`);
  }
  return found;
}

function newScope(seams: RunSeams, request: RunRequest): RunScope {
  const startedAtMs = seams.clock.now();
  return scopeOf(seams, request, { lease: firstLease(request.runId ?? newRunId(startedAtMs, seams.random)), startedAtMs });
}

/** What is known of a run that is driven under this lease. */
export function scopeOf(seams: RunSeams, request: RunRequest, { lease, startedAtMs }: Pick<RunScope, "lease" | "startedAtMs">): RunScope {
  const { view, principal, lane, taskId, limits } = request;
  const scopes = [...taintScopes({ ...request, runId: lease.runId, session: request.session?.place, edits: request.rerun }), ...(request.outer ?? [])];
  const notices = createNotices([...request.notices, ...takeUntold(seams.journalHealth)]);
  const fence = createFence();
  const log = createRunLog(seams, lease, {
    degraded(message, isLate) {
      const clean = seams.redactor.text(message);
      if (isLate) seams.journalHealth.untold.add(`The journal could not be written when run ${lease.runId} had been answered, so that run may not be explained or replayed later: ${clean}`);
      else notices.add(`The journal could not be written, so this run may not be explained or replayed later: ${clean}`);
      seams.emit({ kind: "journal-degraded", atMs: seams.clock.now(), message: clean });
    },
    fenced: () => fence.raise(),
  });
  return { seams, view, runId: lease.runId, lease, startedAtMs, principal, lane, taskId, limits, ...(request.questions === "keep" ? { approver: keepingApprover() } : {}), ...(request.plan === undefined ? {} : { plan: request.plan.pinned }), ...(request.rehearsal === undefined ? {} : { rehearsal: createRehearsal({ program: request.program, ...request.rehearsal }) }), taint: seams.taints.of(principal.tenant, scopes, lease.epoch === 1 && request.rerun === undefined && request.parent === undefined), log, notices, sensitive: new Set(), fence, signals: { heard: () => undefined }, ...(request.rerun === undefined ? {} : { rerun: request.rerun }), ...(request.capabilities === undefined ? {} : { bounds: createCallBounds(request.capabilities) }) };
}

function openRun(seams: RunSeams, request: RunRequest, driver: string): RunScope {
  const scope = newScope(seams, request);
  const { startedAtMs } = scope;
  const trace = seams.tracing?.current();
  const kind = request.rehearsal === undefined ? "program" : "rehearsal";
  const start: RunStart = {
    runId: scope.runId,
    kind,
    principal: request.principal,
    startedAtMs,
    lane: request.lane,
    language: request.language,
    programText: recordedText(request),
    programDigest: undefined,
    seed: request.seed,
    limits: request.limits,
    driver,
    interfaces: request.interfaces,
    policyVersion: seams.policy.version,
    ...(request.taskId === undefined ? {} : { taskId: request.taskId }),
    ...(request.conversation === undefined ? {} : { conversation: request.conversation }),
    budgetTokens: request.budgetTokens,
    onFailure: request.onFailure,
    ...(request.questions === undefined ? {} : { questions: request.questions }),
    ...(request.plan === undefined ? {} : { planId: request.plan.pinned.plan.planId }),
    ...(trace === undefined ? {} : { trace }),
    ...(request.session === undefined ? {} : { session: request.session.place }),
    ...(request.rehearsal?.heldAgainst === undefined ? {} : { replayOf: request.rehearsal.heldAgainst }),
    ...(request.capabilities === undefined ? {} : { capabilities: request.capabilities }),
    ...(request.parent === undefined ? {} : { parent: request.parent }),
    ...(request.rerun === undefined ? {} : { replayOf: request.rerun.runId, edits: { runId: request.rerun.runId, newCalls: request.rerun.newCalls }, clockMs: request.rerun.startMs }),
  };
  scope.log.begin(start, { leaseMs: seams.leaseMs });
  if (request.plan !== undefined) {
    scope.log.add(request.plan.entry);
    scope.log.flush();
  }
  seams.emit({ kind: "run-started", atMs: startedAtMs, runId: scope.runId, principal: request.principal, runKind: kind, ...((request.rehearsal?.variant.kind ?? "plain") === "plain" ? {} : { isVaried: true as const }), ...(trace === undefined ? {} : { trace }) });
  return scope;
}

/** Of a text so long that the check refuses it whatever it says, the record keeps the start: sealing all would hold up the host. */
function recordedText({ program, limits }: RunRequest): string {
  if (program.length <= limits.sourceBytes * 2) return program;
  const kept = program.slice(0, refusedCharsKept).toWellFormed();
  return `${kept}\n… (${program.length - kept.length} more characters, over sourceBytes and not recorded)`;
}

const refusedCharsKept = 16 * 1024;

function noteCheck(scope: RunScope, report: CheckReport, { review, decision: { next } }: { readonly review: ReviewEnd; readonly decision: PolicyDecision }): void {
  const { seams, log, runId, principal, view } = scope;
  const atMs = seams.clock.now();
  const { diagnostics, repairs, durationMs } = report;
  const ok = report.kind === "ok" && (review.kind === "none" || review.kind === "approved");
  const reviewed = "record" in review ? { review: review.record } : {};
  const executed = ok ? { code: report.code, lineOffset: report.lineOffset, shiftedLines: report.shiftedLines, form: report.form, reach: report.reach, interfaces: view.interfaces(report.reach), modulesDigest: view.modulesDigest } : {};
  log.add({ kind: "checked", atMs, ok, diagnostics, repairs, durationMs, ...executed, ...reviewed, ...(next === undefined ? {} : { next }) });
  // Whoever takes the run over needs it, however early that is.
  if (ok) log.flush();
  // A diagnostic quotes the program; the record of it is sealed.
  seams.emit({ kind: "run-checked", atMs, runId, principal, ok, diagnostics: diagnostics.map((found) => cleanDiagnostic(found, seams.redactor)), durationMs });
}

function cleanDiagnostic(found: Diagnostic, redactor: Redactor): Diagnostic {
  const text = (quoting: string): string => redactor.text(quoting);
  return { ...found, message: text(found.message), ...(found.excerpt === undefined ? {} : { excerpt: text(found.excerpt) }), ...(found.suggestions === undefined ? {} : { suggestions: found.suggestions.map(text) }) };
}

function jobOf(scope: RunScope, request: RunRequest, code: string): GuestJob {
  const { modules, modulesDigest } = scope.view;
  return { runId: scope.runId, language: request.language, code, modules, modulesDigest, seed: request.seed, startMs: request.rerun?.startMs ?? scope.startedAtMs, limits: scope.limits, ...(request.rerun === undefined ? {} : { places: true }) };
}

/** A run whose check was cancelled is a cancelled run; a checker that died is our fault, and thrown once it is recorded. */
async function failCheck(scope: RunScope, request: RunRequest, fault: unknown): Promise<RunResult> {
  if (request.signal.aborted) return await rejectRun(scope, request, { kind: "cancelled" });
  const message = fault instanceof Error ? fault.message : "the checker failed";
  const error = { code: "INTERNAL", message: scope.seams.redactor.text(message), tool: "", retryable: true };
  scope.seams.emit({ kind: "run-ended", atMs: scope.seams.clock.now(), runId: scope.runId, principal: scope.principal, status: "crashed", durationMs: 0 });
  await scope.log.finish({ status: "crashed", endedAtMs: scope.seams.clock.now(), error, tokens: { result: 0, program: 0, direct: 0 } });
  throw fault;
}

/** What a run asked for, as its record tells it. */
export function requestFor(run: RunRecord, { view, budgetTokens, signal, clock }: Pick<RunRequest, "view" | "budgetTokens" | "signal"> & { readonly clock: Clock }): RunRequest {
  const { programText, principal, language, lane, limits, taskId, conversation, seed, startedAtMs, onFailure, questions } = run;
  return {
    // It is never gone on with; what is made of its record all the same must not write.
    ...(run.kind === "rehearsal" ? { rehearsal: { variant: { kind: "plain" } as const } } : {}),
    program: programText ?? "",
    view,
    principal,
    language: language ?? "typescript",
    lane,
    limits,
    budgetTokens: run.budgetTokens ?? budgetTokens,
    taskId,
    conversation,
    seed,
    signal,
    notices: [],
    startedMs: clock.monotonic() - Math.max(0, clock.now() - startedAtMs),
    recorded: true,
    onFailure: onFailure ?? "compensate",
    questions,
    suspendAfterMs: Number.POSITIVE_INFINITY,
    capabilities: run.capabilities,
    parent: run.parent,
    interfaces: run.interfaces,
  };
}
