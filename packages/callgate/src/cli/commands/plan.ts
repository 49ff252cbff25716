import type { Plan } from "@callgate/contract";
import { answererOf, proveApprover, starterOf } from "../approver-credential.ts";
import { recordOnly } from "../command-context.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { pageOut } from "../page-out.ts";
import { changesText, planChanges } from "../plan-changes.ts";
import { readPlanFile, writePlanFile } from "../plan-file.ts";
import { planTable, planText } from "../render-plan.ts";
import { argumentText, parseArguments } from "./call.ts";

/** `callgate plan make RUN` */
export async function makePlanCommand(runId: string, options: { readonly out?: string }, context: CommandContext): Promise<ExitCode> {
  return await context.withGate(async (gate) => {
    const plan = await gate.plans.of(runId);
    if (options.out === undefined) context.terminal.out(`${JSON.stringify(plan, undefined, 2)}\n`);
    else await writeAndTell(options.out, plan, context);
    return exitCodes.ok;
  });
}

/** `callgate plan show FILE`: exit code 0 when it can be applied. */
export async function showPlanCommand(file: string, options: { readonly items?: boolean }, context: CommandContext): Promise<ExitCode> {
  return await context.withGate(async (gate) => {
    const plan = await readPlanFile(file, gate.plans);
    const problems = await gate.plans.problems(plan);
    const { terminal } = context;
    if (context.options.json === true) terminal.out(`${JSON.stringify({ plan, problems })}\n`);
    else if (options.items === true) terminal.out(planTable(plan, terminal));
    else terminal.out(`${planText(plan, problems, terminal.outColors)}\n`);
    return problems.length === 0 ? exitCodes.ok : exitCodes.failed;
  });
}

/** `callgate plan diff BEFORE AFTER`: exit code 1 when they differ. */
export async function diffPlansCommand(before: string, after: string, context: CommandContext): Promise<ExitCode> {
  return await context.withGate(async (gate) => {
    const changes = planChanges(await readPlanFile(before, gate.plans), await readPlanFile(after, gate.plans));
    const text = changesText(changes);
    context.terminal.out(context.options.json === true ? `${JSON.stringify(changes)}\n` : text);
    if (text === "") context.terminal.err("The plans are the same\n");
    return text === "" ? exitCodes.ok : exitCodes.failed;
  }, recordOnly);
}

/** `callgate plan edit FILE ITEM JSON` */
export async function editPlanCommand(file: string, edit: { readonly itemId: string; readonly args: string }, context: CommandContext): Promise<ExitCode> {
  // The arguments are checked against the tool, so its source has to be here.
  return await context.withGate(async (gate) => {
    const args = parseArguments(await argumentText(edit.args));
    await writeAndTell(file, await gate.plans.edit(await readPlanFile(file, gate.plans), { itemId: edit.itemId, args, by: starterOf(context) }), context);
    return exitCodes.ok;
  });
}

/** `callgate plan drop FILE ITEM…` */
export async function dropPlanItemsCommand(file: string, itemIds: readonly string[], context: CommandContext): Promise<ExitCode> {
  return await context.withGate(async (gate) => {
    const plan = itemIds.reduce((left, itemId) => gate.plans.drop(left, itemId), await readPlanFile(file, gate.plans));
    for (const { id, derivedFrom } of plan.items) {
      const lacking = derivedFrom.filter((source) => itemIds.includes(source));
      if (lacking.length > 0) context.terminal.err(`item ${id} is made from what item ${lacking.join(", ")} answers: without that it will hardly come\n`);
    }
    await writeAndTell(file, plan, context);
    return exitCodes.ok;
  }, recordOnly);
}

/** `callgate plan approve FILE` */
export async function approvePlanCommand(file: string, options: { readonly reason?: string }, context: CommandContext): Promise<ExitCode> {
  return await context.withGate(async (gate) => {
    const plan = await readPlanFile(file, gate.plans);
    if (context.options.json !== true) await pageOut(planText(plan, [], context.terminal.colors), context.terminal, context.signal);
    const signer = await proveApprover(context, "Approving a plan");
    const approved = await gate.plans.approve(plan, { ...answererOf(signer, context), ...(options.reason === undefined ? {} : { reason: options.reason }) });
    await writeAndTell(file, approved, context);
    return exitCodes.ok;
  });
}

async function writeAndTell(file: string, plan: Plan, { terminal, options }: CommandContext): Promise<void> {
  await writePlanFile(file, plan);
  if (options.json === true) terminal.out(`${JSON.stringify(plan)}\n`);
  else terminal.out(`${plan.planId} ${plan.approval === undefined ? "not approved" : `approved by ${plan.approval.by}`} → ${file}\n`);
}
