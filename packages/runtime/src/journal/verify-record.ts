import { setImmediate as nextTurn } from "node:timers/promises";
import type { AuditVerdict, VerifyOptions } from "@callgate/contract";
import type { AuditStamps } from "./audit-stamps.ts";
import { textColumn } from "./columns.ts";
import type { Row } from "./columns.ts";
import { createLedgerBook } from "./ledger-book.ts";
import type { LedgerBook } from "./ledger-book.ts";
import type { RecordRows } from "./record-rows.ts";
import { createRunWalk, standingOf } from "./run-walk.ts";
import type { RunWalk } from "./run-walk.ts";
import { createReport } from "./verify-report.ts";
import type { Report } from "./verify-report.ts";

export interface VerifySeams {
  readonly rows: RecordRows;
  readonly stamps: AuditStamps;
  readonly nowMs: number;
}

const PAGE_RUNS = 200;

/** Entries asked for at once. */
const PAGE_ENTRIES = 1_000;

/** A run may be written while it is read: what looks wrong is looked at again, this often. */
const LOOKS = 3;

interface Count {
  entries: number;
  runs: number;
  openRuns: number;
  unchainedRuns: number;
  erasedRuns: number;
}

interface Verification extends VerifySeams {
  readonly options: VerifyOptions;
  readonly report: Report;
  readonly book: LedgerBook;
  readonly count: Count;
  /** Runs in which something looked wrong. */
  readonly suspects: Set<string>;
  readonly breathe: () => Promise<void>;
}

/**
 * Checks every stamp of a record: the ledger, then each run, then what was written meanwhile. What looks wrong in a run is
 * looked at again before it is told, because the run may just have been written.
 */
export async function verifyRecord(seams: VerifySeams, options: VerifyOptions = {}): Promise<AuditVerdict> {
  const { rows, stamps, nowMs } = seams;
  const report = createReport();
  const count: Count = { entries: 0, runs: 0, openRuns: 0, unchainedRuns: 0, erasedRuns: 0 };
  const breathe = async (): Promise<void> => {
    options.onProgress?.({ entries: count.entries, runs: count.runs });
    await nextTurn();
    options.signal?.throwIfAborted();
  };
  const book = createLedgerBook({ rows, stamps, report, checkpoint: options.checkpoint, breathe });
  const verification: Verification = { ...seams, options, report, book, count, suspects: new Set(), breathe };
  await book.read();
  await verifyRuns(verification);
  await book.read();
  await judge(verification);
  await judgeGrants(verification);
  book.conclude(await rows.holds());
  if (count.unchainedRuns > book.unchainedRuns) report.add({ fault: "run-changed", message: `${count.unchainedRuns} runs have no stamps; when the ledger began there were ${book.unchainedRuns}: those of others were taken away` });
  return { ok: report.count === 0, ...count, removedRuns: book.removedRuns, ledgerLines: book.lines, findings: report.findings, findingCount: report.count, checkpoint: book.checkpoint(nowMs) };
}

async function verifyRuns(verification: Verification): Promise<void> {
  const { rows, breathe } = verification;
  let after = 0;
  for (;;) {
    const runs = await rows.runs(after, PAGE_RUNS);
    for (const group of groupsOf(runs)) {
      await verifyGroup(verification, group);
      await breathe();
    }
    if (runs.length < PAGE_RUNS) return;
    after = Number(runs.at(-1)?.["run_no"]);
  }
}

/** Short runs are read together, a long one by itself. */
function groupsOf(runs: readonly Row[]): readonly (readonly Row[])[] {
  const groups: Row[][] = [];
  let size = Infinity;
  for (const run of runs) {
    const entries = Number(run["next_position"]);
    if (size + entries > PAGE_ENTRIES) {
      groups.push([]);
      size = 0;
    }
    groups.at(-1)?.push(run);
    size += entries;
  }
  return groups;
}

async function verifyGroup(verification: Verification, runs: readonly Row[]): Promise<void> {
  const { rows, stamps, count, book, suspects } = verification;
  for (const run of runs) countRun(run, verification);
  const chained = runs.filter((run) => standingOf(run, stamps) === "chained");
  for (const run of runs) if (standingOf(run, stamps) !== "chained") suspects.add(textColumn(run, "run_id"));
  if (chained.length === 0) return;
  const reports = new Map(chained.map((run) => [textColumn(run, "run_id"), createReport(1)]));
  const walks = new Map(chained.map((run) => [Number(run["run_no"]), walkOf(verification, run, reports.get(textColumn(run, "run_id")) ?? createReport())]));
  await walkEntries(verification, chained, walks);
  const said = Map.groupBy(await rows.signals(chained.map((run) => textColumn(run, "run_id"))), (row) => textColumn(row, "run_id"));
  for (const run of chained) {
    const [runId, walk] = [textColumn(run, "run_id"), walks.get(Number(run["run_no"]))];
    const booked = book.see(runId);
    walk?.end(booked, said.get(runId) ?? []);
    count.entries += walk?.entries ?? 0;
    if (booked === undefined || booked.removed === true || (reports.get(runId)?.count ?? 0) > 0) suspects.add(runId);
  }
}

