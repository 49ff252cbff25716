import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ended, issued, leaseOf, printed, recorded, sampleFinish, sampleRun, virtualClock } from "@callgate/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { createMasterKey } from "../secrets/master-key.ts";
import { createFileBlobs } from "./file-blobs.ts";
import { createSqliteJournal } from "./sqlite-journal.ts";
import type { JournalLimits, SqliteJournal } from "./sqlite-journal.ts";

interface Opened {
  readonly path: string;
  open(keyByte: number, limits?: Partial<JournalLimits>): Promise<SqliteJournal>;
}

async function makeStore(): Promise<Opened> {
  const folder = await mkdtemp(join(tmpdir(), "callgate-read-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, "journal.db");
  const blobs = createFileBlobs({ folder: join(folder, "blobs") });
  return { path, open: (keyByte, limits = {}) => createSqliteJournal({ path, blobs, masterKey: createMasterKey(Buffer.alloc(32, keyByte)), clock: virtualClock(), limits }) };
}

describe("createEntryReader", () => {
  test("without the key it says so for clear values; summaries, lists and new runs go on", async () => {
    const store = await makeStore();
    const first = await store.open(1);
    await first.begin(sampleRun("r1"));
    await first.append(leaseOf("r1"), [issued(0), printed("hello"), { kind: "result", atMs: 1, number: 1, label: "value", value: recorded(1) }], "lazy");
    await first.finish(leaseOf("r1"), sampleFinish());
    await first.close();

    const second = await store.open(2);
    await expect(second.readEntries("acme", "r1", { clear: true })).rejects.toMatchObject({ code: "JOURNAL_KEY_LOST", message: expect.stringContaining("need the same key file") });
    await expect(second.readResult("acme", "r1", 1)).rejects.toMatchObject({ code: "JOURNAL_KEY_LOST" });
    expect(await second.readEntries("acme", "r1")).toMatchObject([{ kind: "call-issued", tool: "crm.update", args: { summary: "summary" } }, { kind: "console", entries: [{ text: "[erased]" }] }, { kind: "result" }]);
    expect(await second.readRun("acme", "r1")).toMatchObject({ status: "completed", callCount: 1, programText: undefined });
    await second.begin(sampleRun("r2"));
    await second.append(leaseOf("r2"), [issued(0)], "lazy");
    expect(await second.readEntries("acme", "r2", { clear: true })).toEqual([issued(0)]);
    await second.close();

    const again = await store.open(1);
    expect(await again.readEntries("acme", "r1", { clear: true })).toHaveLength(3);
    await again.close();
  });

  test("gives out no sealed value that was moved to another place", async () => {
    const store = await makeStore();
    const journal = await store.open(1);
    await journal.begin(sampleRun("r1"));
    for (const seq of [0, 1]) await journal.append(leaseOf("r1"), [issued(seq, { args: recorded(`value ${seq}`) })], "lazy");
    const database = new DatabaseSync(store.path);
    database.exec("update entries set sealed = (select sealed from entries where entry_id % 2 = 1) where entry_id % 2 = 0");
    database.close();
    await expect(journal.readEntries("acme", "r1", { clear: true })).rejects.toMatchObject({ code: "JOURNAL_CORRUPT" });
    await journal.close();
  });

  test("has no clear value for a blob that is gone, and the rest of the run", async () => {
    const store = await makeStore();
    const journal = await store.open(1, { blobBytes: 10 });
    await journal.begin(sampleRun("r1"));
    await journal.append(leaseOf("r1"), [ended(0, { result: recorded("larger than ten") }), ended(1, { result: recorded("small") })], "lazy");
    await rm(join(store.path, "..", "blobs"), { recursive: true });
    const [large, small] = await journal.readEntries("acme", "r1", { clear: true });
    expect(large).toEqual(ended(0, { result: { digest: recorded("larger than ten").digest, summary: "summary" } }));
    expect(small).toEqual(ended(1, { result: recorded("small") }));
    await journal.close();
  });
});

describe("createSqliteJournal", () => {
  test("erase leaves the run's key nowhere in the files, not even wrapped", async () => {
    const store = await makeStore();
    const journal = await store.open(1);
    for (const runId of ["r1", "r2"]) {
      await journal.begin(sampleRun(runId));
      await journal.append(leaseOf(runId), [issued(0)], "full");
    }
    const database = new DatabaseSync(store.path, { readOnly: true });
    const rows = database.prepare("select wrapped from runs order by run_id").all();
    database.close();
    const [erased, kept] = rows.map((row) => Buffer.from(row["wrapped"] as Uint8Array));
    const files = async (): Promise<Buffer> => Buffer.concat([await readFile(store.path), await readFile(`${store.path}-wal`)]);
    expect((await files()).includes(erased ?? "")).toBe(true);
    await journal.erase("acme", "r1");
    expect((await files()).includes(erased ?? "")).toBe(false);
    expect((await files()).includes(kept ?? "")).toBe(true);
    await journal.close();
  });

  test("keeps to its size and age by itself as runs are begun", async () => {
    const store = await makeStore();
    const journal = await store.open(1, { maxBytes: 600_000, maxAgeMs: 1000 });
    const nowMs = virtualClock().now();
    for (let index = 0; index < 10; index += 1) {
      await journal.begin(sampleRun(`r${index}`, { startedAtMs: nowMs }));
      await journal.append(leaseOf(`r${index}`), [ended(0, { result: recorded("x".repeat(100_000)) })], "lazy");
      await journal.finish(leaseOf(`r${index}`), sampleFinish({ endedAtMs: nowMs + index }));
    }
    await journal.begin(sampleRun("old"));
    await journal.finish(leaseOf("old"), sampleFinish({ endedAtMs: nowMs - 1001 }));
    await journal.close();
    const again = await store.open(1, { maxBytes: 600_000, maxAgeMs: 1000 });
    await again.begin(sampleRun("next"));
    await again.close(); // Waits for what it looked after meanwhile.
    const left = await store.open(1);
    const runs = (await left.listRuns({ tenant: "acme" })).map((run) => run.runId);
    expect(runs).toContain("next");
    expect(runs).toContain("r9");
    expect(runs).not.toContain("old");
    expect(runs).not.toContain("r0");
    await left.close();
  });

  test("leaves no timer behind once no run is under way", async () => {
    const clock = virtualClock();
    const blobs = createFileBlobs({ folder: "unused" });
    const journal = await createSqliteJournal({ path: ":memory:", blobs, masterKey: createMasterKey(Buffer.alloc(32)), clock });
    await journal.begin(sampleRun("r1"));
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(60_000);
    await journal.finish(leaseOf("r1"), sampleFinish());
    expect(clock.pendingTimers).toBe(0);
    await journal.close();
  });
});
