import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryBlobs } from "@callgate/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { migrations } from "../journal/schema.ts";
import { createSqliteJournal } from "../journal/sqlite-journal.ts";
import { createMasterKey } from "../secrets/master-key.ts";
import { goOnWithSnapshot, laterClock, snapshotKinds } from "./fixtures/snapshot-endings.ts";
import type { Snapshot } from "./fixtures/snapshot-endings.ts";

const folder = new URL("./fixtures/snapshots/", import.meta.url);
const versions = readdirSync(folder).flatMap((name) => (name.endsWith(".json") ? [name.replace(".json", "")] : []));

test("the record of every schema since there were suspended runs is kept", () => {
  expect(versions.sort()).toEqual(migrations.flatMap((_, index) => (index === 0 ? [] : [`schema-${index + 1}`])).sort());
});

describe.each(versions)("a record written with %s", (version) => {
  const snapshot = JSON.parse(readFileSync(new URL(`${version}.json`, folder), "utf8")) as Snapshot;

  test.each(snapshotKinds)("is gone on with: %s", { timeout: 120_000 }, async (kind) => {
    const own = mkdtempSync(join(tmpdir(), "callgate-snapshot-"));
    onTestFinished(() => rmSync(own, { recursive: true }));
    copyFileSync(new URL(`${version}.db`, folder), join(own, "journal.db"));
    const clock = laterClock(snapshot.madeAtMs);
    const journal = await createSqliteJournal({ path: join(own, "journal.db"), blobs: memoryBlobs(), masterKey: createMasterKey(new Uint8Array(32).fill(7)), clock });
    await goOnWithSnapshot(kind, snapshot, { journal, clock });
  });
});
