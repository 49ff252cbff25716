import { Option } from "commander";
import type { Command } from "commander";
import { wholeNumber } from "./command-line.ts";
import type { Act } from "./command-line.ts";

/** `runs`: the journal. */
export function addRecordCommands(program: Command, act: Act): void {
  const runs = program.command("runs").description("the journal: list, show, replay, go on with, undo, prune, erase runs");
  runs.command("ls", { isDefault: true }).option("--limit <count>", "at most this many", wholeNumber).description("list runs, newest first").action((options: object) => act(async (context) => (await import("./commands/runs.ts")).listRunsCommand(options, context)));
  runs.command("show").argument("<run>", "its id, as runs ls shows it").description("everything recorded of a run").action((run: string) => act(async (context) => (await import("./commands/runs.ts")).showRunCommand(run, context)));
  runs.command("explain").argument("<run>", "its id, as runs ls shows it").description("the run in plain sentences: what was asked, read and written, why, and what is in doubt").action((run: string) => act(async (context) => (await import("./commands/explain.ts")).explainRunCommand(run, context)));
  runs.command("lineage").argument("<run>", "its id, as runs ls shows it").description("which answers went into which arguments, found by content").action((run: string) => act(async (context) => (await import("./commands/lineage.ts")).lineageCommand(run, context)));
  runs.command("replay").argument("<run>", "its id, as runs ls shows it").description("re-execute with recorded answers and no effect").action((run: string) => act(async (context) => (await import("./commands/runs.ts")).replayRunCommand(run, context)));
  addTimeTravelCommands(runs, act);
  runs
    .command("prune")
    .option("--older-than <days>", "remove runs that ended before", wholeNumber)
    .option("--max-mib <mib>", "remove the oldest until below", wholeNumber)
    .description("remove old runs")
    .action((options: object) => act(async (context) => (await import("./commands/runs.ts")).pruneRunsCommand(options, context)));
  addDurableCommands(runs, act);
  runs.command("erase").argument("<run>", "its id, as runs ls shows it").description("delete the clear values of a run; summaries stay").action((run: string) => act(async (context) => (await import("./commands/runs.ts")).eraseRunCommand(run, context)));
}

function addTimeTravelCommands(runs: Command, act: Act): void {
  const load = () => import("./commands/time-travel.ts");
  runs
    .command("step")
    .argument("<run>", "its id, as runs ls shows it")
    .option("--to <step>", "only the first steps, up to this one", wholeNumber)
    .description("go through a run call by call: where the program stood, what it asked and was answered, what it had printed")
    .action((run: string, options: object) => act(async (context) => (await load()).stepRunCommand(run, options, context)));
  runs
    .command("edit")
    .argument("<run>", "its id, as runs ls shows it")
    .requiredOption("--program <file>", "the changed program, or - for standard input")
    .addOption(new Option("--new <what>", "what becomes of the first call without a recorded answer (default: stop)").choices(["stop", "ask", "simulate", "allow"]))
    .option("--budget <tokens>", "what a model may see of the run", wholeNumber)
    .description("execute a changed program with the recorded answers; calls that were made before are not made again")
    .action((run: string, options: { readonly program: string }) => act(async (context) => (await load()).editRunCommand(run, options, context)));
  runs
    .command("diff")
    .argument("<a>", "id of a run")
    .argument("<b>", "id of another")
    .description("hold two runs against each other: program, calls, end; exit code 0 when they are equal")
    .action((a: string, b: string) => act(async (context) => (await load()).diffRunsCommand(a, b, context)));
  runs
    .command("export")
    .argument("<run>", "its id, as runs ls shows it")
    .option("-o, --out <file>", "write the test to a file that is not there yet")
    .description("write the run as a vitest test that stands alone, with placeholders for sensitive values")
    .action((run: string, options: object) => act(async (context) => (await load()).exportRunCommand(run, options, context)));
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
  runs.command("cancel").argument("<run>", "its id, as runs ls shows it").description("end a run that waits or lost its process, and undo what its tools can undo").action((run: string) => act(async (context) => (await load()).cancelRunCommand(run, context)));
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

/** `audit`: the record for who answers for it. */
export function addAuditCommands(program: Command, act: Act): void {
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
