import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ToolError } from "@callgate/contract";
import { callTool } from "./fixtures/call-context.ts";
import { missingMariadb, startMariadb } from "./fixtures/private-mariadb.ts";
import type { PrivateMariadb } from "./fixtures/private-mariadb.ts";
import { testSqlSource } from "./fixtures/test-sql-source.ts";
import type { SqlPeer } from "./fixtures/test-sql-source.ts";
import { startUnsteadyProxy } from "./fixtures/unsteady-proxy.ts";
import { createSqlSource } from "./sql-source.ts";

const reason = missingMariadb();
const outfile = "/tmp/callgate-escaped-outfile";

const tables = (name: string): string => `use ${name}; set time_zone = '+00:00';
  create table customers (id bigint unsigned auto_increment primary key, name varchar(200) not null, city varchar(40), credit decimal(12,2), big bigint, born date, seen timestamp(6) null, at datetime null, photo blob, tags json, active boolean, mood enum('calm','it''s'));
  create table notes (id int auto_increment primary key, text text not null, customer_id bigint unsigned, foreign key (customer_id) references customers (id));
  create view spenders as select id, name from customers where credit > 100;
  insert into customers values (1, 'Ann', 'Bern', 1234.50, 9007199254740993, '1990-05-17', '2030-01-31 14:05:00.123456', '2030-01-31 14:05:00', x'00ff10', '{"n":12345678901234567890,"a":[1,"x"]}', true, 'it''s');
  insert into customers (id, name, city) values (2, 'Bob', 'Basel'), (3, 'Cid', 'Bern'), (4, 'O''Neil', 'Chur'), (5, 'Eve', null);
  create function sneak() returns int modifies sql data begin delete from customers; return 1; end;
  create procedure sneak_out() begin commit; delete from customers; end;
  create sequence counter;`;

let server: PrivateMariadb;

async function makePeer(name: string): Promise<SqlPeer & { readonly url: string }> {
  const url = await server.createDatabase(name);
  await server.admin(tables(name));
  return {
    url,
    place: { url },
    dialect: "mysql",
    ask: async (sql) => (await server.admin(`use ${name}; ${sql}`))[1] as Record<string, unknown>[],
    exact: { id: 1, name: "Ann", city: "Bern", credit: "1234.50", big: 9007199254740993n, born: "1990-05-17", seen: "2030-01-31T14:05:00.123456Z", at: "2030-01-31T14:05:00", photo: Buffer.from([0, 255, 16]), tags: { n: 12345678901234567890n, a: [1, "x"] }, active: 1, mood: "it's" },
    escapes: [
      "commit; delete from customers",
      "commit",
      "rollback",
      "start transaction read write",
      "set transaction read write",
      "set session transaction read write",
      "set autocommit = 1",
      "with gone as (select 1) delete from customers",
      "delete from customers returning id",
      "insert into customers (name) values ('x') returning id",
      "select sneak()",
      "call sneak_out()",
      "begin not atomic commit; delete from customers; end",
      "execute immediate 'delete from customers'",
      "select nextval(counter)",
      "select next value for counter",
      `select * from customers into outfile '${outfile}'`,
      `select * into outfile '${outfile}' from customers`,
      `select 'x' into dumpfile '${outfile}'`,
      "select 1 into @x",
      "create table x (y int)",
      "create temporary table x (y int)",
      "drop table customers",
      "truncate customers",
      "analyze delete from customers",
      "analyze table customers",
      "optimize table customers",
      "flush tables",
      "lock tables customers write",
      "load data infile '/etc/passwd' into table notes",
      "load data local infile '/etc/passwd' into table notes",
      "select id from customers for update",
      "handler customers open",
      "kill 1",
      "/*! delete from customers */",
      "/*!50000 delete from customers */",
      "/* select */ delete from customers",
      "-- select\ndelete from customers",
      "# select\ndelete from customers",
      "select 1; \n delete from customers",
      "select get_lock('x', 1)",
      "install soname 'x'",
      "grant all on *.* to current_user",
    ],
    slow: "select sleep(30)",
    many: "select seq as n from seq_1_to_50000",
    huge: (chars) => `repeat('x', ${chars})`,
    dispose: () => Promise.resolve(),
  };
}

