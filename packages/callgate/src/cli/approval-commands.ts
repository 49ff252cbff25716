import type { Command } from "commander";
import { wholeNumber } from "./command-line.ts";
import type { Act } from "./command-line.ts";

/** `approvals`, `jobs`, `worker`, `watch`: what waits for people, and what goes on without them. */
export function addApprovalCommands(program: Command, act: Act): void {
  const load = () => import("./commands/approvals.ts");
  const approvals = program.command("approvals").description("questions that wait for a person");
  approvals
    .command("ls", { isDefault: true })
    .option("--run <run>", "of this run only")
    .description("list open questions")
    .action((options: object) => act(async (context) => (await load()).listApprovalsCommand(options, context)));
  approvals.command("show").argument("<approval>", "its id, as approvals ls shows it").description("everything that is asked about, in full").action((approval: string) => act(async (context) => (await load()).showApprovalCommand(approval, context)));
  for (const [name, approved] of [["approve", true], ["deny", false]] as const) {
    const command = approvals
      .command(name)
      .argument("[approval...]", "their ids, as approvals ls shows them")
      .option("--all", "everything that a run asks")
      .option("--run <run>", "the run, with --all")
      .option("--reason <text>", "kept in the record");
    (approved ? withGrant(command) : command)
      .description(approved ? "allow exactly these calls; asks for the passphrase of an approver where one is set" : "refuse them")
      .action((ids: string[], options: object) => act(async (context) => (await load()).answerApprovalsCommand(ids, { approved, ...options }, context)));
  }
  approvals
    .command("edit")
    .argument("<approval>", "its id, as approvals ls shows it")
    .argument("[json]", "the arguments to be performed instead, as one JSON object, @FILE, or - for standard input (default: written in EDITOR)")
    .option("--reason <text>", "kept in the record")
    .description("allow the call with other arguments, which have to fit the tool and the policy")
    .action((approval: string, args: string | undefined, options: object) => act(async (context) => (await load()).editApprovalCommand(approval, { ...(args === undefined ? {} : { args }), ...options }, context)));
  const approver = program.command("approver").description("the key of the person who answers: without one, whoever can start callgate can answer");
  approver.command("init").option("--name <name>", "whose it is (default: the user of this machine)").description("make a key that opens with a passphrase; answers then count with its signature only").action((options: object) => act(async (context) => (await import("./commands/approver.ts")).initApproverCommand(options, context)));
  approver.command("show", { isDefault: true }).description("whose answers count here").action(() => act(async (context) => (await import("./commands/approver.ts")).showApproverCommand(context)));
  program
    .command("worker")
    .option("--concurrency <count>", "runs at once", wholeNumber)
    .description("go on with every run of the journal that can, until interrupted")
    .action((options: object) => act(async (context) => (await import("./commands/worker.ts")).workerCommand(options, context)));
  program
    .command("watch")
    .option("--once", "look at what is there, and end")
    .option("--since <minutes>", "tell what happened so long ago as well (default: 60 with --once, else 0)", wholeNumber)
    .option("--exit-on-alert", "end with the first alert")
    .description("tell what of all processes of the journal a person should look at: exit code 1 when there was something")
    .action((options: object) => act(async (context) => (await import("./commands/watch.ts")).watchCommand(options, context)));
}

/** More calls of the kind that is approved. */
function withGrant(command: Command): Command {
  return command
    .option("--grant <uses>", "let so many more such calls of the same caller through without asking", wholeNumber)
    .option("--grant-days <days>", "for so long (default: 1)", wholeNumber)
    .option("--grant-args <json>", "which arguments, as grants add takes them (default: the same)")
    .option("--grant-any-version", "also when the tool's definition, or the rule that asked, has changed");
}

/** `grants`: what people allow ahead of the question. */
export function addGrantCommands(program: Command, act: Act): void {
  const load = () => import("./commands/grants.ts");
  const grants = program.command("grants").description("standing grants: calls that are let through where the policy would ask");
  grants.command("ls", { isDefault: true }).description("list them, newest first, with what was used of them").action(() => act(async (context) => (await load()).listGrantsCommand(context)));
  grants
    .command("add")
    .argument("<tool>", "qualified name; * in the tool's own name stands for any characters")
    .argument("[json]", "by JSON Pointer what every argument must be, @FILE, or - for standard input (default: no arguments)")
    .requiredOption("--uses <count>", "so many calls", wholeNumber)
    .requiredOption("--for <user>", "whose calls; * for every user")
    .option("--agent <agent>", "who acts for the user; * for whoever (default: nobody)")
    .option("--days <days>", "for so long (default: 1)", wholeNumber)
    .option("--any-version", "also when the definition of a tool or a rule that asks changes, or another comes to match")
    .description("allow calls ahead of the question; asks for the passphrase of an approver where one is set")
    .action((tool: string, args: string | undefined, options: { readonly uses: number; readonly for: string }) => act(async (context) => (await load()).addGrantCommand(tool, { ...options, ...(args === undefined ? {} : { args }) }, context)));
  grants.command("revoke").argument("<grant>", "its id, as grants ls shows it").description("it lets nothing more through").action((grant: string) => act(async (context) => (await load()).revokeGrantCommand(grant, context)));
}
