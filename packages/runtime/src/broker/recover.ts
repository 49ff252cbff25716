import { decodeValue } from "@callgate/contract";
import type { EffectStatus, JournalEntry } from "@callgate/contract";
import { authorise } from "./authorise.ts";
import type { CallScope, Ended, Known, ReadyCall } from "./call.ts";
import type { ParkedCall } from "./call-past.ts";
import { parkJob, stopJob } from "./background-job.ts";
import { ended, withEffect } from "./ended.ts";
import { flushIntent } from "./intent.ts";
import { isEnded } from "./is-ended.ts";
import { reconcile } from "./reconcile.ts";
import { reserve } from "./reserve.ts";
import { okOutcome, validateOutput } from "./validate-output.ts";

/** `again`: under the same key, for that changes nothing more. `anew`: it never took place, so it passes every stage. */
export type Recovered = Ended | ParkedCall | { readonly kind: "goes_on"; readonly how: "again" | "anew" };

type Resolved = Extract<JournalEntry, { kind: "call-resolved" }>;

/**
 * Decides about a write that was let through before its process was lost, so that nobody knows whether it took place
 * (DESIGN P5). It is never silently repeated: a person has said what became of it, or the tool is asked, or repeating it
 * changes nothing more; else it waits for a person.
 */
export async function recover(given: ReadyCall): Promise<Recovered> {
  const said = given.request.past?.said;
  if (said?.kind === "resolution") {
    noteResolved(given, { effectStatus: said.happened ? "done" : "none", how: "person", by: said.by });
    if (!said.happened) return neverHappened(given);
    return await happened(given, said.output?.clear === undefined ? undefined : decodeValue(said.output.clear));
  }
  // The tool is asked about the key that the write was made under.
  const call = await reserve(given);
  if (isEnded(call)) return call;
  const found = await reconcile(call);
  if (found.kind === "happened") {
    noteResolved(call, { effectStatus: "done", how: "reconciled" });
    return await happened(call, found.output);
  }
  if (found.kind === "goes_on") return call.request.closing === true ? await stopJob(call, found.job) : await parkJob(call, { kind: "performed", value: found.job, artifacts: [], attempts: 0 });
  if (found.kind === "did_not_happen") {
    noteResolved(call, { effectStatus: "none", how: "reconciled" });
    return neverHappened(call);
  }
  if (isOver(call)) return abandoned(call, { tool: call.tool.name, effect: call.effect });
  if (call.tool.tool.idempotent !== true || authorise(call).kind === "deny") return awaitPerson(call, call.tool.name, call.argsSummary);
  noteResolved(call, { effectStatus: "unknown", how: "repeated" });
  // The repetition is on record before it begins; whoever lost the run cannot write that down, and so does not repeat.
  return (await flushIntent(call, "full")) ?? { kind: "goes_on", how: "again" };
}

/** The same for a call whose tool or arguments are not valid any more: only a person can tell. */
export function recoverBlind(scope: CallScope, known: Known, why: Ended): Ended | ParkedCall {
  const said = scope.request.past?.said;
  if (said?.kind !== "resolution") return isOver(scope) ? abandoned(scope, known) : awaitPerson(scope, known.tool, null);
  noteResolved(scope, { effectStatus: said.happened ? "done" : "none", how: "person", by: said.by });
  if (!said.happened) return why;
  const wire = said.output?.clear ?? { json: '{"$cg":"undefined"}', tagged: true };
  return { kind: "ended", outcome: okOutcome(wire, [], "done"), wire, cached: false, attempts: 0 };
}

/** It is performed when the run goes on; where that ends, nothing is. */
function neverHappened(call: ReadyCall): Recovered {
  if (call.request.closing !== true) return { kind: "goes_on", how: "anew" };
  return ended({ outcome: "cancelled", code: "CANCELLED", tool: call.tool.name, message: withEffect(`The run was ended, and the call of ${call.tool.name} had not taken place`, call.effect, "none") });
}

function isOver({ stop, request }: CallScope): boolean {
  return stop.aborted || request.closing === true;
}

/** The run was ended while the call could not be settled. */
function abandoned({ request }: CallScope, { tool, effect }: Pick<Known, "tool" | "effect">): Ended {
  const begun = effect !== "read" && (request.past?.begun === true || request.past?.job !== undefined);
  const effectStatus: EffectStatus = begun ? "unknown" : "none";
  return ended({ outcome: "cancelled", code: "CANCELLED", tool, message: withEffect(`The run was ended before the call of ${tool} could be settled`, effect, effectStatus), effectStatus });
}

function awaitPerson({ request }: CallScope, tool: string, argsSummary: ReadyCall["argsSummary"]): ParkedCall {
  const resolved = request.past?.resolved ?? 0;
  return { kind: "parked", wait: { kind: "resolution", seq: request.seq, callId: request.callId, attempt: resolved, tool, argsSummary }, past: { issued: true, begun: true, resolved, ...(request.past?.edited === undefined ? {} : { edited: request.past.edited }) } };
}

function noteResolved({ seams, record, request }: CallScope, resolved: Pick<Resolved, "effectStatus" | "how" | "by">): void {
  const atMs = seams.clock.now();
  record.add({ kind: "call-resolved", atMs, seq: request.seq, ...resolved });
  const { effectStatus, how } = resolved;
  seams.emit({ kind: "call-resolved", atMs, runId: request.runId, principal: request.principal, callId: request.callId, tool: request.tool, effectStatus, how });
}

async function happened(call: ReadyCall, value: unknown): Promise<Ended> {
  return await validateOutput(call, { kind: "performed", value, artifacts: [], attempts: 0 });
}
