// What durability costs a call and a run: `node bench/durable.ts`. The same run (begin, some writes each with its intent
// synced, its effect key and its end, the run's end) with no journal, on SQLite and on a PostgreSQL of its own, all in one
// process and one run of the machine. Read the ratios: plain work of a call stands for "no journal". Then how fast a
// recorded run is executed again, how long a run stays without an owner whose process was killed, and what 1,000
// suspended runs take after a restart. Writes docs/results/durable.md with --write.

import { fork } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parseArgs } from "node:util";
import { encodeValue } from "@callgate/contract";
import type { Journal } from "@callgate/contract";
import { createPostgresJournal } from "@callgate/journal-postgres";
import { createFileBlobs, createMasterKey, createRedactor, createSqliteJournal } from "@callgate/runtime/journal";
import { ended, issued, sampleFinish, sampleRun } from "@callgate/testkit";
import { missingPostgres, startPostgres } from "../packages/journal-postgres/src/fixtures/private-postgres.ts";
import { createQuickJsDriver } from "@callgate/sandbox-quickjs";
import { measured, markdownTable, writeSection } from "../checks/full/result-page.ts";
import { plainChecker } from "../packages/runtime/src/run/fixtures/plain-checker.ts";
import { createTestGate } from "../packages/runtime/src/run/fixtures/test-gate.ts";
import { hostClock as clock } from "../packages/runtime/src/journal/fixtures/open-journal.ts";

const { values } = parseArgs({ options: { runs: { type: "string", default: "60" }, suspended: { type: "string", default: "1000" }, write: { type: "boolean", default: false } } });
const RUNS = Number(values.runs);
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

/** A record of 1,000 calls, one after the other, executed again from it: nothing is performed. */
async function replayedCallsPerSecond(journal: Journal): Promise<{ readonly live: number; readonly replayed: number; readonly resumed: number }> {
  const calls = 1_000;
  const { gate } = await createTestGate([{ name: "read", handler: (given) => given }], { checkers: [plainChecker()], drivers: [createQuickJsDriver({ workers: 1 })], defaults: { suspendAfterMs: 0 }, wrapJournal: () => journal });
  const text = (waits: string): string => `let sum = 0; for (let n = 0; n < ${calls}; n++) sum += (await tools.t.read({ n })).n; ${waits} return sum;`;
  const limits = { limits: { calls: calls + 10 } };
  const rate = async (work: () => Promise<unknown>): Promise<number> => {
    const startMs = performance.now();
    await work();
    return Math.round(calls / ((performance.now() - startMs) / 1_000));
  };
  await gate.run(text(""), limits);
  let runId = "";
  const live = await rate(async () => ({ runId } = await gate.run(text(""), limits)));
  const replayed = await rate(() => gate.runs.replay(runId));
  const waiting = await gate.run(text("await waitFor('go');"), limits);
  await gate.runs.signal(waiting.runId, { name: "go" });
  const resumed = await rate(() => gate.runs.resume(waiting.runId));
  await gate.close();
  return { live, replayed, resumed };
}

interface Said {
  readonly kind: string;
  readonly runId?: string;
  readonly ms?: number;
  readonly cpuMs?: number;
  readonly beforeMiB?: number;
  readonly peakMiB?: number;
}

type Place = { readonly folder: string; readonly url?: string };

