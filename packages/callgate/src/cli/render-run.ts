import type { Diagnostic, RunResult, RunWait, ShapedValue } from "@callgate/contract";
import { modelView } from "@callgate/runtime";
import { callLine } from "./live-view.ts";
import { counted, duration, visible } from "./terminal.ts";
import type { Terminal } from "./terminal.ts";

/** What `run --json` prints: one object. Pinned by test; a field may be added, none changed. */
export function runJson(result: RunResult): Readonly<Record<string, unknown>> {
  return {
    status: result.status,
    ...valueJson(result.value),
    ...(result.error === undefined ? {} : { error: result.error }),
    ...(result.text.length === 0 ? {} : { text: result.text }),
    console: result.console,
    ...(result.consoleDroppedBytes === 0 ? {} : { consoleDroppedBytes: result.consoleDroppedBytes }),
    diagnostics: result.diagnostics,
    repairs: result.repairs,
    calls: result.calls.map(rounded),
    artifacts: result.artifacts,
    ...(result.effects === undefined ? {} : { effects: result.effects }),
    ...(result.waits === undefined ? {} : { waits: waitsJson(result.runId, result.waits) }),
    ...(result.compensation === undefined ? {} : { compensation: result.compensation }),
    ...(result.plan === undefined ? {} : { plan: result.plan }),
    ...(result.planProgress === undefined ? {} : { planProgress: result.planProgress }),
    notices: result.notices,
    ...(result.session === undefined ? {} : { session: result.session }),
    tokens: result.tokens,
    ...(result.cost === undefined ? {} : { cost: result.cost }),
    durationMs: rounded(result).durationMs,
    ...(result.waitedMs === undefined ? {} : { waitedMs: Math.round(result.waitedMs) }),
    runId: result.runId,
  };
}

/** What a run waits for; each of a call with its `callId`, which commands take. The review of a program is of none. */
export function waitsJson(runId: string, waits: readonly RunWait[]): readonly (RunWait & { readonly callId?: string })[] {
  return waits.map((wait) => (wait.seq < 0 ? wait : { ...wait, callId: `${runId}.${wait.seq}` }));
}

/** Time as two: what was worked, and what was waited without a process, where there was any. */
export function timesText(durationMs: number, waitedMs: number): string {
  return waitedMs < 1 ? duration(durationMs) : `${duration(Math.max(0, durationMs - waitedMs))} worked, ${duration(waitedMs)} waited`;
}

/** A duration as somebody can use it: hundredths of a millisecond. */
export function rounded<Timed extends { readonly durationMs: number }>(timed: Timed): Timed {
  return { ...timed, durationMs: Math.round(timed.durationMs * 100) / 100 };
}

/** `value`, or `outline` and `handle`. */
export function valueJson(shaped: ShapedValue | undefined): Readonly<Record<string, unknown>> {
  if (shaped === undefined) return {};
  if (shaped.kind === "whole") return { value: modelView(shaped.value), ...(shaped.handle === undefined ? {} : { handle: shaped.handle }) };
  return { outline: shaped.outline, handle: shaped.handle, totalTokens: shaped.totalTokens };
}

/** The data of a run, for standard output. */
export function renderValue(shaped: ShapedValue): string {
  const value = shaped.kind === "whole" ? modelView(shaped.value) : shaped.outline;
  return typeof value === "string" ? `${value}\n` : `${JSON.stringify(value, undefined, 2)}\n`;
}

/** All about a run that is not its data, for the eye. Calls were shown live where `live` is true. */
export function renderReport(result: RunResult, terminal: Terminal, live: boolean): string {
  const { colors } = terminal;
  const lines: string[] = [];
  lines.push(...renderCheck(result, terminal));
  // The error that ended the run is told in full below.
  if (!live) for (const call of result.calls) lines.push(callLine(call, terminal, result.error !== undefined && call.error?.message === result.error.message ? "code" : "message"));
  for (const entry of result.console) lines.push(`${colors.dim(`${entry.level} │`)} ${visible(entry.text)}`);
  if (result.error !== undefined) lines.push(...renderError(result, terminal));
  for (const notice of result.notices) lines.push(colors.yellow(`note ${visible(notice)}`));
  if (result.value?.kind === "outline") {
    lines.push(colors.dim(`The value has ${result.value.totalTokens} tokens; this is its outline. The rest: callgate read ${result.value.handle}`));
  }
  for (const artifact of result.artifacts) lines.push(colors.dim(`file ${artifact.name} (${artifact.mimeType}, ${artifact.sizeBytes} bytes) ${artifact.handle}`));
  if (result.calls.length > 1) lines.push(...renderTimeline(result, terminal));
  lines.push(summaryLine(result, terminal));
  return `${lines.join("\n")}\n`;
}

