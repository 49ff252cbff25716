import { decodeValue } from "@callgate/contract";
import type { Handle, JournalEntry, RunError, RunRecord, RunResult } from "@callgate/contract";
import { handleOf } from "../result/handle.ts";
import { shapeRun } from "../result/shape-run.ts";
import type { RunDraft } from "../result/shape-run.ts";
import type { TokenCounter } from "../result/token-counter.ts";
import { progressText } from "../plan/plan-progress.ts";
import { recordedCompensation } from "./compensate.ts";
import { progressOf, recordedPlan } from "./recorded-plan.ts";
import { summaries } from "./recorded-run.ts";
import { runCost } from "./run-cost.ts";
import { effectsOf } from "./run-effects.ts";
import { waitedMs } from "./waited-time.ts";
import { waitsText } from "./waits-text.ts";

type Kept = Extract<JournalEntry, { kind: "result" }>;

export interface RecordedResultOptions {
  readonly entries: readonly JournalEntry[];
  readonly budgetTokens: number;
  readonly counter: TokenCounter;
  readonly notices?: readonly string[];
}

/** The result of a run as its record tells it: for whoever was not there when it ended, or asks a second time. */
export function recordedResult(run: RunRecord, { entries, budgetTokens, counter, notices = [] }: RecordedResultOptions): RunResult {
  const kept = entries.filter((entry) => entry.kind === "result");
  const checked = entries.find((entry) => entry.kind === "checked");
  const calls = summaries(entries);
  const error = errorOf(run);
  const compensation = recordedCompensation(entries);
  const goesOn = run.status === "suspended" || run.status === "running";
  const waited = waitedMs(run, entries);
  const plan = goesOn ? undefined : recordedPlan(entries);
  const planProgress = plan === undefined ? undefined : progressOf(plan, calls);
  const draft: RunDraft = {
    runId: run.runId,
    status: run.status,
    ...(checked?.form === undefined ? {} : { form: checked.form }),
    ...(error === undefined ? {} : { error }),
    text: entries.flatMap((entry) => (entry.kind === "text" ? [entry.text] : [])),
    console: entries.flatMap((entry) => (entry.kind === "console" ? entry.entries : [])),
    consoleDroppedBytes: entries.reduce((sum, entry) => (entry.kind === "console" ? sum + entry.droppedBytes : sum), 0),
    diagnostics: checked?.diagnostics ?? [],
    repairs: checked?.repairs ?? [],
    calls,
    ...runCost(calls),
    artifacts: kept.flatMap(({ artifact, number }) => (artifact === undefined ? [] : [{ ...artifact, handle: handleOf(run.runId, number) }])),
    ...(run.status === "completed" ? {} : { effects: effectsOf(calls) }),
    ...(compensation === undefined ? {} : { compensation }),
    ...(goesOn ? { waits: run.waits } : {}),
    ...(planProgress === undefined ? {} : { planProgress }),
    notices: [...notices, ...(planProgress === undefined ? [] : progressText(planProgress)), ...(run.status === "suspended" ? waitsText(run.runId, run.waits) : [])],
    durationMs: Math.max(0, (run.endedAtMs ?? entries.at(-1)?.atMs ?? run.startedAtMs) - run.startedAtMs),
    ...(waited === 0 ? {} : { waitedMs: waited }),
  };
  const value = kept.find(({ number }) => number === run.resultNumber);
  const shaped = shapeRun({ draft, ...valueOf(run, value), budgetTokens, counter, keep: (label) => handleOf(run.runId, kept.find((one) => one.label === label)?.number ?? 0) });
  const { resultTokens, ...result } = shaped;
  return { ...result, tokens: run.tokens ?? { result: resultTokens, program: 0, direct: 0 } };
}

function valueOf({ runId }: RunRecord, kept: Kept | undefined): { readonly value?: { readonly value: unknown; readonly handle: Handle } } {
  return kept?.value.clear === undefined ? {} : { value: { value: decodeValue(kept.value.clear), handle: handleOf(runId, kept.number) } };
}

/** Line and column are among the details of a recorded error. */
function errorOf({ error }: RunRecord): RunError | undefined {
  if (error === undefined) return undefined;
  const { tool, details, ...rest } = error;
  const { line, column, ...more } = details ?? {};
  return {
    ...rest,
    ...(tool === "" ? {} : { tool }),
    ...(Object.keys(more).length === 0 ? {} : { details: more }),
    ...(typeof line === "number" ? { line } : {}),
    ...(typeof column === "number" ? { column } : {}),
  };
}
