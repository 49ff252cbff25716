import { CallgateError } from "@callgate/contract";
import { isSame, stampText } from "./audit-stamps.ts";
import type { AuditStamps, Stamp } from "./audit-stamps.ts";
import { optionalNumber, optionalText, textColumn } from "./columns.ts";
import type { Row } from "./columns.ts";
import { bodiesOf } from "./entry-rows.ts";
import type { BookedRun } from "./ledger-book.ts";
import { digestIn, endCells, originOf, rowCells, signalCells } from "./run-stamps.ts";
import type { Report } from "./verify-report.ts";

/** Checks one run: its rows one after the other, then all of it against the ledger. */
export interface RunWalk {
  row(row: Row): void;
  end(book: BookedRun | undefined, signals: readonly Row[]): void;
  readonly entries: number;
}

/** `unchained`: nothing can be said of it. `unknown`: written under another key. */
export type RunStanding = "chained" | "unchained" | "unknown";

export function standingOf(run: Row, stamps: AuditStamps): RunStanding {
  const seal = run["seal"];
  if (!(seal instanceof Uint8Array)) return "unchained";
  return stamps.isOurs(seal) ? "chained" : "unknown";
}

export function createRunWalk(run: Row, { stamps, report }: { readonly stamps: AuditStamps; readonly report: Report }): RunWalk {
  const runId = textColumn(run, "run_id");
  const from = Number(run["chained_from"]);
  const isErased = !(run["wrapped"] instanceof Uint8Array);
  const stampsAt = new Map<number, string>();
  const calls: CallCount = { all: 0, seqs: new Set<number>(), at: [], isKnown: true };
  let previous: Stamp = stamps.origin(originOf(run, from));
  let [next, entries] = [from, 0];

  const found = (fault: "entry-changed" | "entry-missing" | "run-changed" | "payload-missing" | "signal-changed", message: string, position?: number): void =>
    report.add({ fault, runId, ...(position === undefined ? {} : { position }), message: `Run ${runId}: ${message}` });

  function verifyRow(row: Row, position: number): void {
    const cells = rowCells({ tenant: textColumn(row, "tenant"), userId: textColumn(row, "user_id"), kind: textColumn(row, "kind"), atMs: Number(row["at_ms"]), seq: optionalNumber(row, "seq") ?? null, size: Number(row["size"]), calls: Number(row["calls"]), texts: Number(row["texts"]) });
    const made = stamps.row(previous, { runId, position, cells, body: textColumn(row, "body"), sealedDigest: digestIn(row, "sealed") });
    if (!isSame(row["stamp"], made)) {
      const first = position === from ? ", or what the run was started with," : "";
      found("entry-changed", `entry ${position}${Number(row["size"]) > 1 ? ` to ${position + Number(row["size"]) - 1}` : ""}${first} was changed or moved after it was written`, position);
    } else if (row["sealed"] === null && row["sealed_digest"] !== null && !isErased) {
      found("payload-missing", `the sealed values of entry ${position} are gone, and the run was not erased`, position);
    }
  }

  return {
    get entries() {
      return entries;
    },
    row(row) {
      const [position, size] = [Number(row["position"]), Number(row["size"])];
      if (position < from) return;
      if (position === next) verifyRow(row, position);
      else if (position > next) found("entry-missing", `entries ${next} to ${position - 1} are gone`, next);
      else found("entry-changed", `entry ${position} is there twice`, position);
      const { stamp } = row;
      previous = stamp instanceof Uint8Array ? stamp : new Uint8Array(0);
      next = position + size;
      entries += size;
      stampsAt.set(next, stampText(previous));
      if (Number(row["calls"]) > 0) countCalls(row, next, calls);
    },
    end(book, signals) {
      const last = run["stamp"] instanceof Uint8Array ? run["stamp"] : new Uint8Array(0);
      const end = endCells(run);
      const told = Number(run["next_position"]);
      if (next < told) found("entry-missing", `entries ${next} to ${told - 1}, its last, are gone`, next);
      else if (next > told) found("entry-changed", `it has ${next} entries, of ${told} that were written`, told);
      else if (!isSame(last, previous)) found("entry-changed", `its last entry is not the one that was written last`, next - 1);
      const seal = stamps.seal({ runId, from, next: told, last, programDigest: optionalText(run, "program_digest") ?? null, end });
      if (!isSame(run["seal"], seal)) found("run-changed", "how it stands or ended was changed, or an older state was put in its place");
      else if (from === 0 && calls.isKnown) checkCalls(run, callsUpTo(book?.ended?.entries, calls), found);
      if (book === undefined) return;
      if (book.from !== undefined && book.from !== from) found("run-changed", `its record begins with entry ${from}, not with ${book.from}`);
      if (end !== null && book.ended === undefined) found("run-changed", "it has an end that the ledger does not know");
      if (end === null && book.ended !== undefined) found("run-changed", "its end was taken away");
      if (book.ended !== undefined && stampsAt.get(book.ended.entries) !== undefined && stampsAt.get(book.ended.entries) !== book.ended.stamp) found("entry-changed", `the entries up to its end are not those of the ledger`, book.ended.entries - 1);
      if (isErased && book.erased === undefined) found("payload-missing", "its key is gone, and no erasure is on record");
      checkSignals({ runId, from, told: book.told ?? [], signals, stamps }, (message, position) => found("signal-changed", message, position));
    },
  };
}

