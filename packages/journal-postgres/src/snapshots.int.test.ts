import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { goOnWithSnapshot, laterClock, snapshotKinds } from "../../runtime/src/run/fixtures/snapshot-endings.ts";
import type { Snapshot } from "../../runtime/src/run/fixtures/snapshot-endings.ts";
import { openJournal } from "./fixtures/open-journal.ts";
import { missingPostgres, startPostgres } from "./fixtures/private-postgres.ts";
import type { PrivatePostgres } from "./fixtures/private-postgres.ts";
import { migrations } from "./schema.ts";

const folder = new URL("./fixtures/snapshots/", import.meta.url);
const versions = readdirSync(folder).flatMap((name) => (name.endsWith(".json") ? [name.replace(".json", "")] : []));
/** The schema of the first record that was kept. */
const firstKept = 6;

test("the record of every schema since the first that was kept is there", () => {
  const numbers = versions.map((version) => Number(version.replace("schema-", ""))).sort((a, b) => a - b);
  expect(numbers).toEqual(Array.from({ length: migrations.length - firstKept + 1 }, (_, index) => firstKept + index));
});

const missing = missingPostgres();

describe.skipIf(missing !== undefined)(`records in PostgreSQL${missing === undefined ? "" : ` (skipped: ${missing})`}`, () => {
  let server: PrivatePostgres;
  beforeAll(async () => {
    server = await startPostgres({ fsync: false });
  }, 120_000);
  afterAll(async () => {
    await server.stop();
  });

  describe.each(versions)("written with %s", (version) => {
    const snapshot = JSON.parse(readFileSync(new URL(`${version}.json`, folder), "utf8")) as Snapshot;
    let url: string;
    // The runs know nothing of each other, so that one copy is enough for all.
    beforeAll(async () => {
      const name = version.replace("-", "_");
      url = await server.createDatabase(name);
      server.restoreDatabase(readFileSync(new URL(`${version}.sql`, folder), "utf8"), name);
    }, 120_000);

    test.each(snapshotKinds)("are gone on with: %s", { timeout: 120_000 }, async (kind) => {
      const clock = laterClock(snapshot.madeAtMs);
      await goOnWithSnapshot(kind, snapshot, { journal: await openJournal(url, clock), clock });
    });
  });
});
