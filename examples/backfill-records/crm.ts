import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { CallgateError } from "callgate";
import type { CallgateOptions } from "callgate";
import pg from "pg";
import type { Truth } from "./records.ts";

export interface CrmRow {
  readonly id: number;
  readonly email: string | null;
  readonly vat_id: string | null;
}

/** The customer database, and how it is looked at beside the gate. */
export interface Crm {
  /** For people. */
  readonly standsOn: string;
  /** As the configuration names it. */
  readonly source: NonNullable<CallgateOptions["sql"]>[string];
  /** Of all customers, by id. */
  rows(): Promise<readonly CrmRow[]> | readonly CrmRow[];
  close(): Promise<void> | void;
}

/** Names the URL of a PostgreSQL database that the example may use. */
const variable = "CALLGATE_EXAMPLE_POSTGRES";

const createTable = "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT NOT NULL, email TEXT, vat_id TEXT)";
const selectRows = "SELECT id, email, vat_id FROM customers ORDER BY id";

/** In PostgreSQL where there is one to use, else in a SQLite file in the folder. */
export async function createCrm(folder: string, records: readonly Truth[]): Promise<Crm> {
  const url = process.env[variable];
  return url === undefined ? inSqlite(folder, records) : await inPostgres(url, records);
}

function inSqlite(folder: string, records: readonly Truth[]): Crm {
  const database = new DatabaseSync(join(folder, "crm.db"));
  database.exec(`${createTable}; BEGIN`);
  const insert = database.prepare("INSERT INTO customers VALUES (?, ?, ?, ?, ?)");
  for (const { id, name, country, crmEmail, crmVatId } of records) insert.run(id, name, country, crmEmail, crmVatId);
  database.exec("COMMIT");
  return { standsOn: `The CRM is a SQLite file; with ${variable}=postgres://... it is in PostgreSQL.`, source: { file: "crm.db" }, rows: () => database.prepare(selectRows).all().map((row) => ({ ...row }) as unknown as CrmRow), close: () => database.close() };
}

/** The table is made, and removed in the end; one that is there already is somebody's. */
async function inPostgres(url: string, records: readonly Truth[]): Promise<Crm> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: [found] } = await client.query<{ readonly name: string | null }>("SELECT to_regclass('customers') AS name");
    if (found?.name !== null) throw new CallgateError("USAGE", `The database of ${variable} has a table customers; name one that is empty`);
    await client.query(createTable);
    const columns = [records.map(({ id }) => id), records.map(({ name }) => name), records.map(({ country }) => country), records.map(({ crmEmail }) => crmEmail), records.map(({ crmVatId }) => crmVatId)];
    await client.query("INSERT INTO customers SELECT * FROM unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::text[])", columns);
  } catch (fault) {
    await client.end();
    throw fault;
  }
  return {
    standsOn: `The CRM is in PostgreSQL (${variable}).`,
    source: { url: `env:${variable}` },
    rows: async () => (await client.query<CrmRow>(selectRows)).rows,
    async close() {
      await client.query("DROP TABLE customers");
      await client.end();
    },
  };
}