interface CallCount {
  all: number;
  /** False once a row could not be read: what it held nobody knows. */
  isKnown: boolean;
  readonly seqs: Set<number>;
  /** How many there were by so many entries. */
  readonly at: { readonly entries: number; readonly all: number; readonly seqs: number }[];
}

function countCalls(row: Row, entries: number, calls: CallCount): void {
  const bodies = readableBodies(row);
  if (bodies === undefined) calls.isKnown = false;
  for (const body of bodies ?? []) {
    if (body.kind !== "call-issued") continue;
    calls.all += 1;
    calls.seqs.add(body.seq);
  }
  calls.at.push({ entries, all: calls.all, seqs: calls.seqs.size });
}

/** What is undone after the end of a run is none of the calls it is listed with. */
function callsUpTo(end: number | undefined, { at }: CallCount): Pick<CallCount["at"][number], "all" | "seqs"> {
  return at.findLast(({ entries }) => entries <= (end ?? Number.POSITIVE_INFINITY)) ?? { all: 0, seqs: 0 };
}

/** Undefined where somebody changed the text so that it is no JSON any more; its stamp tells. */
function readableBodies(row: Row): ReturnType<typeof bodiesOf> | undefined {
  try {
    return bodiesOf(row);
  } catch (error) {
    if (error instanceof SyntaxError || (CallgateError.is(error) && error.code === "JOURNAL_CORRUPT")) return undefined;
    throw error;
  }
}

/** The number is kept beside the record, for lists. */
function checkCalls(run: Row, calls: ReturnType<typeof callsUpTo>, found: (fault: "run-changed", message: string) => void): void {
  const kept = optionalNumber(run, "call_count");
  if (kept !== undefined && kept !== calls.all && kept !== calls.seqs) found("run-changed", `its list says ${kept} calls, its record ${calls.all}`);
}

interface SaidToRun {
  readonly runId: string;
  readonly from: number;
  readonly told: NonNullable<BookedRun["told"]>;
  readonly signals: readonly Row[];
  readonly stamps: AuditStamps;
}

function checkSignals({ runId, from, told, signals, stamps }: SaidToRun, found: (message: string, position: number) => void): void {
  const left = new Map(signals.map((row) => [Number(row["position"]), row]));
  for (const { position, stamp } of told) {
    const row = left.get(position);
    left.delete(position);
    if (row === undefined) found(`what was said to it as number ${position} is gone`, position);
    else if (stampText(stamps.signal(runId, position, { cells: signalCells(row), body: textColumn(row, "body"), sealedDigest: digestIn(row, "sealed") })) !== stamp) found(`what was said to it as number ${position} was changed`, position);
  }
  // Of a run that began before there was a ledger, what was said until then is not in it.
  if (from === 0) for (const position of left.keys()) found(`nobody said what it has as number ${position}: it was put there outside of Callgate`, position);
}
