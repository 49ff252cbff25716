import type { Artifact, CheckReport, Handle, JsonValue, RunError, RunFinish, RunResult, RunStatus, Suspension } from "@callgate/contract";
import { storeFile } from "../broker/store-artifact.ts";
import type { KnownValue } from "../result/fit-value.ts";
import { shapeRun } from "../result/shape-run.ts";
import type { RunDraft } from "../result/shape-run.ts";
import type { Compensation } from "./compensate.ts";
import { summaryOf } from "./tool-call.ts";
import type { Executed } from "./execute.ts";
import { sentence } from "../lib/sentence.ts";
import { progressText } from "../plan/plan-progress.ts";
import { progressOf } from "./recorded-plan.ts";
import { createKeptValues } from "./kept-values.ts";
import type { KeptValues } from "./kept-values.ts";
import { effectsOf } from "./run-effects.ts";
import { runCost } from "./run-cost.ts";
import { placeOf, tellEnd } from "./run-error.ts";
import type { ProgramPlace, TellOptions } from "./run-error.ts";
import type { RunScope } from "./run-scope.ts";
import type { RunRequest } from "./run-request.ts";
import { createTokenMeter } from "./token-meter.ts";
import { compensationText, doubtText, waitsText } from "./waits-text.ts";
import type { TokenMeter } from "./token-meter.ts";

type OkReport = Extract<CheckReport, { kind: "ok" }>;

export interface FinishOptions {
  readonly executed: Executed;
  readonly report: Pick<OkReport, "form" | "diagnostics" | "repairs" | "lineOffset" | "shiftedLines">;
  readonly definedBefore: (name: string) => string | undefined;
  /** Nothing of it can have changed anything. */
  readonly onlyRead: boolean;
  readonly compensation?: Compensation;
}

/** Records how a run ended, or that it was given up for now, and makes the result that its caller gets. */
export async function finishRun(scope: RunScope, request: RunRequest, { executed, report, definedBefore, onlyRead, compensation }: FinishOptions): Promise<RunResult> {
  const { seams, runId } = scope;
  const told = tellOutcome(scope, executed, { place: { ...report, text: request.program }, clean: (text) => seams.redactor.text(text), definedBefore });
  const kept = createKeptValues(scope);
  const known = executed.value === undefined ? undefined : keepValue(kept, executed.value);
  // What has not ended of a run that goes on is among its waits, or somebody else's; its files are kept at its end.
  const goesOn = told.status === "suspended" || told.status === "running";
  // What came beyond the limit was never a call of the run; it is on record as refused.
  const calls = executed.calls.slice(0, scope.limits.calls).filter(({ end }) => !goesOn || end !== undefined).map(summaryOf);
  const own = goesOn ? [] : await storeFiles(scope, executed.output.artifacts);
  const files = goesOn ? [] : executed.calls.flatMap(({ end }) => end?.artifacts ?? []);
  const artifacts = [...files, ...own].map((artifact) => kept.keepArtifact(artifact));
  for (const notice of executed.suspension === undefined ? [] : waitsText(runId, executed.suspension.waits)) scope.notices.add(notice);
  for (const notice of compensation === undefined ? [] : compensationText(compensation)) scope.notices.add(notice);
  if (told.status === "completed") for (const notice of doubtText(calls)) scope.notices.add(notice);
  const planProgress = scope.plan === undefined || goesOn ? undefined : progressOf(scope.plan, calls);
  for (const notice of planProgress === undefined ? [] : progressText(planProgress)) scope.notices.add(notice);
  const draft: RunDraft = {
    ...(planProgress === undefined ? {} : { planProgress }),
    runId,
    status: told.status,
    form: report.form,
    ...(told.error === undefined ? {} : { error: told.error }),
    text: executed.output.text,
    console: executed.output.console,
    consoleDroppedBytes: executed.output.droppedBytes,
    diagnostics: report.diagnostics,
    repairs: report.repairs,
    calls,
    ...runCost(calls),
    artifacts,
    ...(told.status === "completed" ? {} : { effects: effectsOf(calls) }),
    ...(compensation === undefined ? {} : { compensation }),
    ...(executed.suspension === undefined ? {} : { waits: executed.suspension.waits }),
    notices: scope.notices.all,
    ...timesOf(scope, request),
  };
  return await shapeAndRecord(scope, request, { draft, known, kept, meter: executed.meter, suspension: executed.suspension, onlyRead });
}

