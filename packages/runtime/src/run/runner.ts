import { CallgateError } from "@callgate/contract";
import type { CheckReport, GuestJob, Principal, ProgramLanguage, RunResult, RunStart, SandboxDriver } from "@callgate/contract";
import type { ProgramCheck } from "../check/program-check.ts";
import { newRunId } from "../lib/new-id.ts";
import type { BuiltinReader } from "./builtins.ts";
import type { EarlierPrograms } from "./earlier-programs.ts";
import { execute } from "./execute.ts";
import { finishRun, rejectRun } from "./finish-run.ts";
import { hintDiagnostics } from "./run-error.ts";
import type { RunRequest } from "./run-request.ts";
import { createRunLog, firstLease } from "./run-log.ts";
import { createNotices } from "./run-scope.ts";
import type { RunScope, RunSeams } from "./run-scope.ts";

export interface Runner {
  /** Checks, runs, settles, shapes. What a program can end in is a value; rejects with CHECKER_FAILED or USAGE only. */
  run(request: RunRequest): Promise<RunResult>;
  /** Checks only; nothing is recorded. */
  check(request: RunRequest): Promise<RunResult>;
}

export interface RunnerOptions {
  readonly seams: RunSeams;
  readonly check: ProgramCheck;
  readonly drivers: readonly SandboxDriver[];
  readonly earlier: EarlierPrograms;
  readonly reader: (principal: Principal) => BuiltinReader;
}

export function createRunner(options: RunnerOptions): Runner {
  const { seams, check } = options;
  const checkProgram = (request: RunRequest): Promise<CheckReport> =>
    check.check({ text: request.program, language: request.language, namespaces: request.view.declarations(request.language), limits: request.limits, lane: request.lane }, request.signal);

  return {
    async run(request) {
      const driver = driverFor(options.drivers, request.language);
      // Of the first run of a process: the table is made in its own thread while the program is checked and runs.
      seams.tokenCounter().catch(() => undefined); // Whoever needs it tries again, and tells.
      const scope = openRun(seams, request, driver.name);
      let report: CheckReport;
      try {
        report = await checkProgram(request);
      } catch (fault) {
        return await failCheck(scope, request, fault);
      }
      noteCheck(scope, report);
      if (report.kind === "rejected") return await rejectRun(scope, request, { ...report, diagnostics: hintDiagnostics(report.diagnostics, options.earlier, request.principal) });
      options.earlier.add(request.principal, { runId: scope.runId, text: request.program });
      const executed = await execute(scope, { driver, job: jobOf(scope, request, report.code), signal: request.signal, reader: options.reader(request.principal) });
      return await finishRun(scope, request, { executed, report, definedBefore: (name) => options.earlier.definedBefore(request.principal, name) });
    },
    async check(request) {
      const report = await checkProgram(request);
      const diagnostics = hintDiagnostics(report.diagnostics, options.earlier, request.principal);
      const scope = scopeOf(seams, request);
      return await rejectRun(scope, { ...request, recorded: false }, { ...report, diagnostics });
    },
  };
}

export function driverFor(drivers: readonly SandboxDriver[], language: ProgramLanguage): SandboxDriver {
  const found = drivers.find(({ languages }) => languages.includes(language));
  if (found === undefined) {
    const known = [...new Set(drivers.flatMap(({ languages }) => languages))].join(", ");
    throw new CallgateError("USAGE", `No sandbox here runs ${language}; there is one for ${known === "" ? "no language" : known}`);
  }
  return found;
}

function scopeOf(seams: RunSeams, request: RunRequest): RunScope {
  const { view, principal, lane, taskId, limits } = request;
  const startedAtMs = seams.clock.now();
  const runId = newRunId(startedAtMs, seams.random);
  const notices = createNotices(request.notices);
  const lease = firstLease(runId);
  const log = createRunLog(seams.journal, lease, (message) => {
    notices.add(`The journal could not be written, so this run may not be explained or replayed later: ${seams.redactor.text(message)}`);
    seams.emit({ kind: "journal-degraded", atMs: seams.clock.now(), message: seams.redactor.text(message) });
  });
  return { seams, view, runId, lease, startedAtMs, principal, lane, taskId, limits, log, notices };
}

function openRun(seams: RunSeams, request: RunRequest, driver: string): RunScope {
  const scope = scopeOf(seams, request);
  const { startedAtMs } = scope;
  const start: RunStart = {
    runId: scope.runId,
    kind: "program",
    principal: request.principal,
    startedAtMs,
    lane: request.lane,
    language: request.language,
    programText: recordedText(request),
    programDigest: undefined,
    seed: request.seed,
    limits: request.limits,
    driver,
    interfaces: {},
    policyVersion: seams.policy.version,
    ...(request.taskId === undefined ? {} : { taskId: request.taskId }),
    budgetTokens: request.budgetTokens,
  };
  scope.log.begin(start);
  seams.emit({ kind: "run-started", atMs: startedAtMs, runId: scope.runId, principal: request.principal, runKind: "program" });
  return scope;
}

/** Of a text so long that the check refuses it whatever it says, the record keeps the start: sealing all would hold up the host. */
function recordedText({ program, limits }: RunRequest): string {
  if (program.length <= limits.sourceBytes * 2) return program;
  const kept = program.slice(0, refusedCharsKept).toWellFormed();
  return `${kept}\n… (${program.length - kept.length} more characters, over sourceBytes and not recorded)`;
}

const refusedCharsKept = 16 * 1024;

function noteCheck(scope: RunScope, report: CheckReport): void {
  const { seams, log, runId, principal, view } = scope;
  const atMs = seams.clock.now();
  const { diagnostics, repairs, durationMs } = report;
  const executed = report.kind === "ok" ? { code: report.code, lineOffset: report.lineOffset, shiftedLines: report.shiftedLines, form: report.form, reach: report.reach, interfaces: view.interfaces(report.reach), modulesDigest: view.modulesDigest } : {};
  log.add({ kind: "checked", atMs, ok: report.kind === "ok", diagnostics, repairs, durationMs, ...executed });
  seams.emit({ kind: "run-checked", atMs, runId, principal, ok: report.kind === "ok", diagnostics, durationMs });
}

function jobOf(scope: RunScope, request: RunRequest, code: string): GuestJob {
  const { modules, modulesDigest } = scope.view;
  return { runId: scope.runId, language: request.language, code, modules, modulesDigest, seed: request.seed, startMs: scope.startedAtMs, limits: scope.limits };
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

