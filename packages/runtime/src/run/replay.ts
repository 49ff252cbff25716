import type { CallSummary, Principal, ReplayResult, RunError, RunRecord, RunStart, RunStatus, SandboxDriver } from "@callgate/contract";
import { newRunId } from "../lib/new-id.ts";
import type { RunDraft } from "../result/shape-run.ts";
import type { CatalogView } from "./catalog-view.ts";
import type { Executed } from "./execute.ts";
import { keepValue, shapeAndRecord } from "./finish-run.ts";
import { createOutputSink } from "./guest-output.ts";
import { createKeptValues } from "./kept-values.ts";
import { recordedJob } from "./recorded-job.ts";
import { readRecordedRun } from "./recorded-run.ts";
import type { RecordedRun } from "./recorded-run.ts";
import { reExecute, replayDriver } from "./re-execute.ts";
import type { ReExecuted } from "./re-execute.ts";
import type { Divergence } from "./replay-script.ts";
import { tellEnd } from "./run-error.ts";
import type { ToldEnd } from "./run-error.ts";
import { createRunLog, firstLease } from "./run-log.ts";
import { createFence, createNotices } from "./run-scope.ts";
import type { RunScope, RunSeams } from "./run-scope.ts";
import { sensitiveIn } from "./sensitive-in.ts";
import { createTokenMeter } from "./token-meter.ts";

export interface ReplayOptions {
  readonly run: RunRecord;
  readonly view: CatalogView;
  readonly drivers: readonly SandboxDriver[];
  readonly budgetTokens: number;
  readonly signal: AbortSignal;
}

/**
 * Executes a recorded program again, with the recorded seed, clock and answers. Neither broker nor sources are touched:
 * a replay has no effect. It is itself recorded, as a run of kind `replay`.
 *
 * Errors: `CallgateError` REPLAY_UNAVAILABLE.
 */
export async function replayRun(seams: RunSeams, options: ReplayOptions): Promise<ReplayResult> {
  const { run, drivers, view } = options;
  const recorded = readRecordedRun(run, await seams.journal.readEntries(run.principal.tenant, run.runId, { clear: true }));
  const driver = replayDriver(run, drivers);
  const scope = openReplay(seams, recorded, view);
  const startedMs = seams.clock.monotonic();
  const played = await play(scope, { recorded, driver, signal: options.signal });
  const told = tellEnd(played.end, { place: { ...recorded.checked, text: run.programText ?? "", lineOffset: recorded.checked.lineOffset ?? 0, shiftedLines: recorded.checked.shiftedLines ?? [] }, clean: (text) => seams.redactor.text(text), definedBefore: () => undefined });
  const divergence = played.divergence ?? (played.cutShort ? undefined : compareEnds(scope, recorded, { told, played }));
  const kept = createKeptValues(scope);
  const draft = draftOf(scope, recorded, { played, told, divergence, durationMs: seams.clock.monotonic() - startedMs });
  const known = played.value === undefined ? undefined : keepValue(kept, played.value);
  const result = await shapeAndRecord(scope, { program: run.programText ?? "", budgetTokens: options.budgetTokens, recorded: true }, { draft, known, kept, meter: createTokenMeter() });
  return { result, ...(divergence === undefined ? {} : { divergence }) };
}

function openReplay(seams: RunSeams, recorded: RecordedRun, view: CatalogView): RunScope {
  const { run } = recorded;
  const startedAtMs = seams.clock.now();
  const runId = newRunId(startedAtMs, seams.random);
  const principal: Principal = run.principal;
  const notices = createNotices([`This is a replay of ${run.runId} with its recorded answers: no tool was called, nothing was changed`]);
  if (run.status === "running") notices.add("The recorded run never ended: its process was lost, or it still goes on");
  const lease = firstLease(runId);
  const log = createRunLog(seams, lease, { degraded: (message) => notices.add(`The replay could not be journalled: ${seams.redactor.text(message)}`) });
  const start: RunStart = { runId, kind: "replay", principal, startedAtMs, lane: run.lane, language: run.language, programText: run.programText, programDigest: run.programDigest, seed: run.seed, limits: run.limits, driver: run.driver, interfaces: run.interfaces, policyVersion: run.policyVersion, replayOf: run.runId };
  log.begin(start);
  seams.emit({ kind: "run-started", atMs: startedAtMs, runId, principal, runKind: "replay" });
  return { seams, view, runId, lease, startedAtMs, principal, lane: run.lane, taskId: undefined, limits: run.limits, taint: seams.taints.of(principal.tenant, [], true), log, notices, sensitive: new Set(sensitiveIn(recorded, view)), signals: { heard: () => undefined }, fence: createFence() };
}

