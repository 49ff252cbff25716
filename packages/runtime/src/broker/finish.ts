import { decodeValue, encodeValue, SourceReturn } from "@callgate/contract";
import type { CallError, JournalEntry, RecordedValue, WireValue } from "@callgate/contract";
import type { CallScope, Ended, Known, PerformedCall } from "./call.ts";
import { costOf } from "./call-cost.ts";
import { withEffect } from "./ended.ts";
import { journalRefusal } from "./journal-refusal.ts";
import { settleBudgets } from "./limit.ts";
import type { LateEnd } from "./perform.ts";
import { concealSecrets } from "./secret-arguments.ts";
import { sensitiveValues, withoutValues } from "./sensitive-values.ts";
import { readThrown } from "./thrown.ts";

/**
 * Records and tells how a call ended. The outcome is never thrown away: what cannot be journalled is reported together
 * with that fact. The program hears of a write only once its outcome is recorded.
 */
export async function finish(scope: CallScope, known: Known, end: Ended & { readonly startedMs: number }): Promise<PerformedCall> {
  const { seams, request, state, record } = scope;
  state.over = true;
  const { outcome } = end;
  const durationMs = Math.max(0, seams.clock.monotonic() - end.startedMs - state.personMs);
  const attempts = end.cached ? 0 : Math.max(end.attempts, state.attempts);
  const cost = costOf(scope, known.cost, attempts);
  // Not waited for: whoever reserves next finds what this one left.
  settleBudgets(scope, () => ({ calls: attempts, bytes: attempts === 0 ? 0 : Buffer.byteLength(request.args.json) + Buffer.byteLength(end.wire?.json ?? ""), durationMs: attempts === 0 ? 0 : Math.ceil(durationMs), tokens: cost?.tokens ?? 0, microUsd: cost?.microUsd ?? 0 }));
  const priced = cost === undefined ? {} : { cost };
  const by = { ...(end.answeredBy === undefined ? {} : { answeredBy: end.answeredBy }), ...(end.simulated === undefined ? {} : { simulated: end.simulated }) };
  const told = { outcome: outcome.kind, effectStatus: outcome.effectStatus, durationMs, ...(outcome.kind === "ok" ? {} : { error: withoutValues(outcome.error, argumentTexts(scope, known)) }), ...priced };
  record.add({
    kind: "call-ended",
    atMs: seams.clock.now(),
    seq: request.seq,
    ...told,
    attempts: end.attempts,
    cached: end.cached,
    ...by,
    ...(end.asInterface === undefined ? {} : { asInterface: end.asInterface }),
    ...(end.release === undefined ? {} : { release: end.release }),
    ...(end.resultDecided === undefined ? {} : { resultDecided: end.resultDecided }),
    ...(end.wire === undefined || outcome.kind !== "ok" ? {} : recordedResult(scope, known, { value: "value" in end ? end.value : outcome.value, wire: end.wire })),
    artifacts: outcome.kind === "ok" ? outcome.artifacts : [],
  });
  const marking = mark(scope, known, end);
  const recorded = handOver(scope, known, isKept(scope, known, end.wire) ? end.wire : undefined) ? undefined : flush(scope, known);
  if (known.effect !== "read") await recorded;
  const unmarked = marking === undefined ? undefined : await marking;
  seams.emit({ kind: "call-ended", atMs: seams.clock.now(), runId: request.runId, principal: request.principal, callId: request.callId, tool: known.tool, ...told, ...(end.cached ? { cached: true } : {}), ...by });
  return { kind: "performed", outcome, durationMs, effect: known.effect, argsDigest: known.argsDigest, sensitiveValues: sensitiveOf(scope, known, end), ...priced, ...(end.simulated === undefined ? {} : { simulated: end.simulated }), ...(end.wire === undefined ? {} : { wire: end.wire }), ...toldLater(recorded, [end.notice, unmarked]) };
}

/**
 * What the tool said, an answer or an error, brings its labels along before anybody hears it. Where that cannot be written
 * it holds in this process all the same, and is told.
 */
function mark(scope: CallScope, { labels, tool }: Known, { outcome, cached, attempts }: Ended): Promise<string | undefined> | undefined {
  const { seams, request, state } = scope;
  const isHeard = outcome.kind === "ok" || cached || Math.max(attempts, state.attempts) > 0;
  if (labels.length === 0 || !isHeard) return undefined;
  const atMs = seams.clock.now();
  return request.taint.add(labels.map((label) => ({ label, tool, runId: request.runId, seq: request.seq, atMs })))?.then(
    () => undefined,
    (fault: unknown) => `The labels of ${tool} (${labels.join(", ")}) could not be written to the journal, so that other processes do not know of them: ${scope.safe.text(fault instanceof Error ? fault.message : String(fault))}`,
  );
}

/** A larger value is written by itself: if it cannot be stored, it takes nothing else along. */
const maxGatheredChars = 32 * 1024;

