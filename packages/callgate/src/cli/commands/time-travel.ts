import { writeFileSync } from "node:fs";
import { CallgateError } from "@callgate/contract";
import type { NewCalls, RunDiff, RunSteps } from "@callgate/contract";
import { recordingTest } from "../../recording/recording-test.ts";
import { recordOnly } from "../command-context.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodeOfRun, exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { readProgramText } from "../program-file.ts";
import { renderDiff } from "../render-diff.ts";
import { renderEnd, renderStep } from "../render-step.ts";
import { runJson } from "../render-run.ts";
import { counted, visible } from "../terminal.ts";
import { waitForEnter } from "../wait-for-enter.ts";
import { printRun } from "./run.ts";

/** `callgate runs step RUN` */
export async function stepRunCommand(runId: string, { to }: { readonly to?: number }, context: CommandContext): Promise<ExitCode> {
  return await context.withGate(async (gate) => {
    const found = await gate.runs.steps(runId, { signal: context.signal });
    const shown: RunSteps = to === undefined ? found : { ...found, steps: found.steps.slice(0, to) };
    if (context.options.json === true) context.terminal.out(`${JSON.stringify(shown)}\n`);
    else await tellSteps(shown, { total: found.steps.length, context });
    return found.divergence === undefined ? exitCodes.ok : exitCodes.failed;
  }, recordOnly);
}

/** One step at a time where a person sits there; all of them elsewhere. */
async function tellSteps({ steps, end, divergence, runId }: RunSteps, { total, context }: { readonly total: number; readonly context: CommandContext }): Promise<void> {
  const { terminal } = context;
  const colors = terminal.outColors;
  for (const [index, step] of steps.entries()) {
    terminal.out(renderStep(step, { number: index + 1, total, colors }));
    if (index + 1 < steps.length && !(await mayGoOn(context))) return;
  }
  if (divergence !== undefined) terminal.out(`${runId} does something else than its record at call #${divergence.seq}: ${visible(divergence.message)}\n`);
  else if (steps.length === total) terminal.out(renderEnd(end, colors));
}

async function mayGoOn({ terminal, signal }: CommandContext): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return true;
  return await waitForEnter("enter: next step, q: stop", terminal, signal);
}

export interface EditCommandOptions {
  readonly program: string;
  readonly new?: NewCalls;
  readonly budget?: number;
}

/** `callgate runs edit RUN --program FILE` */
export async function editRunCommand(runId: string, options: EditCommandOptions, context: CommandContext): Promise<ExitCode> {
  const program = await readProgramText(options.program);
  const newCalls = options.new ?? "stop";
  return await context.withGate(async (gate, view) => {
    const { result, newCall, unused } = await gate.runs.edit(runId, { program, newCalls, signal: context.signal, ...(options.budget === undefined ? {} : { budgetTokens: options.budget }) });
    view.close();
    const { terminal } = context;
    if (context.options.json === true) {
      terminal.out(`${JSON.stringify({ ...runJson(result), ...(newCall === undefined ? {} : { newCall }), unused })}\n`);
      return exitCodeOfRun(result);
    }
    const code = printRun(result, context, terminal.interactive);
    for (const { seq, tool, args } of unused) terminal.err(`not made any more: #${seq} ${tool}(${visible(JSON.stringify(args))})\n`);
    if (newCall === undefined) return code;
    const place = newCall.line === undefined ? "" : ` at ${newCall.line}:${newCall.column ?? 1}`;
    terminal.err(`first new call${place}: ${newCall.tool}(${visible(JSON.stringify(newCall.args))}). Go on with --new ask, simulate or allow\n`);
    return code;
  }, newCalls === "stop" ? recordOnly : { interactive: true });
}

/** `callgate runs diff A B` */
export async function diffRunsCommand(a: string, b: string, context: CommandContext): Promise<ExitCode> {
  return await context.withGate(async (gate) => {
    const diff: RunDiff = await gate.runs.diff(a, b);
    const { terminal } = context;
    if (context.options.json === true) terminal.out(`${JSON.stringify(diff)}\n`);
    else terminal.out(renderDiff(diff, terminal));
    return diff.isEqual ? exitCodes.ok : exitCodes.failed;
  }, recordOnly);
}

/** `callgate runs export RUN [--out FILE]` */
export async function exportRunCommand(runId: string, { out }: { readonly out?: string }, context: CommandContext): Promise<ExitCode> {
  return await context.withGate(async (gate) => {
    const recording = await gate.runs.recording(runId, { signal: context.signal });
    const { terminal } = context;
    if (out !== undefined) write(out, recordingTest(recording));
    if (context.options.json === true) terminal.out(`${JSON.stringify(recording)}\n`);
    else if (out === undefined) terminal.out(recordingTest(recording));
    else terminal.err(`${out} written: ${counted(recording.answers.length, "answer")}, ${counted(recording.placeholders, "placeholder")}. Run it with npx vitest run ${out}\n`);
    return exitCodes.ok;
  });
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: "wx" });
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown reason";
    throw new CallgateError("USAGE", code === "EEXIST" ? `${file} is there already and was left as it is; remove it first or choose another name` : `Cannot write ${file}: ${code}`, { cause });
  }
}
