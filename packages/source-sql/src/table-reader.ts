import { CallgateError, localPrincipal } from "@callgate/contract";
import { createDriver } from "./create-driver.ts";
import type { SqlPlace } from "./create-driver.ts";
import { qualified } from "./describe-tables.ts";
import { createEngine } from "./engine.ts";
import type { Engine } from "./engine.ts";
import { defaults } from "./sql-defaults.ts";
import type { Column, Table } from "./table.ts";
import { selectStatement } from "./table-statements.ts";

/** A table that is read from its first row to its last. */
export type TableReaderOptions = SqlPlace & {
  /** Named in errors. */
  readonly namespace: string;
  /** Schemas whose tables can be named. Default: those that need no schema before their names. */
  readonly schemas?: readonly string[] | undefined;
  /** As its tools are named: with its schema where that is not the default. */
  readonly table: string;
  /** Default: all. */
  readonly columns?: readonly string[];
  /** Columns that name a row. Default: its primary key. */
  readonly key?: readonly string[];
};

/** A row and what names it. */
export interface ReadRow {
  /** Values of the key, in its order. */
  readonly key: readonly unknown[];
  readonly cells: Readonly<Record<string, unknown>>;
}

export interface TableReader {
  /** All rows in the order of the key, a page at a time, in one transaction that cannot write. Throws `ToolError` as the tools do, and CONFIG_INVALID for a table or column that is not there. */
  pages(signal: AbortSignal): AsyncGenerator<readonly ReadRow[], void, undefined>;
  close(): Promise<void>;
}

/** Reads a table for something beside tools, such as an index. Nothing is connected before the first page. */
export function createTableReader(options: TableReaderOptions): TableReader {
  const driver = createDriver({ ...defaults, ...options });
  const engine = createEngine({ ...defaults, driver, schemas: options.schemas, maxConnections: 1, idempotencyTable: undefined, onChange: () => undefined });
  return {
    async *pages(signal) {
      const { table, key } = await openTable(engine, options, signal);
      const context = { signal, principal: localPrincipal };
      const request = { orderBy: key.map((column) => ({ column })) };
      let cursor: string | undefined;
      do {
        const { page, next } = await engine.page({ tool: "table-reader", asked: request, statement: () => selectStatement(driver.dialect, table, request), limit: pageRows, cursor, isOwn: true }, context);
        yield page.map((cells) => ({ key: key.map((name) => cells[name]), cells }));
        cursor = next?.cursor;
      } while (cursor !== undefined);
    },
    close: () => engine.close(),
  };
}

const pageRows = 500;

async function openTable(engine: Engine, { namespace, table: wanted, columns, key: named }: TableReaderOptions, signal: AbortSignal): Promise<{ readonly table: Table; readonly key: readonly string[] }> {
  const { tables, defaultSchema } = await engine.readSchema(signal);
  const invalid = (what: string): CallgateError => new CallgateError("CONFIG_INVALID", `The rows of "${namespace}" cannot be read: ${what}`);
  const found = tables.find((table) => qualified(table, defaultSchema) === wanted);
  if (found === undefined) throw invalid(`its database has no table "${wanted}" that its user may read`);
  const key = named ?? found.key;
  if (key.length === 0) throw invalid(`"${wanted}" has no primary key; say which columns name a row (key)`);
  const all = new Set([...key, ...(columns ?? found.columns.map(({ name }) => name))]);
  const missing = [...all].find((name) => !found.columns.some((column) => column.name === name));
  if (missing !== undefined) throw invalid(`"${wanted}" has no column "${missing}"`);
  return { key, table: { ...found, columns: found.columns.filter(({ name }: Column) => all.has(name)) } };
}
