import { decodeValue } from "@callgate/contract";
import type { GuestCall, GuestConsoleEntry, JsonValue, RunRecord, RunStep, RunSteps, SandboxDriver, WireValue } from "@callgate/contract";
import { inputMarks, outputMarks } from "../broker/pointers.ts";
import type { CatalogTool } from "../catalog/catalog-tool.ts";
import type { CatalogView } from "./catalog-view.ts";
import { reExecute, replayDriver } from "./re-execute.ts";
import { recordedJob } from "./recorded-job.ts";
import { readResumePoint } from "./resume-point.ts";
import type { ResumePoint } from "./resume-point.ts";
import { placeOf, tellEnd } from "./run-error.ts";
import type { ProgramPlace } from "./run-error.ts";
import type { RunSeams } from "./run-scope.ts";

export interface SteppingOptions {
  readonly run: RunRecord;
  readonly view: CatalogView;
  readonly drivers: readonly SandboxDriver[];
  readonly signal: AbortSignal;
}

/** A call as it was issued, and what had been printed by the time the program waited. */
interface Issued {
  readonly call: GuestCall;
  printed: readonly GuestConsoleEntry[];
}

/**
 * Takes a recorded run apart by executing it again with its recorded answers. Nothing is called, nothing written down.
 *
 * Errors: `CallgateError` REPLAY_UNAVAILABLE.
 */
export async function stepsOf(seams: RunSeams, { run, view, drivers, signal }: SteppingOptions): Promise<RunSteps> {
  const entries = await seams.journal.readEntries(run.principal.tenant, run.runId, { clear: true });
  const point = readResumePoint(run, entries, []);
  const { recorded } = point;
  const driver = replayDriver(run, drivers);
  const issued: Issued[] = [];
  let printed: GuestConsoleEntry[] = [];
  let next = 0;
  const settle = (): void => {
    const first = issued[next];
    if (first === undefined) return;
    first.printed = printed;
    printed = [];
    next = issued.length;
  };
  const job = { ...recordedJob({ view, runId: run.runId, limits: run.limits }, recorded), places: true as const };
  const played = await reExecute(recorded, { driver, job, signal }, {
    output: (said) => void printed.push(...said.flatMap((one) => (one.kind === "console" ? [{ ...one.entry, text: seams.redactor.output(one.entry.text) }] : []))),
    issued: (calls) => void issued.push(...calls.map((call) => ({ call, printed: [] }))),
    blocked: settle,
  });
  settle();
  const { checked } = recorded;
  const place: ProgramPlace = { text: run.programText ?? "", lineOffset: checked.lineOffset ?? 0, shiftedLines: checked.shiftedLines ?? [] };
  const told = tellEnd(played.end, { place, clean: (text) => seams.redactor.text(text), definedBefore: () => undefined });
  const error = played.cutShort ? run.error : told.error;
  const { divergence } = played;
  return {
    runId: run.runId,
    steps: issued.map((one) => stepOf(seams, one, { point, place, tool: one.call.kind === "tool" ? view.catalog.resolve(one.call.tool) : undefined })),
    end: { status: played.cutShort ? run.status : told.status, ...(played.value === undefined ? {} : { value: shown(seams, played.value.value, []) }), ...(error === undefined ? {} : { error: { code: error.code, message: error.message } }), printed },
    ...(divergence === undefined ? {} : { divergence: { seq: divergence.seq, message: divergence.message } }),
  };
}

interface Stepping {
  readonly point: ResumePoint;
  readonly place: ProgramPlace;
  readonly tool: CatalogTool | undefined;
}

function stepOf(seams: RunSeams, { call, printed }: Issued, { point, place, tool }: Stepping): RunStep {
  const { seq } = call;
  const at = point.recorded.completions.findIndex((completion) => completion.seq === seq);
  const had = point.recorded.completions[at];
  const booked = point.calls.get(seq);
  const head = { seq, printed, ...(call.kind === "timer" ? {} : placeOf(call, place)), ...(had === undefined ? {} : { answeredAs: at, answeredAtMs: had.atMs }) };
  if (call.kind === "timer") return { ...head, kind: "timer", name: "setTimeout", args: call.delayMs };
  const args = argsOf(seams, call, { tool, summary: booked?.issued?.args.summary });
  const answer = had === undefined ? undefined : answerOf(seams, had.result, { tool, summary: call.kind === "tool" ? booked?.ended?.result?.summary : undefined });
  const told = { ...head, args, ...(answer === undefined ? {} : { answer }) };
  if (call.kind === "builtin") return { ...told, kind: "builtin", name: call.name };
  const { issued, ended, effectStatus } = booked ?? {};
  if (issued === undefined || ended === undefined) return { ...told, kind: "tool", name: call.tool };
  return { ...told, kind: "tool", name: call.tool, was: { effect: issued.effect, outcome: ended.outcome, effectStatus: effectStatus ?? ended.effectStatus, durationMs: ended.durationMs, ...(ended.error === undefined ? {} : { error: ended.error }) } };
}

interface Showing {
  readonly tool: CatalogTool | undefined;
  /** Of the record: what is shown of a tool call whose tool is not here, for only that knows what is sensitive. */
  readonly summary: JsonValue | undefined;
}

function argsOf(seams: RunSeams, call: Exclude<GuestCall, { kind: "timer" }>, { tool, summary }: Showing): JsonValue {
  if (call.kind === "tool" && tool === undefined) return summary ?? null;
  return shownWire(seams, call.args, tool === undefined ? [] : inputMarks(tool));
}

function answerOf(seams: RunSeams, result: ResumePoint["recorded"]["completions"][number]["result"], { tool, summary }: Showing): NonNullable<RunStep["answer"]> {
  if (result.kind === "error") return { kind: "error", code: result.error.code ?? result.error.name, message: seams.redactor.text(result.error.message) };
  if (tool === undefined && summary !== undefined) return { kind: "value", value: summary };
  return { kind: "value", value: shownWire(seams, result.value, tool === undefined ? [] : outputMarks(tool)) };
}

function shownWire(seams: RunSeams, wire: WireValue, marks: Parameters<RunSeams["redactor"]["whole"]>[1]): JsonValue {
  return shown(seams, decodeValue(wire), marks);
}

function shown({ redactor }: RunSeams, value: unknown, marks: Parameters<RunSeams["redactor"]["whole"]>[1]): JsonValue {
  return redactor.whole(value, marks);
}
