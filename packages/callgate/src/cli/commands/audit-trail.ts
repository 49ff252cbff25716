import { once } from "node:events";
import { open } from "node:fs/promises";
import { CallgateError } from "@callgate/contract";
import type { AuditRow, AuditRowFilter } from "@callgate/contract";
import { exportAudit } from "../../audit/export-audit.ts";
import type { AuditFormat } from "../../audit/export-audit.ts";
import { recordOnly } from "../command-context.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { renderTable } from "../table.ts";
import { counted, duration, visible } from "../terminal.ts";
import { timeOf, timeText } from "../time-of.ts";

export interface AuditFilterOptions {
  readonly run?: string;
  readonly tool?: string;
  readonly outcome?: AuditRow["outcome"];
  readonly decision?: "allow" | "ask" | "deny";
  readonly forUser?: string;
  readonly forAgent?: string;
  readonly forTask?: string;
  readonly since?: string;
  readonly until?: string;
}

function filterOf({ run, tool, outcome, decision, forUser, forAgent, forTask, since, until }: AuditFilterOptions): AuditRowFilter {
  const nowMs = Date.now();
  return {
    ...(run === undefined ? {} : { runId: run }),
    ...(tool === undefined ? {} : { tool }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(decision === undefined ? {} : { decision }),
    ...(forUser === undefined ? {} : { user: forUser }),
    ...(forAgent === undefined ? {} : { agent: forAgent }),
    ...(forTask === undefined ? {} : { task: forTask }),
    ...(since === undefined ? {} : { fromMs: timeOf(since, nowMs) }),
    ...(until === undefined ? {} : { untilMs: timeOf(until, nowMs) }),
  };
}

const defaultRows = 50;

/** `callgate audit ls` */
export async function listAuditCommand(options: AuditFilterOptions & { readonly limit?: number }, context: CommandContext): Promise<ExitCode> {
  const filter = filterOf(options);
  return await context.withGate(async (gate) => {
    const limit = options.limit ?? defaultRows;
    const rows: AuditRow[] = [];
    let isMore = false;
    for await (const row of gate.audit.rows(filter)) {
      isMore = rows.length === limit;
      if (isMore) break;
      rows.push(row);
    }
    const { terminal } = context;
    if (context.options.json === true) terminal.out(`${JSON.stringify(rows)}\n`);
    else if (rows.length === 0) terminal.err("No calls are on record that fit\n");
    else terminal.out(renderTable(["when", "call", "who", "tool", "decision", "by", "outcome", "arguments"], rows.map(tableRow), { columns: terminal.outColumns, colors: terminal.outColors }));
    if (isMore && context.options.json !== true) terminal.err(`there are more: --limit ${limit * 2}, or callgate audit export\n`);
    return exitCodes.ok;
  }, recordOnly);
}

function tableRow({ atMs, callId, principal, tool, decision, approval, outcome, effect, effectStatus, args }: AuditRow): readonly string[] {
  const who = principal.agent === undefined ? principal.user : `${principal.agent} for ${principal.user}`;
  const became = effect === "read" || effectStatus === "none" ? outcome : `${outcome}, effect ${effectStatus}`;
  return [timeText(atMs), callId, visible(who), tool, decision === undefined ? "" : `${decision.kind} ${decision.ruleId}`, visible(approval?.by ?? ""), became, visible(JSON.stringify(args?.summary ?? null))];
}

/** `callgate audit show CALL` */
export async function showAuditCommand(callId: string, context: CommandContext): Promise<ExitCode> {
  return await context.withGate(async (gate) => {
    const row = await gate.audit.row(callId);
    context.terminal.out(context.options.json === true ? `${JSON.stringify(row)}\n` : renderRow(row));
    return exitCodes.ok;
  }, recordOnly);
}

function renderRow(row: AuditRow): string {
  const { principal, decision, approval, performed, settled } = row;
  const json = (value: unknown): string => JSON.stringify(value);
  const lines: readonly (readonly [name: string, text: string | undefined])[] = [
    ["call", row.callId],
    ["when", new Date(row.atMs).toISOString()],
    ["who", principal.agent ?? principal.user],
    ["on behalf of", `${principal.user} (tenant ${principal.tenant}${principal.roles.length === 0 ? "" : `; ${principal.roles.join(", ")}`})`],
    ["task", principal.task],
    ["program", row.programDigest],
    ["tool", `${row.tool} (${row.effect})`],
    ["definition", row.definitionDigest],
    ["arguments", row.args === undefined ? undefined : `${json(row.args.summary)}  ${row.args.digest}`],
    ["performed", performed === undefined ? undefined : `${json(performed.summary)}  ${performed.digest}, put there by ${performed.by}`],
    ["decision", decision === undefined ? undefined : `${decision.kind} by rule ${decision.ruleId}${decision.reason === undefined ? "" : `: ${decision.reason}`}${decision.unobserved === undefined ? "" : ` (not enforced: it would have been ${decision.unobserved})`}`],
    ["approval", approval === undefined ? undefined : `${approval.approvalId ?? approval.grantId ?? ""}${approval.by === undefined ? ", not answered" : `, ${approval.grantId === undefined ? "answered" : "granted"} by ${approval.by}`}`],
    ["outcome", `${row.outcome}${row.error === undefined ? "" : ` ${row.error.code}: ${row.error.message}`}`],
    ["effect", `${row.effectStatus}${settled === undefined ? "" : ` (${settled.how}${settled.by === undefined ? "" : ` by ${settled.by}`})`}`],
    ["result", row.result === undefined ? undefined : `${json(row.result.summary)}  ${row.result.digest}`],
    ["handed on", row.release === undefined ? undefined : `${row.release.released ? "yes" : "no"}, by ${row.release.by} (rule ${row.release.ruleId})`],
    ["took", row.durationMs === undefined ? undefined : `${duration(row.durationMs)}, ${counted(row.attempts ?? 0, "attempt")}`],
    ["answered by", row.answeredBy ?? (row.simulated === undefined ? undefined : `a placeholder (${row.simulated}): the call was rehearsed`) ?? (row.cached === true ? "the cache" : undefined)],
    ["undoes", row.undoes],
  ];
  return lines.flatMap(([name, text]) => (text === undefined ? [] : [`${name.padEnd(13)} ${visible(text)}\n`])).join("");
}

/** `callgate audit export` */
export async function exportAuditCommand({ format, out, ...options }: AuditFilterOptions & { readonly format: AuditFormat; readonly out?: string }, context: CommandContext): Promise<ExitCode> {
  const filter = filterOf(options);
  return await context.withGate(async (gate) => {
    let rows = 0;
    const counting = async function* (): AsyncGenerator<AuditRow> {
      for await (const row of gate.audit.rows(filter)) {
        context.signal.throwIfAborted();
        rows += 1;
        yield row;
      }
    };
    const lines = exportAudit(counting(), format);
    if (out === undefined) await toStandardOutput(lines);
    else await toFile(lines, out);
    const { terminal } = context;
    if (out !== undefined) terminal.out(context.options.json === true ? `${JSON.stringify({ file: out, format, rows })}\n` : `wrote ${counted(rows, "row")} to ${visible(out)}\n`);
    else if (terminal.interactive) terminal.err(`${counted(rows, "row")}\n`);
    return exitCodes.ok;
  }, recordOnly);
}

/** No faster than it is read. */
async function toStandardOutput(lines: AsyncIterable<string>): Promise<void> {
  for await (const line of lines) if (!process.stdout.write(line)) await once(process.stdout, "drain");
}

/** A new file that only its owner can read; nothing is overwritten. */
async function toFile(lines: AsyncIterable<string>, path: string): Promise<void> {
  const file = await open(path, "wx", 0o600).catch((error: unknown) => {
    throw new CallgateError("USAGE", `Cannot write ${path}: ${(error as NodeJS.ErrnoException).code === "EEXIST" ? "it is there already, and an export overwrites nothing" : error instanceof Error ? error.message : String(error)}`, { cause: error });
  });
  try {
    for await (const line of lines) await file.appendFile(line);
  } finally {
    await file.close();
  }
}
