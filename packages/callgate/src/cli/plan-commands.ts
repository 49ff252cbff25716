import type { Command } from "commander";
import type { Act } from "./command-line.ts";

/** `plan`: the writes of a rehearsed program, looked at, changed and approved before one of them happens. */
export function addPlanCommands(program: Command, act: Act): void {
  const load = () => import("./commands/plan.ts");
  const plan = program.command("plan").description("plans: the writes of a rehearsed program (run --rehearse), approved at once and applied with run --apply");
  plan
    .command("make")
    .argument("<run>", "a rehearsal, as runs ls shows it")
    .option("-o, --out <file>", "write to a file (default: standard output)")
    .description("the plan of a rehearsal that is on record, such as one that a model made")
    .action((run: string, options: object) => act(async (context) => (await load()).makePlanCommand(run, options, context)));
  plan
    .command("show")
    .argument("<plan>", "its file")
    .option("--items", "the writes only, a line each")
    .description("the program, every write with its arguments and where they come from; exit code 0 when it can be applied")
    .action((file: string, options: object) => act(async (context) => (await load()).showPlanCommand(file, options, context)));
  plan.command("diff").argument("<before>", "a plan's file").argument("<after>", "another one").description("what differs between two plans: exit code 1 when something does").action((before: string, after: string) => act(async (context) => (await load()).diffPlansCommand(before, after, context)));
  plan
    .command("edit")
    .argument("<plan>", "its file")
    .argument("<item>", "the number of the write")
    .argument("<json>", "the arguments to be performed instead, as one JSON object, @FILE, or - for standard input")
    .description("have a write performed with other arguments, which have to fit the tool and the policy; an approval is gone")
    .action((file: string, itemId: string, args: string) => act(async (context) => (await load()).editPlanCommand(file, { itemId, args }, context)));
  plan.command("drop").argument("<plan>", "its file").argument("<item...>", "numbers of writes").description("leave writes out: the program is told PLAN_DROPPED; an approval is gone").action((file: string, items: string[]) => act(async (context) => (await load()).dropPlanItemsCommand(file, items, context)));
  plan
    .command("approve")
    .argument("<plan>", "its file")
    .option("--reason <text>", "kept in the record")
    .description("allow exactly these writes, once; signs the plan with the key of an approver where one is set")
    .action((file: string, options: object) => act(async (context) => (await load()).approvePlanCommand(file, options, context)));
}
