import { CallgateError } from "@callgate/contract";
import type { RunLimits, RunOptions, RunResult, ShapedValue } from "@callgate/contract";
import type { CommandContext } from "../command-context.ts";
import { exitCodeOfRun } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { languageNamed, readProgramFile } from "../program-file.ts";
import { readPlanFile, writePlanFile } from "../plan-file.ts";
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
  /** Read live, write nothing. */
  readonly rehearse?: boolean;
  /** Where the plan of a rehearsal goes. */
  readonly plan?: string;
  /** The file of an approved plan, in place of a program. */
  readonly apply?: string;
}

/** `callgate run FILE|-`, or `--apply PLAN` */
export async function runCommand(file: string | undefined, options: RunCommandOptions, context: CommandContext): Promise<ExitCode> {
  if (options.apply !== undefined) return await applyPlan(file, { ...options, apply: options.apply }, context);
  if (file === undefined) throw new CallgateError("USAGE", "Name a program, - for standard input, or an approved plan with --apply");
  const { program, language } = await readProgramFile(file, options.language, context);
  return await runProgram(program, { ...options, language }, context);
}

/** Runs one program text and prints what came of it. */
export async function runProgram(
  program: string,
  options: RunCommandOptions,
  context: CommandContext,
): Promise<ExitCode> {
  if (options.plan !== undefined && options.rehearse !== true) throw new CallgateError("USAGE", "--plan goes with --rehearse: there is no plan of a run that writes");
  const runOptions = await runOptionsOf(options, context);
  return await context.withGate(async (gate, view) => {
    const result = await gate.run(program, runOptions);
    view.close();
    if (options.plan !== undefined && result.plan !== undefined) {
      await writePlanFile(options.plan, result.plan);
      context.terminal.err(`The plan is in ${options.plan}: callgate plan show ${options.plan}\n`);
    }
    return printRun(result, context, context.terminal.interactive);
  }, { interactive: true, warm: false, ...launcherOption(options.sandbox) });
}

/** Runs the program of a plan, pinned to it. What the program is and may is the plan's. */
async function applyPlan(file: string | undefined, options: RunCommandOptions & { readonly apply: string }, context: CommandContext): Promise<ExitCode> {
  const others = [["a program", file], ["--lane", options.lane], ["--language", options.language], ["--task", options.task], ["--rehearse", options.rehearse], ["--plan", options.plan]].flatMap(([name, given]) => (given === undefined ? [] : [name]));
  if (others.length > 0) throw new CallgateError("USAGE", `--apply goes without ${others.join(", ")}: the plan says what is run, and how`);
  const limits = limitsOf(options);
  return await context.withGate(async (gate, view) => {
    const plan = await readPlanFile(options.apply, gate.plans);
    const result = await gate.apply(plan, { signal: context.signal, ...(options.budget === undefined ? {} : { budgetTokens: options.budget }), ...(Object.keys(limits).length === 0 ? {} : { limits }) });
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
    ...(options.rehearse === true ? { rehearse: true } : {}),
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
