import { resolve } from "node:path";
import { CallgateError } from "@callgate/contract";
import type { Source } from "@callgate/contract";
import type { GateSource } from "@callgate/runtime";
import { shapeSource } from "@callgate/runtime/source";
import type * as SourceSql from "@callgate/source-sql";
import type { SqlConfig } from "./config/sql-schema.ts";
import { resolveReferences } from "./config/secret-references.ts";
import { sourceOptionsOf } from "./config/source-options-schema.ts";
import { failedSource } from "./failed-source.ts";

/** Sources of the `sql` block, and the secrets among their settings. */
export interface SqlSources {
  readonly sources: readonly GateSource[];
  readonly secrets: readonly string[];
}

export interface SqlHost {
  /** Where relative paths start. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Makes a source of every database that is not disabled; none is connected before it is needed. One whose settings lead
 * nowhere (a reference to nothing, a URL of no known kind) is a source that is `down`. Errors: CONFIG_INVALID where the package
 * is not installed.
 */
export async function sqlSources(databases: Readonly<Record<string, SqlConfig>>, host: SqlHost): Promise<SqlSources> {
  const wanted = Object.entries(databases).filter(([, { disabled }]) => disabled !== true);
  if (wanted.length === 0) return { sources: [], secrets: [] };
  const { createSqlSource } = await loadSqlPackage("sql");
  const secrets: string[] = [];
  const sources = wanted.map(([key, database]) => {
    const namespace = database.namespace ?? key;
    try {
      return { source: shapeSource(createSqlSource(optionsOf({ key, namespace, database }, { ...host, secrets })), sourceOptionsOf(database)) };
    } catch (fault) {
      const source: Source = failedSource({ namespace, kind: "sql", reason: fault instanceof Error ? fault.message : String(fault), brief: "its settings lead nowhere" });
      return { source };
    }
  });
  return { sources, secrets };
}

interface Named {
  readonly key: string;
  readonly namespace: string;
  readonly database: SqlConfig;
}

/** Errors: CONFIG_INVALID. */
function optionsOf({ key, namespace, database }: Named, host: SqlHost & { readonly secrets: string[] }): SourceSql.SqlSourceOptions {
  const { readOnly, schemas, queries, idempotencyTable, statementTimeoutMs, connectTimeoutMs, maxConnections, pageRows, maxPageBytes, cursorIdleMs } = database;
  const own = { readOnly, schemas, queries, idempotencyTable, statementTimeoutMs, connectTimeoutMs, maxConnections, pageRows, maxPageBytes, cursorIdleMs };
  // The schema has judged them; keys that are not there are no keys.
  const given = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined)) as Omit<SourceSql.SqlSourceOptions, "url" | "file" | "namespace">;
  const { place, secrets } = placeOf({ key, database }, host);
  host.secrets.push(...secrets);
  return { ...given, namespace, ...place } as SourceSql.SqlSourceOptions;
}

/** Where a database of the configuration is, and the secrets of getting there. Errors: CONFIG_INVALID for a reference to nothing. */
export function placeOf({ key, database }: Pick<Named, "key" | "database">, host: SqlHost): { readonly place: SourceSql.SqlPlace; readonly secrets: readonly string[] } {
  if (database.file !== undefined) return { place: { file: resolve(host.folder, database.file) }, secrets: [] };
  const { values, secrets } = resolveReferences({ url: database.url ?? "" }, `sql.${key}`, host);
  const url = values["url"] ?? "";
  return { place: { url }, secrets: [...secrets, ...passwordsIn(url)] };
}

/** Alone and as it is written: either may be quoted by a server. */
function passwordsIn(url: string): readonly string[] {
  const password = URL.canParse(url) ? new URL(url).password : "";
  return [password, decodeURIComponent(password)].filter((text) => text.length >= 4);
}

/** Not everybody needs it, so it is installed by those who do. */
export async function loadSqlPackage(what: string): Promise<typeof SourceSql> {
  try {
    return await import("@callgate/source-sql");
  } catch (error) {
    throw new CallgateError("CONFIG_INVALID", `${what} needs the package @callgate/source-sql: npm i @callgate/source-sql`, { cause: error });
  }
}
