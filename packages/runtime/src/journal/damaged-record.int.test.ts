import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { memoryBlobs } from "@callgate/testkit";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../lib/system-clock.ts";
import { createMasterKey } from "../secrets/master-key.ts";
import { damageRecord, isLocated, writeRecord } from "./fixtures/damaged-record.ts";
import { createSqliteJournal } from "./sqlite-journal.ts";

const sealKey = createMasterKey(new Uint8Array(32).fill(7));

test("br-031: whatever character of the ledger is changed, verification says where and does not fail", async () => {
  const folder = mkdtempSync(join(tmpdir(), "callgate-record-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "journal.db");
  const journal = await createSqliteJournal({ path, blobs: memoryBlobs(), masterKey: sealKey, clock: systemClock() });
  onTestFinished(() => journal.close());
  await writeRecord(journal, 500);
  await journal.audit.hold({ tenant: "acme", covers: { runId: "run1" }, reason: "case 7", by: "carol" });
  await journal.erase("acme", "run2", { by: "carol" });
  await journal.prune({ maxBytes: 1, by: "carol" });
  const database = new DatabaseSync(path);
  onTestFinished(() => database.close());
  const lines = database.prepare("select position, body from ledger").all() as { readonly position: number; readonly body: string }[];
  const write = database.prepare("update ledger set body = ? where position = ?");
  for (const { position, body } of lines) {
    for (let at = 0; at < body.length; at += 5) {
      write.run(body.slice(0, at) + (body[at] === "x" ? "y" : "x") + body.slice(at + 1), position);
      expect((await journal.audit.verify()).findings).toContainEqual(expect.objectContaining({ fault: "ledger-changed", position }));
    }
    write.run(body, position);
  }
  expect(await journal.audit.verify()).toMatchObject({ ok: true });
});

test("br-031: 6,000 records verify; flipped, dropped, reordered, truncated at random places each is found and located, and nothing else", async () => {
  const folder = mkdtempSync(join(tmpdir(), "callgate-record-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "journal.db");
  const open = () => createSqliteJournal({ path, blobs: memoryBlobs(), masterKey: sealKey, clock: systemClock() });
  const journal = await open();
  await writeRecord(journal, 6_000);
  expect(await journal.audit.verify()).toMatchObject({ ok: true, runs: 60, entries: 6_000, findings: [] });
  await journal.close();
  const database = new DatabaseSync(path);
  const damages = damageRecord(database, 5);
  database.close();
  const again = await open();
  onTestFinished(() => again.close());
  const { findings, findingCount } = await again.audit.verify();
  expect(damages).toHaveLength(30);
  expect(damages.filter((damage) => !isLocated(damage, findings))).toEqual([]);
  const hurt = new Set(damages.map(({ runId }) => runId));
  expect(findings.filter(({ runId }) => runId === undefined || !hurt.has(runId))).toEqual([]);
  expect(findingCount).toBe(findings.length);
});