function countRun(run: Row, { stamps, count }: Verification): void {
  count.runs += 1;
  if (run["ended_at_ms"] === null) count.openRuns += 1;
  if (!(run["wrapped"] instanceof Uint8Array)) count.erasedRuns += 1;
  if (standingOf(run, stamps) === "unchained") count.unchainedRuns += 1;
}

function walkOf({ stamps }: Verification, run: Row, report: Report): RunWalk {
  return createRunWalk(run, { stamps, report });
}

async function walkEntries({ rows, breathe }: Verification, runs: readonly Row[], walks: ReadonlyMap<number, RunWalk>): Promise<void> {
  const isLong = runs.length === 1 && Number(runs[0]?.["next_position"]) > PAGE_ENTRIES;
  if (!isLong) {
    for (const row of await rows.entries(runs)) walks.get(Number(row["run_no"]))?.row(row);
    return;
  }
  for (let after = -1; ; ) {
    const page = await rows.entries(runs, { after, limit: PAGE_ENTRIES });
    for (const row of page) walks.get(Number(row["run_no"]))?.row(row);
    await breathe();
    if (page.length < PAGE_ENTRIES) return;
    after = Number(page.at(-1)?.["position"]);
  }
}

/** Looks again at what looked wrong, and for what is in the ledger and was not met. */
async function judge(verification: Verification): Promise<void> {
  const { book, suspects, breathe } = verification;
  for (const [runId, { seen, removed, from }] of book.runs) if (seen === undefined && removed === undefined && from !== undefined) suspects.add(runId);
  for (const runId of suspects) {
    let found = await lookAt(verification, runId);
    for (let look = 1; look < LOOKS && found.count > 0; look += 1) {
      await book.read();
      await breathe();
      found = await lookAt(verification, runId);
    }
    for (const finding of found.findings) verification.report.add(finding);
  }
}

/** Grants are used meanwhile as well. */
async function judgeGrants({ rows, book, report, nowMs, breathe }: Verification): Promise<void> {
  let problems: readonly string[] = [];
  for (let look = 0; look < LOOKS; look += 1) {
    problems = await grantProblems(rows, book, nowMs);
    if (problems.length === 0) return;
    await breathe();
  }
  for (const message of problems) report.add({ fault: "grant-changed", message });
}

async function grantProblems(rows: RecordRows, book: LedgerBook, nowMs: number): Promise<readonly string[]> {
  try {
    const kept = { grants: await rows.grants(), uses: await rows.grantUses() };
    await book.read();
    return book.grantProblems(kept, nowMs);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return ["A standing grant cannot be read any more: it was changed outside of Callgate"];
  }
}

async function lookAt(verification: Verification, runId: string): Promise<Report> {
  const { rows, stamps, book } = verification;
  const report = createReport();
  const run = await rows.run(runId);
  const booked = book.see(runId);
  if (run === undefined) {
    if (booked?.from !== undefined && booked.removed === undefined) report.add({ fault: "run-missing", runId, message: `Run ${runId} is gone, and no removal of it is on record` });
    return report;
  }
  const standing = standingOf(run, stamps);
  if (booked?.removed === true) report.add({ fault: "run-returned", runId, message: `Run ${runId} is there although it was removed: an older copy was put back` });
  else if (standing === "unknown") report.add({ fault: "key-unknown", runId, message: `Run ${runId} was written under another journal key; it cannot be verified with this one` });
  else if (standing === "unchained") {
    if (booked?.from !== undefined) report.add({ fault: "run-changed", runId, message: `Run ${runId}: its stamps were taken away` });
  } else {
    if (booked?.from === undefined) report.add({ fault: "run-unlisted", runId, message: `Run ${runId} is there, and the ledger does not know that it began` });
    const walk = createRunWalk(run, { stamps, report });
    await walkEntries(verification, [run], new Map([[Number(run["run_no"]), walk]]));
    walk.end(booked, await rows.signals([runId]));
  }
  return report;
}
