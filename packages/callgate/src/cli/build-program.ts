import { Command, InvalidArgumentError, Option } from "commander";
import { launcherNames } from "../launcher-names.ts";
import { version } from "../version.ts";
import type { CommandContext, GlobalOptions } from "./command-context.ts";
import type { ExitCode } from "./exit-codes.ts";

type Action = (context: CommandContext) => Promise<ExitCode>;

/**
 * Every command of the command line; `perform` gets what one asks for. Each is loaded when it is asked for, so that help
 * and mistakes answer at once. docs/reference/cli.md is printed from what this returns.
 */
export function buildProgram(perform: (options: GlobalOptions, action: Action) => Promise<void>): Command {
  const program = new Command("callgate")
    .description("The controlled door between AI agents and their tools")
    .version(version)
    .option("-c, --config <file>", "configuration file (default: the nearest callgate.config.ts or callgate.jsonc)")
    .option("--json", "one JSON value on standard output")
    .option("--trust", "trust this folder's tools and configuration")
    .option("--profile <name>", "principal: a profile of the configuration (default: CALLGATE_PROFILE, else the configuration's own choice)")
    .option("--user <name>", "principal: user")
    .option("--tenant <name>", "principal: tenant")
    .option("--role <name>", "principal: a role; may be repeated", collect)
    .showHelpAfterError("(callgate --help shows all commands)")
    .showSuggestionAfterError()
    .exitOverride();
  const act = (action: Action) => perform(program.opts<GlobalOptions>(), action);
  addRunCommands(program, act);
  addSessionCommands(program, act);
  addFindCommands(program, act);
  addRecordCommands(program, act);
  addApprovalCommands(program, act);
  addGrantCommands(program, act);
  addAuditCommands(program, act);
  addPolicyCommands(program, act);
  addLimitCommands(program, act);
  addSetupCommands(program, act);
  program.addHelpText("after", "\nExit codes: 0 ok · 1 failed · 2 usage · 3 denied · 4 auth · 5 suspended (approval pending) · 6 limit or timeout · 130 interrupted");
  return program;
}

type Act = (action: Action) => Promise<void>;

/** Options of everything that runs a text. */
function withBounds(command: Command): Command {
  return command
    .addOption(new Option("--lane <lane>", "what the program may reach").choices(["query", "execute"]))
    .option("--budget <tokens>", "what a model may see of the run", wholeNumber)
    .option("--task <id>", "names the piece of work: submitted again, keyed writes keep their keys")
    .option("--timeout <ms>", "wall time of the run", wholeNumber)
    .option("--limit <name=number>", "any limit, e.g. cpuMs=500; may be repeated", collect);
}

function addRunCommands(program: Command, act: Act): void {
  const withRunOptions = (command: Command) =>
    withBounds(command)
      .addOption(new Option("--sandbox <launcher>", "where the program runs, and what stands around it: TypeScript and JavaScript then run in Node there; local-unsafe is no wall").choices(launcherNames));
  withRunOptions(program.command("run").argument("<file>", "program, or - for standard input").option("-l, --language <language>", languageHelp("by the file's name, else typescript")).description("check and run a program")).action((file: string, options: object) =>
    act(async (context) => (await import("./commands/run.ts")).runCommand(file, options, context)),
  );
  withRunOptions(program.command("exec").requiredOption("-e, --eval <code>", "program text").option("-l, --language <language>", languageHelp("typescript")).description("run a program given on the command line")).action(
    ({ eval: code, ...options }: { eval: string }) => act(async (context) => (await import("./commands/run.ts")).runProgram(code, options, context)),
  );
  program
    .command("check")
    .argument("[file]", "program, or - for standard input")
    .option("-e, --eval <code>", "program text")
    .option("-l, --language <language>", languageHelp("by the file's name, else typescript"))
    .addOption(new Option("--lane <lane>", "what the program may reach").choices(["query", "execute"]))
    .description("check a program without running it: exit code 0 when it may run, 1 when it is refused")
    .action((file: string | undefined, options: object) => act(async (context) => (await import("./commands/check.ts")).checkCommand(file, options, context)));
  program
    .command("call")
    .argument("<tool>", "qualified name, e.g. crm.get_customer")
    .argument("[json]", "arguments as one JSON object, @FILE, or - for standard input")
    .option("--budget <tokens>", "what a model may see of the result", wholeNumber)
    .option("--task <id>", "names the piece of work")
    .description("call one tool")
    .action((tool: string, json: string | undefined, options: object) => act(async (context) => (await import("./commands/call.ts")).callCommand(tool, { args: json, ...options }, context)));
}

