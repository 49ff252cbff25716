import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { JournalEntry } from "@callgate/contract";
import { ended, issued, leaseOf, printed, recorded, sampleFinish, sampleRun } from "@callgate/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { openJournal } from "./fixtures/open-journal.ts";
import { migrations } from "./schema.ts";
import type { SqliteJournal } from "./sqlite-journal.ts";

async function makeJournal(): Promise<{ readonly journal: SqliteJournal; readonly inFile: (sql: string) => readonly Readonly<Record<string, unknown>>[] }> {
  const folder = await mkdtemp(join(tmpdir(), "callgate-rows-"));
  const journal = await openJournal(folder);
  onTestFinished(async () => {
    await journal.close();
    await rm(folder, { recursive: true, force: true });
  });
  const inFile = (sql: string): readonly Readonly<Record<string, unknown>>[] => {
    const database = new DatabaseSync(join(folder, "journal.db"));
    try {
      return database.prepare(sql).all();
    } finally {
      database.close();
    }
  };
  return { journal, inFile };
}

const result = (number: number, value: unknown): JournalEntry => ({ kind: "result", atMs: 1, number, label: "value", value: recorded(value) });

describe("rows of several entries", () => {
  test("what a transaction writes to a run is one row for each run, in the order in which it was asked for, and reads as it was", async () => {
    const { journal, inFile } = await makeJournal();
    const first = [issued(0, { args: recorded({ text: "zero\nand a line\ud83d" }) }), printed("hello"), ended(0, { result: recorded([1, 2]) })];
    const second = [{ kind: "delivered", atMs: 1, ord: 0, seq: 0, call: { kind: "timer", delayMs: 1 } }, result(1, "a value")] as const;
    const asked = [journal.begin(sampleRun("r1")), journal.begin(sampleRun("r2")), journal.append(leaseOf("r1"), first, "lazy"), journal.append(leaseOf("r2"), [issued(7)], "lazy"), journal.append(leaseOf("r1"), second, "lazy")];
    await Promise.all(asked);
    expect(inFile("select kind, size, calls, texts from entries order by entry_id").map((row) => ({ ...row }))).toEqual([
      { kind: "batch", size: 5, calls: 1, texts: 1 },
      { kind: "call-issued", size: 1, calls: 1, texts: 0 },
    ]);
    expect(await journal.readEntries("acme", "r1", { clear: true })).toEqual([...first, ...second]);
    expect(await journal.readEntries("acme", "r2", { clear: true })).toEqual([issued(7)]);
    await journal.append(leaseOf("r1"), [ended(1)], "full");
    expect((await journal.readEntries("acme", "r1", { clear: true })).at(-1)).toEqual(ended(1));
    expect(await journal.readResult("acme", "r1", 1)).toEqual(second[1]);
    expect(await journal.readResult("acme", "r1", 11)).toBeUndefined();
    expect((await journal.readRun("acme", "r1"))?.callCount).toBe(1);
  });

  test("a row that got large is followed by another, and of results with one number the last counts", async () => {
    const { journal, inFile } = await makeJournal();
    await journal.begin(sampleRun("r1"));
    const many = Array.from({ length: 12 }, (_, index) => result(index % 6, `${index} ${"x".repeat(60_000)}`));
    await journal.append(leaseOf("r1"), many, "lazy");
    expect(inFile("select size from entries order by entry_id").map((row) => row["size"])).toEqual([5, 5, 2]);
    expect(await journal.readEntries("acme", "r1", { clear: true })).toEqual(many);
    expect(await journal.readResult("acme", "r1", 3)).toEqual(many[9]);
  });

  test("erased, a row keeps its entries in their erased form and nothing that is sealed", async () => {
    const { journal, inFile } = await makeJournal();
    await journal.begin(sampleRun("r1"));
    await journal.append(leaseOf("r1"), [issued(0, { args: recorded("secret 1") }), printed("secret 2")], "lazy");
    // In the same turn: what is asked for before the erase is erased with the rest.
    const [late] = [journal.append(leaseOf("r1"), [ended(0, { result: recorded("secret 3") })], "lazy"), journal.erase("acme", "r1")];
    await late;
    await journal.erase("acme", "r1");
    expect(inFile("select count(*) as n from entries where sealed is not null")[0]?.["n"]).toBe(0);
    expect(inFile("select count(*) as n from runs where wrapped is not null")[0]?.["n"]).toBe(0);
    const read = await journal.readEntries("acme", "r1", { clear: true });
    expect(read).toMatchObject([{ kind: "call-issued", args: { summary: "summary" } }, { kind: "console", entries: [{ text: "[erased]" }] }, { kind: "call-ended" }]);
    expect(JSON.stringify(read)).not.toMatch(/secret/);
  });

  test("br-032: does not open when it was moved to another place, or when entries were taken out of it", async () => {
    const { journal, inFile } = await makeJournal();
    await journal.begin(sampleRun("r1"));
    for (const seq of [0, 1]) await journal.append(leaseOf("r1"), [issued(seq), ended(seq)], "lazy");
    inFile("update entries set body = json_remove(body, '$[1]') where entry_id % 4 = 2 returning 1");
    await expect(journal.readEntries("acme", "r1", { clear: true })).rejects.toMatchObject({ code: "JOURNAL_CORRUPT" });
    inFile("update entries set sealed = (select sealed from entries where entry_id % 4 = 0) where entry_id % 4 = 2 returning 1");
    await expect(journal.readEntries("acme", "r1", { clear: true })).rejects.toMatchObject({ code: "JOURNAL_CORRUPT" });
  });

  test("an end in the middle of a row tells whether a key is free again", async () => {
    const { journal } = await makeJournal();
    await journal.begin(sampleRun("r1"));
    const claim = { tenant: "acme", idempotencyKey: "k", argsDigest: "sha256:1" } as const;
    expect(await journal.reserveEffect(leaseOf("r1"), { ...claim, seq: 0, callId: "c0" })).toEqual({ kind: "reserved" });
    // Not written yet when the key is asked for: both go into one transaction.
    const gathered = journal.append(leaseOf("r1"), [ended(0, { outcome: "failed", effectStatus: "unknown" }), issued(5), { kind: "call-late", atMs: 1, seq: 0, effectStatus: "none" }, ended(5)], "lazy");
    expect(await journal.reserveEffect(leaseOf("r1"), { ...claim, seq: 1, callId: "c1" })).toEqual({ kind: "reserved" });
    await gathered;
    await journal.append(leaseOf("r1"), [ended(1, { effectStatus: "done" }), printed("x")], "lazy");
    expect(await journal.reserveEffect(leaseOf("r1"), { ...claim, seq: 2, callId: "c2" })).toMatchObject({ kind: "taken", effect: { callId: "c1", effectStatus: "done" } });
  });

  test("removing a run removes its rows and no other's", async () => {
    const { journal, inFile } = await makeJournal();
    for (const runId of ["r1", "r2", "r3"]) {
      await journal.begin(sampleRun(runId));
      await journal.append(leaseOf(runId), [issued(0), ended(0)], "lazy");
      await journal.append(leaseOf(runId), [printed(runId)], "lazy");
    }
    await journal.finish(leaseOf("r2"), sampleFinish({ endedAtMs: 5 }));
    expect((await journal.prune({ olderThanMs: 10 })).runs).toBe(1);
    expect(inFile("select count(*) as n from entries")[0]?.["n"]).toBe(4);
    for (const runId of ["r1", "r3"]) expect(await journal.readEntries("acme", runId)).toHaveLength(3);
  });
});