/** The record of a read goes with its run's next entries; whether those could be written, the run tells. */
function handOver({ request, record }: CallScope, { effect }: Known, wire: WireValue | undefined): boolean {
  if (request.reread === true) {
    record.take(); // It is on record already.
    return true;
  }
  if (effect !== "read" || request.gather === undefined) return false;
  if (request.args.json.length > maxGatheredChars || (wire?.json.length ?? 0) > maxGatheredChars) return false;
  request.gather(record.take());
  return true;
}

/** What there is to say once the end is recorded. */
function toldLater(recorded: Promise<readonly string[]> | undefined, notices: readonly (string | undefined)[]): Pick<PerformedCall, "recorded"> {
  const said = notices.filter((notice) => notice !== undefined);
  if (recorded === undefined && said.length === 0) return {};
  return { recorded: Promise.resolve(recorded).then((told = []) => [...told, ...said]) };
}

/** Clear texts of sensitive arguments: those of the program, and those that interceptors made of them. */
function argumentTexts({ state }: CallScope, { sensitiveValues: given }: Known): readonly string[] {
  return state.sensitive === undefined ? given : [...given, ...state.sensitive];
}

function sensitiveOf(scope: CallScope, known: Known, { outcome, ...end }: Ended): readonly string[] {
  const ofArguments = argumentTexts(scope, known);
  const pointers = known.sensitiveOutput.filter((mark) => typeof mark === "string");
  if (pointers.length === 0 || outcome.kind !== "ok") return ofArguments;
  return [...ofArguments, ...sensitiveValues("value" in end ? end.value : outcome.value, pointers)];
}

/** A large result of a tool that says so need not be: the call is made again. Not one that a person allowed: nobody is asked twice. */
function isKept({ state }: CallScope, { reread }: Known, wire: WireValue | undefined): boolean {
  return !reread || state.wasAsked === true || (wire?.json.length ?? 0) <= maxGatheredChars;
}

function recordedResult(scope: CallScope, known: Known, end: { readonly value: unknown; readonly wire: WireValue }): { readonly result?: RecordedValue; readonly reread?: true } {
  const recorded = recordedValue(scope, known, end);
  if (recorded.result === undefined || isKept(scope, known, end.wire)) return recorded;
  const { digest, summary } = recorded.result;
  return { result: { digest, summary }, reread: true };
}

/** A value that cannot be summarised is left out; the outcome counts more. */
function recordedValue(scope: CallScope, known: Known, { value, wire }: { readonly value: unknown; readonly wire: WireValue }): { readonly result?: RecordedValue } {
  try {
    return { result: scope.seams.redactor.record(value, wire, known.sensitiveOutput) };
  } catch {
    return {};
  }
}

async function flush(scope: CallScope, { tool, effect }: Known): Promise<readonly string[]> {
  try {
    await scope.record.flush(effect === "read" ? "later" : "lazy");
    return [];
  } catch (error) {
    const said = scope.safe.text(error instanceof Error ? error.message : String(error));
    // Kept for the next try of its run: without it the run could not go on from its record.
    scope.request.gather?.(scope.record.take());
    const telling = (why: string): string => `The outcome of ${tool} could not be written to the journal: ${why}`;
    scope.seams.emit({ kind: "journal-degraded", atMs: scope.seams.clock.now(), message: telling(said) });
    return [telling(journalRefusal(error)?.why ?? said)];
  }
}

/** Records a result that came when its call was over. It settles what became of the effect; nobody is handed the value. */
export async function recordLate(scope: CallScope, known: Known, late: LateEnd): Promise<void> {
  const { seams, request } = scope;
  const thrown = late.kind === "threw" ? readThrown(late.error, [], scope.safe) : undefined;
  const effectStatus = known.effect === "read" ? "none" : thrown === undefined ? "done" : thrown.notApplied ? "none" : "unknown";
  const error: CallError | undefined =
    thrown === undefined
      ? undefined
      : { code: thrown.code, message: withEffect(thrown.message, known.effect, effectStatus), tool: known.tool, retryable: thrown.retryable ?? false, ...(thrown.details === undefined ? {} : { details: thrown.details }) };
  const entry: JournalEntry = {
    kind: "call-late",
    atMs: seams.clock.now(),
    seq: request.seq,
    effectStatus,
    ...(late.kind === "value" ? lateValue(scope, known, late.value) : {}),
    ...(error === undefined ? {} : { error: withoutValues(error, argumentTexts(scope, known)) }),
  };
  seams.emit({ kind: "call-late", atMs: seams.clock.now(), runId: request.runId, principal: request.principal, callId: request.callId, tool: known.tool, effectStatus });
  await seams.journal.append(request.lease, [entry], "lazy");
}

/** What came late has passed no schema; it is kept where it can be encoded at all. */
function lateValue(scope: CallScope, known: Known, value: unknown): { readonly result?: RecordedValue } {
  try {
    const bare = SourceReturn.is(value) ? value.value : value;
    const encoded = encodeValue(bare);
    const wire = concealSecrets(scope, encoded);
    if (wire === undefined) return {};
    return recordedValue(scope, known, { value: wire === encoded ? bare : decodeValue(wire), wire });
  } catch {
    return {};
  }
}