function addSessionCommands(program: Command, act: Act): void {
  const load = () => import("./commands/session.ts");
  const session = program.command("session").description("interpreters whose variables and files live from block to block, held by a process of their own");
  session
    .command("open")
    .argument("[name]", "what it is called: letters, digits, - and _ (default: a new name, printed)")
    .option("-l, --language <language>", "python, node or shell (default: python)")
    .option("--memory <MiB>", "of the session as a whole", wholeNumber)
    .option("--idle <seconds>", "it ends after so long without a block (default: 1800)", wholeNumber)
    .option("--total <seconds>", "it ends so long after it was opened (default: 28800)", wholeNumber)
    .addOption(new Option("--sandbox <launcher>", "what stands around it").choices(launcherNames))
    .description("open a session and print its name")
    .action((name: string | undefined, options: object) => act(async (context) => (await load()).openSessionCommand(name, options, context)));
  withBounds(session.command("run").argument("<session>", "its name, as session ls shows it").argument("[file]", "block, or - for standard input"))
    .option("-e, --eval <code>", "text of the block")
    .description("run a block in a session, after those that wait; Ctrl-C interrupts it and keeps the state")
    .action((name: string, file: string | undefined, options: object) => act(async (context) => (await load()).runBlockCommand(name, { file, ...options }, context)));
  session.command("ls", { isDefault: true }).description("list sessions: those that live, and those that ended or were lost").action(() => act(async (context) => (await load()).listSessionsCommand(context)));
  session.command("show").argument("<session>", "its name, as session ls shows it").description("how it stands, and its blocks as they are on record").action((name: string) => act(async (context) => (await load()).showSessionCommand(name, context)));
  session.command("interrupt").argument("<session>", "its name, as session ls shows it").description("stop the block under way as Ctrl-C does").action((name: string) => act(async (context) => (await load()).interruptSessionCommand(name, context)));
  session.command("restart").argument("<session>", "its name, as session ls shows it").description("begin anew with nothing; also where the process that held it is gone").action((name: string) => act(async (context) => (await load()).restartSessionCommand(name, context)));
  session
    .command("close")
    .argument("[session]", "its name, as session ls shows it")
    .option("--all", "every session of this user")
    .description("end a session, with what is under way")
    .action((name: string | undefined, options: object) => act(async (context) => (await load()).closeSessionCommand(name, options, context)));
  session.command("hold", { hidden: true }).argument("<session>", "its name, as session ls shows it").action((name: string) => act(async (context) => (await import("./commands/session-hold.ts")).holdSessionCommand(name, context)));
}

function languageHelp(otherwise: string): string {
  return `typescript, javascript, node (both of them in Node, with its modules), python, shell, or one of sandbox.languages (default: ${otherwise})`;
}

