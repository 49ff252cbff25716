import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createCallgate } from "./create-callgate.ts";
import type { CallgateOptions } from "./create-callgate.ts";

describe("databases of a configuration", () => {
  let folder: string;
  let own: DatabaseSync;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "cg-sql-"));
    own = new DatabaseSync(join(folder, "shop.db"));
    own.exec("create table customers (id integer primary key, name text not null); insert into customers values (1, 'Ann'), (2, 'Bob')");
  });
  afterEach(() => {
    own.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const open = async (options: CallgateOptions) => {
    const gate = await createCallgate({ folder, stateFolder: join(folder, "state"), rules: [{ id: "all", allow: "*" }], ...options });
    await gate.ready();
    return gate;
  };

  test("a program is checked against their tables, before anything runs", async () => {
    const gate = await open({ sql: { shop: { file: "shop.db", deny: ["execute"] } } });
    try {
      const misspelt = await gate.run(`import { shop } from "tools";\nawait shop.insert_customers({ rows: [{ name: "Cid" }] });\nconst { page } = await shop.find_customers({});\nreturn page.map((row) => row.nmae);`);
      expect([misspelt.status, misspelt.diagnostics[0]?.message]).toEqual(["rejected", expect.stringContaining("name") as string]);
      const table = await gate.run(`import { shop } from "tools";\nreturn await shop.find_invoices({});`);
      expect([table.status, table.diagnostics[0]?.message]).toEqual(["rejected", expect.stringContaining("find_invoices") as string]);
      // Where only one can have been meant, a model turn is spared.
      const near = await gate.run(`import { shop } from "tools";\nreturn (await shop.find_custmers({})).page.length;`);
      expect([near.status, JSON.stringify(near.repairs)]).toEqual(["completed", expect.stringContaining("find_customers") as string]);
      expect(own.prepare("select count(*) as n from customers").get()).toEqual({ n: 2 });
      const done = await gate.run(`import { shop } from "tools";\nconst names = [];\nfor await (const page of shop.find_customers.pages({ where: { id: { gte: 1 } }, orderBy: [{ column: "id" }], limit: 1 })) names.push(...page.map(({ name }) => name.toUpperCase()));\nreturn names.slice(1, 2);`);
      expect(done.value).toMatchObject({ kind: "whole", value: ["BOB"] });
    } finally {
      await gate.close();
    }
  });

  test("queries reach the read lane, writes do not", async () => {
    const gate = await open({ sql: { shop: { file: "shop.db" } } });
    try {
      const read = await gate.run(`import { shop } from "tools";\nreturn (await shop.query({ sql: "select count(*) as n from customers" })).page;`, { lane: "query" });
      expect(read.value).toMatchObject({ kind: "whole", value: [{ n: 2 }] });
      const write = await gate.run(`import { shop } from "tools";\nreturn await shop.update_customers({ where: { id: 1 }, set: { name: "x" } });`, { lane: "query" });
      expect(write.status).toBe("rejected");
    } finally {
      await gate.close();
    }
  });

  test("the same task again is the same write in the database", async () => {
    const gate = await open({ sql: { shop: { file: "shop.db", idempotencyTable: "callgate_effects" } } });
    try {
      const program = `import { shop } from "tools";\nreturn await shop.insert_customers({ rows: [{ name: "Cid" }] });`;
      const first = await gate.run(program, { taskId: "t1" });
      const second = await gate.run(program, { taskId: "t1" });
      expect([first.status, second.status]).toEqual(["completed", "completed"]);
      expect(own.prepare("select count(*) as n from customers").get()).toEqual({ n: 3 });
      expect(own.prepare("select count(*) as n from callgate_effects").get()).toEqual({ n: 1 });
    } finally {
      await gate.close();
    }
  });

  test("one that leads nowhere is down, says why without its password, and costs the others nothing", async () => {
    process.env["CG_TEST_SQL_URL"] = "oracle://me:very-secret-word@db/x";
    const gate = await open({ sql: { shop: { file: "shop.db", readOnly: true }, gone: { file: "gone.db" }, unset: { url: "env:CG_TEST_UNSET" }, odd: { url: "env:CG_TEST_SQL_URL" } } });
    try {
      await gate.ready();
      expect(gate.namespaces().map(({ namespace, state }) => [namespace, state.kind])).toEqual(expect.arrayContaining([["shop", "ready"], ["gone", "down"], ["unset", "down"], ["odd", "down"]]));
      expect(gate.problems.join("\n")).toContain("CG_TEST_UNSET");
      expect(gate.problems.join("\n")).not.toContain("very-secret-word");
      expect((await gate.call("shop.query", { sql: "select name from customers where id = 1" })).shaped).toMatchObject({ kind: "whole", value: { page: [{ name: "Ann" }] } });
    } finally {
      await gate.close();
      delete process.env["CG_TEST_SQL_URL"];
    }
  });
});
