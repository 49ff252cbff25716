import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { testSource } from "@callgate/testkit";
import { afterAll, beforeAll, describe } from "vitest";
import { missingPostgres, startPostgres } from "../../journal-postgres/src/fixtures/private-postgres.ts";
import type { PrivatePostgres } from "../../journal-postgres/src/fixtures/private-postgres.ts";
import { startUnsteadyProxy } from "./fixtures/unsteady-proxy.ts";
import { createSqlSource } from "./sql-source.ts";

const tables = "create table customers (id integer primary key, name text not null); insert into customers values (1, 'Ann')";
const tools = ["find_customers", "insert_customers", "update_customers", "delete_customers", "query", "execute"];
const answered = { name: "find_customers", args: { where: { id: 1 } }, answer: { page: [{ id: 1, name: "Ann" }] } };
const refused = { name: "query", args: { sql: "delete from customers" }, code: "READ_ONLY" };

testSource("SQLite", () => {
  const folder = mkdtempSync(join(tmpdir(), "cg-sqlite-source-"));
  const file = join(folder, "shop.db");
  const own = new DatabaseSync(file);
  own.exec(tables);
  own.close();
  const slow = "with recursive up (n) as (select 1 union all select n + 1 from up where n < 1000000000) select sum(n) as s from up";
  return Promise.resolve({
    source: createSqlSource({ namespace: "shop", file }),
    tools,
    answered,
    refused,
    unanswered: { name: "query", args: { sql: slow } },
    dispose: () => Promise.resolve(rmSync(folder, { recursive: true, force: true })),
  });
});

describe.skipIf(missingPostgres() !== undefined)(`PostgreSQL ${missingPostgres() ?? ""}`, () => {
  let server: PrivatePostgres;
  let databases = 0;
  beforeAll(async () => {
    server = await startPostgres({ fsync: false });
  });
  afterAll(() => server.stop());

  testSource("PostgreSQL behind a network", async () => {
    databases += 1;
    const name = `shop${databases}`;
    const url = await server.createDatabase(name);
    server.restoreDatabase(tables, name);
    const socket = decodeURIComponent(/host=([^&]+)/.exec(url)?.[1] ?? "");
    const proxy = await startUnsteadyProxy(`${socket}/.s.PGSQL.5432`);
    return {
      source: createSqlSource({ namespace: "shop", url: `postgres://postgres:very-secret-word@127.0.0.1:${proxy.port}/${name}` }),
      tools,
      answered,
      refused,
      unanswered: { name: "query", args: { sql: "select pg_sleep(60)" } },
      secrets: ["very-secret-word"],
      fate: {
        goAway: () => Promise.resolve(proxy.cut()),
        comeBack: () => Promise.resolve(proxy.mend()),
      },
      dispose: () => proxy.close(),
    };
  });
});