function addFindCommands(program: Command, act: Act): void {
  program
    .command("search")
    .argument("[query...]", "words of what a tool does, or of its name")
    .option("--limit <count>", "at most this many", wholeNumber)
    .description("find tools; without a query, list all")
    .action((query: string[], options: object) => act(async (context) => (await import("./commands/find.ts")).searchCommand(query.join(" "), options, context)));
  program
    .command("describe")
    .argument("<tool...>", "qualified names, e.g. crm.get_customer")
    .description("show tools in full")
    .action((names: string[]) => act(async (context) => (await import("./commands/find.ts")).describeCommand(names, context)));
  program
    .command("types")
    .argument("[namespace...]", "only these; default: all")
    .option("--language <language>", "typescript or python")
    .option("-o, --out <file>", "write to a file")
    .description("print the declarations a program is checked against")
    .action((namespaces: string[], options: object) => act(async (context) => (await import("./commands/find.ts")).typesCommand(namespaces, options, context)));
  program
    .command("read")
    .argument("<handle>", "result://RUN/NUMBER")
    .option("--path <path>", "JSON Pointer or dotted path into the value")
    .option("--offset <count>", "items, lines or characters to leave out", wholeNumber)
    .option("--limit <count>", "at most this many", wholeNumber)
    .option("--grep <pattern>", "lines or items that match a regular expression")
    .option("--search <query>", "passages ranked for a query")
    .option("--budget <tokens>", "at most this many tokens", wholeNumber)
    .description("read a part of a kept result")
    .action((handle: string, options: object) => act(async (context) => (await import("./commands/runs.ts")).readCommand(handle, options, context)));
}

function addRecordCommands(program: Command, act: Act): void {
  const runs = program.command("runs").description("the journal: list, show, replay, go on with, undo, prune, erase runs");
  runs.command("ls", { isDefault: true }).option("--limit <count>", "at most this many", wholeNumber).description("list runs, newest first").action((options: object) => act(async (context) => (await import("./commands/runs.ts")).listRunsCommand(options, context)));
  runs.command("show").argument("<run>", "its id, as runs ls shows it").description("everything recorded of a run").action((run: string) => act(async (context) => (await import("./commands/runs.ts")).showRunCommand(run, context)));
  runs.command("explain").argument("<run>", "its id, as runs ls shows it").description("the run in plain sentences: what was asked, read and written, why, and what is in doubt").action((run: string) => act(async (context) => (await import("./commands/explain.ts")).explainRunCommand(run, context)));
  runs.command("lineage").argument("<run>", "its id, as runs ls shows it").description("which answers went into which arguments, found by content").action((run: string) => act(async (context) => (await import("./commands/lineage.ts")).lineageCommand(run, context)));
  runs.command("replay").argument("<run>", "its id, as runs ls shows it").description("re-execute with recorded answers and no effect").action((run: string) => act(async (context) => (await import("./commands/runs.ts")).replayRunCommand(run, context)));
  runs
    .command("prune")
    .option("--older-than <days>", "remove runs that ended before", wholeNumber)
    .option("--max-mib <mib>", "remove the oldest until below", wholeNumber)
    .description("remove old runs")
    .action((options: object) => act(async (context) => (await import("./commands/runs.ts")).pruneRunsCommand(options, context)));
  addDurableCommands(runs, act);
  runs.command("erase").argument("<run>", "its id, as runs ls shows it").description("delete the clear values of a run; summaries stay").action((run: string) => act(async (context) => (await import("./commands/runs.ts")).eraseRunCommand(run, context)));
}

function addDurableCommands(runs: Command, act: Act): void {
  const load = () => import("./commands/durable.ts");
  runs
    .command("resume")
    .argument("<run>", "its id, as runs ls shows it")
    .option("--accept-changes", "go on although tools have changed since the check")
    .description("go on with a run that is suspended or whose process was lost")
    .action((run: string, options: object) => act(async (context) => (await load()).resumeRunCommand(run, options, context)));
  runs
    .command("signal")
    .argument("<run>", "its id, as runs ls shows it")
    .argument("<event>", "the name the program waits for")
    .argument("[json]", "what the program gets, as JSON")
    .option("--id <id>", "makes sending it twice harmless")
    .description("send an event to a run")
    .action((run: string, event: string, ...[json, options]: [string | undefined, object]) => act(async (context) => (await load()).signalRunCommand(run, { event, json, ...options }, context)));
  runs
    .command("resolve")
    .argument("<call>", "RUN.NUMBER of a write of unknown effect")
    .option("--happened", "it took effect")
    .option("--did-not", "it did not; it is performed when the run goes on")
    .option("--output <json>", "what the tool would have answered")
    .description("say what became of a write of unknown effect; asks for the passphrase of an approver where one is set")
    .action((call: string, options: object) => act(async (context) => (await load()).resolveCallCommand(call, options, context)));
  runs
    .command("complete")
    .argument("<call>", "RUN.NUMBER of a call whose work goes on in the background")
    .argument("[json]", "what the call gives, as JSON")
    .option("--error <message>", "the work failed")
    .description("tell how a background job ended; asks for the passphrase of an approver where one is set")
    .action((call: string, json: string | undefined, options: object) => act(async (context) => (await load()).completeCallCommand(call, { json, ...options }, context)));
  runs.command("cancel").argument("<run>", "its id, as runs ls shows it").description("end a suspended run, and undo what its tools can undo").action((run: string) => act(async (context) => (await load()).cancelRunCommand(run, context)));
  runs.command("rollback").argument("<run>", "its id, as runs ls shows it").description("undo the effects of an ended run, last first").action((run: string) => act(async (context) => (await load()).rollbackRunCommand(run, context)));
}