describe.skipIf(reason !== undefined)(`MariaDB${reason === undefined ? "" : `: ${reason}`}`, () => {
  beforeAll(async () => {
    server = await startMariadb();
  });
  afterAll(async () => {
    await server.stop();
    expect(existsSync(outfile)).toBe(false);
  });

  testSqlSource("MariaDB", () => makePeer("suite"));

  test("a wrong password is said to be one, and is nowhere", async () => {
    const peer = await makePeer("password");
    const source = createSqlSource({ namespace: "shop", url: peer.url.replace("maria-pass-password", "very-secret-word") });
    const failure = await source.list(new AbortController().signal).then(() => undefined, (error: unknown) => error as Error);
    expect(failure?.message).toContain("refuses to let the user in");
    expect(JSON.stringify([failure?.message, source.state])).not.toContain("very-secret-word");
    await source.close();
  });

  test("over TLS: in cipher with the authority of its certificate or where none is asked for, and not at all where its certificate is nobody's known", async ({ skip }) => {
    const { certificateFile } = server;
    if (certificateFile === undefined) return skip("no openssl to make a certificate with");
    const { url } = await makePeer("tls");
    const cipher = async (more: string): Promise<unknown> => {
      const source = createSqlSource({ namespace: "shop", url: `${url}${more}` });
      try {
        const { page: rows } = await callTool<{ readonly page: readonly { readonly cipher: string }[] }>(source, "query", { sql: "select variable_value as cipher from information_schema.session_status where variable_name = 'Ssl_cipher'" });
        return rows[0]?.cipher;
      } catch (error) {
        return (error as ToolError).code;
      } finally {
        await source.close();
      }
    };
    const root = `&sslrootcert=${encodeURIComponent(certificateFile)}`;
    expect(await cipher("")).toBe("");
    for (const more of ["&sslmode=require", `&sslmode=verify-ca${root}`]) expect(await cipher(more)).toMatch(/^(TLS|ECDHE|DHE|AES)/);
    // Of nobody known; and of somebody known, but of another host.
    for (const more of ["&sslmode=verify-ca", `&sslmode=verify-full${root}`]) expect(await cipher(more)).toBe("SOURCE_UNAVAILABLE");
  });

  test("no option of the driver comes in by the URL", async () => {
    const peer = await makePeer("options");
    const source = createSqlSource({ namespace: "shop", url: `${peer.url}&multipleStatements=true&flags=LOCAL_FILES` });
    await expect(callTool(source, "execute", { sql: "delete from notes; delete from notes" })).rejects.toMatchObject({ code: "SQL_INVALID" });
    await source.close();
  });

  test("lost before its commit nothing was changed; lost at it, nobody knows; its key makes the repetition the same effect", async () => {
    const peer = await makePeer("lost");
    const proxy = await startUnsteadyProxy(server.socketPath);
    const source = createSqlSource({ namespace: "shop", url: `mysql://lost:maria-pass-lost@127.0.0.1:${proxy.port}/lost`, idempotencyTable: "callgate_effects" });
    const failure = async (key: string): Promise<ToolError> => (await callTool(source, "insert_notes", { rows: [{ text: "sent" }] }, { idempotencyKey: key }).then(() => undefined, (thrown: unknown) => thrown)) as ToolError;
    try {
      await callTool(source, "insert_notes", { rows: [{ text: "first" }] });
      proxy.cutAt("INSERT INTO", false);
      expect(await failure("before")).toMatchObject({ code: "SOURCE_UNAVAILABLE", notApplied: true });
      proxy.cutAt("commit", true);
      expect(await failure("at")).toMatchObject({ code: "SOURCE_UNAVAILABLE", notApplied: false });
      expect(await callTool(source, "insert_notes", { rows: [{ text: "sent" }] }, { idempotencyKey: "at" })).toMatchObject({ changed: 1 });
      expect(await peer.ask("select text from notes order by id")).toEqual([{ text: "first" }, { text: "sent" }]);
    } finally {
      await source.close();
      await proxy.close();
    }
  });
});
