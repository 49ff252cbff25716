import { CallgateError } from "@callgate/contract";
import type { Gate, JobView, Journal, Principal, RunRecord } from "@callgate/contract";
import { runOf, seqOf } from "./call-ids.ts";
import { readRecordedCalls } from "./recorded-calls.ts";

export interface GateJobsOptions {
  readonly journal: Journal;
  readonly principal: Principal;
  readonly complete: Gate["runs"]["complete"];
}

const maxRuns = 1_000;

/** Background jobs as their callers see them. */
export function createGateJobs({ journal, principal, complete }: GateJobsOptions): Gate["jobs"] {
  return {
    async list({ principal: { tenant, user } = principal } = {}) {
      const open = await Promise.all((["suspended", "running"] as const).map((status) => journal.listRuns({ tenant, status, limit: maxRuns })));
      const ours = open.flat().filter((run) => run.principal.user === user).sort((one, other) => other.startedAtMs - one.startedAtMs);
      return (await Promise.all(ours.map((run) => jobsOf(journal, run)))).flat();
    },
    async cancel(callId, options = {}) {
      const { tenant, user } = options.principal ?? principal;
      const run = await journal.readRun(tenant, runOf(callId));
      if (run?.principal.user !== user) throw new CallgateError("RUN_NOT_FOUND", `There is no run ${runOf(callId)} for user ${user} of tenant ${tenant}`, { details: { runId: runOf(callId) } });
      if (!(await jobsOf(journal, run)).some((job) => job.callId === callId)) throw new CallgateError("SIGNAL_REFUSED", `Call ${callId} has no background job under way; callgate jobs ls lists those that are`, { details: { callId } });
      return await complete(callId, { kind: "error", code: "CANCELLED", message: `${user} cancelled the job` }, options);
    },
  };
}

/** Those of a run that have not ended. */
async function jobsOf(journal: Journal, run: RunRecord): Promise<readonly JobView[]> {
  const { runId, principal: { tenant }, status } = run;
  if (status !== "suspended" && status !== "running") return [];
  // What is suspended says itself what it waits for.
  if (status === "suspended" && !run.waits.some(({ kind }) => kind === "job")) return [];
  const entries = await journal.readEntries(tenant, runId);
  return [...readRecordedCalls(entries, [])].flatMap(([seq, { issued, ended, past: { job } }]): readonly JobView[] => {
    const began = entries.find((entry) => entry.kind === "call-backgrounded" && entry.seq === seq);
    if (issued === undefined || ended !== undefined || job === undefined || began === undefined || seqOf(issued.callId) !== seq) return [];
    return [{ callId: issued.callId, runId, tool: issued.tool, startedAtMs: began.atMs, untilMs: job.untilMs, token: job.token }];
  });
}
