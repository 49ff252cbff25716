// What durability costs a call and a run: `node bench/durable.ts`. The same run (begin, some writes each with its intent
// synced, its effect key and its end, the run's end) with no journal, on SQLite and on a PostgreSQL of its own, all in one
// process and one run of the machine. Read the ratios: plain work of a call stands for "no journal".

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { encodeValue } from "@callgate/contract";
import type { Journal } from "@callgate/contract";
import { createPostgresJournal } from "@callgate/journal-postgres";
import { createFileBlobs, createMasterKey, createRedactor, createSqliteJournal } from "@callgate/runtime/journal";
import { ended, issued, sampleFinish, sampleRun } from "@callgate/testkit";
import { missingPostgres, startPostgres } from "../packages/journal-postgres/src/fixtures/private-postgres.ts";
import { hostClock as clock } from "../packages/runtime/src/journal/fixtures/open-journal.ts";

const RUNS = 60;
const CALLS = 5;

const redactor = createRedactor({ secrets: [], key: Buffer.alloc(32, 1) });
const args = { id: 17, fields: { name: "Ada Lovelace", email: "ada@example.com" } };

/** Mean of one piece of work in milliseconds, after a tenth of it to warm up. */
async function measure(times: number, work: (index: number) => Promise<unknown>): Promise<number> {
  for (let index = 0; index < times / 10; index += 1) await work(-1 - index);
  const startMs = performance.now();
  for (let index = 0; index < times; index += 1) await work(index);
  return (performance.now() - startMs) / times;
}

/** One write as the broker records it: intent and key on disk before, the end after. Without a journal only what it records is made. */
async function oneCall(journal: Journal | undefined, runId: string, seq: number): Promise<void> {
  const idempotencyKey = `${runId}/${seq}`;
  const intent = issued(seq, { callId: `${runId}.${seq}`, idempotencyKey, args: redactor.record(args, encodeValue(args), ["/fields/email"]) });
  if (journal === undefined) return;
  const lease = { runId, epoch: 1 };
  const intended = journal.append(lease, [intent], "full");
  const reserved = journal.reserveEffect(lease, { tenant: "acme", idempotencyKey, seq, callId: intent.callId, argsDigest: intent.args.digest });
  await Promise.all([intended, reserved]);
  await journal.append(lease, [ended(seq)], "lazy");
}

async function oneRun(journal: Journal | undefined, runId: string): Promise<void> {
  await journal?.begin(sampleRun(runId));
  for (let seq = 0; seq < CALLS; seq += 1) await oneCall(journal, runId, seq);
  await journal?.finish({ runId, epoch: 1 }, sampleFinish());
}

interface Row {
  readonly name: string;
  readonly callMs: number;
  readonly runMs: number;
  readonly manyMs: number;
  readonly cycleMs: number;
}

async function bench(name: string, journal: Journal | undefined): Promise<Row> {
  await journal?.begin(sampleRun(`${name}-calls`));
  const callMs = await measure(RUNS * CALLS, (index) => oneCall(journal, `${name}-calls`, index + 1_000));
  const runMs = await measure(RUNS, (index) => oneRun(journal, `${name}-run-${index}`));
  const manyMs = (await measure(4, (index) => Promise.all(Array.from({ length: 20 }, (_, at) => oneRun(journal, `${name}-many-${index}-${at}`))))) / 20;
  const cycleMs = await measure(RUNS, async (index) => {
    if (journal === undefined) return;
    const lease = await journal.begin(sampleRun(`${name}-cycle-${index}`));
    await journal.suspend(lease, { atMs: 0, waits: [{ kind: "event", seq: 0, name: "go", occurrence: 0 }] });
    await journal.signal("acme", lease.runId, { kind: "event", name: "go", payload: { digest: "sha256:0", summary: null }, by: "bench", atMs: 0 });
    const claimed = await journal.claim({ leaseMs: 30_000 });
    if (claimed?.lease.runId !== lease.runId) throw new Error("another run was due");
    await journal.finish(claimed.lease, sampleFinish());
  });
  return { name, callMs, runMs, manyMs, cycleMs };
}

async function syncedInsertMs(folder: string): Promise<number> {
  const database = new DatabaseSync(join(folder, "plain.db"));
  database.exec("pragma journal_mode = wal; pragma synchronous = full; create table t (id integer primary key, body text)");
  const insert = database.prepare("insert into t (body) values (?)");
  const ms = await measure(300, async () => void insert.run("x".repeat(400)));
  database.close();
  return ms;
}

const folder = await mkdtemp(join(tmpdir(), "callgate-bench-durable-"));
const missing = missingPostgres();
const server = missing === undefined ? await startPostgres() : undefined;
try {
  const masterKey = createMasterKey(Buffer.alloc(32, 2));
  const rows = [await bench("no journal", undefined)];
  const sqlite = await createSqliteJournal({ path: join(folder, "journal.db"), blobs: createFileBlobs({ folder: join(folder, "blobs") }), masterKey, clock });
  rows.push(await bench("SQLite", sqlite));
  await sqlite.close();
  if (server !== undefined) {
    const postgres = await createPostgresJournal({ url: await server.createDatabase("bench"), masterKey, clock });
    rows.push(await bench("PostgreSQL", postgres));
    await postgres.close();
  }
  const syncMs = await syncedInsertMs(folder);
  console.log(`One synced insert of plain node:sqlite on this disk: ${syncMs.toFixed(3)} ms; ratios are to it.\n`);
  console.log(["", "a write call", `a run of ${CALLS} writes`, "the same, 20 at once", "suspend, signal, claim"].map((text) => text.padEnd(24)).join(""));
  for (const { name, callMs, runMs, manyMs, cycleMs } of rows) {
    console.log([name, ...[callMs, runMs, manyMs, cycleMs].map((ms) => `${ms.toFixed(3)} ms (${(ms / syncMs).toFixed(1)} x)`)].map((text) => text.padEnd(24)).join(""));
  }
  if (missing !== undefined) console.log(`PostgreSQL was not measured: ${missing}`);
} finally {
  await server?.stop();
  await rm(folder, { recursive: true });
}
