import { readFile, writeFile } from "node:fs/promises";
import { CallgateError } from "@callgate/contract";
import type { AuditCheckpoint, AuditHold, AuditVerdict, HoldScope, LedgerEvent } from "@callgate/contract";
import { recordOnly } from "../command-context.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { renderTable } from "../table.ts";
import { counted, visible } from "../terminal.ts";
import { timeOf, timeText } from "../time-of.ts";

/** `callgate audit verify` */
export async function verifyAuditCommand(options: { readonly checkpoint?: string; readonly writeCheckpoint?: string }, context: CommandContext): Promise<ExitCode> {
  const { terminal, signal } = context;
  const checkpoint = options.checkpoint === undefined ? undefined : await readCheckpoint(options.checkpoint);
  return await context.withGate(async (gate) => {
    const onProgress = ({ entries, runs }: { readonly entries: number; readonly runs: number }): void => terminal.err(`\r${entries} entries of ${counted(runs, "run")} verified`);
    const isWatched = terminal.interactive && context.options.json !== true;
    const verdict = await gate.audit.verify({ signal, ...(checkpoint === undefined ? {} : { checkpoint }), ...(isWatched ? { onProgress } : {}) });
    if (isWatched) terminal.err("\r\u001b[K");
    if (options.writeCheckpoint !== undefined && verdict.ok) await writeFile(options.writeCheckpoint, `${JSON.stringify(verdict.checkpoint)}\n`);
    terminal.out(context.options.json === true ? `${JSON.stringify(verdict)}\n` : renderVerdict(verdict));
    return verdict.ok ? exitCodes.ok : exitCodes.failed;
  }, recordOnly);
}

