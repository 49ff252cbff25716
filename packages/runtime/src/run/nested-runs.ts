import type { Journal, Principal, RunParent, RunRecord } from "@callgate/contract";
import { nestedRunId } from "../lib/new-id.ts";
import { runOf } from "./call-ids.ts";

type Reads = Pick<Journal, "readRun">;

/** The runs that were started on behalf of a call, oldest first. */
export async function nestedRuns(journal: Reads, callId: string, { tenant, user }: Principal): Promise<readonly RunRecord[]> {
  const runs: RunRecord[] = [];
  for (;;) {
    const run = await journal.readRun(tenant, nestedRunId({ runId: runOf(callId), callId }, runs.length));
    if (run?.parent?.callId !== callId) return runs.filter(({ principal }) => principal.user === user);
    runs.push(run);
  }
}

/** The id of the next run on behalf of a call. */
export async function nextNestedId(journal: Reads, parent: RunParent, { tenant }: Principal): Promise<string> {
  for (let nth = 0; ; nth += 1) {
    const id = nestedRunId(parent, nth);
    if ((await journal.readRun(tenant, id)) === undefined) return id;
  }
}
