import { testJournal } from "@callgate/testkit";
import type { JournalStore, StoreColumn } from "@callgate/testkit";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ended, issued, leaseOf, printed, sampleFinish, sampleRun } from "@callgate/testkit";
import { createPostgresBlobs } from "./postgres-blobs.ts";
import { createMasterKey } from "@callgate/runtime/journal";
import { openDatabase } from "./database.ts";
import type { Database, Query, SqlValue } from "./database.ts";
import { hostClock, openJournal } from "./fixtures/open-journal.ts";
import { missingPostgres, startPostgres } from "./fixtures/private-postgres.ts";
import type { PrivatePostgres } from "./fixtures/private-postgres.ts";
import type { ReadSeams } from "./read-seams.ts";
import { createRunReads } from "./run-reads.ts";
import { migrations } from "./schema.ts";

const missing = missingPostgres();
let server: PrivatePostgres | undefined;
let databases = 0;

function ours(): PrivatePostgres {
  if (server === undefined) throw new Error("The server was not started");
  return server;
}

/** What an earlier test is done with: making a database is most of what a test takes, emptying one is not. */
const unused: { readonly name: string; readonly url: string }[] = [];

/** @param state `new`: not even the schema is there */
async function freshDatabase(state: "new" | "made" = "made"): Promise<{ readonly name: string; readonly url: string }> {
  const used = state === "made" ? unused.pop() : undefined;
  if (used !== undefined) return used;
  const name = `j${++databases}`;
  const url = await ours().createDatabase(name);
  if (state === "made") await (await openJournal(url)).close();
  return { name, url };
}

const tables = ["owners", "runs", "run_keys", "entries", "signals", "effects", "blob_refs", "blobs", "budget_counts", "budget_reservations", "taints", "ledger", "holds"];

/** Every value of every row, as it is kept. */
async function bytesOf(url: string): Promise<Buffer> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const parts: Buffer[] = [];
    for (const table of tables) {
      const { rows } = await client.query<unknown[]>({ text: `select * from callgate.${table}`, rowMode: "array" });
      for (const value of rows.flat()) parts.push(value instanceof Buffer ? value : Buffer.from(String(value)));
    }
    return Buffer.concat(parts);
  } finally {
    await client.end();
  }
}

/** A server whose disk is full, as its clients see it: what writes ends with its code. */
async function fillDisk(url: string): Promise<() => Promise<void>> {
  const run = async (text: string): Promise<void> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      await client.query(text);
    } finally {
      await client.end();
    }
  };
  const written = ["runs", "entries", "signals", "effects"];
  await run(`create function callgate.no_space() returns trigger language plpgsql as $$ begin raise exception 'could not extend file "base/1/2": No space left on device' using errcode = '53100'; end $$;
    ${written.map((table) => `create trigger no_space before insert or update on callgate.${table} execute function callgate.no_space();`).join(" ")}`);
  return () => run("drop function callgate.no_space cascade");
}

async function storeOf({ name, url }: { readonly name: string; readonly url: string }): Promise<JournalStore> {
  const database = await openDatabase({ url, connections: 1 });
  return {
    blobs: createPostgresBlobs(database),
    open: (clock, keyByte) => openJournal(url, clock, keyByte),
    bytes: () => bytesOf(url),
    async edit(statement) {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      try {
        await client.query(`set search_path = callgate; ${statement}`);
      } finally {
        await client.end();
      }
    },
    faults: { fillDisk: () => fillDisk(url), cutConnections: () => ours().cutConnections(name) },
    columns: async () => (await database.read(`select table_name as "table", column_name as name, data_type as type from information_schema.columns c
      join pg_tables t on t.schemaname = c.table_schema and t.tablename = c.table_name where table_schema = 'callgate' and table_name <> 'schema_version' order by table_name, ordinal_position`)) as unknown as readonly StoreColumn[],
    rowAt: (runId, position) => `run_id = '${runId}' and position = ${position}`,
    async copy() {
      const copied = await freshDatabase("new");
      ours().copyDatabase(name, copied.name);
      return await storeOf(copied);
    },
    child: { moduleUrl: new URL("./fixtures/open-journal.ts", import.meta.url).href, argument: url },
    async dispose() {
      const kept = await database.read("select tablename from pg_tables where schemaname = 'callgate' and tablename <> 'schema_version'");
      await database.query("lazy", `truncate ${kept.map(({ tablename }) => `callgate.${String(tablename)}`).join(", ")} restart identity cascade`);
      await database.close();
      unused.push({ name, url });
    },
  };
}