/** Which rows of the audit trail. */
function withAuditFilters(command: Command): Command {
  return command
    .option("--run <run>", "of one run")
    .option("--tool <pattern>", "of a tool, e.g. crm.get_customer, crm.* or *.delete_*; program for reviews")
    .addOption(new Option("--outcome <outcome>", "that ended so; open: have not").choices(["ok", "failed", "timed_out", "cancelled", "denied", "invalid_input", "invalid_output", "limit_exceeded", "open"]))
    .addOption(new Option("--decision <decision>", "that were decided so").choices(["allow", "ask", "deny"]))
    .option("--for-user <user>", "on behalf of a user")
    .option("--for-agent <agent>", "of an agent")
    .option("--for-task <task>", "of a task")
    .option("--since <time>", "from then on: 2026-11-30, 2026-11-30T07:00:00Z, or 24h, 7d ago")
    .option("--until <time>", "before then");
}

function addAuditCommands(program: Command, act: Act): void {
  const load = () => import("./commands/audit.ts");
  const audit = program.command("audit").description("the audit trail, whether it is as it was written, and what keeps it");
  const trail = () => import("./commands/audit-trail.ts");
  withAuditFilters(audit.command("ls")).option("--limit <count>", "rows at most (default: 50)", wholeNumber).description("list calls and reviews with their decision and effect, newest first").action((options: object) => act(async (context) => (await trail()).listAuditCommand(options, context)));
  audit.command("show").argument("<call>", "its id, as audit ls shows it").description("everything of one call that may be read").action((call: string) => act(async (context) => (await trail()).showAuditCommand(call, context)));
  withAuditFilters(audit.command("export"))
    .addOption(new Option("--format <format>", "otel: OpenTelemetry logs as an OTLP file").choices(["jsonl", "csv", "otel"]).default("jsonl"))
    .option("--out <file>", "a new file (default: standard output)")
    .description("write the audit trail for other systems; what is sealed in the journal is left out")
    .action((options: Parameters<Awaited<ReturnType<typeof trail>>["exportAuditCommand"]>[0]) => act(async (context) => (await trail()).exportAuditCommand(options, context)));
  audit
    .command("verify")
    .option("--checkpoint <file>", "made earlier: the record must go on from it")
    .option("--write-checkpoint <file>", "write how far the record has come; keep it elsewhere")
    .description("check every stamp of the record; exit code 1 when something was changed or removed behind Callgate's back")
    .action((options: object) => act(async (context) => (await load()).verifyAuditCommand(options, context)));
  audit.command("log").option("--limit <count>", "lines at most", wholeNumber).description("erasures, removals, holds, grants and answers, newest first").action((options: object) => act(async (context) => (await load()).auditLogCommand(options, context)));
  audit
    .command("hold")
    .requiredOption("--reason <text>", "what it is for")
    .option("--run <run>", "one run")
    .option("--for-user <user>", "runs of a user")
    .option("--for-agent <agent>", "runs of an agent")
    .option("--for-task <task>", "runs of a task")
    .option("--from <time>", "runs that started then or later")
    .option("--until <time>", "runs that started before then")
    .description("keep runs from being removed or erased; without a filter: all of the tenant")
    .action((options: { readonly reason: string }) => act(async (context) => (await load()).placeHoldCommand(options, context)));
  audit.command("holds").description("list legal holds").action(() => act(async (context) => (await load()).listHoldsCommand(context)));
  audit.command("release").argument("<hold>", "its id, as audit holds shows it").description("end a legal hold").action((hold: string) => act(async (context) => (await load()).releaseHoldCommand(hold, context)));
}

