import { CallgateError, decodeValue, encodeValue } from "@callgate/contract";
import type { GuestCall, GuestCompletion, JournalEntry, Recording, RecordingAnswer, RecordingEnd, RecordingResult, RecordingTool, RunRecord, WireValue } from "@callgate/contract";
import { inputPointers, outputPointers } from "../broker/pointers.ts";
import { modelView } from "../result/model-view.ts";
import { answersOf } from "./answer-book.ts";
import type { BookedAnswer } from "./answer-book.ts";
import type { CatalogView } from "./catalog-view.ts";
import { createRecordingPlaceholders } from "./recording-placeholders.ts";
import type { RecordingPlaceholders } from "./recording-placeholders.ts";
import { checkedInterfaces } from "./pinned-interfaces.ts";
import { driverOf, reExecute, replayDriver } from "./re-execute.ts";
import type { ReExecuted } from "./re-execute.ts";
import { recordedJob } from "./recorded-job.ts";
import { recordingValue } from "./recording-value.ts";
import { readResumePoint } from "./resume-point.ts";
import type { ResumePoint } from "./resume-point.ts";
import { endedByItself } from "./replay-script.ts";
import { tellEnd } from "./run-error.ts";
import type { RunSeams } from "./run-scope.ts";
import type { SteppingOptions } from "./steps-of.ts";

/** What a program did when it was executed with placeholders. */
interface Taken {
  readonly played: ReExecuted;
  readonly args: ReadonlyMap<number, WireValue>;
  readonly console: readonly string[];
  readonly text: readonly string[];
}

/**
 * Makes a recording of a run that came to its own end. Answers get placeholders for what is sensitive, and the program is
 * executed with those, so that what it makes of them (a greeting with a name in it) is recorded as it comes out.
 *
 * Errors: `CallgateError` REPLAY_UNAVAILABLE, RECORDING_INVALID.
 */
export async function makeRecording(seams: RunSeams, { run, view: given, drivers, signal }: SteppingOptions): Promise<Recording> {
  const entries = await seams.journal.readEntries(run.principal.tenant, run.runId, { clear: true });
  const [point, view] = [readResumePoint(run, entries, []), given.pinnedTo(checkedInterfaces(entries))];
  const refuse = (why: string): CallgateError => new CallgateError("RECORDING_INVALID", `No recording can be made of run ${run.runId}: ${why}`, { details: { runId: run.runId } });
  if (!endedByItself(point.recorded)) throw refuse(`it did not come to an end of its own (${run.status})`);
  const { programText } = run;
  if (programText === undefined) throw refuse("the text of its program is not kept any more");
  const placeholders = createRecordingPlaceholders();
  const bare = (text: string): string => placeholders.inText(seams.redactor.output(text));
  collectAll(placeholders, point, { view, programText });
  if (!driverOf(run, drivers).replayable) return recordingAsItIs({ run, point, entries, programText, tools: toolsOf(point, view, refuse), isBare: (text) => bare(text) === text && placeholders.count === 0, refuse });
  const driver = replayDriver(run, drivers);
  const execute = async () => {
    const recorded = withPlaceholders(point, { view, placeholders, bare });
    return { recorded, taken: await take(recorded, { driver, signal, job: recordedJob({ view, runId: run.runId, limits: run.limits }, recorded) }) };
  };
  let { recorded, taken } = await execute();
  // A greeting with a name in it may come back in a later answer: it is replaced there as well.
  for (let round = 1; round < maxRounds && taken.played.divergence === undefined && learnFrom(placeholders, point, taken); round++) ({ recorded, taken } = await execute());
  const { divergence } = taken.played;
  if (divergence !== undefined) throw refuse(`with placeholders for its sensitive values the program does something else. ${divergence.message}`);
  const { completions } = recorded;
  const answers = answersOf(point).map((answer, order) => answerOf(answer, { args: taken.args.get(answer.seq), result: completions[order]?.result ?? bareResult(answer.result, { placeholders, pointers: [], bare }) }));
  const leaked = [...taken.args].find(([seq, args]) => {
    const booked = point.calls.get(seq)?.issued;
    const tool = booked === undefined ? undefined : view.catalog.resolve(booked.tool);
    return tool !== undefined && placeholders.inWire(args, inputPointers(tool)).json !== args.json;
  });
  if (leaked !== undefined) throw refuse(`its program itself holds a sensitive value that no placeholder can stand for (call ${leaked[0]}, ${point.calls.get(leaked[0])?.issued?.tool ?? ""})`);
  return {
    format: 1,
    runId: run.runId,
    language: run.language ?? "typescript",
    program: bare(programText),
    seed: run.seed,
    startedAtMs: run.clockMs ?? run.startedAtMs,
    limits: run.limits,
    tools: toolsOf(point, view, refuse),
    answers,
    end: endOf(seams, taken),
    placeholders: placeholders.count,
  };
}

