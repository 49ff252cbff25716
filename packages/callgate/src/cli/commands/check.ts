import { CallgateError } from "@callgate/contract";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { renderCheck, rounded } from "../render-run.ts";
import { counted } from "../terminal.ts";
import { languageNamed, readProgramFile } from "../program-file.ts";
import { laneOf } from "./run.ts";

export interface CheckCommandOptions {
  readonly eval?: string;
  readonly language?: string;
  readonly lane?: string;
}

/** Nobody reads it in a prompt: all that was found is told. */
const budgetTokens = 1_000_000;

/** `callgate check FILE|-` or `-e CODE`: 0 when the program may run, 1 when it is refused. Nothing of it is run. */
export async function checkCommand(file: string | undefined, options: CheckCommandOptions, context: CommandContext): Promise<ExitCode> {
  if ((file === undefined) === (options.eval === undefined)) throw new CallgateError("USAGE", "check takes a file, - for standard input, or a program with -e");
  const { program, language } = options.eval === undefined ? await readProgramFile(file ?? "-", options.language, context) : { program: options.eval, language: await languageNamed(options.language ?? "typescript", context) };
  const lane = options.lane === undefined ? {} : { lane: laneOf(options.lane) };
  return await context.withGate(async (gate) => {
    const result = await gate.check(program, { language, budgetTokens, signal: context.signal, ...lane });
    const isRefused = result.status === "rejected";
    const { diagnostics, repairs, form } = result;
    const { terminal } = context;
    if (context.options.json === true) {
      terminal.out(`${JSON.stringify({ status: result.status === "completed" ? "ok" : result.status, language, ...(form === undefined ? {} : { form }), diagnostics, repairs, durationMs: rounded(result).durationMs })}\n`);
    } else {
      const ofKind = (severity: string): number => diagnostics.filter((diagnostic) => diagnostic.severity === severity).length;
      const counts = (["error", "warning"] as const).filter((severity) => ofKind(severity) > 0).map((severity) => counted(ofKind(severity), severity));
      const said = isRefused ? terminal.outColors.red("rejected") : terminal.outColors.green("ok");
      terminal.out(`${[...renderCheck(result, { colors: terminal.outColors }), [said, ...counts].join(" · ")].join("\n")}\n`);
    }
    if (result.status === "cancelled") return exitCodes.interrupted;
    return isRefused ? exitCodes.failed : exitCodes.ok;
  }, { interactive: false });
}
