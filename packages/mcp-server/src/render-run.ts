import type { CallSummary, JsonObject, JsonValue, RunResult, ShapedValue } from "@callgate/contract";
import type { Answer } from "./answer.ts";
import { toModelText, toPlainJson } from "./plain-json.ts";
import { renderDiagnostic, renderError } from "./render-error.ts";

/** Calls that are told one by one; those that ended `ok` are only counted. */
const CALLS_SHOWN = 10;

/** A run for a client, as text and as structured content. Both are bounded by the run's own budget plus a short frame. */
export function renderRun(result: RunResult): Answer {
  const isError = result.status !== "completed";
  return { text: runText(result), structured: runRecord(result), ...(isError ? { isError } : {}) };
}

/** A value, or its outline with the way to the rest. */
export function renderShaped(value: ShapedValue): string {
  if (value.kind === "whole") return toModelText(value.value);
  return `The value is ${value.totalTokens} tokens, over the budget. Its outline:\n${toModelText(value.outline)}\nAll of it: ${value.handle} (read_result with path, grep or search)`;
}

function runText(result: RunResult): string {
  const errors = result.diagnostics.filter((diagnostic) => diagnostic.severity === "error");
  const parts = [
    ...result.text,
    ...(result.value === undefined ? [] : [renderShaped(result.value)]),
    ...(result.status === "rejected" ? [`The program was not run: ${errors.length} error(s) in its text. Correct them and send it again.`] : []),
    ...(result.error === undefined ? [] : [renderError(result.error)]),
    ...section("", result.diagnostics.map(renderDiagnostic)),
    ...section("Repaired before running:", result.repairs.map((repair) => `${repair.line}:${repair.column} ${repair.message}`)),
    ...section("Console:", [
      ...result.console.map((entry) => `${entry.level === "log" ? "" : `${entry.level}: `}${entry.text}`),
      ...(result.consoleDroppedBytes > 0 ? [`(${result.consoleDroppedBytes} more bytes were dropped)`] : []),
    ]),
    ...section("Effects of the calls it made:", effectLines(result)),
    ...section("", result.notices),
    `Run ${result.runId} ${result.status} in ${Math.round(result.durationMs)} ms, ${callCount(result.calls)}.${notable(result.calls)}`,
  ];
  return parts.join("\n\n");
}

function section(title: string, lines: readonly string[]): readonly string[] {
  if (lines.length === 0) return [];
  return [[...(title === "" ? [] : [title]), ...lines].join("\n")];
}

function effectLines({ effects }: RunResult): readonly string[] {
  if (effects === undefined) return [];
  const line = (label: string, calls: readonly string[]): readonly string[] => (calls.length === 0 ? [] : [`${label}: ${calls.join(", ")}`]);
  return [...line("done", effects.done), ...line("unknown, find out before repeating", effects.unknown), ...line("did not happen", effects.none)];
}

function callCount(calls: readonly CallSummary[]): string {
  const bad = calls.filter((call) => call.outcome !== "ok").length;
  return `${calls.length} call${calls.length === 1 ? "" : "s"}${bad === 0 ? "" : ` (${bad} not ok)`}`;
}

function notable(calls: readonly CallSummary[]): string {
  const bad = calls.filter((call) => call.outcome !== "ok");
  if (bad.length === 0) return "";
  const shown = bad.slice(0, CALLS_SHOWN).map((call) => `\n- ${call.tool}: ${call.outcome}${call.error === undefined ? "" : ` ${call.error.code}`} (effect ${call.effectStatus})`);
  return shown.join("") + (bad.length > CALLS_SHOWN ? `\n- and ${bad.length - CALLS_SHOWN} more` : "");
}

/** Only what is there: an absent field is an empty one, which keeps small results small. */
function runRecord(result: RunResult): JsonObject {
  const some = (name: string, list: readonly unknown[]): JsonObject => (list.length === 0 ? {} : { [name]: toPlainJson(list) });
  const bad = result.calls.filter((call) => call.outcome !== "ok");
  return {
    runId: result.runId,
    status: result.status,
    ...(result.value === undefined ? {} : shapedRecord(result.value)),
    ...(result.error === undefined ? {} : { error: toPlainJson(result.error) }),
    ...some("text", result.text),
    ...some("diagnostics", result.diagnostics),
    ...some("repairs", result.repairs),
    ...some("console", result.console.map(({ level, text }) => (level === "log" ? text : `${level}: ${text}`))),
    ...(result.effects === undefined ? {} : { effects: toPlainJson(result.effects) }),
    ...some("notices", result.notices),
    ...some("artifacts", result.artifacts.map(({ name, mimeType, sizeBytes, handle }) => ({ name, mimeType, sizeBytes, handle }))),
    callCount: result.calls.length,
    ...some("callsNotOk", bad.slice(0, CALLS_SHOWN).map(({ tool, outcome, effectStatus, error }) => ({ tool, outcome, effectStatus, ...(error === undefined ? {} : { code: error.code }) }))),
    durationMs: Math.round(result.durationMs),
  };
}

/** `value`, or `outline`, `handle` and `totalTokens`. */
export function shapedRecord(value: ShapedValue): { readonly [key: string]: JsonValue } {
  if (value.kind === "whole") return { value: toPlainJson(value.value), ...(value.handle === undefined ? {} : { handle: value.handle }) };
  return { outline: value.outline, handle: value.handle, totalTokens: value.totalTokens };
}