interface AsItIs {
  readonly run: RunRecord;
  readonly point: ResumePoint;
  readonly entries: readonly JournalEntry[];
  readonly programText: string;
  readonly tools: readonly RecordingTool[];
  /** Whether a text holds nothing that a placeholder would have to stand for, as nothing else of the run does. */
  readonly isBare: (text: string) => boolean;
  readonly refuse: (why: string) => CallgateError;
}

/** Of a program that cannot be executed a second time, so that no placeholder can be put in and followed: what is on record, where nothing of it is sensitive. */
function recordingAsItIs({ run, point, entries, programText, tools, isBare, refuse }: AsItIs): Recording {
  const { runId, seed, limits, language = "typescript", startedAtMs, clockMs = startedAtMs, status, error, resultNumber } = run;
  const booked = answersOf(point);
  const kept = entries.find((entry) => entry.kind === "result" && entry.number === resultNumber);
  const value = kept?.kind === "result" && kept.value.clear !== undefined ? modelView(decodeValue(kept.value.clear)) : undefined;
  const printed = entries.flatMap((entry) => (entry.kind === "console" ? entry.entries.map(({ text }) => text) : []));
  const text = entries.flatMap((entry) => (entry.kind === "text" ? [entry.text] : []));
  if (booked.some(({ call }) => call.kind === "builtin")) throw refuse("it calls built-ins, and its sandbox cannot execute it again to say with what");
  if (![programText, JSON.stringify(value ?? null), ...printed, ...text].every(isBare)) throw refuse("it holds sensitive values, and its sandbox cannot execute it again with placeholders in their place");
  return {
    format: 1,
    runId,
    language,
    program: programText,
    seed,
    startedAtMs: clockMs,
    limits,
    tools,
    answers: booked.map((answer) => answerOf(answer, { args: point.calls.get(answer.seq)?.issued?.args.clear, result: answer.result })),
    end: { status, ...(value === undefined ? {} : { value }), ...(error === undefined ? {} : { errorCode: error.code }), console: printed, text },
    placeholders: 0,
  };
}

/** What comes out of one round may go into answers of the next. */
const maxRounds = 5;

function learnFrom(placeholders: RecordingPlaceholders, { calls }: ResumePoint, { args }: Taken): boolean {
  const learnt = [...args].map(([seq, now]) => {
    const then = calls.get(seq)?.issued?.args.clear;
    return then !== undefined && placeholders.learn(then, now);
  });
  return learnt.includes(true);
}

interface Collecting {
  readonly view: CatalogView;
  readonly programText: string;
}

function collectAll(placeholders: RecordingPlaceholders, { recorded, calls }: ResumePoint, { view, programText }: Collecting): void {
  for (const { issued, output } of calls.values()) {
    const tool = issued === undefined ? undefined : view.catalog.resolve(issued.tool);
    if (issued?.args.clear !== undefined) placeholders.collect(issued.args.clear, tool === undefined ? [] : inputPointers(tool));
    if (output?.clear !== undefined) placeholders.collect(output.clear, tool === undefined ? [] : outputPointers(tool));
  }
  for (const { call, result } of recorded.completions) if (call.kind === "builtin" && result.kind === "value") placeholders.collect(result.value, []);
  placeholders.collectText(programText);
}