async function readCheckpoint(path: string): Promise<AuditCheckpoint> {
  let read: unknown;
  try {
    read = JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    throw new CallgateError("USAGE", `Cannot read the checkpoint ${path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  const isCheckpoint = typeof read === "object" && read !== null && "atMs" in read && "lanes" in read && Array.isArray(read.lanes);
  if (!isCheckpoint) throw new CallgateError("USAGE", `${path} is no checkpoint: callgate audit verify --write-checkpoint makes one`);
  return read as AuditCheckpoint;
}

function renderVerdict(verdict: AuditVerdict): string {
  const { ok, runs, entries, openRuns, unchainedRuns, erasedRuns, removedRuns, findings, findingCount } = verdict;
  const asides = [`${openRuns} without an end`, `${erasedRuns} erased`, `${removedRuns} removed`, ...(unchainedRuns === 0 ? [] : [`${unchainedRuns} from before the record was chained, of which nothing can be said`])];
  const lines = [`${counted(runs, "run")} (${asides.join(", ")}), ${entries === 1 ? "1 entry" : `${entries} entries`}`, ...findings.map(({ fault, message }) => `${fault}: ${visible(message)}`)];
  if (findingCount > findings.length) lines.push(`and ${findingCount - findings.length} more`);
  lines.push(ok ? "the record is as it was written" : `the record is not as it was written: ${counted(findingCount, "finding")}`);
  return `${lines.join("\n")}\n`;
}

/** `callgate audit log` */
export async function auditLogCommand(options: { readonly limit?: number }, context: CommandContext): Promise<ExitCode> {
  return await context.withGate(async (gate) => {
    const lines = await gate.audit.ledger(options);
    const { terminal } = context;
    if (context.options.json === true) terminal.out(`${JSON.stringify(lines)}\n`);
    else if (lines.length === 0) terminal.err("Nothing was erased, removed, held, granted or answered\n");
    else terminal.out(renderTable(["when", "what", "by", "about"], lines.map(({ atMs, event }) => [timeText(atMs), event.kind, ..."by" in event ? [visible(event.by)] : [""], visible(aboutOf(event))]), { columns: terminal.outColumns, colors: terminal.outColors }));
    return exitCodes.ok;
  }, recordOnly);
}

function aboutOf(event: LedgerEvent): string {
  switch (event.kind) {
    case "ledger-began":
      return `${counted(event.unchainedRuns, "run")} before it`;
    case "lane-opened":
      return `lane ${event.lane}`;
    case "run-began":
    case "run-ended":
    case "run-erased":
      return event.runId;
    case "run-told":
      return `${event.runId}: ${event.what}`;
    case "runs-removed":
      return `${counted(event.runs.length, "run")}: ${event.reason}`;
    case "ledger-cut":
      return `lines up to ${event.upTo}: ${event.reason}`;
    case "hold-placed":
      return `${event.hold.holdId}, by ${event.hold.by}: ${event.hold.reason}`;
    case "hold-released":
      return event.holdId;
    case "grant-given":
      return `${event.grantId} for ${event.tool}, until ${timeText(event.expiresAtMs)}`;
    case "grant-used":
      return `${event.grantId} let call ${event.callId} through`;
    case "grant-revoked":
      return event.grantId;
  }
}

interface HoldOptions {
  readonly reason: string;
  readonly run?: string;
  readonly forUser?: string;
  readonly forAgent?: string;
  readonly forTask?: string;
  readonly from?: string;
  readonly until?: string;
}

/** `callgate audit hold` */
export async function placeHoldCommand({ reason, run, forUser, forAgent, forTask, from, until }: HoldOptions, context: CommandContext): Promise<ExitCode> {
  const nowMs = Date.now();
  const covers: HoldScope = {
    ...(run === undefined ? {} : { runId: run }),
    ...(forUser === undefined ? {} : { user: forUser }),
    ...(forAgent === undefined ? {} : { agent: forAgent }),
    ...(forTask === undefined ? {} : { task: forTask }),
    ...(from === undefined ? {} : { fromMs: timeOf(from, nowMs) }),
    ...(until === undefined ? {} : { untilMs: timeOf(until, nowMs) }),
  };
  return await context.withGate(async (gate) => {
    const hold = await gate.audit.hold({ covers, reason });
    context.terminal.out(context.options.json === true ? `${JSON.stringify(hold)}\n` : `${hold.holdId} covers ${visible(coversText(hold))}\n`);
    return exitCodes.ok;
  }, recordOnly);
}

/** `callgate audit holds` */
export async function listHoldsCommand(context: CommandContext): Promise<ExitCode> {
  return await context.withGate(async (gate) => {
    const holds = await gate.audit.holds();
    const { terminal } = context;
    if (context.options.json === true) terminal.out(`${JSON.stringify(holds)}\n`);
    else if (holds.length === 0) terminal.err("No legal holds\n");
    else terminal.out(renderTable(["hold", "since", "by", "released", "covers", "reason"], holds.map((hold) => [hold.holdId, timeText(hold.placedAtMs), visible(hold.by), hold.released === undefined ? "" : timeText(hold.released.atMs), visible(coversText(hold)), visible(hold.reason)]), { columns: terminal.outColumns, colors: terminal.outColors }));
    return exitCodes.ok;
  }, recordOnly);
}

/** `callgate audit release HOLD` */
export async function releaseHoldCommand(holdId: string, context: CommandContext): Promise<ExitCode> {
  return await context.withGate(async (gate) => {
    await gate.audit.release(holdId);
    context.terminal.out(context.options.json === true ? `${JSON.stringify({ holdId, released: true })}\n` : `released ${holdId}\n`);
    return exitCodes.ok;
  }, recordOnly);
}

function coversText({ covers: { runId, user, agent, task, fromMs, untilMs } }: AuditHold): string {
  const parts = [
    ...(runId === undefined ? [] : [`run ${runId}`]),
    ...(user === undefined ? [] : [`user ${user}`]),
    ...(agent === undefined ? [] : [`agent ${agent}`]),
    ...(task === undefined ? [] : [`task ${task}`]),
    ...(fromMs === undefined ? [] : [`from ${timeText(fromMs)}`]),
    ...(untilMs === undefined ? [] : [`until ${timeText(untilMs)}`]),
  ];
  return parts.length === 0 ? "all runs" : parts.join(", ");
}