/** Starts one; `heard` gets what it says, and its process. */
async function inProcess(orders: Place & { readonly role: string; readonly count: number }, heard: (said: Said, kill: () => void) => void): Promise<void> {
  const child = fork(new URL("./durable-process.ts", import.meta.url), [JSON.stringify(orders)], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  child.on("message", (said) => heard(said as Said, () => void child.kill("SIGKILL")));
  await new Promise((resolve) => child.once("close", resolve));
}

/** From the death of an owner to the first sign of the next one: a worker with default polling, on the same machine. */
async function takeoverMs(place: Place, journal: Journal): Promise<number> {
  const { gate } = await createTestGate([{ name: "read", handler: (given) => given }, { name: "hang", effect: "write", handler: () => 1 }], { checkers: [plainChecker()], drivers: [createQuickJsDriver({ workers: 1 })], wrapJournal: () => ({ ...journal, close: () => Promise.resolve() }) });
  const worker = gate.work();
  const taken = Promise.withResolvers<number>();
  let [killedMs, heldId] = [0, ""];
  gate.onEvent((event) => {
    // A worker that was stopped gave the run of the turn before back: that one goes on here as well.
    if (event.kind === "run-resumed" && event.runId === heldId) taken.resolve(performance.now() - killedMs);
  });
  await inProcess({ ...place, role: "hold", count: 0 }, ({ runId = "" }, kill) => {
    heldId = runId;
    killedMs = performance.now();
    kill();
  });
  const ms = await taken.promise;
  await worker.stop();
  await gate.close();
  return ms;
}

async function resumeMany(place: Place, count: number): Promise<Said> {
  await inProcess({ ...place, role: "suspend", count }, () => undefined);
  let told: Said = { kind: "nothing" };
  await inProcess({ ...place, role: "resume", count }, (said) => void (told = said));
  return told;
}

interface Measured {
  readonly row: Row;
  readonly rates?: Awaited<ReturnType<typeof replayedCallsPerSecond>>;
  readonly takeovers?: readonly number[];
  readonly many?: Said;
}

async function measureAll(name: string, place: Place, open: () => Promise<Journal>): Promise<Measured> {
  const journal = await open();
  const row = await bench(name, journal);
  await journal.prune({ olderThanMs: Number.MAX_SAFE_INTEGER });
  const takeovers: number[] = [];
  for (let turn = 0; turn < 5; turn += 1) takeovers.push(await takeoverMs(place, journal));
  const rates = await replayedCallsPerSecond(journal); // Closes it.
  return { row, takeovers: takeovers.sort((a, b) => a - b), rates, many: await resumeMany(place, Number(values.suspended)) };
}

const folder = await mkdtemp(join(tmpdir(), "callgate-bench-durable-"));
const missing = missingPostgres();
const server = missing === undefined ? await startPostgres() : undefined;
try {
  const masterKey = createMasterKey(Buffer.alloc(32, 2));
  const all: Measured[] = [{ row: await bench("no journal", undefined) }];
  const blobs = createFileBlobs({ folder: join(folder, "blobs") });
  all.push(await measureAll("SQLite", { folder }, () => createSqliteJournal({ path: join(folder, "journal.db"), blobs, masterKey, clock })));
  if (server !== undefined) {
    const url = await server.createDatabase("bench");
    all.push(await measureAll("PostgreSQL", { folder, url }, () => createPostgresJournal({ url, masterKey, clock })));
  }
  const syncMs = await syncedInsertMs(folder);
  const cost = (ms: number): string => `${ms.toFixed(3)} (${(ms / syncMs).toFixed(1)})`;
  const fixed = (value: number | undefined): string => (value === undefined ? "" : value.toFixed(0));
  const tables = [
    markdownTable(["", "a write call", `a run of ${CALLS} writes`, "the same, 20 at once", "suspend, signal, claim"], all.map(({ row: { name, callMs, runMs, manyMs, cycleMs } }) => [name, ...[callMs, runMs, manyMs, cycleMs].map(cost)])),
    markdownTable(["", "live, calls/s", "replayed, calls/s", "resumed, calls/s", "taken over after, ms (median, most of 5)"], all.slice(1).map(({ row, rates, takeovers }) => [row.name, fixed(rates?.live), fixed(rates?.replayed), fixed(rates?.resumed), `${fixed(takeovers?.[2])}, ${fixed(takeovers?.[4])}`])),
    markdownTable(["", `${values.suspended} suspended runs resumed, s`, "CPU, s", "memory before, MiB", "at most, MiB"], all.slice(1).map(({ row, many }) => [row.name, ((many?.ms ?? 0) / 1_000).toFixed(1), ((many?.cpuMs ?? 0) / 1_000).toFixed(1), fixed(many?.beforeMiB), fixed(many?.peakMiB)])),
  ];
  const text = `One synced insert of plain node:sqlite on this disk: ${syncMs.toFixed(3)} ms. Costs in ms, and in brackets as a multiple of that.\n\n${tables.join("\n\n")}${missing === undefined ? "" : `\n\nPostgreSQL was not measured: ${missing}`}`;
  console.log(text);
  if (values.write) {
    const intro = `# What durability costs

A write is recorded before it begins and after it ended, both journals with full sync. "No journal" is what is made for the
record without writing it. A recorded run of 1,000 reads is executed again: \`replayed\` by \`runs replay\`, which records that
it did, \`resumed\` as the beginning of a run that goes on. An owner on the same machine was killed; a worker that looks every
second took its run over (an owner on another machine is waited for as long as its lease, 30 s). Suspended runs are resumed
in a process of their own, by one worker of 16 hands.`;
    writeSection({ page: "durable.md", intro, section: "Measured", text: `${measured("node bench/durable.ts")}\n\n${text}` });
  }
} finally {
  await server?.stop();
  await rm(folder, { recursive: true });
}
