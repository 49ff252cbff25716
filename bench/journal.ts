// What recording costs: `node bench/journal.ts`. Every figure is printed beside a plain node:sqlite insert of the same
// size, in the same file system and the same run, so that it can be compared across machines.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { DatabaseSync } from "node:sqlite";
import { encodeValue } from "@callgate/contract";
import type { JournalEntry } from "@callgate/contract";
import { createFileBlobs, createMasterKey, createRedactor, createSqliteJournal } from "@callgate/runtime/journal";
import { ended, issued, leaseOf, sampleFinish, sampleRun } from "@callgate/testkit";
import { hostClock as clock } from "../packages/runtime/src/journal/fixtures/open-journal.ts";

const ENTRIES = 4_000;
const SYNCED = 500;

const folder = await mkdtemp(join(tmpdir(), "callgate-bench-journal-"));
const redactor = createRedactor({ secrets: ["a-secret-of-the-bench"], key: Buffer.alloc(32, 1) });
const args = { id: 17, fields: { name: "Ada Lovelace", email: "ada@example.com", note: "met on Tuesday, wants the offer by the end of the month" } };
const wire = encodeValue(args);

async function measure(times: number, work: (index: number) => unknown): Promise<number> {
  for (let index = 0; index < Math.min(100, times / 5); index += 1) await work(-1 - index);
  const startMs = performance.now();
  for (let index = 0; index < times; index += 1) await work(index);
  return (performance.now() - startMs) / times;
}

function plainInserts(): { lazy: () => void; synced: () => void } {
  const open = (name: string, synchronous: string): (() => void) => {
    const database = new DatabaseSync(join(folder, name));
    database.exec(`pragma journal_mode = wal; pragma synchronous = ${synchronous}; create table t (id integer primary key, body text, sealed blob)`);
    const insert = database.prepare("insert into t (body, sealed) values (?, ?)");
    const [body, sealed] = ["x".repeat(400), Buffer.alloc(180)];
    return () => void insert.run(body, sealed);
  };
  return { lazy: open("lazy.db", "normal"), synced: open("synced.db", "full") };
}

const entry = (seq: number): JournalEntry => issued(seq, { args: redactor.record(args, wire, ["/fields/email"]) });

try {
  const journal = await createSqliteJournal({ path: join(folder, "journal.db"), blobs: createFileBlobs({ folder: join(folder, "blobs") }), masterKey: createMasterKey(Buffer.alloc(32, 2)), clock });
  const plain = plainInserts();
  await journal.begin(sampleRun("bench"));
  const delay = monitorEventLoopDelay({ resolution: 1 });

  const plainLazy = await measure(ENTRIES, plain.lazy);
  const plainSynced = await measure(SYNCED, plain.synced);
  const record = await measure(ENTRIES, () => redactor.record(args, wire, ["/fields/email"]));
  const large = Array.from({ length: 200_000 }, (_, id) => ({ id, name: `row ${id}` }));
  const largeWire = encodeValue(large);
  const recordLarge = await measure(5, () => redactor.record(large, largeWire, []));
  delay.enable();
  const alone = await measure(ENTRIES, (seq) => journal.append(leaseOf("bench"), [entry(seq)], "lazy"));
  const call = await measure(ENTRIES / 2, (seq) => journal.append(leaseOf("bench"), [entry(seq), ended(seq)], "lazy"));
  const together = (await measure(ENTRIES / 50, () => Promise.all(Array.from({ length: 50 }, (_, seq) => journal.append(leaseOf("bench"), [entry(seq)], "lazy"))))) / 50;
  const synced = await measure(SYNCED, (seq) => journal.append(leaseOf("bench"), [entry(seq)], "full"));
  const syncedTogether = (await measure(SYNCED / 20, () => Promise.all(Array.from({ length: 20 }, (_, seq) => journal.append(leaseOf("bench"), [entry(seq)], "full"))))) / 20;
  const wholeRun = await measure(500, async (index) => {
    const runId = `run-${index}`;
    await journal.begin(sampleRun(runId));
    await journal.append(leaseOf(runId), [entry(0), ended(0)], "lazy");
    await journal.finish(leaseOf(runId), sampleFinish());
  });
  delay.disable();
  await journal.close();

  const rows: readonly (readonly [string, number, number])[] = [
    ["plain insert, WAL, not synced", plainLazy, plainLazy],
    ["entry, lazy, one after the other", alone, plainLazy],
    ["entry, lazy, two in one append", call / 2, plainLazy],
    ["entry, lazy, 50 at once", together, plainLazy],
    ["run of one call: begin, call, finish", wholeRun, plainLazy],
    ["plain insert, WAL, synced", plainSynced, plainSynced],
    ["intent, synced, one after the other", synced, plainSynced],
    ["intent, synced, 20 at once", syncedTogether, plainSynced],
    ["digest and summary of small arguments", record, plainLazy],
    ["digest and summary of 200,000 rows", recordLarge, plainLazy],
  ];
  for (const [name, ms, base] of rows) console.log(`${name.padEnd(40)} ${ms.toFixed(3).padStart(9)} ms  ${(ms / base).toFixed(2).padStart(8)} x`);
  console.log(`event loop delay while recording: p99 ${(delay.percentile(99) / 1e6).toFixed(1)} ms, max ${(delay.max / 1e6).toFixed(1)} ms`);
} finally {
  await rm(folder, { recursive: true });
}
