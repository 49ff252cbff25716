import { CallgateError } from "@callgate/contract";
import { Command, Option } from "commander";
import { launcherNames } from "../launcher-names.ts";
import { version } from "../version.ts";
import { addApprovalCommands, addGrantCommands } from "./approval-commands.ts";
import type { GlobalOptions } from "./command-context.ts";
import { collect, share, wholeNumber } from "./command-line.ts";
import type { Act, Action } from "./command-line.ts";
import type { EvalCommandOptions } from "./commands/eval.ts";
import { addPlanCommands } from "./plan-commands.ts";
import { addWorkflowCommands } from "./workflow-commands.ts";
import { addSourceCommands } from "./source-commands.ts";
import { addAuditCommands, addRecordCommands } from "./record-commands.ts";

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
  addAgentCommand(program, act);
  addEvalCommand(program, act);
  addFindCommands(program, act);
  addSourceCommands(program, act);
  addRecordCommands(program, act);
  addWorkflowCommands(program, act);
  addApprovalCommands(program, act);
  addGrantCommands(program, act);
  addPlanCommands(program, act);
  addAuditCommands(program, act);
  addPolicyCommands(program, act);
  addLimitCommands(program, act);
  addSetupCommands(program, act);
  program.addHelpText("after", "\nExit codes: 0 ok · 1 failed · 2 usage · 3 denied · 4 auth · 5 suspended (approval pending) · 6 limit or timeout · 7 completed, not on record · 130 interrupted");
  return program;
}

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
  const run = program
    .command("run")
    .argument("[file]", "program, or - for standard input")
    .option("-l, --language <language>", languageHelp("by the file's name, else typescript"))
    .option("--rehearse", "read live and write nothing: every write is checked, decided and answered by a placeholder")
    .option("--plan <file>", "with --rehearse: write the plan of these writes to a file")
    .option("--apply <plan>", "in place of a program: run that of an approved plan, pinned to it")
    .description("check and run a program");
  withRunOptions(run).action((file: string | undefined, options: object) =>
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

function addAgentCommand(program: Command, act: Act): void {
  program
    .command("agent")
    .argument("[task...]", "what is to be done; without it a conversation in the terminal")
    .addOption(new Option("--mode <mode>", "how the model reaches tools (default: the configuration's, else auto)").choices(["tools", "code", "select", "blocks", "auto"]))
    .option("--session <file>", "the conversation: gone on with where the file is there, and kept in it; holds what the model was shown, in clear")
    .option("--resume", "go on with what waits in --session, once it was answered")
    .option("--answer <call=answer>", "with --resume: what the user answers to a question of the model; may be repeated", collect)
    .description("let the configured model work with the tools of this folder; calls that need it ask you")
    .action((task: string[], options: object) => act(async (context) => (await import("./commands/agent.ts")).agentCommand(task.join(" "), options, context)));
}

function addEvalCommand(program: Command, act: Act): void {
  program
    .command("eval")
    .argument("<suite>", "cases in YAML or JSON, or a module that exports `suite`")
    .addOption(new Option("--subject <subject>", "who is tried: the script or program of each case, the model of the configuration, or nobody").choices(["script", "model", "empty"]).default("script"))
    .addOption(new Option("--mode <mode>", "how a model reaches tools (default: the configuration's, else the suite's)").choices(["tools", "code", "select", "blocks", "auto"]))
    .option("--repeat <count>", "attempts of each case (default: 1)", wholeNumber)
    .option("--concurrency <count>", "attempts under way at once (default: 4)", wholeNumber)
    .option("--only <id>", "only cases of this id, * for any characters; may be repeated", collect)
    .option("--tag <tag>", "only cases of this kind or tag; may be repeated", collect)
    .option("--prove", "in place of a subject: hold every case against nothing done, and against its works that must fail")
    .option("--baseline <file>", "hold the result against a saved one: exit code 1 when something is worse")
    .option("--save-baseline <file>", "keep the result for later runs to be held against")
    .option("--at-least <rate>", "pass rate that is enough, from 0 to 1 (default: every case, or none worse than the baseline)", share)
    .option("--junit <file>", "write the result as JUnit XML")
    .option("--html <file>", "write the result as one page with charts")
    .description("try an agent on a suite of cases, judged by the journal and the end state: exit code 1 when it is not good enough")
    .action((file: string, options: EvalCommandOptions) => act(async (context) => (await import("./commands/eval.ts")).evalCommand(file, options, context)));
}

function languageHelp(otherwise: string): string {
  return `typescript, javascript, node (both of them in Node, with its modules), python, shell, or one of sandbox.languages (default: ${otherwise})`;
}

function addFindCommands(program: Command, act: Act): void {
  program
    .command("search")
    .argument("[query...]", "words of what a tool does, or of its name")
    .option("--limit <count>", "at most this many", wholeNumber)
    .option("--namespace <name>", "only tools of this one")
    .option("--detail <level>", "namespace, name, line, signature or full (default: line)")
    .description("find tools; without a query, list all")
    .action((query: string[], options: object) => act(async (context) => (await import("./commands/find.ts")).searchCommand(query.join(" "), options, context)));
  program.command("templates").description("list task templates (templates/*.md), and say which tools they name that are not there").action(() => act(async (context) => (await import("./commands/find.ts")).templatesCommand(context)));
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
    .command("tools")
    .description("tools at the terminal")
    .command("try")
    .argument("[tool]", "qualified name; without it, one is chosen from a list")
    .description("fill in a form made of its schema, call it, and show the callgate call line that does the same")
    .action((name: string | undefined) => act(async (context) => (await import("./commands/tools.ts")).tryToolCommand(name, context)));
  program
    .command("lint")
    .argument("[namespace...]", "only these; default: all")
    .description("review tools as an API (docs/reference/lint.md): exit code 1 where a rule warns")
    .action((namespaces: string[]) => act(async (context) => (await import("./commands/lint.ts")).lintCommand(namespaces, context)));
  program
    .command("diff")
    .argument("[namespace]", "only this source's tools; default: all")
    .option("--since <time>", "compare with what the tools were then: 2026-11-30, 7d for so long ago, or a digest that diff shows (default: before the last change)")
    .option("--runs <count>", "look through so many recorded runs (default: 200)", wholeNumber)
    .description("what changed in the tools, as types, and which workflows, recorded programs and rules that breaks: exit code 1 when it breaks any")
    .action((namespace: string | undefined, options: object) => act(async (context) => (await import("./commands/diff.ts")).diffCommand(namespace, options, context)));
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
    .description("decide recorded programs, calls and results again by this configuration's rules: exit code 1 when one would come out otherwise")
    .action((options: object) => act(async (context) => (await load()).simulatePolicyCommand(options, context)));
}

function addSetupCommands(program: Command, act: Act): void {
  program
    .command("init")
    .option("--import <client>", "only servers of this client: claude-desktop, claude-code, cursor, vscode, windsurf, codex or gemini; may be repeated (default: of all that are here)", collect)
    .option("--no-import", "none of theirs")
    .description("write a configuration and a first tool here, with the MCP servers that your other clients have")
    .action((options: object) => act(async (context) => {
        const { rawArgs } = program as Command & { readonly rawArgs: readonly string[] };
        // The second takes the place of the first otherwise.
        if (rawArgs.includes("--no-import") && rawArgs.some((word) => /^--import(?:=|$)/.test(word))) throw new CallgateError("USAGE", "--import and --no-import contradict each other; give one of them");
        return (await import("./commands/init.ts")).initCommand(options, context);
      }));
  addAddCommands(program, act);
  addConnectCommand(program, act);
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
    .option("--pass-through <source>", "show this one MCP server unchanged, under its own names, instead of the six tools; every call still passes the gate")
    .addOption(new Option("--shared", "let this client share one process with others of this configuration: it is started where there is none, and ends when idle").conflicts(["http", "token", "passThrough"]))
    .description("serve the gate to an MCP client")
    .action(({ shared, ...options }: { readonly shared?: boolean }) => act(async (context) => (shared === true ? (await import("./commands/daemon.ts")).sharedMcpCommand(context) : (await import("./commands/mcp.ts")).mcpCommand(options, context))));
  addDaemonCommands(program, act);
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

function addDaemonCommands(program: Command, act: Act): void {
  const load = () => import("./commands/daemon.ts");
  const daemon = program.command("daemon").description("the process that clients share which were started with callgate mcp --shared");
  daemon.command("status", { isDefault: true }).description("list those of this user: what each serves, and for how many clients").action(() => act(async (context) => (await load()).daemonStatusCommand(context)));
  daemon.command("start").option("--idle <seconds>", "it ends after so long without a client (default: 600)", wholeNumber).description("start it before the first client does").action((options: object) => act(async (context) => (await load()).startDaemonCommand(options, context)));
  daemon.command("stop").option("--all", "every one of this user, not only those of this configuration").description("end it, with what is under way").action((options: object) => act(async (context) => (await load()).stopDaemonCommand(options, context)));
  daemon.command("serve", { hidden: true }).argument("<id>", "its name").action((id: string) => act(async (context) => (await import("./commands/daemon-serve.ts")).serveDaemonCommand(id, context)));
}

function addAddCommands(program: Command, act: Act): void {
  program
    .command("add")
    .argument("<what...>", "a package of npm or pypi:NAME, a command (after -- where it has options), a URL, an OpenAPI document, a database's URL or file, or env:NAME that holds one")
    .option("--name <name>", "its namespace (default: made of what it is)")
    .addOption(new Option("--kind <kind>", "what it is, where that is not to be found out").choices(["mcp", "openapi", "graphql", "sql"]))
    .option("--env <name[=value]>", "variable for a server; its value is not written where it may be a secret; may be repeated", collect)
    .option("--header <header>", "header for a server at a URL, as 'Name: value'; may be repeated", collect)
    .option("--auth <reference>", "what an OpenAPI or GraphQL service is told of who calls: env:NAME or file:PATH")
    .option("--trusted", "believe what it says of its tools: which only read")
    .option("--read-only", "of a database: no tool writes")
    .option("--no-check", "write it without starting or reaching it")
    .option("-y, --yes", "agree beforehand to the download of a package that is named")
    .description("find out what something is, and write it into the configuration as a source")
    .action((what: string[], options: object) => act(async (context) => (await import("./commands/add.ts")).addCommand(what, { ...options, isCommand: isAfterDashes(program, what) }, context)));
  program.command("remove").argument("<source>", "its name in the configuration").description("take a source out of the configuration").action((name: string) => act(async (context) => (await import("./commands/add.ts")).removeCommand(name, context)));
}

/** Whether `--` stood before all of the words. */
function isAfterDashes(program: Command, words: readonly string[]): boolean {
  const { rawArgs } = program as Command & { readonly rawArgs: readonly string[] };
  const dashes = rawArgs.indexOf("--");
  return dashes >= 0 && rawArgs.length - dashes - 1 === words.length;
}

function addConnectCommand(program: Command, act: Act): void {
  program
    .command("connect")
    .argument("[client]", "claude-desktop, claude-code, cursor, vscode, windsurf, codex or gemini; without it they are listed")
    .option("--project", "into the file beside the project, which others may share, in place of that of the user")
    .option("--name <name>", "of the entry (default: callgate)")
    .option("--print", "only show what belongs into the file; for clients that are not known too")
    .option("--remove", "take the entry out again")
    .option("-y, --yes", "write without asking")
    .description("write callgate into an MCP client's configuration: shows what changes, asks, and keeps the file as it was beside it")
    .action((client: string | undefined, options: object) => act(async (context) => (await import("./commands/connect.ts")).connectCommand(client, options, context)));
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
