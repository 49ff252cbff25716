import { CallgateError } from "@callgate/contract";
import type { JournalEntry, RecordedValue, WireValue } from "@callgate/contract";
import { isParked } from "../broker/is-ended.ts";
import { callOfRun } from "./call-of-run.ts";
import { readRecordedCalls } from "./recorded-calls.ts";
import type { RunScope } from "./run-scope.ts";

type Entry<Kind extends JournalEntry["kind"]> = Extract<JournalEntry, { kind: Kind }>;

/**
 * Makes the reads of a run again whose large results were not kept (`reread` of a tool), before it goes on: each passes
 * the broker like any call, no more at once than the run may make, and its run's record keeps that it was made again, not what it gave. One that gives something
 * else than before is told; whether the program then still does what its record says, the replay finds out.
 *
 * Gives the entries with those results in them. Errors: RUN_NOT_RESUMABLE when a read fails or is not allowed any more.
 */
export async function readAgain(scope: RunScope, entries: readonly JournalEntry[], signal: AbortSignal): Promise<readonly JournalEntry[]> {
  const calls = readRecordedCalls(entries, []);
  const lost = entries.filter(isLost);
  if (lost.length === 0) return entries;
  const found = new Map<number, Entry<"call-ended">>();
  const waiting = [...lost];
  async function readOn(): Promise<void> {
    for (let ended = waiting.shift(); ended !== undefined; ended = waiting.shift()) {
      const issued = calls.get(ended.seq)?.issued;
      if (issued?.args.clear === undefined) continue; // Erased: then the run cannot go on, which is told for all of it.
      found.set(ended.seq, { ...ended, result: await readOne(scope, { issued, args: issued.args.clear, before: ended.result, signal }) });
    }
  }
  // After one that failed no other is begun, and those under way end first: a run that is given back makes no calls.
  const hands = Array.from({ length: Math.min(lost.length, scope.limits.concurrentCalls) }, () => readOn().finally(() => (waiting.length = 0)));
  const failed = (await Promise.allSettled(hands)).find((ended) => ended.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return entries.map((entry) => (entry.kind === "call-ended" ? (found.get(entry.seq) ?? entry) : entry));
}

function isLost(entry: JournalEntry): entry is Entry<"call-ended"> & { readonly result: RecordedValue } {
  return entry.kind === "call-ended" && entry.reread === true && entry.result !== undefined && entry.result.clear === undefined;
}

/** The entries as if those results were there: to see whether the run could go on with them. */
export function assumingReads(entries: readonly JournalEntry[]): readonly JournalEntry[] {
  return entries.map((entry) => (isLost(entry) ? { ...entry, result: { ...entry.result, clear: { json: "null", tagged: false } } } : entry));
}

interface Reading {
  readonly issued: Entry<"call-issued">;
  readonly args: WireValue;
  readonly before: RecordedValue;
  readonly signal: AbortSignal;
}

async function readOne(scope: RunScope, { issued, args, before, signal }: Reading): Promise<RecordedValue> {
  const { seams, runId, log, notices } = scope;
  const { tool, callId, seq, occurrence } = issued;
  const answer = await seams.broker.perform({ ...callOfRun(scope), tool, args, callId, seq, occurrence: occurrence ?? 0, signal, reread: true, past: { issued: true, begun: true, resolved: 0 } });
  if (isParked(answer)) throw notReadable(runId, { tool, seq }, "it asks a person now");
  if (answer.outcome.kind !== "ok" || answer.wire === undefined) throw notReadable(runId, { tool, seq }, answer.outcome.kind === "ok" ? "it gave nothing" : answer.outcome.error.message);
  const { digest } = seams.redactor.record(answer.outcome.value, answer.wire, []);
  const same = digest === before.digest;
  log.add({ kind: "call-reread", atMs: seams.clock.now(), seq, durationMs: answer.durationMs, digest, same });
  if (!same) notices.add(`The large result of ${tool} (call ${seq}) was not kept. Read again it is another one than before (${digest.slice(0, 19)}…, it was ${before.digest.slice(0, 19)}…); the program goes on with that`);
  return { ...before, digest, clear: answer.wire };
}

function notReadable(runId: string, { tool, seq }: { readonly tool: string; readonly seq: number }, why: string): CallgateError {
  return new CallgateError("RUN_NOT_RESUMABLE", `Run ${runId} was not resumed: the result of call ${seq} (${tool}) was not kept, and it cannot be read again: ${why}. Nothing else was performed; it is tried again in a minute, or with callgate runs resume ${runId}`, { details: { runId, seq, tool } });
}
