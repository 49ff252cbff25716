import { CallgateError } from "@callgate/contract";
import type { RunParent, SandboxDriver } from "@callgate/contract";
import { planWithin } from "../plan/pinned-plan.ts";
import { outerScopes } from "../provenance/taint-scopes.ts";
import { seqOf } from "./call-ids.ts";
import { nextNestedId } from "./nested-runs.ts";
import { pinnedTo } from "./recorded-plan.ts";
import { refuseWaysAround } from "./rehearse.ts";
import type { RunRequest } from "./run-request.ts";
import type { RunSeams } from "./run-scope.ts";
import { driverFor } from "./runner.ts";

/**
 * A run on behalf of a call of another one: it is rehearsed where that is rehearsed, with the placeholders of that, and
 * pinned to what the plan of that says of it. Errors: REHEARSAL_REFUSED; ASSERTION for a
 * rehearsal outside of any.
 */
export async function nestedRequest(seams: RunSeams, request: RunRequest, { parent, isRehearsal, drivers }: { readonly parent: RunParent; readonly isRehearsal: boolean; readonly drivers: readonly SandboxDriver[] }): Promise<RunRequest> {
  const { journal, live, redactor, clock } = seams;
  const outer = live.of(parent.runId);
  const nested: RunRequest = { ...request, runId: await nextNestedId(journal, parent, request.principal), outer: await outerScopes(journal, request) };
  const isOut = isRehearsal ? outer?.rehearsal === undefined : outer?.rehearsal !== undefined && request.lane === "execute";
  if (isOut) throw new CallgateError("ASSERTION", `A run within ${parent.callId} has to be rehearsed as ${parent.runId} is`);
  if (isRehearsal && outer?.rehearsal !== undefined) {
    refuseWaysAround(seams, { driver: driverFor(drivers, request.language), language: request.language });
    outer.rehearsal.nest(parent.callId);
    return { ...nested, rehearsal: { variant: outer.rehearsal.variant, within: outer.rehearsal } };
  }
  const plan = outer?.plan === undefined ? undefined : planWithin(outer.plan, seqOf(parent.callId));
  if (outer?.plan === undefined || plan === undefined) return nested;
  const { by, approvalId } = outer.plan;
  // Undoing writes, and nobody has approved that.
  return { ...nested, onFailure: "keep", plan: pinnedTo({ plan, by, approvalId, edits: new Map() }, { redactor, atMs: clock.now() }) };
}
