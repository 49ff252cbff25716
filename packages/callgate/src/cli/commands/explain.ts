import { recordOnly } from "../command-context.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { visible } from "../terminal.ts";

/** `callgate runs explain RUN` */
export async function explainRunCommand(runId: string, context: CommandContext): Promise<ExitCode> {
  return await context.withGate(async (gate) => {
    const explanation = await gate.runs.explain(runId);
    context.terminal.out(context.options.json === true ? `${JSON.stringify(explanation)}\n` : explanation.sentences.map(({ text }) => `${visible(text)}\n`).join(""));
    return exitCodes.ok;
  }, recordOnly);
}
