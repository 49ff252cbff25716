import type { GuestConsoleEntry, JsonValue, RunStep, RunSteps } from "@callgate/contract";
import { duration, visible } from "./terminal.ts";
import type { Colors } from "./terminal.ts";

/** More of a value than this is cut; `--json` has all of it. */
const maxChars = 1_000;

export interface StepView {
  readonly number: number;
  readonly total: number;
  readonly colors: Colors;
}

/** One step for the eye: what was printed on the way, where the program stands, what it asked for and was given. */
export function renderStep(step: RunStep, { number, total, colors }: StepView): string {
  const { name, line, column, excerpt, args, answer, answeredAs, was, printed } = step;
  const place = line === undefined ? "" : colors.dim(` at ${line}:${column ?? 1}`);
  const lines = [...printedLines(printed, colors), `${colors.bold(`step ${number} of ${total}`)}${place}`];
  if (excerpt !== undefined) lines.push(colors.dim(`  ${line ?? ""} │ ${visible(excerpt)}`));
  lines.push(`  ${visible(name)}(${json(args)})`);
  if (answer === undefined) lines.push(colors.dim("  never answered"));
  else if (answer.kind === "value") lines.push(`  → ${json(answer.value)}`);
  else lines.push(`  ${colors.red("✗")} ${answer.code}: ${visible(answer.message)}`);
  const told = [
    ...(was === undefined ? [] : [`${was.effect}, ${was.outcome} in ${duration(was.durationMs)}`, ...(was.effectStatus === "none" ? [] : [was.effectStatus === "done" ? "changed something then" : "whether it changed something is not known"])]),
    ...(answeredAs === undefined ? [] : [`answer ${answeredAs + 1}`]),
  ];
  if (told.length > 0) lines.push(colors.dim(`  ${told.join(" · ")}`));
  return `${lines.join("\n")}\n`;
}

/** How the run ended. */
export function renderEnd({ status, value, error, printed }: RunSteps["end"], colors: Colors): string {
  const lines = [...printedLines(printed, colors), `${colors.bold("end")} ${status}${error === undefined ? "" : ` ${error.code}: ${visible(error.message)}`}`];
  if (value !== undefined) lines.push(`  → ${json(value)}`);
  return `${lines.join("\n")}\n`;
}

function printedLines(printed: readonly GuestConsoleEntry[], colors: Colors): readonly string[] {
  return printed.map(({ level, text }) => `${colors.dim(`${level} │`)} ${visible(text)}`);
}

function json(value: JsonValue): string {
  const text = visible(JSON.stringify(value));
  return text.length <= maxChars ? text : `${text.slice(0, maxChars).toWellFormed()}… (${text.length - maxChars} more characters)`;
}
