import { CallgateError } from "@callgate/contract";
import type { Gate, GuestConnection, Handle, JournalEntry, NextDecision, RunRecord } from "@callgate/contract";
import { modelView, waitedMs, waitSubject, waitText } from "@callgate/runtime";
import { proveApprover } from "../approver-credential.ts";
import { recordOnly } from "../command-context.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodeOfError, exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { callLine } from "../live-view.ts";
import { renderReport, rounded, runJson, timesText, waitsJson } from "../render-run.ts";
import { renderTable } from "../table.ts";
import { counted, duration, visible } from "../terminal.ts";
import { timeText } from "../time-of.ts";
import { unreadableText } from "../unreadable-runs.ts";

function connectionLine({ host, port, verdict, rule, bytesSent, bytesReceived }: GuestConnection): string {
  const where = port === 0 ? JSON.stringify(visible(host)) : `${visible(host)}:${port}`;
  return verdict === "denied" ? `${where} denied (${rule ?? "no reason"})` : `${where} allowed, ${bytesSent} bytes out, ${bytesReceived} in`;
}

/** `callgate runs ls` */
export async function listRunsCommand(options: { readonly limit?: number }, context: CommandContext): Promise<ExitCode> {
  return await context.withGate(async (gate) => {
    const runs = await Promise.all((await gate.runs.list({ limit: options.limit ?? 20 })).map((run) => listed(gate, run)));
    const { terminal } = context;
    if (context.options.json === true) terminal.out(`${JSON.stringify(runs)}\n`);
    else if (runs.length === 0) terminal.err("No runs yet\n");
    else terminal.out(renderTable(["run", "status", "when", "calls", "time", "program"], runs.map(runRow), { columns: terminal.outColumns, colors: terminal.outColors }));
    return exitCodes.ok;
  }, recordOnly);
}

interface ListedRun extends RunRecord {
  /** Of a direct call. */
  readonly tool?: string;
  /** How long it stood still without a process. */
  readonly waitedMs?: number;
}

/** What only its entries say: which tool a direct call called, for it has no program to be known by; and how long a run waited. */
async function listed(gate: Gate, run: RunRecord): Promise<ListedRun> {
  const waits = run.epoch > 1 || run.status === "suspended";
  if (run.kind !== "call" && !waits) return run;
  const { entries = [] } = (await gate.runs.show(run.runId)) ?? {};
  const issued = run.kind === "call" ? entries.find((entry) => entry.kind === "call-issued") : undefined;
  return { ...run, waits: waitsJson(run.runId, run.waits), ...(waits ? { waitedMs: waitedMs(run, entries, Date.now()) } : {}), ...(issued === undefined ? {} : { tool: issued.tool }) };
}

function whatRan({ kind, tool, programText, replayOf, edits, unreadable }: ListedRun): string {
  if (unreadable === "other_key") return "(sealed under another key file)";
  if (unreadable === "erased" && kind !== "call") return "(erased)";
  if (kind === "call") return `call ${tool ?? ""}`.trimEnd();
  if (kind === "agent") return "agent";
  const text = (programText ?? kind).trim().split("\n")[0] ?? "";
  if (kind === "rehearsal") return `rehearsal: ${text}`;
  if (replayOf === undefined) return text;
  return edits === undefined ? `replay of ${replayOf}` : `edit of ${replayOf}: ${text}`;
}

function runRow(run: ListedRun): readonly string[] {
  return [run.runId, run.isLost === true ? `${run.status}, not ended` : run.status, timeText(run.startedAtMs), String(run.callCount), timeOf(run, run.waitedMs ?? 0), visible(whatRan(run))];
}

/** How long it took; of a run that is suspended, so far. */
function timeOf({ status, startedAtMs, endedAtMs }: RunRecord, waited: number): string {
  if (endedAtMs === undefined && status !== "suspended") return "";
  return timesText((endedAtMs ?? Date.now()) - startedAtMs, waited);
}

/** `callgate runs show RUN` */
export async function showRunCommand(runId: string, context: CommandContext): Promise<ExitCode> {
  return await context.withGate(async (gate) => {
    const shown = await gate.runs.show(runId);
    if (shown === undefined) throw new CallgateError("RUN_NOT_FOUND", `There is no run ${runId}; list them with callgate runs ls`);
    const { terminal } = context;
    if (context.options.json === true) terminal.out(`${JSON.stringify(shownJson(shown))}\n`);
    else terminal.out(renderRun(shown.run, shown.entries, context));
    return exitCodes.ok;
  }, recordOnly);
}

type Shown = NonNullable<Awaited<ReturnType<Gate["runs"]["show"]>>>;

