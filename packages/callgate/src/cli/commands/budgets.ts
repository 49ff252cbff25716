import { budgetUnits } from "@callgate/contract";
import type { BudgetView } from "@callgate/contract";
import { recordOnly } from "../command-context.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { renderTable } from "../table.ts";
import { visible } from "../terminal.ts";

/** `callgate budgets ls` */
export async function listBudgetsCommand(context: CommandContext): Promise<ExitCode> {
  return await context.withGate(async (gate) => {
    const { terminal, options } = context;
    const budgets = await gate.budgets();
    if (options.json === true) terminal.out(`${JSON.stringify(budgets)}\n`);
    else if (budgets.length === 0) terminal.err("No budgets are configured; see docs/guide/limits.md\n");
    else terminal.out(renderTable(["budget", "whose", "spent", "begins anew"], budgets.map(rowOf), { columns: terminal.outColumns, colors: terminal.outColors, flexible: 1 }));
    return exitCodes.ok;
  }, recordOnly);
}

function rowOf({ id, who, limits, spent, resetsAtMs }: BudgetView): readonly string[] {
  const whose = Object.entries(who).map(([scope, value]) => `${scope} ${visible(value)}`);
  const units = budgetUnits.flatMap((unit) => (limits[unit] === undefined ? [] : [`${spent[unit]}/${limits[unit]} ${unit}`]));
  return [id, whose.join(", ") || "all", units.join(", "), resetsAtMs === undefined ? "never" : new Date(resetsAtMs).toISOString()];
}