interface Played extends ReExecuted, Pick<Executed, "output"> {}

interface Playing {
  readonly recorded: RecordedRun;
  readonly driver: SandboxDriver;
  readonly signal: AbortSignal;
}

async function play(scope: RunScope, { recorded, driver, signal }: Playing): Promise<Played> {
  const textTooLarge = Promise.withResolvers<void>();
  const output = createOutputSink(scope, { textTooLarge: textTooLarge.resolve });
  const played = await reExecute(recorded, { driver, signal, job: recordedJob(scope, recorded), tooMuch: textTooLarge.promise }, { output: (said) => output.take(said) });
  return { ...played, output };
}

interface Ends {
  readonly told: ToldEnd;
  readonly played: Played;
}

function compareEnds({ seams }: RunScope, { run, valueDigest, issued }: RecordedRun, { told, played }: Ends): Divergence | undefined {
  const seq = issued.size;
  const { error } = run;
  const limit = (details: RunError["details"]): string => (details?.["limit"] === undefined ? "" : ` (${JSON.stringify(details["limit"])})`);
  const was = `${run.status}${error === undefined ? "" : ` ${error.code}${limit(error.details)}`}`;
  const is = `${told.status}${told.error === undefined ? "" : ` ${told.error.code}${limit(told.error.details)}`}`;
  if (was !== is) return { seq, recorded: { end: was }, replayed: { end: is, message: told.error?.message ?? null }, message: `The recorded run ended as ${was}, the replay as ${is}` };
  if (played.value === undefined || valueDigest === undefined) return undefined;
  const { digest, summary } = seams.redactor.record(played.value.value, played.value.wire, []);
  return digest === valueDigest ? undefined : { seq, recorded: { valueDigest }, replayed: { valueDigest: digest, value: summary }, message: "The replayed program returned another value than the recorded run" };
}

interface Drafting extends Ends {
  readonly divergence: Divergence | undefined;
  readonly durationMs: number;
}

function draftOf(scope: RunScope, recorded: RecordedRun, { played, told, divergence, durationMs }: Drafting): RunDraft {
  const { run, checked } = recorded;
  const error = divergence === undefined ? (played.cutShort ? run.error : told.error) : divergenceError(divergence);
  return {
    runId: scope.runId,
    status: divergence === undefined ? (played.cutShort ? lastStatus(run.status) : told.status) : "diverged",
    ...(checked.form === undefined ? {} : { form: checked.form }),
    ...(error === undefined ? {} : { error }),
    text: played.output.text,
    console: played.output.console,
    consoleDroppedBytes: played.output.droppedBytes,
    diagnostics: [],
    repairs: [],
    // What they did then is told as that: nothing is called now.
    calls: recorded.calls.map((call): CallSummary => ({ ...call, effectStatus: "none", durationMs: 0, recorded: { runId: run.runId, effectStatus: call.effectStatus, durationMs: call.durationMs } })),
    artifacts: [],
    notices: scope.notices.all,
    durationMs,
  };
}

/** A run that never ended has no end to repeat. */
function lastStatus(status: RunStatus): RunStatus {
  return status === "running" || status === "suspended" ? "cancelled" : status;
}

function divergenceError({ seq, message, recorded, replayed }: Divergence): RunError {
  return { code: "REPLAY_DIVERGED", message: `${message}. From here on the replay says nothing about the recorded run.`, retryable: false, details: { seq, recorded, replayed } };
}
