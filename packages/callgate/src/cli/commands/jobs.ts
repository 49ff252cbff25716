import { recordOnly } from "../command-context.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { renderTable } from "../table.ts";
import { visible } from "../terminal.ts";

/** `callgate jobs ls` */
export async function listJobsCommand(context: CommandContext): Promise<ExitCode> {
  return await context.withGate(async (gate) => {
    const { terminal, options } = context;
    const jobs = await gate.jobs.list();
    const rows = jobs.map(({ callId, tool, startedAtMs, untilMs, token }) => [callId, tool, new Date(startedAtMs).toISOString(), new Date(untilMs).toISOString(), visible(JSON.stringify(token))]);
    if (options.json === true) terminal.out(`${JSON.stringify(jobs)}\n`);
    else if (jobs.length === 0) terminal.err("No background jobs are under way\n");
    else terminal.out(renderTable(["call", "tool", "since", "given up at", "found by"], rows, { columns: terminal.outColumns, colors: terminal.outColors }));
    return exitCodes.ok;
  }, recordOnly);
}

/** `callgate jobs cancel CALL` */
export async function cancelJobCommand(callId: string, context: CommandContext): Promise<ExitCode> {
  return await context.withGate(async (gate) => {
    const { terminal, options } = context;
    const { known } = await gate.jobs.cancel(callId);
    const run = callId.slice(0, callId.lastIndexOf("."));
    const told = known ? `The end of ${callId} was told before, and that counts` : `${callId} is cancelled. Its tool stops the work when its run goes on: with a worker, or with callgate runs resume ${run}`;
    terminal.out(options.json === true ? `${JSON.stringify({ callId, known })}\n` : `${told}\n`);
    return exitCodes.ok;
  }, recordOnly);
}
