import { decodeValue } from "@callgate/contract";
import type { ApprovalQuestion, CallError, JournalEntry, RunResult } from "@callgate/contract";
import type { PerformedCall } from "../broker/call.ts";
import { isParked } from "../broker/is-ended.ts";
import type { ParkedCall } from "../broker/call-past.ts";
import { callOfRun } from "./call-of-run.ts";
import { undoSeqOf } from "../journal/undo-seq.ts";
import { checkedInterfaces } from "./pinned-interfaces.ts";
import { readRecordedCalls } from "./recorded-calls.ts";
import type { RecordedCall } from "./recorded-calls.ts";
import type { RunScope } from "./run-scope.ts";

export type Compensation = NonNullable<RunResult["compensation"]>;
type Remaining = Compensation["remaining"][number];

const inDoubt = "it is not known whether it took effect";
const undoingInDoubt = "it is not known whether undoing it took effect";
const undoingFailed = ({ message }: CallError): string => `undoing it failed: ${message}`;

/**
 * Undoes what a run has done, in reverse order, as far as its tools declare how (DESIGN P7). Each step is a call of its
 * own: it passes the broker like any write and is on record, so that whoever goes on after a crash undoes nothing twice.
 *
 * @param entries the record with its clear values
 */
export async function compensate(given: RunScope, entries: readonly JournalEntry[], signal: AbortSignal): Promise<Compensation> {
  const scope = { ...given, view: given.view.pinnedTo(checkedInterfaces(entries)) };
  const { journal } = scope.seams;
  const calls = readRecordedCalls(entries, await journal.readSignals(scope.principal.tenant, scope.runId, { clear: true }));
  const undone: string[] = [];
  const undoneBefore: string[] = [];
  const remaining: Remaining[] = [];
  for (const { seq, call } of doneInReverse(entries, calls)) {
    const { tool, callId } = call.issued;
    const before = calls.get(undoSeqOf(seq));
    const left = isUndone(before) ? undefined : await undo(scope, { seq, call, before, signal });
    if (left !== undefined) remaining.push({ callId, tool, ...left });
    else {
      undone.push(callId);
      if (isUndone(before)) undoneBefore.push(callId);
    }
  }
  return { undone, ...(undoneBefore.length === 0 ? {} : { undoneBefore }), remaining };
}

/** Whether anything that a run did can be undone. Only then is it tried. */
export function canCompensate(scope: RunScope, tools: Iterable<string>): boolean {
  for (const tool of tools) if (scope.view.catalog.resolve(tool)?.tool.compensate !== undefined) return true;
  return false;
}

/** What the record says of the undoing of a run; undefined when none was begun. */
export function recordedCompensation(entries: readonly JournalEntry[]): Compensation | undefined {
  const calls = readRecordedCalls(entries, []);
  if (![...calls.values()].some(({ issued }) => issued?.compensates !== undefined)) return undefined;
  const undone: string[] = [];
  const remaining: Remaining[] = [];
  for (const { seq, call } of doneInReverse(entries, calls)) {
    const { tool, callId } = call.issued;
    const undoing = calls.get(undoSeqOf(seq));
    if (isUndone(undoing)) undone.push(callId);
    else remaining.push({ callId, tool, ...whyRemaining(call, undoing) });
  }
  return { undone, remaining };
}

function whyRemaining(call: Issued, undoing: RecordedCall | undefined): Why {
  if ((call.effectStatus ?? "unknown") === "unknown") return { why: inDoubt };
  if (undoing?.issued === undefined) return { why: "nothing undid it" };
  const { ended, past } = undoing;
  if (ended === undefined && past.question !== undefined) return waitsFor(past.question);
  return { why: ended?.error === undefined ? undoingInDoubt : undoingFailed(ended.error) };
}

/** Why an effect is not undone. */
type Why = Pick<Remaining, "why" | "approvalId">;

function waitsFor({ approvalId, runId }: ApprovalQuestion): Why {
  return { why: `undoing it waits for approval ${approvalId}; once it is given, callgate runs rollback ${runId} goes on`, approvalId };
}

type Issued = RecordedCall & { readonly issued: NonNullable<RecordedCall["issued"]> };

/** Writes of the run that took effect, or may have, the last that ended first. */
function doneInReverse(entries: readonly JournalEntry[], calls: ReadonlyMap<number, RecordedCall>): readonly { readonly seq: number; readonly call: Issued }[] {
  const endedAt = new Map(entries.flatMap((entry, index) => (entry.kind === "call-ended" ? [[entry.seq, index] as const] : [])));
  return [...calls]
    .flatMap(([seq, call]) => {
      const { issued, effectStatus, past } = call;
      if (issued === undefined || issued.effect === "read" || issued.compensates !== undefined || isAnothers(call)) return [];
      const status = effectStatus ?? (past.begun ? "unknown" : "none");
      return status === "none" ? [] : [{ seq, call: { ...call, issued } }];
    })
    .sort((a, b) => (endedAt.get(b.seq) ?? Number.POSITIVE_INFINITY) - (endedAt.get(a.seq) ?? Number.POSITIVE_INFINITY) || b.seq - a.seq);
}

/** The write is another call's, whose answer was given: what that one did is for its own run to undo. */
function isAnothers({ ended }: RecordedCall): boolean {
  return ended?.cached === true || ended?.error?.code === "EFFECT_ELSEWHERE";
}

/** It ended well, or it turned out later that it took effect: it came late, or a person said so. */
function isUndone(undoing: RecordedCall | undefined): boolean {
  return undoing?.ended?.outcome === "ok" || undoing?.effectStatus === "done";
}

interface Undoing {
  readonly seq: number;
  readonly call: Issued;
  /** How far an earlier try came. */
  readonly before: RecordedCall | undefined;
  readonly signal: AbortSignal;
}

/** Undefined when the effect is undone; else why a person has to see to it. */
async function undo(scope: RunScope, { seq, call, before, signal }: Undoing): Promise<Why | undefined> {
  if ((call.effectStatus ?? "unknown") === "unknown") return { why: inDoubt };
  const { tool, args, occurrence } = call.issued;
  const known = scope.view.catalog.resolve(tool);
  if (known === undefined) return { why: "its tool is gone" };
  if (known.tool.compensate === undefined) return { why: "its tool declares no way to undo it" };
  const performed = call.edited ?? args;
  if (performed.clear === undefined) return { why: "its arguments are not kept any more" };
  if (before?.effectStatus === "unknown") return { why: undoingInDoubt };
  const asInterface = call.ended?.asInterface;
  const restore = known.older?.digest === asInterface ? known.older?.restore : undefined;
  if (asInterface !== undefined && restore === undefined) return { why: "its answer is on record in the form of an older version, and the tool knows no way back to its own (restore)" };
  const answered = call.output?.clear === undefined ? undefined : decodeValue(call.output.clear);
  const output = restore === undefined ? answered : restore(answered);
  const { seams, runId } = scope;
  const undoSeq = undoSeqOf(seq);
  const past = before === undefined || before.ended !== undefined ? {} : { past: before.past };
  const answer = await seams.broker.perform({ ...callOfRun(scope), tool, args: performed.clear, callId: `${runId}.${undoSeq}`, seq: undoSeq, occurrence: occurrence ?? 0, signal, undo: { seq, output }, ...past });
  return whyNot(answer);
}

function whyNot(answer: PerformedCall | ParkedCall): Why | undefined {
  if (!isParked(answer)) return answer.outcome.kind === "ok" ? undefined : { why: undoingFailed(answer.outcome.error) };
  return answer.wait.kind === "approval" ? waitsFor(answer.wait.question) : { why: undoingInDoubt };
}
