import { CallgateError } from "@callgate/contract";
import type { AuditCheckpoint, AuditHold, LedgerEvent } from "@callgate/contract";
import { isSame, noStamp, stampText } from "./audit-stamps.ts";
import type { AuditStamps, Stamp } from "./audit-stamps.ts";
import { bytesColumn, textColumn } from "./columns.ts";
import type { Row } from "./columns.ts";
import { isLedgerEvent } from "./ledger-event-shape.ts";
import type { RecordRows } from "./record-rows.ts";
import type { Report } from "./verify-report.ts";
import { createGrantBook } from "./grant-book.ts";
import type { GrantBook } from "./grant-book.ts";

/** What the ledger says of a run. */
export interface BookedRun {
  /** Where its chain begins; undefined: only something else is said of it. */
  from?: number;
  ended?: { readonly entries: number; readonly stamp: string };
  erased?: true;
  removed?: true;
  told?: { readonly position: number; readonly stamp: string }[];
  /** It was found in the record. */
  seen?: true;
}

interface Lane {
  readonly lane: number;
  position: number;
  stamp: Stamp;
  tail: unknown;
  /** Its first line, where lines before it are gone: verified once it is known that they were cut. */
  first: Row | undefined;
}

/** Reads the ledger, checks it, and keeps what it says. Reading goes on where it ended before. */
export interface LedgerBook {
  readonly runs: ReadonlyMap<string, BookedRun>;
  readonly unchainedRuns: number;
  readonly lines: number;
  readonly removedRuns: number;
  read(): Promise<void>;
  /** After the last reading: what only the whole ledger tells. */
  conclude(holds: readonly AuditHold[]): void;
  /** What is wrong with grants, as far as the ledger was read. */
  readonly grantProblems: GrantBook["problems"];
  checkpoint(atMs: number): AuditCheckpoint;
  see(runId: string): BookedRun | undefined;
}

const PAGE_LINES = 500;

export interface BookSeams {
  readonly rows: RecordRows;
  readonly stamps: AuditStamps;
  readonly report: Report;
  /** Made earlier; where its lanes stood then is looked for while they are read. */
  readonly checkpoint: AuditCheckpoint | undefined;
  /** Called between pages. */
  readonly breathe: () => Promise<void>;
}

export function createLedgerBook(seams: BookSeams): LedgerBook {
  const { rows, breathe, report } = seams;
  const told: Told = { runs: new Map(), opened: new Set([0]), cuts: new Map(), holds: new Map(), grants: createGrantBook(), removedRuns: 0, unchainedRuns: 0 };
  const lanes = new Map<number, Lane>();
  const marks = new Map(seams.checkpoint?.lanes.map(({ lane, position, stamp }) => [lane, { position, stamp, found: false }]));
  let lines = 0;

  function take(lane: Lane, row: Row): void {
    takeLine(lane, row, seams);
    lines += 1;
    const mark = marks.get(lane.lane);
    if (mark?.position === lane.position) mark.found = mark.stamp === stampText(lane.stamp);
    const events = eventsOf(row);
    if (events === undefined) report.add({ fault: "ledger-changed", lane: lane.lane, position: lane.position, message: `Line ${lane.position} of the ledger${laneText(lane.lane)} cannot be read` });
    for (const event of events ?? []) note(told, event);
  }

  async function readLane(number: number): Promise<void> {
    let lane = lanes.get(number);
    if (lane === undefined) lanes.set(number, (lane = { lane: number, position: 0, stamp: noStamp, tail: null, first: undefined }));
    for (let read = PAGE_LINES; read === PAGE_LINES; ) {
      const page = await rows.lines(number, lane.position, PAGE_LINES);
      for (const row of page) take(lane, row);
      if (page.length > 0) await breathe();
      read = page.length;
    }
  }

  return {
    runs: told.runs,
    get unchainedRuns() {
      return told.unchainedRuns;
    },
    get lines() {
      return lines;
    },
    get removedRuns() {
      return told.removedRuns;
    },
    async read() {
      for (const number of await rows.lanes()) await readLane(number);
    },
    grantProblems: (kept, nowMs) => told.grants.problems(kept, nowMs),
    conclude(kept) {
      for (const lane of lanes.values()) concludeLane(lane, told, seams);
      for (const lane of told.opened) if (!lanes.has(lane) && !told.cuts.has(lane) && (lane > 0 || told.runs.size > 0)) report.add({ fault: "ledger-missing", lane, message: `Lane ${lane} of the ledger is gone` });
      for (const [lane, { position, found }] of marks) {
        if (found || position <= (told.cuts.get(lane)?.upTo ?? 0)) continue;
        report.add({ fault: "checkpoint", lane, position, message: `The ledger${laneText(lane)} does not go on from the checkpoint: its line ${position} is not the one of then. An older copy was put in its place, or its end was cut off` });
      }
      compareHolds(told.holds, kept, report);
    },
    checkpoint: (atMs) => ({ atMs, lanes: [...lanes.values()].flatMap(({ lane, position, stamp }) => (position === 0 ? [] : [{ lane, position, stamp: stampText(stamp) }])) }),
    see(runId) {
      const run = told.runs.get(runId);
      if (run !== undefined) run.seen = true;
      return run;
    },
  };
}

/** What the lines read so far have told. */
interface Told {
  readonly runs: Map<string, BookedRun>;
  readonly opened: Set<number>;
  readonly cuts: Map<number, { readonly upTo: number; readonly stamp: string }>;
  readonly holds: Map<string, AuditHold>;
  readonly grants: GrantBook;
  removedRuns: number;
  unchainedRuns: number;
}