function addApprovalCommands(program: Command, act: Act): void {
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
    .option("--grant-any-version", "also when the tool's definition has changed");
}

function addGrantCommands(program: Command, act: Act): void {
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
    .option("--any-version", "also when the definition of a tool changes, or another comes to match")
    .description("allow calls ahead of the question; asks for the passphrase of an approver where one is set")
    .action((tool: string, args: string | undefined, options: { readonly uses: number; readonly for: string }) => act(async (context) => (await load()).addGrantCommand(tool, { ...options, ...(args === undefined ? {} : { args }) }, context)));
  grants.command("revoke").argument("<grant>", "its id, as grants ls shows it").description("it lets nothing more through").action((grant: string) => act(async (context) => (await load()).revokeGrantCommand(grant, context)));
}

function addLimitCommands(program: Command, act: Act): void {
  const jobs = program.command("jobs").description("background jobs: calls whose work goes on without their process");
  jobs.command("ls", { isDefault: true }).description("list those that have not ended").action(() => act(async (context) => (await import("./commands/jobs.ts")).listJobsCommand(context)));
  jobs.command("cancel").argument("<call>", "RUN.NUMBER, as jobs ls shows it").description("end the call as cancelled; its tool stops the work when its run goes on").action((call: string) => act(async (context) => (await import("./commands/jobs.ts")).cancelJobCommand(call, context)));
  const budgets = program.command("budgets").description("what calls used up of the budgets, over all processes of the journal");
  budgets.command("ls", { isDefault: true }).description("list the budgets of the tenant, and how each caller stands").action(() => act(async (context) => (await import("./commands/budgets.ts")).listBudgetsCommand(context)));
}

function addPolicyCommands(program: Command, act: Act): void {
  const load = () => import("./commands/policy.ts");
  const policy = program.command("policy").description("who may call what: check, test and explain the rules, try a change on what was recorded");
  policy.command("check", { isDefault: true }).description("hold the rules against the tools there are, and print them as Cedar: exit code 1 when something is wrong").action(() => act(async (context) => (await load()).checkPolicyCommand(context)));
  policy.command("test").argument("<file...>", "cases in JSON or YAML").description("decide written cases and compare: exit code 1 when one comes out otherwise").action((files: string[]) => act(async (context) => (await load()).testPolicyCommand(files, context)));
  policy
    .command("explain")
    .argument("<tool>", "qualified name, or RUN.NUMBER of a call on record")
    .argument("[json]", "arguments as one JSON object, @FILE, or - for standard input")
    .addOption(new Option("--lane <lane>", "of the run").choices(["query", "execute"]))
    .option("--agent <name>", "principal: agent")
    .option("--taint <label...>", "labels that have reached the run, such as private untrusted")
    .option("--result <json>", "what the tool answered: says whether the program would get that")
    .description("say how a call is decided, why, and what would help: exit code 0 when it is allowed, 3 when not")
    .action((tool: string, json: string | undefined, options: object) => act(async (context) => (await load()).explainPolicyCommand(tool, { args: json, ...options }, context)));
  policy
    .command("simulate")
    .option("--last <runs>", "so many recorded runs (default: 50)", wholeNumber)
    .description("decide recorded calls again by this configuration's rules: exit code 1 when one would come out otherwise")
    .action((options: object) => act(async (context) => (await load()).simulatePolicyCommand(options, context)));
}