interface Replacing {
  readonly view: CatalogView;
  readonly placeholders: RecordingPlaceholders;
  readonly bare: (text: string) => string;
}

function withPlaceholders({ recorded }: ResumePoint, { view, placeholders, bare }: Replacing): ResumePoint["recorded"] {
  const completions = recorded.completions.map((completion) => {
    const tool = completion.call.kind === "tool" ? view.catalog.resolve(completion.call.tool) : undefined;
    return { ...completion, result: bareResult(completion.result, { placeholders, pointers: tool === undefined ? [] : outputPointers(tool), bare }) };
  });
  return { ...recorded, checked: { ...recorded.checked, code: bare(recorded.checked.code) }, completions };
}

type Result = GuestCompletion["result"];

function bareResult(result: Result, { placeholders, pointers, bare }: Omit<Replacing, "view"> & { readonly pointers: readonly string[] }): Result {
  if (result.kind === "value") return { kind: "value", value: placeholders.inWire(result.value, pointers) };
  const { message, details } = result.error;
  return { kind: "error", error: { ...result.error, message: bare(message), ...(details === undefined ? {} : { details: placeholders.inWire(details, []) }) } };
}

async function take(recorded: ResumePoint["recorded"], { driver, job, signal }: Pick<Parameters<typeof reExecute>[1], "driver" | "job" | "signal">): Promise<Taken> {
  const args = new Map<number, WireValue>();
  const printed: string[] = [];
  const text: string[] = [];
  const note = (call: GuestCall): void => void (call.kind === "timer" ? undefined : args.set(call.seq, call.args));
  const played = await reExecute(recorded, { driver, job, signal, otherArguments: true }, {
    issued: (calls) => calls.forEach(note),
    output(said) {
      for (const one of said) if (one.kind === "console") printed.push(one.entry.text); else if (one.kind === "text") text.push(one.text);
    },
  });
  return { played, args, console: printed, text };
}

function answerOf({ seq, atMs, call, tool }: BookedAnswer, { args = noArguments, result }: { readonly args: WireValue | undefined; readonly result: Result }): RecordingAnswer {
  if (call.kind === "timer") return { kind: "timer", seq, atMs, delayMs: call.delayMs };
  const told: RecordingResult = result.kind === "error" ? result : { kind: "value", value: recordingValue(result.value) };
  if (call.kind === "builtin") return { kind: "builtin", seq, atMs, name: call.name, args: recordingValue(args), result: told };
  return { kind: "tool", seq, atMs, tool: call.tool, args: recordingValue(args), outcome: tool?.outcome ?? (result.kind === "value" ? "ok" : "failed"), ...(tool?.simulated === undefined ? {} : { simulated: tool.simulated }), result: told };
}

const noArguments: WireValue = encodeValue({});

function toolsOf({ recorded, calls }: ResumePoint, { catalog }: CatalogView, refuse: (why: string) => CallgateError): readonly RecordingTool[] {
  const called = [...calls.values()].flatMap(({ issued }) => (issued === undefined ? [] : [issued.tool]));
  const names = [...new Set([...Object.keys(recorded.checked.interfaces ?? {}), ...called])].sort();
  return names.flatMap((name) => {
    const tool = catalog.resolve(name)?.declared;
    if (tool === undefined && called.includes(name)) throw refuse(`its tool ${name} is not here, so its types are not known`);
    if (tool === undefined) return [];
    const { description, effect, input, output, paged } = tool;
    return [{ name, description, effect, input, ...(output === undefined ? {} : { output }), ...(paged === true ? { paged } : {}) }];
  });
}

function endOf(seams: RunSeams, { played, console: printed, text }: Taken): RecordingEnd {
  const told = tellEnd(played.end, { place: { text: "", lineOffset: 0, shiftedLines: [] }, clean: (raw) => seams.redactor.text(raw), definedBefore: () => undefined });
  return { status: told.status, ...(played.value === undefined ? {} : { value: modelView(played.value.value) }), ...(told.error === undefined ? {} : { errorCode: told.error.code }), console: printed, text };
}
