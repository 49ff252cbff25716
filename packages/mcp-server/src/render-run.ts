import type { JsonObject, JsonValue, RunResult, ShapedValue } from "@callgate/contract";
import { modelView, runReport } from "@callgate/runtime";
import type { Answer } from "./answer.ts";
import { plannedRecord, plannedText } from "./planned-writes.ts";

/** Calls that are told one by one; those that ended `ok` are only counted. */
const CALLS_SHOWN = 10;

/** A run for a client. The text is what the run's token budget counts; the structured content says the same. */
export function renderRun(result: RunResult): Answer {
  // A run that waits has not failed: what it waits for, and what to do, is among its notices.
  const isError = result.status !== "completed" && result.status !== "suspended";
  const told = runReport(result);
  const report = result.plan === undefined || result.plan.items.length === 0 ? told : `${told}\n${plannedText(result.plan)}`;
  const text = result.status === "suspended" ? `${report}\n\nWhat came of it, once it goes on: read_result with the handle run://${result.runId}` : report;
  return { text, structured: runRecord(result), ...(isError ? { isError } : {}) };
}

/** Only what is there: an absent field is an empty one, which keeps small results small. */
function runRecord(result: RunResult): JsonObject {
  const some = (name: string, list: readonly unknown[]): JsonObject => (list.length === 0 ? {} : { [name]: modelView(list) });
  const bad = result.calls.filter((call) => call.outcome !== "ok");
  return {
    runId: result.runId,
    status: result.status,
    ...(result.value === undefined ? {} : shapedRecord(result.value)),
    ...(result.error === undefined ? {} : { error: modelView(result.error) }),
    ...some("text", result.text),
    ...some("diagnostics", result.diagnostics),
    ...some("repairs", result.repairs),
    ...some("console", result.console.map(({ level, text }) => (level === "log" ? text : `[${level}] ${text}`))),
    ...(result.effects === undefined ? {} : { effects: modelView(result.effects) }),
    ...some("notices", result.notices),
    ...some("artifacts", result.artifacts.map(({ name, mimeType, sizeBytes, handle }) => ({ name, mimeType, sizeBytes, handle }))),
    ...(result.waits === undefined ? {} : some("waits", result.waits.map(({ kind, seq }) => ({ kind, seq })))),
    ...(result.compensation === undefined ? {} : { compensation: modelView(result.compensation) }),
    ...(result.plan === undefined || result.plan.items.length === 0 ? {} : plannedRecord(result.plan)),
    callCount: result.calls.length,
    ...some("callsNotOk", bad.slice(0, CALLS_SHOWN).map(({ tool, outcome, effectStatus, error }) => ({ tool, outcome, effectStatus, ...(error === undefined ? {} : { code: error.code }) }))),
    durationMs: Math.round(result.durationMs),
  };
}

/** `value`, or `outline`, `handle` and `totalTokens`. */
export function shapedRecord(value: ShapedValue): { readonly [key: string]: JsonValue } {
  if (value.kind === "whole") return { value: value.value === undefined ? null : modelView(value.value), ...(value.handle === undefined ? {} : { handle: value.handle }) };
  return { outline: value.outline, handle: value.handle, totalTokens: value.totalTokens };
}
