import type { ArgumentOrigins, RunLineage } from "@callgate/contract";
import { recordOnly } from "../command-context.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { originText } from "../origin-text.ts";
import { renderTable } from "../table.ts";
import { counted, visible } from "../terminal.ts";

/** `callgate runs lineage RUN` */
export async function lineageCommand(runId: string, context: CommandContext): Promise<ExitCode> {
  return await context.withGate(async (gate) => {
    const lineage = await gate.runs.lineage(runId);
    const { terminal, options } = context;
    if (options.json === true) terminal.out(`${JSON.stringify(lineage)}\n`);
    else {
      const rows = rowsOf(lineage);
      if (rows.length > 0) terminal.out(renderTable(["value", "was seen in"], rows, { columns: terminal.outColumns, colors: terminal.outColors }));
      for (const note of notesOf(lineage, rows.length)) terminal.err(`${note}\n`);
    }
    return exitCodes.ok;
  }, recordOnly);
}

function rowsOf({ calls, result = [] }: RunLineage): readonly (readonly string[])[] {
  const of = (where: string, origins: readonly ArgumentOrigins[]): readonly (readonly string[])[] => origins.map((one) => [`${where} ${visible(one.path)}`.trimEnd(), originText(one)]);
  return [...calls.flatMap(({ seq, tool, args }) => of(`#${seq} ${visible(tool)}`, args)), ...of("returned", result)];
}

function notesOf({ isPartial, erased }: RunLineage, rows: number): readonly string[] {
  return [
    ...(rows === 0 && erased === 0 ? ["No values went into calls"] : []),
    ...(isPartial ? ["Not all of it was looked at: answers or arguments are too large"] : []),
    ...(erased > 0 ? [`${counted(erased, "value")} cannot be read any more: the run was erased, or its key is not here`] : []),
  ];
}
