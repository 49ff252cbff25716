import { join, resolve } from "node:path";
import { CallgateError } from "@callgate/contract";
import type { Source } from "@callgate/contract";
import type { GateSource } from "@callgate/runtime";
import { shapeSource } from "@callgate/runtime/source";
import type * as SourceDocuments from "@callgate/source-documents";
import type { DocumentsConfig } from "./config/documents-schema.ts";
import { sourceOptionsOf } from "./config/source-options-schema.ts";
import type { SqlConfig } from "./config/sql-schema.ts";
import { failedSource } from "./failed-source.ts";
import { placeOf } from "./sql-sources.ts";
import { tableRows } from "./table-rows.ts";

export interface DocumentsHost {
  /** Where relative paths start. */
  readonly folder: string;
  /** Indexes are kept in it. */
  readonly stateFolder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Of the configuration: where the tables are. */
  readonly sql: Readonly<Record<string, SqlConfig>>;
}

/** Sources of the `documents` block, and the secrets among the settings of their databases. */
export interface DocumentsSources {
  readonly sources: readonly GateSource[];
  readonly secrets: readonly string[];
}

/**
 * Makes a source of every folder and table that is not disabled; none is read before it is needed. One whose settings cannot be is a
 * source that is `down`. Errors: CONFIG_INVALID where a package is not installed.
 */
export async function documentsSources(places: Readonly<Record<string, DocumentsConfig>>, host: DocumentsHost): Promise<DocumentsSources> {
  const wanted = Object.entries(places).filter(([, { disabled }]) => disabled !== true);
  if (wanted.length === 0) return { sources: [], secrets: [] };
  const library = await loadPackage();
  const secrets: string[] = [];
  const sources: GateSource[] = [];
  for (const [key, config] of wanted) {
    const namespace = config.namespace ?? key;
    try {
      const source = config.table === undefined ? folderSource(namespace, { config, host, library }) : await tableSource(namespace, config.table, { config, host, library, secrets });
      sources.push({ source: shapeSource(source, sourceOptionsOf(config)) });
    } catch (fault) {
      if (CallgateError.is(fault) && fault.message.includes("npm i")) throw fault;
      sources.push({ source: failedSource({ namespace, kind: "documents", reason: fault instanceof Error ? fault.message : String(fault), brief: "its settings cannot be" }) });
    }
  }
  return { sources, secrets };
}

interface Making {
  readonly config: DocumentsConfig;
  readonly host: DocumentsHost;
  readonly library: typeof SourceDocuments;
}

function folderSource(namespace: string, { config, host, library }: Making): Source {
  const { include, exclude, maxFiles, maxFileBytes, maxTextChars, readTimeoutMs, readMemoryMiB, waitMs } = config;
  const given = definedOnly({ include, exclude, maxFiles, maxFileBytes, maxTextChars, readTimeoutMs, readMemoryMiB, waitMs });
  return library.createDocumentsSource({ ...given, namespace, folder: resolve(host.folder, config.folder ?? ""), cacheFolder: join(host.stateFolder, "documents") } as SourceDocuments.DocumentsSourceOptions);
}

async function tableSource(namespace: string, table: NonNullable<DocumentsConfig["table"]>, { config, host, library, secrets }: Making & { readonly secrets: string[] }): Promise<Source> {
  const database = host.sql[table.database];
  if (database === undefined) throw new CallgateError("CONFIG_INVALID", `documents.${namespace}.table.database: the sql block has no "${table.database}"`);
  const { place, secrets: found } = placeOf({ key: table.database, database }, host);
  secrets.push(...found);
  const { maxFiles, maxTextChars, waitMs } = config;
  const given = definedOnly({ maxFiles, maxTextChars, waitMs, refreshMs: table.refreshMs });
  const rows = await tableRows({ ...table, ...place, schemas: database.schemas, namespace });
  return library.createTableDocumentsSource({ ...given, namespace, rows, cacheFolder: join(host.stateFolder, "documents"), cacheKey: JSON.stringify([host.folder, table.database, table.name, table.text, table.title, table.key]) } as SourceDocuments.TableDocumentsOptions);
}

/** The schema has judged them; keys that are not there are no keys. */
function definedOnly(options: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/** Not everybody needs it, so it is installed by those who do. */
async function loadPackage(): Promise<typeof SourceDocuments> {
  try {
    return await import("@callgate/source-documents");
  } catch (error) {
    throw new CallgateError("CONFIG_INVALID", "documents needs the package @callgate/source-documents: npm i @callgate/source-documents", { cause: error });
  }
}