function shownJson({ run, entries }: Shown): object {
  const readable = entries.map((entry) => ("durationMs" in entry ? rounded(entry) : entry.kind === "suspended" ? { ...entry, waits: waitsJson(run.runId, entry.waits) } : entry));
  return { run: { ...run, waits: waitsJson(run.runId, run.waits), waitedMs: waitedMs(run, entries, Date.now()) }, entries: readable };
}

function renderRun(run: RunRecord, entries: readonly JournalEntry[], { terminal }: CommandContext): string {
  const { bold, dim } = terminal.outColors;
  const time = timeOf(run, waitedMs(run, entries, Date.now()));
  const lines = [
    `${bold(run.runId)} ${run.status}${run.error === undefined ? "" : ` ${run.error.code}: ${visible(run.error.message)}`}`,
    dim(`${new Date(run.startedAtMs).toISOString()} · ${run.principal.tenant}/${run.principal.user} · lane ${run.lane} · ${counted(run.callCount, "call")}${time === "" ? "" : ` · ${time}`}${run.session === undefined ? "" : ` · block ${run.session.block} of session ${run.session.sessionId}`}`),
    ...(run.unreadable === undefined ? [] : [unreadableText(run.unreadable)]),
    ...(run.edits === undefined ? [] : [`a changed program with the answers of ${run.edits.runId}: calls of that were not made again${run.edits.newCalls === "stop" ? "; nothing else was called" : ""}`]),
    ...(run.replayOf === undefined || run.edits !== undefined ? [] : [`a replay of ${run.replayOf} with its recorded answers: nothing was called, nothing was changed`]),
    "",
  ];
  if (run.programText !== undefined) lines.push(...run.programText.trimEnd().split("\n").map((line, index) => `${dim(String(index + 1).padStart(4))} ${visible(line)}`), "");
  const names = callNames(entries);
  for (const entry of entries) lines.push(...renderEntry(entry, run, { terminal, names }));
  // What can be done about it is said of now, not of every time it waited.
  lines.push(...run.waits.map((wait) => `           waits for ${visible(waitText(run.runId, wait))}`));
  if (run.status !== "running") lines.push(...openCalls(entries, names).map((text) => `           ${text}`));
  return `${lines.join("\n")}\n`;
}

/** One line for each call whose end is not on record: it has not begun, or nobody knows. */
function openCalls(entries: readonly JournalEntry[], names: CallNames): readonly string[] {
  const ended = new Set(entries.flatMap((entry) => (entry.kind === "call-ended" ? [entry.seq] : [])));
  const lastDecision = new Map(entries.flatMap((entry) => (entry.kind === "call-decided" ? [[entry.seq, entry.decision] as const] : [])));
  const inBackground = new Set(entries.flatMap((entry) => (entry.kind === "call-backgrounded" ? [entry.seq] : [])));
  return entries.flatMap((entry) => {
    if (entry.kind !== "call-issued" || ended.has(entry.seq)) return [];
    const call = `${names(entry.seq)} ${entry.tool}`;
    if (lastDecision.get(entry.seq) === "ask") return [`${call} has not begun: nobody has answered yet`];
    if (inBackground.has(entry.seq)) return [`${call} goes on in the background`];
    return [`${call} has no recorded end${entry.effect === "read" ? "" : "; whether it took effect is not known"}`];
  });
}

