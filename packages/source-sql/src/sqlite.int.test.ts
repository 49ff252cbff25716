import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { processesNamed } from "@callgate/testkit";
import { afterAll, describe, expect, test } from "vitest";
import { callTool } from "./fixtures/call-context.ts";
import { testSqlSource } from "./fixtures/test-sql-source.ts";
import type { SqlPeer } from "./fixtures/test-sql-source.ts";
import { createSqlSource } from "./sql-source.ts";

const folder = mkdtempSync(join(tmpdir(), "cg-sqlite-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const tables = `
  create table customers (id integer primary key, name text not null, city varchar(40), credit decimal(12,2), big bigint, born date, seen datetime, photo blob, tags json, active boolean);
  create table notes (id integer primary key, text text not null, customer_id integer references customers (id));
  create view spenders as select id, name from customers where credit > 100;
  insert into customers values (1, 'Ann', 'Bern', 1234.5, 9007199254740993, '1990-05-17', '2030-01-31T14:05:00Z', x'00ff10', '{"n":12345678901234567890,"a":[1,"x"]}', 1),
    (2, 'Bob', 'Basel', null, null, null, null, null, null, 0), (3, 'Cid', 'Bern', 5, 3, null, null, null, null, null), (4, 'O''Neil', 'Chur', null, null, null, null, null, null, null), (5, 'Eve', null, null, null, null, null, null, null, null);`;

function makePeer(name: string, more = ""): SqlPeer & { readonly file: string } {
  const file = join(folder, `${name}.db`);
  const own = new DatabaseSync(file, { timeout: 5_000 });
  own.exec(`${tables}${more}`);
  const left = join(folder, "left");
  return {
    file,
    place: { file },
    dialect: "sqlite",
    ask: (sql) => Promise.resolve(own.prepare(sql).all() as Record<string, unknown>[]),
    exact: { id: 1, name: "Ann", city: "Bern", credit: 1234.5, big: 9007199254740993n, born: "1990-05-17", seen: "2030-01-31T14:05:00Z", photo: new Uint8Array([0, 255, 16]), tags: { n: 12345678901234567890n, a: [1, "x"] }, active: true },
    escapes: [
      "commit; delete from customers",
      "commit",
      "rollback",
      "begin immediate",
      "pragma query_only = 0",
      "pragma journal_mode = delete",
      "pragma writable_schema = 1",
      `attach '${left}' as other`,
      `vacuum into '${left}'`,
      "select load_extension('libm')",
      `select writefile('${left}', 'x')`,
      "with gone as (delete from customers returning *) select * from gone",
      "delete from customers returning id",
      "insert into customers (name) values ('x') returning id",
      "create table x (y)",
      "drop table customers",
      "/* select */ delete from customers",
      "-- select\ndelete from customers",
      "explain delete from customers",
      "replace into customers (id, name) values (1, 'x')",
      "update customers set name = 'x'",
      "detach main",
      "reindex",
      "analyze",
      "select 1; \0 delete from customers",
    ],
    slow: "with recursive up (n) as (select 1 union all select n + 1 from up where n < 1000000000) select sum(n) as s from up",
    many: "with recursive up (n) as (select 1 union all select n + 1 from up where n < 50000) select n from up",
    huge: (chars) => `printf('%.*c', ${chars}, 'x')`,
    dispose: () => {
      own.close();
      expect(existsSync(left)).toBe(false);
      return Promise.resolve();
    },
  };
}

testSqlSource("SQLite", () => Promise.resolve(makePeer("suite")));

describe("SQLite alone", () => {
  test("a file that is not there is not made, and is said to be missing", async () => {
    const source = createSqlSource({ namespace: "shop", file: join(folder, "nowhere.db") });
    await expect(source.list(new AbortController().signal)).rejects.toMatchObject({ code: "SOURCE_FAILED", message: expect.stringContaining("no such file") as string });
    expect(source.state).toMatchObject({ kind: "down", brief: "it cannot be reached" });
    expect(readdirSync(folder)).not.toContain("nowhere.db");
    await source.close();
  });

  test("a value that is none of its column's type is told, not passed off as one", async () => {
    const { file, ask, dispose } = makePeer("loose");
    await ask("insert into notes (text, customer_id) values ('x', null)");
    await ask("pragma foreign_keys = off");
    await ask("update notes set customer_id = 'abc'");
    const source = createSqlSource({ namespace: "shop", file });
    await expect(callTool(source, "find_notes", {})).rejects.toMatchObject({ code: "COLUMN_MISMATCH", message: expect.stringContaining('"customer_id"') as string });
    expect(await callTool(source, "query", { sql: "select customer_id from notes" })).toEqual({ page: [{ customer_id: "abc" }] });
    await source.close();
    await dispose();
  });

  test("a program that reads pages and writes between them does not stand in its own way", async () => {
    const { file, dispose } = makePeer("rollback-journal");
    const source = createSqlSource({ namespace: "shop", file });
    const sql = "select id from customers order by id";
    const { cursor } = (await callTool<{ readonly next: { readonly cursor: string } }>(source, "query", { sql, limit: 1 })).next;
    expect(await callTool(source, "update_customers", { where: { id: 1 }, set: { city: "Thun" } })).toEqual({ changed: 1 });
    await expect(callTool(source, "query", { sql, cursor })).rejects.toMatchObject({ code: "CURSOR_EXPIRED" });
    await source.close();
    await dispose();
  });

  test("with a write-ahead log pages go on while others write", async () => {
    const { file, dispose } = makePeer("wal", "pragma journal_mode = wal;");
    const source = createSqlSource({ namespace: "shop", file });
    const sql = "select id, city from customers order by id";
    const { cursor } = (await callTool<{ readonly next: { readonly cursor: string } }>(source, "query", { sql, limit: 1 })).next;
    await callTool(source, "update_customers", { where: { id: 2 }, set: { city: "Thun" } });
    // As it was when the query began.
    expect(await callTool(source, "query", { sql, limit: 1, cursor })).toMatchObject({ page: [{ id: 2, city: "Basel" }] });
    await source.close();
    await dispose();
  });

  test("closing leaves no process, whatever it was at", async () => {
    const { file, slow, dispose } = makePeer("close");
    const source = createSqlSource({ namespace: "shop", file });
    const before = new Set(processesNamed("sqlite-child"));
    const waiting = callTool(source, "query", { sql: slow }).then(() => "answered", () => "failed");
    await expect.poll(() => processesNamed("sqlite-child").filter((pid) => !before.has(pid)).length, { timeout: 20_000 }).toBeGreaterThan(0);
    await source.close();
    expect(await waiting).toBe("failed");
    await expect.poll(() => processesNamed("sqlite-child").filter((pid) => !before.has(pid)), { timeout: 20_000 }).toEqual([]);
    await expect(callTool(source, "query", { sql: "select 1 as one" })).rejects.toThrow();
    await dispose();
  });
});
