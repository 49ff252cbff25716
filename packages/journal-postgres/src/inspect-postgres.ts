import pg from "pg";
import { toJournalError } from "./postgres-error.ts";
import type { SqlRow } from "./database.ts";
import { migrations } from "./schema.ts";

/** One thing that was looked at. */
export interface PostgresFinding {
  readonly check: "server" | "schema" | "rights";
  readonly isOk: boolean;
  readonly found: string;
  /** What to do, when not ok. */
  readonly fix?: string;
}

const oldest = 140_000;

/** Everything that is asked in one round trip; rights of tables where there are any. */
const facts = `
select current_setting('server_version') as version, current_setting('server_version_num')::int as number, pg_is_in_recovery() as standby,
  current_user as who, current_database() as database, has_database_privilege(current_database(), 'create') as may_create,
  exists (select 1 from pg_namespace where nspname = 'callgate') as has_schema,
  coalesce((select has_schema_privilege(oid, 'usage') from pg_namespace where nspname = 'callgate'), false) as may_use,
  coalesce((select pg_has_role(c.relowner, 'usage') from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'callgate' and c.relname = 'runs'), true) as owns,
  (select string_agg(c.relname, ', ' order by c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'callgate' and case c.relkind when 'S' then c.relname = 'ledger_lanes' and not has_sequence_privilege(c.oid, 'usage') when 'r' then not (has_table_privilege(c.oid, 'select') and (c.relname = 'schema_version' or (has_table_privilege(c.oid, 'insert') and has_table_privilege(c.oid, 'update') and has_table_privilege(c.oid, 'delete')))) else false end) as closed`;

/**
 * Looks at the PostgreSQL of a journal without changing anything: whether it can be reached, its version, its schema, and
 * what this user may do. Stops at the first thing that hides the rest. Never throws, and never shows the URL.
 */
export async function inspectPostgres({ url, connectTimeoutMs = 10_000 }: { readonly url: string; readonly connectTimeoutMs?: number }): Promise<readonly PostgresFinding[]> {
  try {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: connectTimeoutMs, application_name: "callgate doctor" });
    client.on("error", () => undefined); // What it was asked for rejects.
    try {
      await client.connect();
      const query = async (text: string): Promise<readonly SqlRow[]> => (await client.query(text)).rows as SqlRow[];
      const [row = {}] = await query(facts);
      const server = serverFinding(row);
      return server.isOk ? [server, ...(await schemaFindings(row, query))] : [server];
    } finally {
      await client.end();
    }
  } catch (error) {
    const { message } = toJournalError(error);
    return [{ check: "server", isOk: false, found: message, fix: "check the URL that journal.postgres refers to: host, port, user, password and database; and that the server takes connections from here (listen_addresses, pg_hba.conf)" }];
  }
}

function serverFinding(row: SqlRow): PostgresFinding {
  const found = `PostgreSQL ${String(row["version"])}, database ${String(row["database"])} as ${String(row["who"])}`;
  if (Number(row["number"]) < oldest) return { check: "server", isOk: false, found, fix: "use PostgreSQL 14 or newer" };
  if (row["standby"] === true) return { check: "server", isOk: false, found: `${found}: a standby, which takes no writes`, fix: "point journal.postgres at the primary" };
  return { check: "server", isOk: true, found };
}

async function schemaFindings(row: SqlRow, query: (text: string) => Promise<readonly SqlRow[]>): Promise<readonly PostgresFinding[]> {
  const who = `"${String(row["who"])}"`;
  if (row["has_schema"] !== true) {
    if (row["may_create"] === true) return [{ check: "schema", isOk: true, found: "not there yet; it is made at the first start" }];
    return [{ check: "schema", isOk: false, found: "not there yet, and this user may not make it", fix: `grant create on database "${String(row["database"])}" to ${who}; or let a user who may start Callgate once` }];
  }
  const grants = `grant usage on schema callgate to ${who}; grant select, insert, update, delete on all tables in schema callgate to ${who}; grant usage on all sequences in schema callgate to ${who};`;
  if (row["may_use"] !== true) return [{ check: "rights", isOk: false, found: "this user may not use the schema callgate", fix: `as its owner: ${grants}` }];
  const { closed } = row;
  if (typeof closed === "string") return [{ check: "rights", isOk: false, found: `this user may not read and write ${closed}`, fix: `as their owner: ${grants}` }];
  return [await versionFinding(row, query), { check: "rights", isOk: true, found: "reads and writes" }];
}

async function versionFinding(row: SqlRow, query: (text: string) => Promise<readonly SqlRow[]>): Promise<PostgresFinding> {
  const version = Number((await query("select version from callgate.schema_version"))[0]?.["version"] ?? 0);
  const known = migrations.length;
  if (version > known) return { check: "schema", isOk: false, found: `version ${version}, and this Callgate knows up to ${known}`, fix: "update Callgate" };
  if (version === known) return { check: "schema", isOk: true, found: `version ${version}` };
  if (row["owns"] === true) return { check: "schema", isOk: true, found: `version ${version}; it is migrated to ${known} at the next start` };
  return { check: "schema", isOk: false, found: `version ${version} has to be migrated to ${known}, which only its owner may`, fix: "let its owner start Callgate once" };
}