function renderEntry(entry: JournalEntry, run: RunRecord, { terminal, names }: { readonly terminal: CommandContext["terminal"]; readonly names: CallNames }): readonly string[] {
  const at = terminal.outColors.dim(`+${Math.max(0, Math.round(entry.atMs - run.startedAtMs))} ms`.padEnd(10));
  const json = (value: unknown) => visible(JSON.stringify(value) ?? "");
  switch (entry.kind) {
    case "checked":
      return [`${at} check ${entry.ok ? "passed" : "rejected"} in ${duration(entry.durationMs)}`, ...(entry.review === undefined ? [] : [`           review of ${entry.review.ruleIds.join(", ")}: ${entry.review.approved ? "approved" : "refused"} by ${visible(entry.review.by)}`]), ...nextLine(entry.next).map((line) => `           ${line}`), ...entry.diagnostics.map((diagnostic) => `           ${diagnostic.severity} ${diagnostic.line}:${diagnostic.column} ${visible(diagnostic.message)}`)];
    case "call-issued":
      return [`${at} ${names(entry.seq)} ${entry.tool}(${json(entry.args.summary)})`];
    case "planned":
      return [`${at} pinned to plan ${entry.planId}, which ${visible(entry.by)} approved`];
    case "call-edited":
      return [`${at} ${names(entry.seq)} performed as ${visible(entry.by)} changed it: ${json(entry.args.summary)}`];
    case "call-decided":
      if (entry.unobserved !== undefined) return [`${at} ${names(entry.seq)} allowed, for the policy is not enforced; rule ${entry.ruleId} would have ${entry.unobserved === "ask" ? "asked" : "denied"}`];
      if (entry.decision === "allow" && entry.answeredBy === undefined) return nextLine(entry.next).map((line) => `${at} ${names(entry.seq)} ${line}`);
      return [`${at} ${names(entry.seq)} ${entry.decision} by rule ${entry.ruleId}${entry.answeredBy === undefined ? "" : `, ${entry.planItem !== undefined ? `item ${entry.planItem} of the plan, approved` : entry.grantId === undefined ? "answered" : `under grant ${entry.grantId}, given`} by ${visible(entry.answeredBy)}`}`, ...nextLine(entry.next).map((line) => `           ${line}`)];
    case "call-ended":
      return [`${at} ${names(entry.seq)} ${callLine({ tool: "", ...entry }, { colors: terminal.outColors })}`, ...(entry.result === undefined || entry.result.summary === "[undefined]" ? [] : [`           → ${json(entry.result.summary)}`]), ...resultLines(entry)];
    case "call-late":
      return [`${at} ${names(entry.seq)} a late answer settled the effect as ${entry.effectStatus}`];
    case "call-refused":
      return [`${at} ${names(entry.seq)} ${entry.tool} was issued after the end and never ran`];
    case "console":
      return entry.entries.map((line) => `${at} ${line.level} ${visible(line.text)}`);
    case "text":
      return [`${at} text ${visible(entry.text)}`];
    case "progress":
      return [`${at} progress ${visible(entry.message)}`];
    case "connection":
      return [`${at} network ${connectionLine(entry.connection)}`];
    case "result":
      return [`${at} result://${run.runId}/${entry.number} ${entry.label} ${json(entry.value.summary)}`];
    case "result-held":
      return [`${at} ${names(entry.seq)} took place; its result waits: ${json(entry.result.summary)}`];
    case "approval-asked":
      return [`${at} ${names(entry.seq)} waits for an answer to ${entry.question.approvalId}: ${visible(entry.question.reason)}`];
    case "call-resolved":
      return [`${at} ${names(entry.seq)} its effect is ${entry.effectStatus}: ${entry.how}${entry.by === undefined ? "" : ` (${visible(entry.by)})`}`];
    case "call-reread":
      return [`${at} ${names(entry.seq)} was made again, for its result was not kept: ${entry.same ? "it gave the same" : "it gave something else"}`];
    case "call-intercepted":
      return [`${at} ${names(entry.seq)} ${entry.how} by interceptor ${entry.by}${entry.args === undefined ? "" : `: ${json(entry.args.summary)}`}`];
    case "call-backgrounded":
      return [`${at} ${names(entry.seq)} its work goes on in the background`];
    case "suspended":
      return suspendedLines(entry).map((text) => `${at} ${text}`);
    case "cancelling":
      return [entry.status === undefined ? `${at} cancelled from outside` : `${at} ended (${entry.status}); what it did is undone`];
    case "resumed":
      return [`${at} ${entry.reason === "due" ? "resumed" : "taken over from a lost process"}${entry.changes.length === 0 ? "" : `; changed since: ${visible(entry.changes.join(", "))}`}`];
    case "delivered":
      return [];
  }
}

/** What a run waits for, and why it did not go on when somebody tried. */
function suspendedLines({ waits, reason }: Extract<JournalEntry, { readonly kind: "suspended" }>): readonly string[] {
  return [
    ...(reason === undefined ? [] : [`did not go on: ${visible(reason)}`]),
    ...(waits.length > 0 ? waits.map((wait) => `suspended; waits for ${visible(waitSubject(wait))}`) : [reason === undefined ? "suspended; anybody may go on with it" : "suspended; it is looked at again by itself"]),
  ];
}

type CallNames = (seq: number) => string;

/** A call by its number. A step that undoes another is no call of the program; what is asked before the first one is about the program. */
function callNames(entries: readonly JournalEntry[]): CallNames {
  const undone = new Map(entries.flatMap((entry) => (entry.kind === "call-issued" && entry.compensates !== undefined ? [[entry.seq, entry.compensates] as const] : [])));
  return (seq) => {
    const undoes = undone.get(seq);
    if (undoes !== undefined) return `undo of #${undoes}`;
    return seq < 0 ? "program" : `#${seq}`;
  };
}

/** `callgate runs replay RUN` */
export async function replayRunCommand(runId: string, context: CommandContext): Promise<ExitCode> {
  return await context.withGate(async (gate, view) => {
    const { result, divergence } = await gate.runs.replay(runId, { signal: context.signal });
    view.close();
    const { terminal } = context;
    if (context.options.json === true) terminal.out(`${JSON.stringify({ ...runJson(result), ...(divergence === undefined ? {} : { divergence }) })}\n`);
    else {
      terminal.err(renderReport(result, terminal, terminal.interactive));
      terminal.out(divergence === undefined ? `${runId} replays equal; nothing was called\n` : `${runId} diverges at call #${divergence.seq}: ${visible(divergence.message)}\n`);
    }
    return divergence === undefined ? exitCodes.ok : exitCodes.failed;
  }, recordOnly);
}

