import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock, Gate, RunResult } from "@callgate/contract";
import { memoryBlobs } from "@callgate/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { migrations } from "../journal/schema.ts";
import { createSqliteJournal } from "../journal/sqlite-journal.ts";
import { systemClock } from "../lib/system-clock.ts";
import { createMasterKey } from "../secrets/master-key.ts";
import { openSnapshotGate, snapshotWorld } from "./fixtures/snapshot-world.ts";
import type { SnapshotKind } from "./fixtures/snapshot-world.ts";

interface Snapshot {
  readonly ids: Readonly<Record<SnapshotKind, string>>;
  readonly madeAtMs: number;
}

const folder = new URL("./fixtures/snapshots/", import.meta.url);
const versions = readdirSync(folder).flatMap((name) => (name.endsWith(".json") ? [name.replace(".json", "")] : []));

/** Two minutes after the record was made: leases are over, the sleeper is due, and no question has expired. */
function laterClock(madeAtMs: number): Clock {
  const host = systemClock();
  const behindMs = host.now() - (madeAtMs + 120_000);
  return { ...host, now: () => host.now() - behindMs };
}

interface Opened {
  readonly gate: Gate;
  readonly done: readonly string[];
  readonly runId: string;
}

const valueOf = ({ value }: RunResult): unknown => (value?.kind === "whole" ? value.value : undefined);

/** What each run comes to, and what is done on the way, beside what was done before it was written down. */
const endings: Readonly<Record<SnapshotKind, (opened: Opened) => Promise<void>>> = {
  async sequential({ gate, done, runId }) {
    await gate.runs.signal(runId, { name: "go", payload: "now" });
    const result = await gate.runs.resume(runId);
    expect([result.status, valueOf(result), done]).toEqual(["completed", [1, true, "now", 3], ["write 3"]]);
    expect(result.console.map(({ text }) => text)).toEqual(["before"]);
  },
  async parallel({ gate, done, runId }) {
    await gate.runs.signal(runId, { name: "go", payload: 7 });
    const result = await gate.runs.resume(runId);
    expect([result.status, valueOf(result), [...done].sort()]).toEqual(["completed", [[11, 12, 13, 14], 7, [5, 6], 4], ["write 5", "write 6"]]);
  },
  async sleep({ gate, done, runId }) {
    const result = await gate.runs.resume(runId);
    expect([result.status, valueOf(result), done]).toEqual(["completed", true, []]);
  },
  async event({ gate, runId }) {
    await gate.runs.signal(runId, { name: "first", payload: { ok: 1 } });
    const result = await gate.runs.resume(runId);
    expect([result.status, valueOf(result)]).toEqual(["completed", [{ ok: 1 }, "WAIT_TIMED_OUT"]]);
  },
  async approval({ gate, done, runId }) {
    const open = await gate.approvals.list();
    expect(open.map(({ question }) => [question.runId, question.tool])).toEqual([[runId, "t.ask"]]);
    await gate.approvals.answer(open[0]?.question.approvalId ?? "", { approved: true, by: "someone" });
    const result = await gate.runs.resume(runId);
    expect([result.status, valueOf(result), done]).toEqual(["completed", [2, 3], ["ask 2", "write 3"]]);
  },
  async unknown({ gate, done, runId }) {
    const waiting = await gate.runs.resume(runId);
    expect(waiting).toMatchObject({ status: "suspended", waits: [{ kind: "resolution", tool: "t.hang", callId: `${runId}.1` }] });
    await gate.runs.resolve(`${runId}.1`, { happened: true, output: { n: 20 } });
    const result = await gate.runs.resume(runId);
    expect([result.status, valueOf(result), done]).toEqual(["completed", [20, 3], ["write 3"]]);
  },
  async compensating({ gate, done, runId }) {
    const result = await gate.runs.resume(runId);
    expect(result).toMatchObject({ status: "failed", error: { code: "TOOL_FAILED" }, compensation: { undone: [`${runId}.2`, `${runId}.0`], remaining: [{ callId: `${runId}.1`, why: "it is not known whether undoing it took effect" }] } });
    // The last write had been undone before the process was lost in undoing the one before it.
    expect(done).toEqual(["undo write 1"]);
  },
};

test("the record of every schema since there were suspended runs is kept", () => {
  expect(versions.sort()).toEqual(migrations.flatMap((_, index) => (index === 0 ? [] : [`schema-${index + 1}`])));
});

describe.each(versions)("a record written with %s", (version) => {
  const { ids, madeAtMs } = JSON.parse(readFileSync(new URL(`${version}.json`, folder), "utf8")) as Snapshot;

  test.each(Object.keys(endings) as SnapshotKind[])("is gone on with: %s", { timeout: 120_000 }, async (kind) => {
    const own = mkdtempSync(join(tmpdir(), "callgate-snapshot-"));
    copyFileSync(new URL(`${version}.db`, folder), join(own, "journal.db"));
    const clock = laterClock(madeAtMs);
    const { tools, done } = snapshotWorld(false);
    const journal = await createSqliteJournal({ path: join(own, "journal.db"), blobs: memoryBlobs(), masterKey: createMasterKey(new Uint8Array(32).fill(7)), clock });
    const { gate } = await openSnapshotGate(tools, { journal, clock });
    onTestFinished(async () => {
      await gate.close();
      rmSync(own, { recursive: true });
    });
    await endings[kind]({ gate, done, runId: ids[kind] });
  });
});
