import { CallgateError } from "@callgate/contract";
import type { AuditRow, AuditRowFilter, GateAudit, Journal, Principal, RunRecord } from "@callgate/contract";
import { globMatches, qualifiedGlob } from "../lib/name-glob.ts";
import { auditRowsOf } from "./audit-rows.ts";
import { runOf } from "./call-ids.ts";

type AuditSeams = Pick<Journal, "audit" | "listRuns" | "readRun" | "readEntries">;

/** Ends the id of a program's review. */
const ofProgram = ".program";

/** The record as those see it who answer for it. Holds, lines and rows are those of the caller's tenant. */
export function createGateAudit(journal: AuditSeams, principal: Principal): GateAudit {
  const { audit } = journal;
  return {
    verify: (options) => audit.verify(options),
    ledger: ({ principal: { tenant } = principal, limit } = {}) => audit.ledger(tenant, limit === undefined ? {} : { limit }),
    async hold({ covers, reason }, { principal: { tenant, user } = principal } = {}) {
      if (reason.trim() === "") throw new CallgateError("USAGE", "A legal hold needs a reason: who releases it later must know what it was for");
      return await audit.hold({ tenant, covers, reason, by: user });
    },
    release: (holdId, { principal: { tenant, user } = principal } = {}) => audit.release(tenant, holdId, user),
    holds: ({ principal: { tenant } = principal } = {}) => audit.holds(tenant),
    rows: (filter = {}, { principal: { tenant } = principal } = {}) => rowsOf(journal, tenant, filter),
    async row(callId, { principal: { tenant } = principal } = {}) {
      const runId = callId.endsWith(ofProgram) ? callId.slice(0, -ofProgram.length) : runOf(callId);
      for await (const row of rowsOf(journal, tenant, { runId })) if (row.callId === callId) return row;
      throw new CallgateError("RUN_NOT_FOUND", `There is no call ${callId} on record; list them with callgate audit ls --run ${runId}`);
    },
  };
}

async function* rowsOf(journal: AuditSeams, tenant: string, filter: AuditRowFilter): AsyncGenerator<AuditRow> {
  const isWanted = matcherOf(filter);
  for await (const run of filter.runId === undefined ? runsOf(journal, tenant, filter) : oneRun(journal, tenant, filter.runId)) {
    if (!isOf(run, filter)) continue;
    const entries = await journal.readEntries(tenant, run.runId);
    for (const row of auditRowsOf(run, entries).toReversed()) if (isWanted(row)) yield row;
  }
}

async function* oneRun(journal: AuditSeams, tenant: string, runId: string): AsyncGenerator<RunRecord> {
  const run = await journal.readRun(tenant, runId);
  if (run === undefined) throw new CallgateError("RUN_NOT_FOUND", `There is no run ${runId}; list them with callgate runs ls`);
  yield run;
}

const pageRuns = 200;

/**
 * All runs of a tenant, newest first, a page at a time. Of those that began in the last millisecond of a page some may be on
 * the next: it begins with that millisecond again, and what was handed out is left out.
 */
async function* runsOf(journal: AuditSeams, tenant: string, { fromMs, untilMs }: AuditRowFilter): AsyncGenerator<RunRecord> {
  let beforeMs = untilMs ?? Number.MAX_SAFE_INTEGER;
  let handedOut = new Set<string>();
  for (;;) {
    const limit = pageRuns + handedOut.size;
    const page = await journal.listRuns({ tenant, limit, beforeMs, ...(fromMs === undefined ? {} : { activeSinceMs: fromMs }) });
    for (const run of page) if (!handedOut.has(run.runId)) yield run;
    const last = page.at(-1);
    if (last === undefined || page.length < limit) return;
    beforeMs = last.startedAtMs + 1;
    handedOut = new Set(page.filter(({ startedAtMs }) => startedAtMs === last.startedAtMs).map(({ runId }) => runId));
  }
}

function isOf({ principal }: RunRecord, { user, agent, task }: AuditRowFilter): boolean {
  return (user === undefined || principal.user === user) && (agent === undefined || principal.agent === agent) && (task === undefined || principal.task === task);
}

function matcherOf({ tool, outcome, decision, fromMs = -Infinity, untilMs = Infinity }: AuditRowFilter): (row: AuditRow) => boolean {
  const glob = tool === undefined || tool === "program" ? undefined : qualifiedGlob(tool);
  if (typeof glob === "string") throw new CallgateError("USAGE", `The pattern "${tool ?? ""}" ${glob}`);
  const isTool = (name: string): boolean => (glob === undefined ? tool === undefined || name === tool : globMatches(glob, name));
  return (row) => isTool(row.tool) && (outcome === undefined || row.outcome === outcome) && (decision === undefined || row.decision?.kind === decision) && row.atMs >= fromMs && row.atMs < untilMs;
}
