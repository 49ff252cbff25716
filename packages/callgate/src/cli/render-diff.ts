import type { DiffedCall, JsonValue, RunDiff, RunSide } from "@callgate/contract";
import { duration, visible } from "./terminal.ts";
import type { Colors, Terminal } from "./terminal.ts";

const maxChars = 400;

/** Two runs for the eye: program, calls, end. `-` is the first, `+` the second. */
export function renderDiff(diff: RunDiff, { outColors: colors }: Pick<Terminal, "outColors">): string {
  const lines = [`${colors.red("-")} ${headOf(diff.a)}`, `${colors.green("+")} ${headOf(diff.b)}`, "", ...programLines(diff, colors)];
  for (const { tool, a, b, differences } of diff.calls) {
    if (a === undefined || b === undefined) lines.push(...oneSided(tool, { a, b, colors }));
    else lines.push(...bothSided(tool, { a, b, differences, colors }));
  }
  if (diff.calls.length === 0) lines.push("no calls");
  const { a: { value: from }, b: { value: to } } = diff;
  if (diff.isValueEqual === false && from !== undefined && to !== undefined) lines.push("", "value", colors.red(`- ${json(from)}`), colors.green(`+ ${json(to)}`));
  lines.push("", diff.isEqual ? "The runs are equal but for times" : "The runs differ");
  return `${lines.join("\n")}\n`;
}

function headOf({ runId, status, errorCode, startedAtMs, durationMs }: RunSide): string {
  return `${runId} ${status}${errorCode === undefined ? "" : ` ${errorCode}`} · ${new Date(startedAtMs).toISOString()}${durationMs === undefined ? "" : ` · ${duration(durationMs)}`}`;
}

function programLines({ program, isProgramEqual }: RunDiff, colors: Colors): readonly string[] {
  if (isProgramEqual === true) return ["the program is the same", ""];
  if (program === undefined) return [isProgramEqual === false ? "the programs have little in common" : "the programs cannot be compared: the text of one is not kept any more", ""];
  const body = program.split("\n").filter((line) => line !== "");
  return [...body.map((line) => (line.startsWith("-") ? colors.red(visible(line)) : line.startsWith("+") ? colors.green(visible(line)) : colors.dim(visible(line)))), ""];
}

interface Sides {
  readonly a: DiffedCall | undefined;
  readonly b: DiffedCall | undefined;
  readonly colors: Colors;
}

function oneSided(tool: string, { a, b, colors }: Sides): readonly string[] {
  const call = a ?? b;
  if (call === undefined) return [];
  const [sign, paint] = a === undefined ? ["+", colors.green] : ["-", colors.red];
  return [paint(`${sign} #${call.seq} ${tool}(${json(call.args)})`), colors.dim(`    ${endOf(call)}`)];
}

function bothSided(tool: string, { a, b, differences, colors }: { readonly a: DiffedCall; readonly b: DiffedCall; readonly differences: readonly string[]; readonly colors: Colors }): readonly string[] {
  const times = `${duration(a.durationMs)} → ${b.isRecorded === true ? "from the record" : duration(b.durationMs)}`;
  if (differences.length === 0) return [`  #${a.seq} ${tool} ${colors.dim(`${endOf(a)} · ${times}`)}`];
  const lines = [`${colors.yellow("~")} #${a.seq} ${tool}: other ${differences.join(", ")} ${colors.dim(times)}`];
  if (differences.includes("arguments")) lines.push(colors.red(`  - ${json(a.args)}`), colors.green(`  + ${json(b.args)}`));
  if (differences.includes("answer") && a.answer !== undefined && b.answer !== undefined) lines.push(colors.red(`  - → ${json(a.answer)}`), colors.green(`  + → ${json(b.answer)}`));
  if (differences.includes("outcome") || differences.includes("effect")) lines.push(colors.red(`  - ${endOf(a)}`), colors.green(`  + ${endOf(b)}`));
  return lines;
}

function endOf({ outcome, errorCode, effectStatus }: DiffedCall): string {
  return `${outcome}${errorCode === undefined ? "" : ` ${errorCode}`}${effectStatus === "none" ? "" : `, effect ${effectStatus}`}`;
}

function json(value: JsonValue): string {
  const text = visible(JSON.stringify(value));
  return text.length <= maxChars ? text : `${text.slice(0, maxChars).toWellFormed()}…`;
}