function note(told: Told, event: LedgerEvent): void {
  const { runs, opened, cuts, holds } = told;
  switch (event.kind) {
    case "ledger-began":
      told.unchainedRuns += event.unchainedRuns;
      return;
    case "lane-opened":
      return void opened.add(event.lane);
    case "run-began":
      booked(runs, event.runId).from = event.from;
      return;
    case "run-ended":
      booked(runs, event.runId).ended = event;
      return;
    case "run-told":
      (booked(runs, event.runId).told ??= []).push(event);
      return;
    case "run-erased":
      booked(runs, event.runId).erased = true;
      return;
    case "runs-removed":
      told.removedRuns += event.runs.length;
      for (const { runId } of event.runs) runs.set(runId, { removed: true });
      return;
    case "ledger-cut":
      told.removedRuns += event.runs;
      if (event.upTo > (cuts.get(event.lane)?.upTo ?? 0)) cuts.set(event.lane, event);
      return;
    case "hold-placed":
      return void holds.set(event.hold.holdId, event.hold);
    case "hold-released": {
      const hold = holds.get(event.holdId);
      if (hold !== undefined) holds.set(event.holdId, { ...hold, released: { by: event.by, atMs: 0 } });
      return;
    }
    case "grant-given":
    case "grant-used":
    case "grant-revoked":
      return told.grants.note(event);
  }
}

function booked(runs: Map<string, BookedRun>, runId: string): BookedRun {
  let run = runs.get(runId);
  if (run === undefined) runs.set(runId, (run = {}));
  return run;
}

function takeLine(lane: Lane, row: Row, seams: BookSeams): void {
  const position = Number(row["position"]);
  if (lane.position === 0 && position > 1) lane.first = row;
  else if (position === lane.position + 1) verifyLine(lane, row, { ...seams, previous: lane.stamp });
  else seams.report.add({ fault: "ledger-missing", lane: lane.lane, position: lane.position + 1, message: `Lines ${lane.position + 1} to ${position - 1} of the ledger${laneText(lane.lane)} are gone` });
  lane.position = position;
  lane.stamp = bytesColumn(row, "stamp");
  lane.tail = row["tail"];
}

function verifyLine(lane: Lane, row: Row, { stamps, report, previous }: Pick<BookSeams, "stamps" | "report"> & { readonly previous: Stamp }): void {
  const position = Number(row["position"]);
  const stamp = bytesColumn(row, "stamp");
  if (!stamps.isOurs(stamp)) return report.add({ fault: "key-unknown", lane: lane.lane, position, message: `Line ${position} of the ledger was written under another journal key; it cannot be verified with this one` });
  const made = stamps.line(previous, { lane: lane.lane, position, tenant: textColumn(row, "tenant"), atMs: Number(row["at_ms"]) }, textColumn(row, "body"));
  if (!isSame(stamp, made)) report.add({ fault: "ledger-changed", lane: lane.lane, position, message: `Line ${position} of the ledger${laneText(lane.lane)} was changed or moved after it was written` });
}

/** What only the whole ledger tells of a lane: that its beginning was cut as is on record, and that it ends where it ended. */
function concludeLane(lane: Lane, { cuts }: Told, { stamps, report }: BookSeams): void {
  const { first } = lane;
  if (first !== undefined) {
    const position = Number(first["position"]);
    const cut = cuts.get(lane.lane);
    if (cut?.upTo === position - 1) verifyLine(lane, first, { stamps, report, previous: Buffer.from(cut.stamp, "base64url") });
    else report.add({ fault: "ledger-missing", lane: lane.lane, position: 1, message: `Lines 1 to ${position - 1} of the ledger${laneText(lane.lane)} are gone, and no removal of just these is on record` });
  }
  if (!isSame(lane.tail, stamps.tail(lane.stamp)) && stamps.isOurs(lane.stamp)) report.add({ fault: "ledger-missing", lane: lane.lane, position: lane.position + 1, message: `The ledger${laneText(lane.lane)} does not end with line ${lane.position}: lines after it are gone` });
}

/** The events of a line, without what is none any more; undefined when it does not hold any. */
export function eventsOf(row: Row): readonly LedgerEvent[] | undefined {
  try {
    const events: unknown = JSON.parse(textColumn(row, "body"));
    return Array.isArray(events) ? events.filter(isLedgerEvent) : undefined;
  } catch (error) {
    if (CallgateError.is(error)) throw error;
    return undefined;
  }
}

function compareHolds(booked: ReadonlyMap<string, AuditHold>, kept: readonly AuditHold[], report: Report): void {
  const left = new Map(kept.map((hold) => [hold.holdId, hold]));
  for (const [holdId, hold] of booked) {
    const found = left.get(holdId);
    left.delete(holdId);
    if (found !== undefined && holdText(found) === holdText(hold)) continue;
    report.add({ fault: "hold-changed", message: `Legal hold ${holdId} is not as the ledger has it: it was ${found === undefined ? "removed" : "changed"} outside of Callgate` });
  }
  for (const holdId of left.keys()) report.add({ fault: "hold-changed", message: `The ledger does not know legal hold ${holdId}: it was put there outside of Callgate` });
}

function holdText({ tenant, covers: { runId, user, agent, task, fromMs, untilMs }, reason, by, placedAtMs, released }: AuditHold): string {
  return JSON.stringify([tenant, runId, user, agent, task, fromMs, untilMs, reason, by, placedAtMs, released?.by]);
}

/** SQLite has one lane, which needs no name. */
function laneText(lane: number): string {
  return lane === 0 ? "" : ` in lane ${lane}`;
}
