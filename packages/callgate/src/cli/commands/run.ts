import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { text } from "node:stream/consumers";
import { CallgateError } from "@callgate/contract";
import type { ProgramLanguage, RunLimits, RunOptions } from "@callgate/contract";
import { languageOf as languageNamed, languagesText } from "@callgate/runtime/executor";
import type { CommandContext } from "../command-context.ts";
import { exitCodeOfRun } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
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

const languages: Readonly<Record<string, ProgramLanguage>> = {
  ".ts": "typescript",
  ".mts": "typescript",
  ".js": "javascript",
  ".mjs": "javascript",
  ".py": "python",
  ".sh": "shell",
  ".bash": "shell",
  ".md": "typescript",
  ".txt": "typescript",
};

/** `callgate run FILE|-` */
export async function runCommand(file: string, options: RunCommandOptions, context: CommandContext): Promise<ExitCode> {
  const { program, language } = await readProgramFile(file, options.language);
  return await runProgram(program, { ...options, language }, context);
}

/**
 * A program and its language: the one that is named, else by the file's name; from standard input it is TypeScript.
 *
 * Errors: `CallgateError` USAGE.
 */
export async function readProgramFile(file: string, named?: string): Promise<{ readonly program: string; readonly language: ProgramLanguage }> {
  const language = named !== undefined ? languageOf(named) : file === "-" ? "typescript" : languages[extname(file).toLowerCase()];
  if (language === undefined) {
    throw new CallgateError("USAGE", `Cannot run ${file}: programs are TypeScript or JavaScript (.ts, .js, or a text with a fenced program), Python (.py) or shell (.sh)`);
  }
  return { program: file === "-" ? await text(process.stdin) : await readProgram(file), language };
}

async function readProgram(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    throw new CallgateError("USAGE", `Cannot read ${file}: ${cause instanceof Error && "code" in cause ? String(cause.code) : "unknown reason"}`, { cause });
  }
}

/** Runs one program text and prints what came of it. */
export async function runProgram(
  program: string,
  options: RunCommandOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const runOptions = runOptionsOf(options, context);
  return await context.withGate(async (gate, view) => {
    const result = await gate.run(program, runOptions);
    view.close();
    if (context.options.json === true) context.terminal.out(`${JSON.stringify(runJson(result))}\n`);
    else {
      for (const line of result.text) context.terminal.out(`${line}\n`);
      if (result.value !== undefined) context.terminal.out(renderValue(result.value));
      context.terminal.err(renderReport(result, context.terminal, context.terminal.interactive));
    }
    return exitCodeOfRun(result);
  }, { interactive: true, warm: false, ...launcherOption(options.sandbox) });
}

function runOptionsOf(options: Parameters<typeof runProgram>[1], context: CommandContext): RunOptions {
  const limits = limitsOf(options);
  return {
    signal: context.signal,
    ...(options.language === undefined ? {} : { language: languageOf(options.language) }),
    ...(options.lane === undefined ? {} : { lane: laneOf(options.lane) }),
    ...(options.budget === undefined ? {} : { budgetTokens: options.budget }),
    ...(options.task === undefined ? {} : { taskId: options.task }),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
  };
}

const known: readonly ProgramLanguage[] = ["typescript", "javascript", "node", "python", "shell"];

export function languageOf(name: string): ProgramLanguage {
  const language = languageNamed(name, known);
  if (language === undefined) throw new CallgateError("USAGE", `unknown language ${name}; there are ${languagesText(known)}`);
  return language;
}

function launcherOption(name: string | undefined): { readonly launcher?: (typeof launcherNames)[number] } {
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
function limitsOf(options: RunCommandOptions): Partial<RunLimits> {
  const limits: Record<string, number> = options.timeout === undefined ? {} : { wallMs: options.timeout };
  for (const pair of options.limit ?? []) {
    const [name = "", value = ""] = pair.split("=");
    const number = Number(value);
    if (name === "" || !Number.isInteger(number) || number <= 0) throw new CallgateError("USAGE", `--limit takes NAME=NUMBER, e.g. cpuMs=500, not "${pair}"`);
    limits[name] = number;
  }
  return limits;
}
