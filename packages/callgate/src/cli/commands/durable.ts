import { CallgateError } from "@callgate/contract";
import type { RunResult } from "@callgate/contract";
import { proveApprover } from "../approver-credential.ts";
import { recordOnly } from "../command-context.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodeOfRun, exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { renderReport, renderValue, runJson } from "../render-run.ts";
import { visible } from "../terminal.ts";

/** `callgate runs resume RUN`: Ctrl-C gives the run back for another to take; it is `runs cancel` that ends it. */
export async function resumeRunCommand(runId: string, { acceptChanges = false }: { readonly acceptChanges?: boolean }, context: CommandContext): Promise<ExitCode> {
  const { signal, terminal } = context;
  return await context.withGate(async (gate, view) => {
    const leaving = (): void => {
      view.pause();
      terminal.err(`giving ${runId} back once what is under way has ended; interrupt again to stop at once, and a write under way is then in doubt\n`);
    };
    signal.addEventListener("abort", leaving, { once: true });
    const result = await gate.runs.resume(runId, { acceptChanges, leave: signal }).finally(() => signal.removeEventListener("abort", leaving));
    view.close();
    return signal.aborted ? printLeft(result, context) : printRun(result, context);
  }, { keepsQuestions: true });
}

/** How a run stands that somebody interrupted: it may have come to its end all the same. */
function printLeft(result: RunResult, context: CommandContext): ExitCode {
  const { runId, status } = result;
  if (status !== "suspended" && status !== "running") return printRun(result, context);
  const left = status === "running" ? `Run ${runId} goes on in another process` : `Run ${runId} was given back as it stands, and is not cancelled; callgate runs cancel ${runId} ends it`;
  printRun({ ...result, notices: [left, ...result.notices] }, context);
  return exitCodes.interrupted;
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
  }, recordOnly);
}

/** `callgate runs resolve CALL --happened|--did-not` */
export async function resolveCallCommand(callId: string, options: { readonly happened?: boolean; readonly didNot?: boolean; readonly output?: string }, context: CommandContext): Promise<ExitCode> {
  if ((options.happened === true) === (options.didNot === true)) throw new CallgateError("USAGE", "Say what became of the write: --happened or --did-not");
  const happened = options.happened === true;
  const output = parseJson(options.output);
  const signer = await proveApprover(context, "Saying what became of a write");
  return await context.withGate(async (gate) => {
    await gate.runs.resolve(callId, { happened, ...(output === undefined ? {} : { output }) }, signer === undefined ? {} : { signer });
    return say(context, { callId, happened }, `${callId} is on record as ${happened ? "done" : "not done"}`);
  }, recordOnly);
}

/** `callgate runs complete CALL [JSON]` */
export async function completeCallCommand(callId: string, { json, error }: { readonly json: string | undefined; readonly error?: string }, context: CommandContext): Promise<ExitCode> {
  const value = parseJson(json);
  const signer = await proveApprover(context, "Telling how a background job ended");
  return await context.withGate(async (gate) => {
    const { known } = await gate.runs.complete(callId, error === undefined ? { kind: "value", value } : { kind: "error", code: "TOOL_FAILED", message: error }, signer === undefined ? {} : { signer });
    return say(context, { callId, known }, known ? `${callId} had an end before, which counts` : `told how ${callId} ended`);
  }, recordOnly);
}

/** `callgate runs cancel RUN`: ends as `rollback` does. */
export async function cancelRunCommand(runId: string, context: CommandContext): Promise<ExitCode> {
  return await context.withGate(async (gate) => {
    const result = await gate.runs.cancel(runId, { signal: context.signal });
    printRun(result, context);
    return exitOfUndoing(result);
  });
}

/** `callgate runs rollback RUN`: fails when a person has to undo something, and waits where one has to allow it. */
export async function rollbackRunCommand(runId: string, context: CommandContext): Promise<ExitCode> {
  await proveApprover(context, "Undoing a run");
  return await context.withGate(async (gate) => {
    const result = await gate.runs.rollback(runId, { signal: context.signal });
    printUndoing(result, context);
    return exitOfUndoing(result);
  });
}

/** Whether anything is left that a person has to allow, or to undo. */
function exitOfUndoing({ compensation }: RunResult): ExitCode {
  const { remaining = [] } = compensation ?? {};
  if (remaining.some(({ approvalId }) => approvalId !== undefined)) return exitCodes.approvalPending;
  return remaining.length === 0 ? exitCodes.ok : exitCodes.failed;
}

/** What was undone of a run, and what is left. What the run gave was told when it ended. */
function printUndoing({ runId, status, compensation, notices }: RunResult, { options, terminal }: CommandContext): void {
  if (options.json === true) terminal.out(`${JSON.stringify({ runId, status, compensation, notices })}\n`);
  else terminal.out(`${[...(notices.length === 0 ? ["Nothing of it had to be undone"] : notices), `${runId} ${status}`].map(visible).join("\n")}\n`);
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