function addSetupCommands(program: Command, act: Act): void {
  program.command("init").description("write a configuration and a first tool here").action(() => act(async (context) => (await import("./commands/init.ts")).initCommand(context)));
  program
    .command("trust")
    .argument("[folder]", "default: this folder")
    .option("--list", "show what is trusted")
    .option("--remove", "take trust back")
    .description("allow a folder's tools and configuration to be loaded")
    .action((folder: string | undefined, options: object) => act(async (context) => (await import("./commands/trust.ts")).trustCommand(folder, options, context)));
  program
    .command("mcp")
    .option("--http [port]", "serve Streamable HTTP on loopback instead of standard input and output", wholeNumber)
    .option("--token <token>", "bearer token for --http (default: a new one, printed to standard error)")
    .description("serve the gate to an MCP client")
    .action((options: object) => act(async (context) => (await import("./commands/mcp.ts")).mcpCommand(options, context)));
  const sandbox = program.command("sandbox").description("process sandboxes of this machine: list them, try their walls");
  sandbox.command("ls", { isDefault: true }).description("what works here, and what is missing for the rest").action(() => act(async (context) => (await import("./commands/sandbox.ts")).listSandboxesCommand(context)));
  sandbox.command("doctor").description("try each wall from inside").action(() => act(async (context) => (await import("./commands/sandbox.ts")).sandboxDoctorCommand(context)));
  const images = sandbox.command("images").description("images of containers: list, build and check them");
  images.command("ls", { isDefault: true }).description("the base images and those of the configuration, with their digests").action(() => act(async (context) => (await import("./commands/sandbox-images.ts")).listImagesCommand(context)));
  images
    .command("build")
    .argument("[name]", "python, node or shell; default: all")
    .option("--root <folder>", "make it of this root file system, without a registry")
    .option("--base <image>", "begin with this image")
    .option("--network <name>", "network of the build, as the engine names it, such as host")
    .description("make a base image and print its digest")
    .action((name: string | undefined, options: object) => act(async (context) => (await import("./commands/sandbox-images.ts")).buildImagesCommand(name, options, context)));
  images.command("check").description("age, digest, packages, known weaknesses where a scanner is there").action(() => act(async (context) => (await import("./commands/sandbox-images.ts")).checkImagesCommand(context)));
  addServeCommand(sandbox, act);
  program.command("doctor").description("test every part for real and print the fix for what fails").action(() => act(async (context) => (await import("./commands/doctor.ts")).doctorCommand(context)));
}

function addServeCommand(sandbox: Command, act: Act): void {
  sandbox
    .command("serve")
    .option("--host <address>", "where to listen (default: 127.0.0.1)")
    .option("--port <port>", "where to listen (default: 7443)", wholeNumber)
    .option("--cert <file>", "certificate of this server, PEM")
    .option("--key <file>", "its key")
    .option("--client-ca <file>", "let in only clients with a certificate of this authority")
    .option("--token <reference>", "let in clients that show it: env:NAME or file:PATH (default: env:CALLGATE_SANDBOX_TOKEN where that is set)")
    .option("--guests <count>", "programs at once (default: 32)", wholeNumber)
    .option("--memory <MiB>", "of all programs together (default: half of this host's)", wholeNumber)
    .option("--grace <seconds>", "how long a program lives on without its client (default: 20)", wholeNumber)
    .option("--idle <seconds>", "how long one that does nothing is kept (default: 1800)", wholeNumber)
    .option("--mount <folder>", "a folder of this host that clients may mount, :rw to let them write; repeatable", collect)
    .option("--sandbox <launcher>", "what stands around programs here (default: auto, the strongest that works here)")
    .option("--unsafe-plain-loopback", "no TLS, on loopback only: for a tunnel that somebody else secures")
    .description("run programs for Callgate on other hosts, until interrupted")
    .action((options: object) => act(async (context) => (await import("./commands/sandbox-serve.ts")).serveSandboxCommand(options, context)));
}

function wholeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 0) throw new InvalidArgumentError("expected a whole number");
  return number;
}

/** Gathers a repeatable option. A variadic one would swallow the argument that follows. */
function collect(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}
