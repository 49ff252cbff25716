import { CallgateError } from "@callgate/contract";
import type { Journal, Principal, RunRecord } from "@callgate/contract";

export interface RunFinder {
  /** Undefined: there is none for this asker. */
  readonly find: (runId: string, asker: Principal) => Promise<RunRecord | undefined>;
  /** Errors: RUN_NOT_FOUND. */
  readonly must: (runId: string, asker: Principal) => Promise<RunRecord>;
}

/** Finds runs of those who ask: for others they do not exist. */
export function createRunFinder(journal: Pick<Journal, "readRun">): RunFinder {
  async function find(runId: string, asker: Principal): Promise<RunRecord | undefined> {
    const run = await journal.readRun(asker.tenant, runId);
    return run?.principal.user === asker.user ? run : undefined;
  }

  async function must(runId: string, asker: Principal): Promise<RunRecord> {
    const run = await find(runId, asker);
    if (run === undefined) throw notFound(runId, asker);
    return run;
  }

  return { find, must };
}

export function notFound(runId: string, { user, tenant }: Pick<Principal, "user" | "tenant">): CallgateError {
  return new CallgateError("RUN_NOT_FOUND", `There is no run ${runId} for user ${user} of tenant ${tenant}`, { details: { runId } });
}
