import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { CallgateError } from "@callgate/contract";
import type { Gate } from "@callgate/contract";
import { waitText } from "@callgate/runtime";
import type { CommandContext } from "../command-context.ts";
import { exitCodeOfError, exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { callLine } from "../live-view.ts";
import type { LiveView } from "../live-view.ts";
import { renderValue, valueJson } from "../render-run.ts";
import { visible } from "../terminal.ts";

/** `callgate call TOOL [JSON|@FILE|-]` */
export async function callCommand(
  tool: string,
  options: { readonly args: string | undefined; readonly budget?: number; readonly task?: string },
  context: CommandContext,
): Promise<ExitCode> {
  const args = parseArguments(await argumentText(options.args));
  return await context.withGate((gate, view) => performCall({ gate, view, tool, args }, options, context), { about: [tool] });
}

interface Call {
  readonly gate: Gate;
  readonly view: LiveView;
  readonly tool: string;
  readonly args: unknown;
}

/** Makes one call and prints what came of it. */
export async function performCall({ gate, view, tool, args }: Call, options: { readonly budget?: number; readonly task?: string }, context: CommandContext): Promise<ExitCode> {
  const stopTelling = tellQuestions(gate, context);
  const result = await gate.call(tool, args, {
    signal: context.signal,
    ...(options.budget === undefined ? {} : { budgetTokens: options.budget }),
    ...(options.task === undefined ? {} : { taskId: options.task }),
  });
  stopTelling();
  view.close();
  const { outcome } = result;
  if (context.options.json === true) {
    const { kind, effectStatus } = outcome;
    const rest = outcome.kind === "ok" ? valueJson(result.shaped) : { error: outcome.error };
    context.terminal.out(`${JSON.stringify({ outcome: kind, effectStatus, ...rest, artifacts: result.artifacts, callId: result.callId, runId: result.runId })}\n`);
  } else if (result.shaped !== undefined) {
    context.terminal.value(renderValue(result.shaped));
  }
  if (outcome.kind === "ok") return exitCodes.ok;
  if (context.options.json !== true) {
    // The live view has shown the line with the code; what to do about it is in the message.
    if (context.terminal.interactive) context.terminal.err(`${visible(outcome.error.message)}\n`);
    else context.terminal.err(`${callLine({ tool, outcome: outcome.kind, effectStatus: outcome.effectStatus, durationMs: 0, error: outcome.error }, context.terminal)}\n`);
  }
  return exitCodeOfError(outcome.error);
}

/** Where nobody is asked here, a call that waits for somebody elsewhere says for whom, and how it is answered: nothing else would tell. */
function tellQuestions(gate: Gate, { approver, terminal }: CommandContext): () => void {
  if (approver() !== undefined) return () => undefined;
  return gate.onEvent((event) => {
    if (event.kind === "approval-asked") terminal.err(`waits for ${visible(waitText(event.runId, { kind: "approval", seq: 0, question: event.question }))}\n`);
  });
}

/** What a command line gives as arguments: themselves, @FILE, or - for standard input. */
export async function argumentText(argument: string | undefined): Promise<string> {
  if (argument === undefined) return "{}";
  if (argument === "-") return await text(process.stdin);
  return argument.startsWith("@") ? await readFile(argument.slice(1), "utf8").catch(() => unreadable(argument.slice(1))) : argument;
}

function unreadable(file: string): never {
  throw new CallgateError("USAGE", `Cannot read the arguments from ${file}`);
}

/** Errors: `CallgateError` USAGE. */
export function parseArguments(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw new CallgateError("USAGE", `The arguments are not JSON: ${cause instanceof Error ? cause.message : ""}. Write them as one object, e.g. '{"id": 1}', or @FILE, or - for standard input`, { cause });
  }
}