/** `callgate runs prune` */
export async function pruneRunsCommand(options: { readonly olderThan?: number; readonly maxMib?: number }, context: CommandContext): Promise<ExitCode> {
  if (options.olderThan === undefined && options.maxMib === undefined) throw new CallgateError("USAGE", "Say what to remove: --older-than DAYS, --max-mib MIB, or both");
  await proveApprover(context, "Removing runs");
  return await context.withGate(async (gate) => {
    const pruned = await gate.runs.prune({
      ...(options.olderThan === undefined ? {} : { olderThanMs: options.olderThan * 86_400_000 }),
      ...(options.maxMib === undefined ? {} : { maxBytes: options.maxMib * 1024 * 1024 }),
    });
    context.terminal.out(context.options.json === true ? `${JSON.stringify(pruned)}\n` : `removed ${counted(pruned.runs, "run")}, ${counted(pruned.bytes, "byte")}${pruned.heldRuns === 0 ? "" : ` · ${counted(pruned.heldRuns, "run")} left under a legal hold`}\n`);
    return exitCodes.ok;
  }, recordOnly);
}

/** `callgate runs erase RUN` */
export async function eraseRunCommand(runId: string, context: CommandContext): Promise<ExitCode> {
  await proveApprover(context, "Erasing a run");
  return await context.withGate(async (gate) => {
    await gate.runs.erase(runId);
    context.terminal.out(context.options.json === true ? `${JSON.stringify({ runId, erased: true })}\n` : `erased the clear values of ${runId}; its summaries stay\n`);
    return exitCodes.ok;
  }, recordOnly);
}

/** `callgate read HANDLE` */
export async function readCommand(
  handle: string,
  options: { readonly path?: string; readonly offset?: number; readonly limit?: number; readonly grep?: string; readonly search?: string; readonly budget?: number },
  context: CommandContext,
): Promise<ExitCode> {
  if (!handle.startsWith("result://")) throw new CallgateError("USAGE", `A handle looks like result://RUN/NUMBER, not "${handle}"`);
  return await context.withGate(async (gate) => {
    const { budget, ...part } = options;
    const result = await gate.read(handle as Handle, { ...part, ...(budget === undefined ? {} : { budgetTokens: budget }) });
    const { terminal } = context;
    switch (result.kind) {
      case "error":
        if (context.options.json === true) terminal.out(`${JSON.stringify({ status: "failed", error: modelView(result.error) })}\n`);
        else terminal.err(`${terminal.colors.red("error")} ${result.error.code}: ${visible(result.error.message)}\n`);
        return exitCodeOfError(result.error);
      case "artifact":
        if (context.options.json === true) terminal.out(`${JSON.stringify({ name: result.name, mimeType: result.mimeType, sizeBytes: result.bytes.length, base64: Buffer.from(result.bytes).toString("base64") })}\n`);
        else process.stdout.write(result.bytes);
        return exitCodes.ok;
      case "value": {
        const { value, ...place } = result;
        terminal.value(context.options.json === true ? `${JSON.stringify({ ...place, value: modelView(value) })}\n` : `${typeof value === "string" ? value : JSON.stringify(modelView(value), undefined, 2)}\n`);
        if (result.nextOffset !== undefined && context.options.json !== true) terminal.err(`more: --offset ${result.nextOffset}\n`);
        return exitCodes.ok;
      }
    }
  }, recordOnly);
}

/** Whether the program got the result, where a policy has, or would have had, a say in that. */
function resultLines({ release, resultDecided }: Extract<JournalEntry, { readonly kind: "call-ended" }>): readonly string[] {
  const { unobserved, next } = resultDecided ?? {};
  return [
    ...(release === undefined ? [] : [`result ${release.released ? "handed on" : "withheld"} by ${visible(release.by)} (rule ${visible(release.ruleId)})`]),
    ...(unobserved === undefined ? [] : [`result handed on, for the policy is not enforced; rule ${visible(unobserved.ruleId)} would have ${unobserved.kind === "ask" ? "asked" : "withheld it"}`]),
    ...nextLine(next, "the result: "),
  ].map((line) => `           ${line}`);
}

/** What a policy that is tried out would have done. */
function nextLine(next: NextDecision | undefined, about = ""): readonly string[] {
  return next === undefined ? [] : [`${about}the next policy would have ${next.kind === "ask" ? "asked" : next.kind === "deny" ? "denied it" : "allowed it"}: rule ${visible(next.ruleId)}`];
}
