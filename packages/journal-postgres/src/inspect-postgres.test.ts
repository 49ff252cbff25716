import pg from "pg";
import { sampleRun } from "@callgate/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openJournal } from "./fixtures/open-journal.ts";
import { missingPostgres, startPostgres } from "./fixtures/private-postgres.ts";
import type { PrivatePostgres } from "./fixtures/private-postgres.ts";
import { inspectPostgres } from "./inspect-postgres.ts";
import { migrations } from "./schema.ts";

const missing = missingPostgres();

describe.skipIf(missing !== undefined)(`inspectPostgres${missing === undefined ? "" : ` (skipped: ${missing})`}`, () => {
  let server: PrivatePostgres;
  let url: string;
  let limited: string;

  async function run(sql: string): Promise<void> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(sql);
    await client.end();
  }

  beforeAll(async () => {
    server = await startPostgres({ fsync: false });
    url = await server.createDatabase("inspected");
    limited = url.replace("postgres@", "limited@");
    await run("create role limited login");
  }, 120_000);
  afterAll(async () => {
    await server.stop();
  });

  const toldOf = async (asked: string) => Object.fromEntries((await inspectPostgres({ url: asked })).map(({ check, isOk, found, fix }) => [check, [isOk, found, fix]]));

  test("tells what is there and what is to be done, from an empty database to one that is used with no more rights than needed", async () => {
    const server_ = expect.arrayContaining([true, expect.stringMatching(/^PostgreSQL \d+.*, database inspected as (postgres|limited)$/)]) as unknown;
    expect(await toldOf(url)).toEqual({ server: server_, schema: [true, "not there yet; it is made at the first start", undefined] });
    expect(await toldOf(limited)).toEqual({ server: server_, schema: [false, expect.stringContaining("may not make it"), expect.stringContaining('grant create on database "inspected" to "limited"')] });
    await expect(openJournal(limited)).rejects.toMatchObject({ code: "JOURNAL_UNAVAILABLE", message: expect.stringContaining("does not let this user") as string });

    await (await openJournal(url)).close();
    expect(await toldOf(url)).toEqual({ server: server_, schema: [true, `version ${migrations.length}`, undefined], rights: [true, "reads and writes", undefined] });
    expect((await toldOf(limited))["rights"]).toEqual([false, expect.stringContaining("may not use the schema"), expect.stringContaining("grant usage on schema callgate")]);
    await run("grant usage on schema callgate to limited; grant select on all tables in schema callgate to limited");
    expect((await toldOf(limited))["rights"]).toEqual([false, expect.stringContaining("may not read and write blob_refs, blobs, budget_counts, budget_reservations, effects"), expect.stringContaining("grant select, insert, update, delete")]);
    await run("grant insert, update, delete on all tables in schema callgate to limited; grant usage on all sequences in schema callgate to limited");
    expect(await toldOf(limited)).toEqual({ server: server_, schema: [true, `version ${migrations.length}`, undefined], rights: [true, "reads and writes", undefined] });
    const journal = await openJournal(limited);
    await journal.begin(sampleRun("r1"));
    expect(await journal.readRun("acme", "r1")).toMatchObject({ status: "running" });
    await journal.close();
  });

  test("tells a schema of another version apart", async () => {
    await run(`update callgate.schema_version set version = ${migrations.length - 1}`);
    expect((await toldOf(url))["schema"]).toEqual([true, expect.stringContaining("migrated"), undefined]);
    expect((await toldOf(limited))["schema"]).toEqual([false, expect.stringContaining("only its owner"), expect.stringContaining("owner")]);
    await run(`update callgate.schema_version set version = ${migrations.length + 1}`);
    expect((await toldOf(url))["schema"]).toEqual([false, expect.stringContaining("knows up to"), "update Callgate"]);
  });

  test("a server that cannot be reached, or lets nobody in, is told without the URL", async () => {
    for (const unreachable of ["postgres://someone:the-password@127.0.0.1:1/none", url.replace("postgres@", "nobody_of_that_name@"), url.replace("/inspected", "/none_of_that_name"), "not a url"]) {
      const [finding, ...more] = await inspectPostgres({ url: unreachable });
      expect(more).toEqual([]);
      expect(finding).toMatchObject({ check: "server", isOk: false, fix: expect.stringContaining("journal.postgres") as string });
      expect(JSON.stringify(finding)).not.toContain("the-password");
    }
  });
});
