// A shop in SQLite becomes typed tools. One program reads pages, joins, and writes back; a misspelt column is refused before
// anything runs, and a query that would write is refused by the database.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createCallgate } from "callgate";

const folder = mkdtempSync(join(tmpdir(), "callgate-shop-"));
const file = join(folder, "shop.db");
const shop = new DatabaseSync(file);
shop.exec(`
  create table customers (id integer primary key, name text not null, city text);
  create table orders (id integer primary key, customer_id integer not null references customers (id), cents integer not null, state text not null default 'open');
  insert into customers values (1, 'Ann', 'Bern'), (2, 'Bob', 'Basel'), (3, 'Cid', null);
  with recursive up (n) as (select 1 union all select n + 1 from up where n < 5000)
    insert into orders (customer_id, cents) select 1 + n % 3, n from up`);

const gate = await createCallgate({
  folder,
  stateFolder: join(folder, "state"),
  sql: {
    shop: {
      file: "shop.db",
      idempotencyTable: "callgate_effects",
      queries: { open_total: { description: "What a customer still owes, in cents", sql: "select count(*) as orders, sum(cents) as cents from orders where customer_id = :customer_id and state = 'open'", params: { customer_id: "integer" } } },
    },
  },
  // An example answers for itself; without a rule a write asks a person.
  rules: [{ id: "reads-and-updates", allow: ["shop.find_*", "shop.query", "shop.open_total", "shop.update_orders"] }],
});

const program = `
import { shop } from "tools";

let cents = 0;
for await (const page of shop.find_orders.pages({ where: { customer_id: 1 }, orderBy: [{ column: "id" }], limit: 500 })) {
  for (const order of page) cents += order.cents;
}
const { page: [owed] } = await shop.open_total({ customer_id: 1 });
const cities = await shop.query({ sql: "select c.city, sum(o.cents) as cents from orders o join customers c on c.id = o.customer_id where o.state = :state group by c.city order by c.city", params: { state: "open" } });
const { changed } = await shop.update_orders({ where: { customer_id: 1, cents: { gte: 4990 } }, set: { state: "paid" } });
return { cents, agrees: owed?.cents === cents, cities: cities.page, changed };
`;

try {
  const done = await gate.run(program);
  assert.equal(done.status, "completed", JSON.stringify(done.error));
  const result = done.value?.kind === "whole" ? done.value.value : undefined;
  assert.deepEqual(result, { cents: 4165833, agrees: true, cities: [{ city: null, cents: 4169167 }, { city: "Basel", cents: 4167500 }, { city: "Bern", cents: 4165833 }], changed: 3 });
  console.log(`completed: ${JSON.stringify(result)}`);

  const misspelt = await gate.run(`import { shop } from "tools";\nreturn await shop.find_customers({ where: { citty: "Bern" } });`);
  assert.equal(misspelt.status, "rejected");
  console.log(`${misspelt.status}: ${misspelt.diagnostics[0]?.message ?? ""}`);

  const refused = await gate.call("shop.query", { sql: "delete from orders returning id" });
  assert.equal(refused.outcome.kind === "ok" ? "" : refused.outcome.error.code, "READ_ONLY");
  assert.equal(shop.prepare("select count(*) as n from orders").get()?.["n"], 5000);
  console.log("refused: a query that would have deleted every order");
} finally {
  await gate.close();
  shop.close();
  rmSync(folder, { recursive: true, force: true });
}
