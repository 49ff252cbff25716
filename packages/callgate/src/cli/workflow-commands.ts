import type { Command } from "commander";
import { collect, wholeNumber } from "./command-line.ts";
import type { Act } from "./command-line.ts";

/** `workflow`: programs that worked, as tools. */
export function addWorkflowCommands(program: Command, act: Act): void {
  const load = () => import("./commands/workflow.ts");
  const workflow = program.command("workflow").description("saved workflows: runs that worked, kept as typed tools with tests");
  workflow
    .command("save")
    .argument("<run>", "id of a run that completed")
    .requiredOption("--name <name>", "what it is called: workflows.<name>")
    .option("--version <version>", "semantic version (default: 1.0.0, or the next that fits what changes)")
    .option("--description <text>", "what it does, for whoever looks for it")
    .option("--fixed <input>", "an input that stays as it is in the program; may be repeated", collect)
    .description("make a workflow of a run, in the folder workflows/")
    .action((run: string, options: { readonly name: string }) => act(async (context) => (await load()).saveWorkflowCommand(run, options, context)));
  workflow.command("ls", { isDefault: true }).description("list workflows").action(() => act(async (context) => (await load()).listWorkflowsCommand(context)));
  workflow.command("show").argument("<name>", "as workflow ls shows it").description("its inputs, output, what it may call, and its program").action((name: string) => act(async (context) => (await load()).showWorkflowCommand(name, context)));
  workflow
    .command("check")
    .argument("[name]", "only this one")
    .option("--relock", "lock those that fit their tools as they are now on them, as the next version")
    .description("hold workflows against the tools as they are now; nothing is run")
    .action((name: string | undefined, options: { readonly relock?: boolean }) => act(async (context) => (await load())[options.relock === true ? "relockWorkflowsCommand" : "checkWorkflowsCommand"](name, context)));
  workflow.command("test").argument("[name]", "only this one").description("run their contract tests with recorded answers; nothing is called").action((name: string | undefined) => act(async (context) => (await load()).testWorkflowsCommand(name, context)));
  workflow
    .command("run")
    .argument("<name>", "as workflow ls shows it")
    .argument("[json]", "inputs as one JSON object, @FILE, or - for standard input")
    .option("--budget <tokens>", "what a model may see of the result", wholeNumber)
    .option("--task <id>", "names the piece of work")
    .description("call a workflow")
    .action((name: string, json: string | undefined, options: object) => act(async (context) => (await load()).runWorkflowCommand(name, { args: json, ...options }, context)));
  program
    .command("suggest")
    .option("--write <folder>", "draft workflows into this folder, such as workflows")
    .option("--only <name>", "with --write: this one; may be repeated", collect)
    .option("--times <count>", "how often something has to come (default: 3)", wholeNumber)
    .option("--limit <count>", "at most so many (default: 10)", wholeNumber)
    .option("--runs <count>", "look through so many recorded runs (default: 1000)", wholeNumber)
    .description("find what recorded calls and programs do again and again, and what workflows of it would have saved")
    .action((options: object) => act(async (context) => (await import("./commands/suggest.ts")).suggestCommand(options, context)));
}