/** What the check repaired and found. */
export function renderCheck({ repairs, diagnostics }: Pick<RunResult, "repairs" | "diagnostics">, terminal: Pick<Terminal, "colors">): string[] {
  const repaired = repairs.map(({ line, column, message }) => terminal.colors.dim(`repaired ${line}:${column} ${message}`));
  return [...repaired, ...diagnostics.flatMap((diagnostic) => renderDiagnostic(diagnostic, terminal))];
}

function renderDiagnostic(diagnostic: Diagnostic, { colors }: Pick<Terminal, "colors">): string[] {
  const paint = diagnostic.severity === "error" ? colors.red : diagnostic.severity === "warning" ? colors.yellow : colors.dim;
  const lines = [`${paint(diagnostic.severity)} ${diagnostic.code} at ${diagnostic.line}:${diagnostic.column}: ${visible(diagnostic.message)}`];
  if (diagnostic.excerpt !== undefined) lines.push(colors.dim(`  ${diagnostic.line} │ `) + visible(diagnostic.excerpt));
  if (diagnostic.declaration !== undefined) lines.push(...diagnostic.declaration.split("\n").map((line) => colors.dim(`      ${visible(line)}`)));
  return lines;
}

function renderError(result: RunResult, { colors }: Pick<Terminal, "colors">): string[] {
  const { error, effects } = result;
  if (error === undefined) return [];
  const place = error.line === undefined ? "" : ` at ${error.line}:${error.column ?? 1}`;
  const lines = [`${colors.red(result.status)} ${error.code}${place}: ${visible(error.message)}`];
  if (error.excerpt !== undefined) lines.push(colors.dim(`  ${error.line ?? ""} │ `) + visible(error.excerpt));
  for (const [word, ids] of [["took effect", effects?.done], ["may have taken effect", effects?.unknown]] as const) {
    if (ids !== undefined && ids.length > 0) lines.push(`  ${word}: ${ids.join(", ")}`);
  }
  return lines;
}

/** Calls as bars over the time of the run; long lists show their slowest. */
function renderTimeline(result: RunResult, { colors }: Pick<Terminal, "colors">): string[] {
  const most = 8;
  const byTool = new Map<string, { count: number; ms: number }>();
  for (const call of result.calls) {
    const sum = byTool.get(call.tool) ?? { count: 0, ms: 0 };
    byTool.set(call.tool, { count: sum.count + 1, ms: sum.ms + call.durationMs });
  }
  const rows = [...byTool].sort((a, b) => b[1].ms - a[1].ms);
  const longest = Math.max(...rows.map(([, sum]) => sum.ms), 1);
  const width = Math.max(...rows.slice(0, most).map(([tool]) => tool.length));
  const lines = rows.slice(0, most).map(([tool, sum]) => {
    const bar = "▇".repeat(Math.max(1, Math.round((sum.ms / longest) * 24)));
    return colors.dim(`  ${tool.padEnd(width)} ${bar} ${sum.count}× ${duration(sum.ms)}`);
  });
  return rows.length > most ? [...lines, colors.dim(`  and ${rows.length - most} more tools`)] : lines;
}

function summaryLine(result: RunResult, { colors }: Pick<Terminal, "colors">): string {
  const { tokens } = result;
  const paint = result.status === "completed" ? colors.green : colors.red;
  const carried = tokens.program + tokens.result;
  const meter = tokens.direct === 0 ? "" : ` · ${carried} tokens here, ${tokens.direct} as direct calls`;
  return `${paint(result.status)} ${colors.dim(`${counted(result.calls.length, "call")} · ${timesText(result.durationMs, result.waitedMs ?? 0)}${meter} · ${result.runId}`)}`;
}
