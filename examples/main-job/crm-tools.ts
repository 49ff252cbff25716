import { DatabaseSync } from "node:sqlite";
import { defineTool, ToolError } from "callgate";
import type { Tool } from "callgate";
import { z } from "zod";

const stage = z.enum(["qualification", "proposal", "negotiation", "won", "lost"]);

const opportunity = z.object({
  id: z.string(),
  customer_id: z.string(),
  title: z.string(),
  stage,
  amount_eur: z.number(),
  close_date: z.string().nullable(),
  note: z.string(),
});
export type Opportunity = z.infer<typeof opportunity>;

/** A small customer database: two customers, four opportunities. */
export function openCrm(): DatabaseSync {
  const database = new DatabaseSync(":memory:");
  database.exec(`
    CREATE TABLE customer (id TEXT PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL);
    CREATE TABLE opportunity (
      id TEXT PRIMARY KEY, customer_id TEXT NOT NULL REFERENCES customer(id), title TEXT NOT NULL,
      stage TEXT NOT NULL, amount_eur REAL NOT NULL, close_date TEXT, note TEXT NOT NULL DEFAULT '');
    INSERT INTO customer VALUES ('cus-17', 'Northwind Logistics', 'Rotterdam'), ('cus-18', 'Fabrikam Parts', 'Osaka');
    INSERT INTO opportunity (id, customer_id, title, stage, amount_eur) VALUES
      ('opp-301', 'cus-17', 'Pilot extension', 'negotiation', 18000),
      ('opp-302', 'cus-17', 'Returns desk rollout', 'qualification', 0),
      ('opp-303', 'cus-18', 'Renewal 2027', 'qualification', 96000),
      ('opp-304', 'cus-18', 'Structured invoices', 'lost', 4000);
  `);
  return database;
}

/** Tools over the customer database. Every statement has parameters; none is put together from text. */
export function crmTools(database: DatabaseSync): readonly Tool[] {
  const byId = database.prepare("SELECT * FROM opportunity WHERE id = ?");
  const find = (id: string) => {
    const row = byId.get(id);
    if (row === undefined) throw new ToolError({ code: "OPPORTUNITY_NOT_FOUND", message: `There is no opportunity ${id}`, notApplied: true });
    return opportunity.parse({ ...row });
  };
  return [findCustomers(database), listOpportunities(database), updateOpportunity(database, find)];
}

function findCustomers(database: DatabaseSync): Tool {
  const customers = database.prepare("SELECT * FROM customer WHERE instr(lower(name), lower(?)) > 0 ORDER BY name");
  return defineTool({
    name: "find_customers",
    description: "Find customers by a part of their name.",
    effect: "read",
    input: z.object({ name: z.string().min(1) }),
    output: z.array(z.object({ id: z.string(), name: z.string(), city: z.string() })),
    handler: ({ name }) => customers.all(name).map((row) => ({ id: String(row["id"]), name: String(row["name"]), city: String(row["city"]) })),
  });
}

function listOpportunities(database: DatabaseSync): Tool {
  const rows = database.prepare("SELECT * FROM opportunity WHERE customer_id = ? ORDER BY id");
  return defineTool({
    name: "list_opportunities",
    description: "List the opportunities of one customer.",
    effect: "read",
    input: z.object({ customer_id: z.string() }),
    output: z.array(opportunity),
    handler: ({ customer_id }) => rows.all(customer_id).map((row) => opportunity.parse({ ...row })),
  });
}

function updateOpportunity(database: DatabaseSync, find: (id: string) => Opportunity): Tool {
  const update = database.prepare("UPDATE opportunity SET stage = ?, amount_eur = ?, close_date = ?, note = ? WHERE id = ?");
  return defineTool({
    name: "update_opportunity",
    description: "Change stage, amount, close date or note of an opportunity. Fields left out stay as they are.",
    effect: "write",
    input: z.object({ id: z.string(), stage: stage.optional(), amount_eur: z.number().nonnegative().optional(), close_date: z.iso.date().optional(), note: z.string().optional() }),
    output: opportunity,
    errors: [{ code: "OPPORTUNITY_NOT_FOUND", description: "No opportunity has that id" }],
    precheck: ({ id }) => void find(id),
    handler({ id, ...changes }) {
      const now = find(id);
      update.run(changes.stage ?? now.stage, changes.amount_eur ?? now.amount_eur, changes.close_date ?? now.close_date, changes.note ?? now.note, id);
      return find(id);
    },
  });
}
