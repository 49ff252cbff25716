import type { CallError, RunResult } from "@callgate/contract";
import { modelView } from "./model-view.ts";

/** The channels of a run that a model reads, in the order it reads them. */
export type Channel = "error" | "value" | "text" | "console" | "diagnostics" | "effects" | "repairs" | "notices" | "artifacts";

export interface Section {
  readonly channel: Channel | "frame";
  readonly text: string;
}

/**
 * What a model is shown of a run, as text. `RunResult.tokens.result` counts exactly this, and for the result of
 * `Gate.run` it is within the run's budget. Contains nothing that is not in `result`.
 */
export function runReport(result: RunResult): string {
  return reportSections(result).map(({ text }) => text).join("\n");
}

/** @param valueJson JSON of the model's view of a whole value, where it is at hand already */
export function reportSections(result: Omit<RunResult, "tokens">, valueJson?: string): Section[] {
  const sections: Section[] = [{ channel: "frame", text: `status: ${result.status}` }];
  const add = (channel: Channel, text: string | undefined): void => {
    if (text !== undefined) sections.push({ channel, text });
  };
  add("error", result.error === undefined ? undefined : errorText(result.error));
  add("value", valueText(result, valueJson));
  add("text", result.text.length === 0 ? undefined : `text:\n${result.text.join("\n")}`);
  add("diagnostics", list("diagnostics", result.diagnostics.map(diagnosticText)));
  add("effects", effectsText(result.effects));
  add("console", consoleText(result));
  add("repairs", list("repaired", result.repairs.map(({ line, message }) => `line ${line}: ${message}`)));
  add("artifacts", list("artifacts", result.artifacts.map(({ name, mimeType, sizeBytes, handle }) => `${name} (${mimeType}, ${sizeBytes} bytes) ${handle}`)));
  add("notices", list("notices", result.notices));
  sections.push({ channel: "frame", text: `run: ${result.runId}` });
  return sections;
}

function list(label: string, lines: readonly string[]): string | undefined {
  return lines.length === 0 ? undefined : [`${label}:`, ...lines.map((line) => `- ${line}`)].join("\n");
}

function valueText({ value }: Omit<RunResult, "tokens">, valueJson: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (value.kind === "outline") return `value, outline of about ${value.totalTokens} tokens (read parts of ${value.handle}):\n${JSON.stringify(value.outline)}`;
  if (value.value === undefined) return "value: undefined";
  return `value:\n${valueJson ?? JSON.stringify(modelView(value.value))}`;
}

/** A run's or a call's error. */
export function errorText(error: Omit<CallError, "tool"> & { readonly tool?: string; readonly line?: number; readonly column?: number; readonly excerpt?: string }): string {
  const place = error.line === undefined ? "" : ` at line ${error.line}${error.column === undefined ? "" : `, column ${error.column}`}`;
  const lines = [`error: ${error.code}${place}: ${error.message}`];
  if (error.excerpt !== undefined) lines.push(`  | ${error.excerpt}`);
  if (error.tool !== undefined && error.tool !== "") lines.push(`  tool: ${error.tool}`);
  if (error.path !== undefined && error.path !== "") lines.push(`  path: ${error.path}`);
  if (error.details !== undefined && Object.keys(error.details).length > 0) lines.push(`  details: ${JSON.stringify(error.details)}`);
  if (error.retryable) lines.push("  retryable: true");
  return lines.join("\n");
}

/** One diagnostic with its place, the model's own line, and what to write instead. */
export function diagnosticText({ severity, code, message, line, column, excerpt, suggestions, declaration }: RunResult["diagnostics"][number]): string {
  const lines = [`${severity} ${code} at ${line}:${column}: ${message}`];
  if (excerpt !== undefined) lines.push(`    | ${excerpt}`);
  if (suggestions !== undefined && suggestions.length > 0) lines.push(`    did you mean: ${suggestions.join(", ")}`);
  if (declaration !== undefined) lines.push(`    declared: ${declaration}`);
  return lines.join("\n");
}

function effectsText(effects: RunResult["effects"]): string | undefined {
  if (effects === undefined) return undefined;
  const line = (label: string, items: readonly string[]): string[] => (items.length === 0 ? [] : [`- ${label}: ${items.join("; ")}`]);
  const lines = [...line("took effect", effects.done), ...line("UNKNOWN whether it took effect", effects.unknown), ...line("did not happen", effects.none)];
  return lines.length === 0 ? undefined : ["effects:", ...lines].join("\n");
}

function consoleText({ console: entries, consoleDroppedBytes }: Omit<RunResult, "tokens">): string | undefined {
  if (entries.length === 0 && consoleDroppedBytes === 0) return undefined;
  const dropped = consoleDroppedBytes === 0 ? [] : [`(${consoleDroppedBytes} bytes of output were dropped)`];
  return ["console:", ...entries.map(({ level, text }) => (level === "log" ? text : `[${level}] ${text}`)), ...dropped].join("\n");
}