describe.skipIf(missing !== undefined)(`PostgreSQL${missing === undefined ? "" : ` (skipped: ${missing})`}`, () => {
  beforeAll(async () => {
    server = await startPostgres({ fsync: false });
  }, 120_000);

  afterAll(async () => {
    await server?.stop();
  });

  testJournal("postgres", async () => storeOf(await freshDatabase()));

  describe("createPostgresJournal", () => {
    async function fresh(state?: "new" | "made") {
      const store = await storeOf(await freshDatabase(state));
      onTestFinished(() => store.dispose());
      const open = async (...args: Parameters<JournalStore["open"]>) => {
        const journal = await store.open(...args);
        onTestFinished(() => journal.close());
        return journal;
      };
      return { store, open };
    }

    test("blobs: does not give out bytes that were changed", async () => {
      const { store, open } = await fresh();
      await open();
      const digest = await store.blobs.put("acme", Buffer.from("true"));
      expect(await store.blobs.get("acme", digest)).toEqual(new Uint8Array(Buffer.from("true")));
      await store.edit("update blobs set bytes = 'fake'");
      await expect(store.blobs.get("acme", digest)).rejects.toMatchObject({ code: "JOURNAL_CORRUPT" });
    });

    test("a server whose transactions are stricter by default refuses no call for one that ran beside it", async () => {
      const { url } = await freshDatabase();
      const journal = await openJournal(`${url}${url.includes("?") ? "&" : "?"}options=${encodeURIComponent("-c default_transaction_isolation=serializable")}`);
      onTestFinished(() => journal.close());
      const leases = await Promise.all(Array.from({ length: 6 }, (_, index) => journal.begin(sampleRun(`r${index}`))));
      const counters = [{ budgetId: "all", key: "", ofRun: false, limits: { calls: 5 } }] as const;
      const answers = await Promise.all(leases.map((lease) => journal.reserveBudgets(lease, { tenant: "acme", callId: `${lease.runId}.0`, amounts: { calls: 1, bytes: 0, durationMs: 0, tokens: 0, microUsd: 0 }, counters, again: false })));
      expect(answers.filter(({ kind }) => kind === "reserved")).toHaveLength(5);
    });

    test("whether an agent has completed a program is looked up in an index, however many calls it made", async () => {
      const asked: { readonly text: string; readonly values: readonly SqlValue[] }[] = [];
      const read: Query = (text, values = []) => {
        asked.push({ text, values });
        return Promise.resolve([]);
      };
      await createRunReads({ database: { read } as Database, masterKey: createMasterKey(new Uint8Array(32)), owners: { dead: () => Promise.resolve([]) } as unknown as ReadSeams["owners"] }).listRuns({ tenant: "acme", agent: "bot", kind: "program", status: "completed", limit: 1 });
      const client = new pg.Client({ connectionString: (await freshDatabase()).url });
      await client.connect();
      onTestFinished(() => client.end());
      // Of an empty table it would read the whole.
      await client.query("set enable_seqscan = off");
      const { rows } = await client.query<{ "QUERY PLAN": string }>(`explain ${asked[0]?.text ?? ""}`, [...(asked[0]?.values ?? [])]);
      const plan = rows.map((row) => row["QUERY PLAN"]);
      expect(plan.find((line) => line.includes("on runs r"))).toContain("using runs_completed_by_agent");
      expect(plan.filter((line) => line.includes("Sort"))).toEqual([]);
    });

    test("of several processes that make the schema at once none fails, and it is made once", async () => {
      const { open, store } = await fresh("new");
      const journals = await Promise.all(Array.from({ length: 6 }, () => open()));
      await Promise.all(journals.map((journal, index) => journal.begin(sampleRun(`r${index}`))));
      expect(await journals[0]?.listRuns({ tenant: "acme" })).toHaveLength(6);
      const client = new pg.Client({ connectionString: store.child.argument });
      await client.connect();
      expect((await client.query("select version from callgate.schema_version")).rows).toEqual([{ version: migrations.length }]);
      await client.query("update callgate.schema_version set version = version + 1");
      await expect(store.open()).rejects.toMatchObject({ code: "JOURNAL_VERSION", message: expect.stringContaining("Update Callgate") });
      await client.query("update callgate.schema_version set version = version - 1");
      await client.end();
    });

    test("a schema of the first version is migrated: its runs read as before, its keys stay taken, and its ended runs can be undone", async () => {
      const { store, open } = await fresh();
      const client = new pg.Client({ connectionString: store.child.argument });
      await client.connect();
      // The store made the newest schema; this is how the first one was left.
      await client.query(`drop schema callgate cascade; create schema callgate; create table callgate.schema_version (version integer not null); insert into callgate.schema_version values (1); ${migrations[0] ?? ""}`);
      await client.query(`
        insert into callgate.owners values ('old', 'somewhere', 1, null, 1, 1, 2);
        insert into callgate.runs (run_id, tenant, user_id, kind, status, lane, started_at_ms, ended_at_ms, head, finish, call_count, owner, epoch, lease_until_ms)
          values ('r1', 'acme', 'alice', 'program', 'completed', 'execute', ${Date.now() - 2}, ${Date.now() - 1}, '{"roles":[],"claims":{},"language":"typescript","seed":"00","limits":{},"interfaces":{},"policyVersion":""}', '{"tokens":{"result":1,"program":2,"direct":3}}', 1, 'old', 1, 99999999999999);
        insert into callgate.effects values ('acme', 'key', 'alice', 'r1', 'c0', 0, 'sha256:a')`);
      await client.end();
      const journal = await open();
      expect(await journal.readRun("acme", "r1")).toMatchObject({ status: "completed", epoch: 1, callCount: 1 });
      const lease = await journal.begin(sampleRun("r2"));
      expect(await journal.reserveEffect(lease, { tenant: "acme", idempotencyKey: "key", seq: 0, callId: "c9", argsDigest: "sha256:a" })).toMatchObject({ kind: "taken", effect: { runId: "r1", effectStatus: "unknown" } });
      expect(await journal.claimEnded("acme", "r1", { leaseMs: 1_000 })).toMatchObject({ kind: "claimed", lease: { epoch: 2 } });
      await journal.release(leaseOf("r1", 2));
      expect(await journal.prune({ olderThanMs: Date.now() })).toMatchObject({ runs: 1 });
      expect(await journal.reserveEffect(lease, { tenant: "acme", idempotencyKey: "key", seq: 0, callId: "c9", argsDigest: "sha256:a" })).toMatchObject({ kind: "taken", effect: { runId: "r1", effectStatus: "unknown" } });
    });

    test("the server's clock counts: a machine whose clock is an hour ahead or behind takes no run early and keeps its own", async () => {
      const { store } = await fresh();
      const { createPostgresJournal } = await import("./postgres-journal.ts");
      const { createMasterKey } = await import("@callgate/runtime/journal");
      const skewed = (offsetMs: number) => createPostgresJournal({ url: store.child.argument, masterKey: createMasterKey(Buffer.alloc(32, 7)), clock: { ...hostClock, now: () => Date.now() + offsetMs } });
      const [ahead, behind] = [await skewed(3_600_000), await skewed(-3_600_000)];
      onTestFinished(async () => {
        await Promise.all([ahead.close(), behind.close()]);
      });
      await ahead.begin(sampleRun("theirs"), { leaseMs: 30_000 });
      await behind.begin(sampleRun("ours"), { leaseMs: 30_000 });
      expect(await ahead.claim({ leaseMs: 30_000 })).toBeUndefined();
      expect(await behind.claim({ leaseMs: 30_000 })).toBeUndefined();
      await behind.suspend(leaseOf("ours"), { atMs: Date.now() - 3_600_000, waits: [], wakeAtMs: Date.now() + 1_800_000 });
      expect(await ahead.claim({ leaseMs: 30_000 })).toBeUndefined();
      expect(await ahead.readRun("acme", "ours")).toMatchObject({ status: "suspended" });
    });

    test("every connection is cut in the middle of a stream of appends: what was acknowledged is there once, in its order, and reads go on", async () => {
      const { store, open } = await fresh();
      const journal = await open();
      const lease = await journal.begin(sampleRun("r1"));
      const client = new pg.Client({ connectionString: store.child.argument });
      client.on("error", () => undefined); // Where the test fails it is still open when the server stops.
      await client.connect();
      const cut = () => client.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'callgate' and datname = current_database()");
      let acknowledged = 0;
      for (let seq = 0; seq < 120; seq += 1) {
        const entries = [issued(seq), printed(String(seq)), ended(seq)];
        const cutting = seq % 10 === 5 ? cut() : undefined;
        // As a run log does: what failed is asked for again, the same entries.
        for (let tries = 0; ; tries += 1) {
          try {
            await journal.append(lease, entries, seq % 2 === 0 ? "full" : "lazy");
            break;
          } catch (error) {
            expect(error).toMatchObject({ code: "JOURNAL_UNAVAILABLE" });
            if (tries > 20) throw error;
          }
        }
        acknowledged += 1;
        await cutting;
        if (seq % 10 === 7) {
          await cut();
          expect(await journal.readRun("acme", "r1")).toMatchObject({ status: "running" });
        }
      }
      await client.end();
      const seqs = (await journal.readEntries("acme", "r1")).flatMap((entry) => ("seq" in entry ? [entry.seq] : []));
      expect(seqs).toEqual(Array.from({ length: acknowledged * 2 }, (_, index) => Math.floor(index / 2)));
    });

    test("a server that is gone is told as JOURNAL_UNAVAILABLE, without the URL, and the journal goes on when it is back", async () => {
      const { open } = await fresh();
      const journal = await open();
      const lease = await journal.begin(sampleRun("r1"));
      await journal.append(lease, [issued(0)], "full");
      await ours().crash();
      await journal.append(lease, [ended(0)], "full");
      await journal.finish(lease, sampleFinish());
      expect(await journal.readEntries("acme", "r1")).toHaveLength(2);
      const refused = await openJournal("postgres://someone:the-password@127.0.0.1:1/none").catch((error: unknown) => error as Error);
      expect(refused).toMatchObject({ code: "JOURNAL_UNAVAILABLE" });
      expect((refused as Error).message).not.toContain("the-password");
    });
  });
});
