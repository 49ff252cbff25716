import { CallgateError } from "@callgate/contract";
import { CommanderError } from "commander";
import { buildProgram } from "./build-program.ts";
import { exitCodeOfFault, exitCodes } from "./exit-codes.ts";
import type { ExitCode } from "./exit-codes.ts";
import { processTerminal } from "./terminal.ts";

/** Runs one command line and returns its exit code. Never throws. */
export async function main(args: readonly string[]): Promise<number> {
  const interruption = new AbortController();
  const onSignal = () => {
    // A second Ctrl-C does not wait for anything.
    if (interruption.signal.aborted) process.exit(exitCodes.interrupted);
    interruption.abort();
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  for (const stream of [process.stdout, process.stderr]) stream.on("error", endWhenReaderIsGone);
  const ended: { code: ExitCode } = { code: exitCodes.ok };
  const json = args.includes("--json");
  const program = buildProgram(async (options, action) => {
    // Help and mistakes need nothing of it.
    const { createCommandContext } = await import("./command-context.ts");
    ended.code = await action(createCommandContext(options, interruption.signal));
  });
  try {
    await program.parseAsync([...args], { from: "user" });
    return interruption.signal.aborted && ended.code === exitCodes.failed ? exitCodes.interrupted : ended.code;
  } catch (fault) {
    return interruption.signal.aborted && !CallgateError.is(fault) ? reportInterruption(json) : reportFault(fault, json);
  } finally {
    process.off("SIGINT", onSignal);
    process.off("SIGTERM", onSignal);
  }
}

/** `callgate search | head`: who reads has seen enough, and that is no failure. */
function endWhenReaderIsGone(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") process.exit(exitCodes.ok);
  throw error;
}

/** Of a command that had nothing under way that could tell how it ended. */
function reportInterruption(json: boolean): number {
  const terminal = processTerminal();
  if (json) terminal.out(`${JSON.stringify({ status: "cancelled", error: { code: "CANCELLED", message: "Interrupted; nothing was begun that is not on record", retryable: true } })}\n`);
  else terminal.err("interrupted\n");
  return exitCodes.interrupted;
}

function reportFault(fault: unknown, json: boolean): number {
  const terminal = processTerminal();
  if (fault instanceof CommanderError) {
    if (fault.exitCode === 0) return exitCodes.ok;
    // The parser has told it on standard error; who asked for JSON reads standard output. Help that was printed has no message.
    if (json) terminal.out(`${JSON.stringify({ status: "failed", error: { code: "USAGE", message: fault.message.replace(/^error: /, ""), retryable: false } })}\n`);
    return exitCodes.usage;
  }
  const code = CallgateError.is(fault) ? fault.code : "INTERNAL";
  const message = fault instanceof Error ? fault.message : String(fault);
  const { colors } = terminal;
  if (json) terminal.out(`${JSON.stringify({ status: "failed", error: { code, message, retryable: false } })}\n`);
  else terminal.err(`${colors.red("error")} ${code}: ${message}\n`);
  if (!CallgateError.is(fault) && fault instanceof Error && process.env["CALLGATE_DEBUG"] !== undefined) terminal.err(`${fault.stack ?? ""}\n`);
  return exitCodeOfFault(fault);
}
