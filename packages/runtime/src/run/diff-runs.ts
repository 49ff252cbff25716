import type { CallDifference, DiffedCall, Digest, JournalEntry, RunDiff, RunRecord, RunSide } from "@callgate/contract";
import { alignCalls } from "../lib/align-calls.ts";
import { textDiff } from "../lib/text-diff.ts";
import { readRecordedCalls } from "./recorded-calls.ts";

/** A run and all that is on record of it. */
export interface RecordOfRun {
  readonly run: RunRecord;
  readonly entries: readonly JournalEntry[];
}

interface Compared extends DiffedCall {
  readonly tool: string;
  readonly argsDigest: Digest;
  readonly answerDigest: string | undefined;
}

/**
 * Holds two runs against each other: program, calls, end. Which call is which, `alignCalls` says. Values are told as the record's summaries and
 * compared by their digests.
 */
export function diffRuns(a: RecordOfRun, b: RecordOfRun): RunDiff {
  const [from, to] = [a.run.programText, b.run.programText];
  const isProgramEqual = a.run.programDigest !== undefined && a.run.programDigest === b.run.programDigest ? true : from === undefined || to === undefined ? undefined : from === to;
  const calls = alignCalls(callsOf(a), callsOf(b)).map(([one, other]) => ({ tool: (one ?? other)?.tool ?? "", ...sideOf("a", one), ...sideOf("b", other), differences: one === undefined || other === undefined ? [] : differencesOf(one, other) }));
  const [valueA, valueB] = [valueOf(a), valueOf(b)];
  const isValueEqual = valueA === undefined || valueB === undefined ? undefined : valueA.digest === valueB.digest;
  const isEndEqual = a.run.status === b.run.status && a.run.error?.code === b.run.error?.code && isValueEqual !== false;
  return {
    a: runSide(a),
    b: runSide(b),
    ...(isProgramEqual === false && from !== undefined && to !== undefined ? programDiff(from, to) : {}),
    isProgramEqual,
    calls,
    isValueEqual,
    isEqual: isProgramEqual !== false && isEndEqual && calls.every((call) => call.a !== undefined && call.b !== undefined && call.differences.length === 0),
  };
}

function sideOf<Side extends "a" | "b">(side: Side, call: Compared | undefined): { readonly [Key in Side]?: DiffedCall } {
  if (call === undefined) return {};
  const { tool: _tool, argsDigest: _argsDigest, answerDigest: _answerDigest, ...told } = call;
  return { [side]: told } as { readonly [Key in Side]?: DiffedCall };
}

function programDiff(from: string, to: string): Pick<RunDiff, "program"> {
  const diff = textDiff(from, to);
  return diff === undefined ? {} : { program: diff.text };
}

function valueOf({ run, entries }: RecordOfRun): Extract<JournalEntry, { kind: "result" }>["value"] | undefined {
  const kept = entries.find((entry) => entry.kind === "result" && entry.number === run.resultNumber);
  return kept?.kind === "result" ? kept.value : undefined;
}

function runSide(record: RecordOfRun): RunSide {
  const { runId, status, error, startedAtMs, endedAtMs } = record.run;
  const value = valueOf(record);
  return { runId, status, ...(error === undefined ? {} : { errorCode: error.code }), startedAtMs, durationMs: endedAtMs === undefined ? undefined : endedAtMs - startedAtMs, ...(value === undefined ? {} : { value: value.summary }) };
}

/** The calls of the program, in issue order; what undid them is none. */
function callsOf({ entries }: RecordOfRun): readonly Compared[] {
  const calls = [...readRecordedCalls(entries, [])].sort(([a], [b]) => a - b);
  return calls.flatMap(([seq, { issued, ended, effectStatus, output }]): Compared[] => {
    if (issued === undefined || issued.compensates !== undefined) return [];
    const answer = ended?.error === undefined ? output : undefined;
    return [{
      seq,
      tool: issued.tool,
      argsDigest: issued.args.digest,
      args: issued.args.summary,
      answerDigest: answer?.digest,
      ...(answer === undefined ? {} : { answer: answer.summary }),
      outcome: ended?.outcome ?? "cancelled",
      ...(ended?.error === undefined ? {} : { errorCode: ended.error.code }),
      effect: issued.effect,
      effectStatus: effectStatus ?? "none",
      durationMs: ended?.durationMs ?? 0,
      ...(ended?.recorded === undefined ? {} : { isRecorded: true as const }),
    }];
  });
}

/** A call that was answered from a record changed nothing; that is no difference of what it is. */
function differencesOf(a: Compared, b: Compared): readonly CallDifference[] {
  return [
    ...(a.argsDigest === b.argsDigest ? [] : ["arguments" as const]),
    ...(a.answerDigest === b.answerDigest ? [] : ["answer" as const]),
    ...(a.outcome === b.outcome && a.errorCode === b.errorCode ? [] : ["outcome" as const]),
    ...(a.effectStatus === b.effectStatus || a.isRecorded === true || b.isRecorded === true ? [] : ["effect" as const]),
  ];
}
