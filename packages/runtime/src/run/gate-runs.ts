import { CallgateError } from "@callgate/contract";
import type { Gate, Journal, Principal, ReplayResult, RunRecord } from "@callgate/contract";
import { notDurable } from "./not-durable.ts";

export interface GateRunsOptions {
  readonly journal: Journal;
  readonly now: () => number;
  readonly principal: Principal;
  readonly replay: (run: RunRecord, principal: Principal, signal: AbortSignal | undefined) => Promise<ReplayResult>;
}

/** The record as callers see it. A run is shown, replayed and erased for its own tenant and user; others do not exist. */
export function createGateRuns({ journal, now, principal, replay }: GateRunsOptions): Gate["runs"] {
  async function find(runId: string, asker: Principal): Promise<RunRecord | undefined> {
    const run = await journal.readRun(asker.tenant, runId);
    return run?.principal.user === asker.user ? run : undefined;
  }

  async function must(runId: string, asker: Principal): Promise<RunRecord> {
    const run = await find(runId, asker);
    if (run === undefined) throw new CallgateError("RUN_NOT_FOUND", `There is no run ${runId} for user ${asker.user} of tenant ${asker.tenant}`, { details: { runId } });
    return run;
  }

  return {
    ...notDurable().runs,
    list: (filter = {}) => journal.listRuns({ tenant: principal.tenant, ...filter }),
    async show(runId, options = {}) {
      const asker = options.principal ?? principal;
      const run = await find(runId, asker);
      return run === undefined ? undefined : { run, entries: await journal.readEntries(asker.tenant, runId) };
    },
    async replay(runId, options = {}) {
      const asker = options.principal ?? principal;
      return await replay(await must(runId, asker), asker, options.signal);
    },
    prune: ({ olderThanMs, maxBytes }) => journal.prune({ ...(olderThanMs === undefined ? {} : { olderThanMs: now() - olderThanMs }), ...(maxBytes === undefined ? {} : { maxBytes }) }),
    async erase(runId, options = {}) {
      const asker = options.principal ?? principal;
      await must(runId, asker);
      await journal.erase(asker.tenant, runId);
    },
  };
}