test("a journal of schema 2 keeps what was said to its runs, their keys of writes and their blobs", async () => {
  const folder = await mkdtemp(join(tmpdir(), "callgate-rows-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const old = new DatabaseSync(join(folder, "journal.db"));
  for (const migration of migrations.slice(0, 2)) old.exec(migration);
  old.exec(`
    pragma application_id = ${0x63676a6c}; pragma user_version = 2;
    insert into runs (run_id, tenant, user_id, kind, status, lane, started_at_ms, head, epoch) values ('old', 'acme', 'u', 'program', 'running', 'execute', 1, '{"limits":{},"interfaces":{},"roles":[],"claims":{},"seed":"00","policyVersion":"p1"}', 1);
    insert into entries (run_id, position, tenant, user_id, kind, at_ms, seq, body, texts) values ('old', 0, 'acme', 'u', 'call-issued', 1, 0, '{"kind":"call-issued","atMs":1,"seq":0,"callId":"c0","tool":"t","effect":"write","args":{"digest":"sha256:","summary":1}}', 0);
    insert into signals (run_id, position, tenant, user_id, kind, name, body, texts) values ('old', 0, 'acme', 'u', 'event', 'e', '{"kind":"event","name":"e","by":"u","atMs":1,"payload":{"digest":"sha256:","summary":1}}', 0);
    insert into effects (tenant, idempotency_key, user_id, run_id, call_id, seq, args_digest, reserved_at_ms) values ('acme', 'k', 'u', 'old', 'c0', 0, 'sha256:', 1);
    insert into blob_refs (run_id, digest, tenant, user_id, bytes) values ('old', 'sha256:b', 'acme', 'u', 3)`);
  old.close();
  const journal = await openJournal(folder);
  onTestFinished(() => journal.close());
  expect(await journal.readRun("acme", "old")).toMatchObject({ status: "running", callCount: 1 });
  expect(await journal.readSignals("acme", "old")).toMatchObject([{ kind: "event", name: "e" }]);
  expect(await journal.reserveEffect(leaseOf("old"), { tenant: "acme", idempotencyKey: "k", seq: 3, callId: "c3", argsDigest: "sha256:" })).toMatchObject({ kind: "taken", effect: { callId: "c0", effectStatus: "unknown" } });
  await journal.append(leaseOf("old"), [ended(0), printed("on")], "full");
  expect(await journal.readEntries("acme", "old")).toMatchObject([{ kind: "call-issued" }, { kind: "call-ended" }, { kind: "console" }]);
  const file = new DatabaseSync(join(folder, "journal.db"));
  expect(file.prepare("select bytes from blob_refs where run_id = 'old'").all()).toHaveLength(1);
  file.close();
});
