import { CallgateError, decodeValue } from "@callgate/contract";
import type { EditOptions, EditResult, GateTimeTravel, NewCall, NewCalls, Principal, Recording, RunOptions, SandboxDriver } from "@callgate/contract";
import { inputMarks } from "../broker/pointers.ts";
import { callTraces } from "./call-traces.ts";
import type { CatalogView } from "./catalog-view.ts";
import { diffRuns } from "./diff-runs.ts";
import { createRunFinder } from "./run-finder.ts";
import { makeRecording } from "./make-recording.ts";
import { pinnedInterfaces } from "./pinned-interfaces.ts";
import { readRecording } from "./read-recording.ts";
import { refuseWaysAround } from "./rehearse.ts";
import { createRerun } from "./rerun.ts";
import type { Rerun } from "./rerun.ts";
import { readRerunSource } from "./rerun-source.ts";
import type { RerunSource } from "./rerun-source.ts";
import type { RunRequest } from "./run-request.ts";
import type { RunSeams } from "./run-scope.ts";
import { driverFor } from "./runner.ts";
import type { Runner } from "./runner.ts";
import { stepsOf } from "./steps-of.ts";

export interface GateTimeTravelOptions {
  readonly seams: RunSeams;
  readonly runner: Runner;
  readonly drivers: readonly SandboxDriver[];
  readonly principal: Principal;
  readonly viewFor: (principal: Principal) => CatalogView;
  readonly requestFor: (program: string, run: RunOptions, signal: AbortSignal) => RunRequest;
  readonly during: <Result>(signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<Result>) => Promise<Result>;
}

/** What is edited: a run of the journal, or a recording. */
interface Edited extends RerunSource {
  readonly runId: string;
  readonly program: string | undefined;
  readonly run: Pick<RunOptions, "language" | "lane" | "seed" | "limits" | "taskId" | "interfaces">;
}

/** Runs as fixtures: taken apart, changed, compared, carried elsewhere. */
export function createGateTimeTravel({ seams, runner, drivers, principal, viewFor, requestFor, during }: GateTimeTravelOptions): GateTimeTravel {
  const { must } = createRunFinder(seams.journal);

  async function editedRun(runId: string, asker: Principal): Promise<Edited> {
    const run = await must(runId, asker);
    const { language, lane, seed, limits, taskId, programText } = run;
    return { ...(await readRerunSource(seams.journal, run)), runId, program: programText, run: { language: language ?? "typescript", lane, seed, limits, interfaces: pinnedInterfaces(run, await seams.journal.readEntries(run.principal.tenant, runId)), ...(taskId === undefined ? {} : { taskId }) } };
  }

  function editedRecording(recording: Recording): Edited {
    const { runId, program, language, seed, limits } = recording;
    return { ...readRecording(recording, seams.redactor), runId, program, run: { language, lane: "execute", seed, limits } };
  }

  async function edit(edited: Edited, options: EditOptions, signal: AbortSignal): Promise<EditResult> {
    const program = options.program ?? edited.program;
    if (program === undefined) throw new CallgateError("USAGE", `The text of run ${edited.runId} is not kept any more; give the program`);
    const { program: _program, newCalls = "stop", signal: _signal, ...given } = options;
    const request = requestFor(program, { ...edited.run, ...given, limits: { ...edited.run.limits, ...given.limits } }, signal);
    refusePlaceholders(edited, newCalls);
    const driver = driverFor(drivers, request.language);
    // Where new calls are to change nothing, the sandbox itself must not either.
    if (newCalls === "stop" || newCalls === "simulate") refuseWaysAround(seams, { driver, language: request.language });
    const rerun = createRerun({ runId: edited.runId, newCalls, answers: edited.answers, startMs: edited.startMs, isEager: !driver.replayable }, seams.clock);
    const result = await runner.run({ ...request, rerun, ...(newCalls === "simulate" ? { rehearsal: { variant: { kind: "plain" } } } : {}), notices: [...request.notices, noticeOf(edited.runId, newCalls)] });
    const newCall = newCallOf(rerun, request.view, result);
    return { result, ...(newCall === undefined ? {} : { newCall }), unused: unusedOf(rerun) };
  }

  function newCallOf({ stoppedAt }: Rerun, view: CatalogView, { error }: EditResult["result"]): NewCall | undefined {
    if (stoppedAt === undefined) return undefined;
    const name = stoppedAt.kind === "tool" ? stoppedAt.tool : stoppedAt.name;
    const tool = view.catalog.resolve(name);
    const { line, column } = error ?? {};
    return { seq: stoppedAt.seq, tool: name, args: seams.redactor.summary(decodeValue(stoppedAt.args), tool === undefined ? [] : inputMarks(tool)), ...(line === undefined ? {} : { line }), ...(column === undefined ? {} : { column }) };
  }

  return {
    edit: (from, options) => during(options.signal, async (signal) => edit(typeof from === "string" ? await editedRun(from, options.principal ?? principal) : editedRecording(from), options, signal)),
    steps: (runId, { principal: asker = principal, signal: given } = {}) => during(given, async (signal) => stepsOf(seams, { run: await must(runId, asker), view: viewFor(asker), drivers, signal })),
    async diff(a, b, { principal: asker = principal } = {}) {
      const [first, second] = await Promise.all([must(a, asker), must(b, asker)]);
      const read = async (run: typeof first) => ({ run, entries: await seams.journal.readEntries(asker.tenant, run.runId) });
      return diffRuns(await read(first), await read(second));
    },
    traces: ({ principal: asker = principal, limit = 1_000 } = {}) => callTraces({ ...seams, view: viewFor(asker), limit }, asker),
    recording: (runId, { principal: asker = principal, signal: given } = {}) => during(given, async (signal) => makeRecording(seams, { run: await must(runId, asker), view: viewFor(asker), drivers, signal })),
  };
}

/** Errors: REHEARSED_ANSWERS where a real call could be made with what a placeholder says, or because of it. */
function refusePlaceholders({ runId, answers }: Edited, newCalls: NewCalls): void {
  if (newCalls === "stop" || newCalls === "simulate") return;
  const rehearsed = [...new Set(answers.flatMap(({ call, tool }) => (call.kind === "tool" && tool?.simulated !== undefined ? [call.tool] : [])))];
  if (rehearsed.length === 0) return;
  throw new CallgateError("REHEARSED_ANSWERS", `Run ${runId} rehearsed ${rehearsed.join(", ")}: what was answered there is a placeholder for something that is not there, so no new call is made for real after it. Nothing ran. Edit it with new calls "simulate", or rehearse the changed program and approve its plan`, { details: { runId, tools: rehearsed } });
}

function unusedOf({ left }: Rerun): EditResult["unused"] {
  return left.flatMap(({ seq, call, tool }) => (call.kind === "tool" ? [{ seq, tool: call.tool, args: tool?.args.summary ?? null }] : []));
}

const newCallTexts: Readonly<Record<NewCalls, string>> = {
  stop: "nothing else is called",
  ask: "a person is asked about what it has no answer for",
  simulate: "reads that it has no answer for are made, writes are answered by placeholders",
  allow: "what it has no answer for is called",
};

function noticeOf(runId: string, newCalls: NewCalls): string {
  return `Calls that run ${runId} made before are answered from its record; ${newCallTexts[newCalls]}`;
}
