import { CallgateError } from "@callgate/contract";
import type { RunResult } from "@callgate/contract";
import { proveApprover } from "../approver-credential.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodeOfRun, exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { renderReport, renderValue, runJson } from "../render-run.ts";

/** `callgate runs resume RUN` */
export async function resumeRunCommand(runId: string, { acceptChanges = false }: { readonly acceptChanges?: boolean }, context: CommandContext): Promise<ExitCode> {
  return await context.withGate(async (gate, view) => {
    const result = await gate.runs.resume(runId, { acceptChanges, signal: context.signal });
    view.close();
    return printRun(result, context);
  });
}

/** Prints a run as `callgate run` does. */
function printRun(result: RunResult, { options, terminal }: CommandContext): ExitCode {
  if (options.json === true) terminal.out(`${JSON.stringify(runJson(result))}\n`);
  else {
    for (const line of result.text) terminal.out(`${line}\n`);
    if (result.value !== undefined) terminal.value(renderValue(result.value));
    terminal.err(renderReport(result, terminal, false));
  }
  return exitCodeOfRun(result);
}

/** `callgate runs signal RUN EVENT [JSON]` */
export async function signalRunCommand(runId: string, { event, json, id }: { readonly event: string; readonly json: string | undefined; readonly id?: string }, context: CommandContext): Promise<ExitCode> {
  const payload = parseJson(json);
  return await context.withGate(async (gate) => {
    const { known } = await gate.runs.signal(runId, { name: event, ...(payload === undefined ? {} : { payload }), ...(id === undefined ? {} : { id }) });
    return say(context, { runId, event, known }, known ? `${runId} had event "${event}" with id ${String(id)} before; nothing was sent` : `sent "${event}" to ${runId}`);
  }, { about: [] });
}

/** `callgate runs resolve CALL --happened|--did-not` */
export async function resolveCallCommand(callId: string, options: { readonly happened?: boolean; readonly didNot?: boolean; readonly output?: string }, context: CommandContext): Promise<ExitCode> {
  if ((options.happened === true) === (options.didNot === true)) throw new CallgateError("USAGE", "Say what became of the write: --happened or --did-not");
  const happened = options.happened === true;
  const output = parseJson(options.output);
  await proveApprover(context, "Saying what became of a write");
  return await context.withGate(async (gate) => {
    await gate.runs.resolve(callId, { happened, ...(output === undefined ? {} : { output }) });
    return say(context, { callId, happened }, `${callId} is on record as ${happened ? "done" : "not done"}`);
  }, { about: [] });
}

/** `callgate runs complete CALL [JSON]` */
export async function completeCallCommand(callId: string, { json, error }: { readonly json: string | undefined; readonly error?: string }, context: CommandContext): Promise<ExitCode> {
  const value = parseJson(json);
  return await context.withGate(async (gate) => {
    const { known } = await gate.runs.complete(callId, error === undefined ? { kind: "value", value } : { kind: "error", code: "TOOL_FAILED", message: error });
    return say(context, { callId, known }, known ? `${callId} had an end before, which counts` : `told how ${callId} ended`);
  }, { about: [] });
}

/** `callgate runs cancel RUN` */
export async function cancelRunCommand(runId: string, context: CommandContext): Promise<ExitCode> {
  return await context.withGate(async (gate) => {
    const result = await gate.runs.cancel(runId, { signal: context.signal });
    printRun(result, context);
    return exitCodes.ok;
  });
}

/** `callgate runs rollback RUN`: fails when a person has to undo something. */
export async function rollbackRunCommand(runId: string, context: CommandContext): Promise<ExitCode> {
  await proveApprover(context, "Undoing a run");
  return await context.withGate(async (gate) => {
    const result = await gate.runs.rollback(runId, { signal: context.signal });
    printRun(result, context);
    return (result.compensation?.remaining.length ?? 0) === 0 ? exitCodes.ok : exitCodes.failed;
  });
}

function parseJson(json: string | undefined): unknown {
  if (json === undefined) return undefined;
  try {
    return JSON.parse(json) as unknown;
  } catch (cause) {
    throw new CallgateError("USAGE", `This is no JSON: ${json.slice(0, 100)}`, { cause });
  }
}

function say({ options, terminal }: CommandContext, fact: object, words: string): ExitCode {
  terminal.out(options.json === true ? `${JSON.stringify(fact)}\n` : `${words}\n`);
  return exitCodes.ok;
}
