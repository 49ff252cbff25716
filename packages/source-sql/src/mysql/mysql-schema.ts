import type { Column, Schema, Table } from "../table.ts";
import { mysqlColumnKind } from "./mysql-values.ts";

/** Runs one statement of ours and gives its rows by column name. */
export type RunOwn = (text: string, values?: readonly unknown[]) => Promise<readonly Readonly<Record<string, unknown>>[]>;

const tablesSql = (schemas: string): string => `select table_schema as \`schema\`, table_name as \`table\`, table_type as kind, engine as engine, table_comment as comment
  from information_schema.tables where table_schema in (${schemas}) and table_type in ('BASE TABLE', 'VIEW') order by table_schema, table_name`;

const columnsSql = (schemas: string): string => `select table_schema as \`schema\`, table_name as \`table\`, column_name as \`column\`, data_type as data_type, column_type as column_type,
    is_nullable as is_nullable, column_default as column_default, extra as extra, column_comment as comment
  from information_schema.columns where table_schema in (${schemas}) order by table_schema, table_name, ordinal_position`;

const keysSql = (schemas: string): string => `select table_schema as \`schema\`, table_name as \`table\`, column_name as \`column\`
  from information_schema.statistics where table_schema in (${schemas}) and index_name = 'PRIMARY' order by table_schema, table_name, seq_in_index`;

/** MariaDB's JSON is a text with this check; MySQL has a type. */
const checksSql = (schemas: string): string => `select constraint_schema as \`schema\`, table_name as \`table\`, check_clause as clause
  from information_schema.check_constraints where constraint_schema in (${schemas})`;

const transactional = new Set(["INNODB", "ROCKSDB", "NDBCLUSTER", "TOKUDB"]);

export async function readMysqlSchema(run: RunOwn, schemas: readonly string[] | undefined): Promise<Schema> {
  const [server] = await run("select database() as `schema`, version() as version");
  const wanted = schemas ?? [text(server?.["schema"])];
  const places = wanted.map(() => "?").join(", ");
  const [tables, columns, keys] = [await run(tablesSql(places), wanted), await run(columnsSql(places), wanted), await run(keysSql(places), wanted)];
  const isMaria = /mariadb/i.test(text(server?.["version"]));
  const checks = isMaria ? await run(checksSql(places), wanted) : [];
  const columnsOf = Map.groupBy(columns, placeOf);
  const keysOf = Map.groupBy(keys, placeOf);
  const jsonOf = Map.groupBy(checks, placeOf);
  return {
    tables: tables.map((table): Table => {
      const json = new Set((jsonOf.get(placeOf(table)) ?? []).flatMap(({ clause }) => /^json_valid\(`(.+)`\)$/i.exec(text(clause))?.[1] ?? []));
      const comment = text(table["comment"]);
      return {
        schema: text(table["schema"]),
        name: text(table["table"]),
        kind: table["kind"] === "VIEW" ? "view" : "table",
        columns: (columnsOf.get(placeOf(table)) ?? []).map((column) => columnFrom(column, json)),
        key: (keysOf.get(placeOf(table)) ?? []).map(({ column }) => text(column)),
        ...(comment === "" || comment === "VIEW" ? {} : { comment }),
      };
    }),
    defaultSchema: wanted[0] ?? "",
    rollsBack: tables.every(({ kind, engine }) => kind === "VIEW" || transactional.has(text(engine).toUpperCase())),
    hasReturning: isMaria,
    readersBlockWriters: false,
  };
}

function columnFrom(row: Readonly<Record<string, unknown>>, json: ReadonlySet<string>): Column {
  const [name, dataType, type, extra, comment] = ["column", "data_type", "column_type", "extra", "comment"].map((key) => text(row[key])) as [string, string, string, string, string];
  const nullable = row["is_nullable"] === "YES";
  const values = dataType === "enum" ? enumValues(type) : undefined;
  return {
    name,
    type,
    kind: mysqlColumnKind(dataType, json.has(name)),
    nullable,
    hasDefault: row["column_default"] !== null || /auto_increment|DEFAULT_GENERATED/i.test(extra),
    isGenerated: /(VIRTUAL|STORED|PERSISTENT)( GENERATED)?/i.test(extra),
    ...(values === undefined ? {} : { values }),
    ...(comment === "" ? {} : { comment }),
  };
}

/** `enum('a','it''s')` */
function enumValues(type: string): readonly string[] {
  return [...type.matchAll(/'((?:[^']|'')*)'/g)].map(([, value = ""]) => value.replaceAll("''", "'"));
}

function placeOf(row: Readonly<Record<string, unknown>>): string {
  return JSON.stringify([row["schema"], row["table"]]);
}

/** Some servers give these columns as bytes. */
function text(value: unknown): string {
  return typeof value === "string" ? value : value instanceof Uint8Array ? Buffer.from(value).toString() : "";
}
