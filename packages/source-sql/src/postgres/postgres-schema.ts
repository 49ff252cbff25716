import type { Column, Schema, Table, ValueKind } from "../table.ts";
import { postgresKind } from "./postgres-values.ts";

/** Runs one statement of ours and gives its rows by column name. */
export type RunOwn = (text: string, values?: readonly unknown[]) => Promise<readonly Readonly<Record<string, unknown>>[]>;

// Only what the user may read: a tool that can only be refused helps nobody. Partitions are read through their parent.
const columnsSql = `
  select n.nspname as schema, c.relname as table, c.relkind::text as kind, obj_description(c.oid, 'pg_class') as comment,
    a.attname as column, format_type(a.atttypid, a.atttypmod) as type, coalesce(nullif(t.typbasetype, 0), t.oid)::int8 as oid,
    a.attnotnull or t.typnotnull as required, a.atthasdef or a.attidentity <> '' as has_default,
    a.attgenerated <> '' or a.attidentity = 'a' as generated, col_description(c.oid, a.attnum) as column_comment,
    array_position(k.conkey, a.attnum) as key_place,
    (select array_agg(e.enumlabel::text order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid) as labels
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  join pg_type t on t.oid = a.atttypid
  left join pg_constraint k on k.conrelid = c.oid and k.contype = 'p'
  where c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition
    and n.nspname = any(coalesce($1::text[], current_schemas(false)::text[]))
    and has_schema_privilege(n.oid, 'usage') and has_column_privilege(c.oid, a.attnum, 'select')
  order by n.nspname, c.relname, a.attnum`;

// Roles whose functions and programs reach past the transaction; functions that open connections of their own; languages
// that are not confined.
const unprovenSql = `
  select case
    when exists (select from pg_roles r where r.rolsuper and pg_has_role(session_user, r.oid, 'member')) then 'it is a superuser'
    when exists (select from pg_roles r where r.rolname in ('pg_execute_server_program', 'pg_write_server_files') and pg_has_role(session_user, r.oid, 'member')) then 'it may write files or start programs on the server'
    when exists (select from pg_proc p where p.proname in ('dblink_exec', 'dblink') and has_function_privilege(p.oid, 'execute')) then 'it may call dblink, which opens connections of its own'
    when exists (select from pg_proc p join pg_language l on l.oid = p.prolang where not l.lanpltrusted and l.lanname not in ('internal', 'c') and has_function_privilege(p.oid, 'execute')) then 'it may call functions in a language that is not confined'
  end as reason`;

export async function readPostgresSchema(run: RunOwn, schemas: readonly string[] | undefined): Promise<Schema> {
  const rows = await run(columnsSql, [schemas ?? null]);
  const [first] = await run("select current_schema() as schema");
  const [unproven] = await run(unprovenSql);
  const reason = unproven?.["reason"];
  return {
    tables: [...Map.groupBy(rows, (row) => JSON.stringify([row["schema"], row["table"]])).values()].map(tableOf),
    defaultSchema: schemas?.[0] ?? text(first?.["schema"]),
    ...(typeof reason === "string" ? { unproven: reason } : {}),
    rollsBack: true,
    hasReturning: true,
    readersBlockWriters: false,
  };
}

function tableOf(rows: readonly Readonly<Record<string, unknown>>[]): Table {
  const [first] = rows;
  const key = rows.filter((row) => row["key_place"] !== null).toSorted((a, b) => Number(a["key_place"]) - Number(b["key_place"]));
  const comment = text(first?.["comment"]);
  return {
    schema: text(first?.["schema"]),
    name: text(first?.["table"]),
    kind: first?.["kind"] === "v" || first?.["kind"] === "m" ? "view" : "table",
    columns: rows.map(columnOf),
    key: key.map((row) => text(row["column"])),
    ...(comment === "" ? {} : { comment }),
  };
}

function columnOf(row: Readonly<Record<string, unknown>>): Column {
  const type = text(row["type"]);
  const labels = row["labels"];
  const comment = text(row["column_comment"]);
  const kind: ValueKind = type.endsWith("[]") ? "list" : postgresKind(Number(row["oid"]));
  return {
    name: text(row["column"]),
    type,
    kind,
    nullable: row["required"] !== true,
    hasDefault: row["has_default"] === true,
    isGenerated: row["generated"] === true,
    ...(Array.isArray(labels) ? { values: labels as string[] } : {}),
    ...(comment === "" ? {} : { comment }),
  };
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
