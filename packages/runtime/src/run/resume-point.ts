import type { JournalEntry, RunRecord, RunSignal } from "@callgate/contract";
import type { Answered } from "./answered.ts";
import { readRecordedRun, resultOfEnded } from "./recorded-run.ts";
import type { RecordedRun } from "./recorded-run.ts";
import { readRecordedCalls } from "./recorded-calls.ts";
import type { RecordedCall } from "./recorded-calls.ts";

/** A run as far as its record goes, and what is still open there. */
export interface ResumePoint {
  readonly recorded: RecordedRun;
  readonly calls: ReadonlyMap<number, RecordedCall>;
  /** Calls that the program has had an answer to. */
  readonly answered: ReadonlySet<number>;
  /** Calls that ended, in that order, and whose answer the program has not had. */
  readonly undelivered: readonly Answered[];
  /** The guest's clock at the last answer it had. */
  readonly lastMs: number;
  /** What it said is on record already, and is not said again. */
  readonly said: { readonly console: number; readonly text: number; readonly progress: number; readonly droppedBytes: number };
  /** Numbers of result handles that are taken. */
  readonly results: number;
}

/** Errors: `CallgateError` REPLAY_UNAVAILABLE naming what is missing. */
export function readResumePoint(run: RunRecord, entries: readonly JournalEntry[], signals: readonly RunSignal[]): ResumePoint {
  const recorded = readRecordedRun(run, entries);
  const calls = readRecordedCalls(entries, signals);
  const answered = new Set(recorded.completions.map(({ seq }) => seq));
  return {
    recorded,
    calls,
    answered,
    undelivered: entries.flatMap((entry): Answered[] => {
      const issued = entry.kind === "call-ended" && !answered.has(entry.seq) ? calls.get(entry.seq)?.issued : undefined;
      if (issued === undefined || entry.kind !== "call-ended") return [];
      return [{ seq: entry.seq, call: { kind: "tool", tool: issued.tool, argsDigest: issued.args.digest }, result: resultOfEnded(run, entry, issued.tool) }];
    }),
    lastMs: recorded.completions.at(-1)?.atMs ?? run.clockMs ?? run.startedAtMs,
    said: saidBefore(entries),
    results: entries.reduce((most, entry) => (entry.kind === "result" ? Math.max(most, entry.number) : most), 0),
  };
}

function saidBefore(entries: readonly JournalEntry[]): ResumePoint["said"] {
  const said = { console: 0, text: 0, progress: 0, droppedBytes: 0 };
  for (const entry of entries) {
    if (entry.kind === "console") {
      said.console += entry.entries.length;
      said.droppedBytes += entry.droppedBytes;
    } else if (entry.kind === "text" || entry.kind === "progress") said[entry.kind] += 1;
  }
  return said;
}
