import type { Approvals } from "../approval/approvals.ts";
import type { CallScope, Ended, Known } from "./call.ts";
import { ended, withEffect } from "./ended.ts";

/** What was said to a call that does not count: it is on record, and the call goes on as if nobody had said it. */
export interface RefusedWord {
  readonly kind: "job" | "resolution";
  readonly by: string;
  readonly why: string;
}

/** The word that was said to this call, where it does not count (docs/decisions/0039-words-that-settle-a-call.md). */
export function refusedWord({ request }: CallScope, approvals: Pick<Approvals, "wordRefusal">): RefusedWord | undefined {
  const said = request.past?.said;
  if (said?.kind !== "job" && said?.kind !== "resolution") return undefined;
  const why = approvals.wordRefusal(said);
  return why === undefined ? undefined : { kind: said.kind, by: said.by, why };
}

/**
 * The call without a word that does not count. A doubt stays and is a new one, so that the place of the answer is free again
 * and a bad row wakes the run once.
 */
export async function withoutWord(scope: CallScope, { kind, by }: RefusedWord): Promise<CallScope> {
  const { seams, record, request } = scope;
  const { said: _said, ...past } = request.past ?? { issued: true, begun: true, resolved: 0 };
  if (kind === "job") return { ...scope, request: { ...request, past } };
  const atMs = seams.clock.now();
  record.add({ kind: "call-resolved", atMs, seq: request.seq, effectStatus: "unknown", how: "refused", by });
  // It may wait now, and nothing else would write it down. Where it cannot be written, whoever goes on finds the same row again.
  await record.flush("full").catch(() => undefined);
  seams.emit({ kind: "call-resolved", atMs, runId: request.runId, principal: request.principal, callId: request.callId, tool: request.tool, effectStatus: "unknown", how: "refused" });
  return { ...scope, request: { ...request, past: { ...past, resolved: past.resolved + 1 } } };
}

/** A job has one end, and its place is taken: the call ends as failed, and what the job did is not known. */
export function refusedEnd({ safe }: CallScope, { tool, effect }: Known, { by, why }: RefusedWord): Ended {
  const effectStatus = effect === "read" ? "none" : "unknown";
  return ended({ outcome: "failed", code: "JOB_END_REFUSED", tool, message: withEffect(safe.text(`An end of the background job of ${tool} was told in the name of ${by} and does not count: ${why}. How the job ended is not known`), effect, effectStatus), effectStatus, attempts: 1 });
}
