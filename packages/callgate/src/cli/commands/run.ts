import { CallgateError } from "@callgate/contract";
import type { RunLimits, RunOptions, RunResult, ShapedValue } from "@callgate/contract";
import type { CommandContext } from "../command-context.ts";
import { exitCodeOfRun } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { languageNamed, readProgramFile } from "../program-file.ts";
import { renderReport, renderValue, runJson } from "../render-run.ts";
import { launcherNames } from "../../launcher-names.ts";

/** Options of `run` and `exec`. */
export interface RunCommandOptions {
  readonly lane?: string;
  readonly budget?: number;
  readonly task?: string;
  readonly timeout?: number;
  readonly limit?: readonly string[];
  readonly sandbox?: string;
  readonly language?: string;
}

/** `callgate run FILE|-` */
export async function runCommand(file: string, options: RunCommandOptions, context: CommandContext): Promise<ExitCode> {
  const { program, language } = await readProgramFile(file, options.language, context);
  return await runProgram(program, { ...options, language }, context);
}

/** Runs one program text and prints what came of it. */
export async function runProgram(
  program: string,
  options: RunCommandOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const runOptions = await runOptionsOf(options, context);
  return await context.withGate(async (gate, view) => {
    const result = await gate.run(program, runOptions);
    view.close();
    return printRun(result, context, context.terminal.interactive);
  }, { interactive: true, warm: false, ...launcherOption(options.sandbox) });
}

/**
 * What came of a run: its data to standard output, the rest for the eye.
 *
 * @param live true where its calls were shown as they happened
 */
export function printRun(result: RunResult, { options, terminal }: Pick<CommandContext, "options" | "terminal">, live: boolean): ExitCode {
  if (options.json === true) terminal.out(`${JSON.stringify(runJson(result))}\n`);
  else {
    for (const line of result.text) terminal.out(`${line}\n`);
    if (result.value !== undefined && !isNothing(result.value)) terminal.value(renderValue(result.value));
    terminal.err(renderReport(result, terminal, live));
  }
  return exitCodeOfRun(result);
}

/** A shell gives no value; that is no data. */
function isNothing(shaped: ShapedValue): boolean {
  return shaped.kind === "whole" && shaped.value === undefined;
}

async function runOptionsOf(options: RunCommandOptions, context: CommandContext): Promise<RunOptions> {
  const limits = limitsOf(options);
  return {
    signal: context.signal,
    ...(options.language === undefined ? {} : { language: await languageNamed(options.language, context) }),
    ...settingsOf(options),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
  };
}

/** What is said of a run beside its program and its bounds. */
export function settingsOf({ lane, budget, task }: RunCommandOptions): Pick<RunOptions, "lane" | "budgetTokens" | "taskId"> {
  return { ...(lane === undefined ? {} : { lane: laneOf(lane) }), ...(budget === undefined ? {} : { budgetTokens: budget }), ...(task === undefined ? {} : { taskId: task }) };
}

/** Errors: `CallgateError` USAGE. */
export function launcherOption(name: string | undefined): { readonly launcher?: (typeof launcherNames)[number] } {
  if (name === undefined) return {};
  const launcher = launcherNames.find((one) => one === name);
  if (launcher === undefined) throw new CallgateError("USAGE", `--sandbox is one of ${launcherNames.join(", ")}, not "${name}"`);
  return { launcher };
}

export function laneOf(lane: string): "query" | "execute" {
  if (lane === "query" || lane === "execute") return lane;
  throw new CallgateError("USAGE", `--lane is query (reads only) or execute, not "${lane}"`);
}

/** `--limit cpuMs=500` any number of times, and `--timeout MS` for wallMs. */
export function limitsOf(options: RunCommandOptions): Partial<RunLimits> {
  const limits: Record<string, number> = options.timeout === undefined ? {} : { wallMs: options.timeout };
  for (const pair of options.limit ?? []) {
    const [name = "", value = ""] = pair.split("=");
    const number = Number(value);
    if (name === "" || !Number.isInteger(number) || number <= 0) throw new CallgateError("USAGE", `--limit takes NAME=NUMBER, e.g. cpuMs=500, not "${pair}"`);
    limits[name] = number;
  }
  return limits;
}