function timesOf({ seams: { clock } }: RunScope, { startedMs, waitedMs = 0 }: RunRequest): Pick<RunDraft, "durationMs" | "waitedMs"> {
  const durationMs = clock.monotonic() - startedMs;
  return { durationMs, ...(waitedMs === 0 ? {} : { waitedMs: Math.min(waitedMs, durationMs) }) };
}

function lostNotice(runId: string): string {
  return `Another process has taken run ${runId} over and goes on with it; what was under way here was stopped and is not written down`;
}

function owedNotice(runId: string): string {
  return `The end of run ${runId} is not on record yet, and is tried again while this process lives. Should the process end before, another one goes on with the run from its record, and makes calls that were refused here. Do not submit the same work again before callgate runs show ${runId} tells its end`;
}

type ToldOutcome = { readonly status: RunStatus; readonly error?: RunError };

function tellOutcome({ fence, notices, runId, plan }: RunScope, { end, divergence, suspension, newCall }: Executed, telling: TellOptions): ToldOutcome {
  if (fence.signal.aborted) {
    notices.add(lostNotice(runId));
    return { status: "running" };
  }
  if (suspension !== undefined) return { status: "suspended" };
  if (plan?.drift !== undefined) return { status: "diverged", error: { code: "PLAN_DRIFT", message: `The run ended at the first write that its plan does not have: ${sentence(plan.drift)} That write did not happen, nor anything after it. What was done before stays done; undo it with callgate runs rollback ${runId}, or rehearse again.`, retryable: false, details: { planId: plan.plan.planId } } };
  if (newCall !== undefined) return { status: "diverged", error: newCallError(newCall, telling.place) };
  if (divergence === undefined) return tellEnd(end, telling);
  const { seq, message, recorded, replayed } = divergence;
  notices.add(`Nothing was performed when the run was to go on. Undo what it had done with callgate runs rollback ${runId}`);
  return { status: "diverged", error: { code: "REPLAY_DIVERGED", message: `The run cannot go on: ${message}. Nothing was performed.`, retryable: false, details: { seq, recorded, replayed } } };
}

function newCallError(call: NonNullable<Executed["newCall"]>, place: ProgramPlace): RunError {
  const name = call.kind === "tool" ? call.tool : call.name;
  return { code: "NEW_CALL", message: `The recorded run has no answer for call ${call.seq} (${name}) with these arguments, so the program was stopped there. Nothing was called.`, tool: name, retryable: false, details: { seq: call.seq }, ...placeOf(call, place) };
}

/** The program's own files. One that cannot be stored is said, and does not take the run with it. */
async function storeFiles({ seams, principal, notices }: RunScope, files: Executed["output"]["artifacts"]): Promise<Artifact[]> {
  const stored: Artifact[] = [];
  for (const file of files) {
    try {
      stored.push(await storeFile({ blobs: seams.blobs, tenant: principal.tenant }, { ...file, name: seams.redactor.text(file.name) }));
    } catch (fault) {
      notices.add(`A file of the program could not be kept: ${fault instanceof Error ? seams.redactor.text(fault.message) : "unknown reason"}`);
    }
  }
  return stored;
}

/** Ends a run that never executed: refused by the check or by a person, or cancelled meanwhile. Without `scope.log` begun, nothing is recorded. */
export async function rejectRun(scope: RunScope, request: RunRequest, report: CheckReport | RefusedReview | { readonly kind: "cancelled"; readonly why?: string }): Promise<RunResult> {
  const draft: RunDraft = {
    ...unexecuted(scope, request),
    status: statusOf(report.kind),
    ...(report.kind === "ok" ? { form: report.form } : {}),
    ...(report.kind === "cancelled" ? { error: { code: "CANCELLED", message: report.why ?? "The run was cancelled before the program was checked; it did not run.", retryable: true } } : {}),
    ...(report.kind === "refused" ? { error: report.error } : {}),
    ...(report.kind === "cancelled" ? {} : { diagnostics: report.diagnostics, repairs: report.repairs }),
  };
  return await shapeAndRecord(scope, request, { draft, known: undefined, kept: createKeptValues(scope), meter: createTokenMeter() });
}

/** Gives up a run whose program waits for a person's review. Nothing of it has happened. */
export async function suspendUnchecked(scope: RunScope, request: RunRequest, suspension: Suspension): Promise<RunResult> {
  if (scope.fence.signal.aborted) scope.notices.add(lostNotice(scope.runId));
  else for (const notice of waitsText(scope.runId, suspension.waits)) scope.notices.add(notice);
  const draft: RunDraft = { ...unexecuted(scope, request), status: scope.fence.signal.aborted ? "running" : "suspended", waits: suspension.waits };
  return await shapeAndRecord(scope, request, { draft, known: undefined, kept: createKeptValues(scope), meter: createTokenMeter(), suspension });
}

