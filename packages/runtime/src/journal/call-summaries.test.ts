import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { JournalEntry } from "@callgate/contract";
import { ended, issued, leaseOf, sampleRun, virtualClock } from "@callgate/testkit";
import { expect, describe, onTestFinished, test } from "vitest";
import { createMasterKey } from "../secrets/master-key.ts";
import { callSummaries } from "./call-summaries.ts";
import { createFileBlobs } from "./file-blobs.ts";
import { createSqliteJournal } from "./sqlite-journal.ts";

const decided = (seq: number, decision: "allow" | "ask" | "deny"): JournalEntry => ({ kind: "call-decided", atMs: 1, seq, decision, ruleId: "r" });
const late = (seq: number, effectStatus: "done" | "none"): JournalEntry => ({ kind: "call-late", atMs: 1, seq, effectStatus });
const resolved = (seq: number, effectStatus: "done" | "none"): JournalEntry => ({ kind: "call-resolved", atMs: 1, seq, effectStatus, how: "person", by: "carol" });

const entries: readonly JournalEntry[] = [
  issued(0),
  decided(0, "allow"),
  ended(0),
  issued(1),
  decided(1, "allow"),
  issued(2, { effect: "read" }),
  issued(3, { effect: "destructive" }),
  decided(3, "ask"),
  issued(4),
  decided(4, "ask"),
  decided(4, "allow"),
  issued(5),
  decided(5, "deny"),
  issued(6),
  decided(6, "allow"),
  ended(6, { outcome: "timed_out", effectStatus: "unknown" }),
  late(6, "done"),
  issued(7),
  // In doubt when its process was lost, said not to have happened, performed then.
  issued(8),
  decided(8, "allow"),
  resolved(8, "none"),
  decided(8, "allow"),
  ended(8),
  // Came late, and a person knew better.
  issued(9),
  decided(9, "allow"),
  ended(9, { outcome: "timed_out", effectStatus: "unknown" }),
  late(9, "none"),
  resolved(9, "done"),
  // Its result waits for a person: the call has happened.
  issued(10),
  decided(10, "allow"),
  { kind: "result-held", atMs: 1, seq: 10, effectStatus: "done", attempts: 1, result: { digest: `sha256:${"0".repeat(64)}`, summary: 1 }, artifacts: [] },
];

describe("callSummaries", () => {
  test("gives calls their recorded end, and calls without one an effect that is never guessed as harmless", () => {
    const read = callSummaries(entries, "crashed").map(({ id, outcome, effectStatus, error }) => [id, outcome, effectStatus, error?.code]);
    expect(read).toEqual([
      ["c0", "ok", "done", undefined],
      ["c1", "failed", "unknown", "RUN_INTERRUPTED"],
      ["c2", "failed", "none", "RUN_INTERRUPTED"],
      ["c3", "failed", "none", "RUN_INTERRUPTED"],
      ["c4", "failed", "unknown", "RUN_INTERRUPTED"],
      ["c5", "failed", "none", "RUN_INTERRUPTED"],
      ["c6", "timed_out", "done", undefined],
      ["c7", "failed", "unknown", "RUN_INTERRUPTED"],
      ["c8", "ok", "done", undefined],
      ["c9", "timed_out", "done", undefined],
      ["c10", "failed", "done", "RUN_INTERRUPTED"],
    ]);
  });

  test("leaves calls that are under way out of a running run", () => {
    expect(callSummaries(entries, "running").map((call) => call.id)).toEqual(["c0", "c6", "c8", "c9"]);
  });

  test("says what the view `calls` of the SQLite file says", async () => {
    const folder = await mkdtemp(join(tmpdir(), "callgate-calls-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const path = join(folder, "journal.db");
    const journal = await createSqliteJournal({ path, blobs: createFileBlobs({ folder }), masterKey: createMasterKey(Buffer.alloc(32)), clock: virtualClock() });
    await journal.begin(sampleRun("r1"));
    await journal.append(leaseOf("r1"), entries, "lazy");
    await journal.close();
    const database = new DatabaseSync(path, { readOnly: true });
    const rows = database.prepare("select call_id as id, tool, effect, effect_status as effectStatus from calls where tenant = 'acme' order by seq").all();
    database.close();
    expect(rows.map((row) => ({ ...row }))).toEqual(callSummaries(entries, "crashed").map(({ id, tool, effect, effectStatus }) => ({ id, tool, effect, effectStatus })));
  });
});