/** What there is to tell of a run whose program was not executed. */
function unexecuted(scope: RunScope, request: RunRequest): Omit<RunDraft, "status"> {
  const { runId, notices } = scope;
  return { runId, text: [], console: [], consoleDroppedBytes: 0, diagnostics: [], repairs: [], calls: [], artifacts: [], notices: notices.all, ...timesOf(scope, request) };
}

type RefusedReview = Pick<CheckReport, "diagnostics" | "repairs"> & { readonly kind: "refused"; readonly error: RunError };

function statusOf(kind: CheckReport["kind"] | RefusedReview["kind"] | "cancelled"): Extract<RunStatus, "completed" | "rejected" | "cancelled"> {
  if (kind === "cancelled") return "cancelled";
  return kind === "ok" ? "completed" : "rejected";
}

export interface KeptValue extends KnownValue {
  readonly handle: Handle;
  readonly number: number;
}

/** Keeps the value a program returned under the first handle of its run. */
export function keepValue(kept: KeptValues, { wire, value }: NonNullable<Executed["value"]>): KeptValue {
  // Untagged text is what a model would be shown, so it need not be written again.
  return { ...kept.keep("value", value, wire), value, ...(wire.tagged ? {} : { json: wire.json }) };
}

interface Shaping {
  readonly draft: RunDraft;
  readonly known: KeptValue | undefined;
  readonly kept: KeptValues;
  readonly meter: TokenMeter;
  readonly suspension?: Suspension | undefined;
  readonly onlyRead?: boolean;
}

/** Makes the result fit, and ends the run in the journal, or gives it up there for now. */
export async function shapeAndRecord(scope: RunScope, request: Pick<RunRequest, "program" | "budgetTokens" | "recorded">, { draft, known, kept, meter, suspension, onlyRead = false }: Shaping): Promise<RunResult> {
  const { seams, log, runId, principal } = scope;
  const counter = await seams.tokenCounter();
  const shape = (notices: readonly string[]): ReturnType<typeof shapeRun> =>
    shapeRun({
      draft: { ...draft, notices },
      ...(known === undefined ? {} : { value: known }),
      budgetTokens: request.budgetTokens,
      counter,
      keep: (label, value) => kept.keep(label, value).handle,
    });
  const { resultTokens, ...shaped } = shape(draft.notices);
  const tokens = { result: resultTokens, program: counter.estimate(request.program), direct: meter.total(counter) };
  const finish: RunFinish = {
    status: draft.status === "running" || draft.status === "suspended" ? "failed" : draft.status,
    endedAtMs: seams.clock.now(),
    ...(draft.error === undefined ? {} : { error: { tool: "", ...withoutPlace(draft.error) } }),
    tokens,
    ...(known === undefined ? {} : { resultNumber: known.number }),
  };
  let unrecorded: Pick<RunResult, "isUnrecorded"> = {};
  if (draft.status === "running") await log.settle();
  else if (suspension !== undefined) {
    if (!(await log.suspend(suspension))) scope.notices.add("The journal could not be written; any worker goes on with the run once its lease is over");
    seams.emit({ kind: "run-suspended", atMs: suspension.atMs, runId, principal, waits: suspension.waits });
  } else if (request.recorded) {
    if (!(await log.finish(finish, { onlyRead })) && !scope.fence.signal.aborted) {
      unrecorded = { isUnrecorded: true };
      scope.notices.add(owedNotice(runId));
    }
    // The end was not written: the run is another owner's, and goes on or ended there.
    if (scope.fence.signal.aborted) return { ...shaped, status: "running", notices: [...shaped.notices, lostNotice(runId)], tokens };
    seams.emit({ kind: "run-ended", atMs: finish.endedAtMs, runId, principal, status: draft.status, durationMs: draft.durationMs });
  }
  const { all } = scope.notices;
  if (all.length === draft.notices.length) return { ...shaped, ...unrecorded, tokens };
  // The journal failed meanwhile: that has to be told too.
  const { resultTokens: result, ...retold } = shape(all);
  return { ...retold, ...unrecorded, tokens: { ...tokens, result } };
}

/** The record's form of an error; line and column become part of its details. */
function withoutPlace({ line, column, excerpt: _excerpt, ...error }: RunError): Omit<RunError, "line" | "column" | "excerpt"> {
  if (line === undefined) return error;
  const place: Readonly<Record<string, JsonValue>> = { line, ...(column === undefined ? {} : { column }) };
  return { ...error, details: { ...error.details, ...place } };
}
