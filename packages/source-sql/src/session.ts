import type { Dialect } from "./dialect.ts";
import type { ResultColumn, Schema } from "./table.ts";

/** One statement with the values of its placeholders, in the order and form the driver takes. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

export type Row = readonly unknown[];

/** Rows of a query under way, in the transaction it was begun in. */
export interface RowReader {
  readonly columns: readonly ResultColumn[];
  /**
   * The next rows: at most `maxRows`, and no more once they are over `maxBytes`, but at least one unless that was all.
   * `done` says that no more will come.
   *
   * Errors: `SqlFault`; `too_large` for a row that alone is over `maxBytes`.
   */
  read(maxRows: number, maxBytes: number): Promise<{ readonly rows: readonly Row[]; readonly done: boolean }>;
  /** Ends the query and its transaction, whatever is left. Idempotent. */
  close(): Promise<void>;
}

/** What a statement that writes came to. */
export interface Written {
  /** Rows that it changed. */
  readonly changed: number;
  /** What its RETURNING gave, where it has one. */
  readonly columns: readonly ResultColumn[];
  readonly rows: readonly Row[];
  /** The key the database made up for the last row, where it says so apart from the rows. */
  readonly insertId?: number | bigint;
}

export type RunWrite = (statement: Statement) => Promise<Written>;

/** What a query may cost. */
export interface QueryBounds {
  /** The server gives a statement up after this. */
  readonly timeoutMs: number;
}

/**
 * One connection. Used by one at a time. Every method may throw `SqlFault`; after one of kind `lost` the session is broken
 * and nothing but `destroy` helps.
 */
export interface SqlSession {
  readonly isBroken: boolean;
  schema(schemas: readonly string[] | undefined): Promise<Schema>;
  /**
   * Begins one statement that gives rows, in a transaction that the database keeps from writing. What is no single statement
   * with rows is refused: `several_statements`, `no_rows`.
   */
  query(statement: Statement, bounds: QueryBounds): Promise<RowReader>;
  /** The columns that a query gives, without running it. @param placeholders how many it has */
  describe(text: string, placeholders: number): Promise<readonly ResultColumn[]>;
  /** Lets the database look a statement over without running it. A kind of statement that it cannot look over passes. */
  check(text: string): Promise<void>;
  /** All of `work` or nothing. A fault of kind `lost` with `inDoubt` may have been all. */
  transact<Result>(work: (run: RunWrite) => Promise<Result>, bounds: QueryBounds): Promise<Result>;
  /** Stops the statement under way on the server; its method then throws. Resolves when that was asked for. */
  cancel(): Promise<void>;
  /** Drops the connection at once; what is under way throws. */
  destroy(): void;
}

/** Makes sessions of one database. */
export interface SqlDriver {
  readonly dialect: Dialect;
  /** Errors: `SqlFault`. */
  connect(): Promise<SqlSession>;
  /** For people and models, without user and password: `PostgreSQL "shop" on db.internal`. */
  readonly label: string;
  /** What must be in no text: the password. */
  readonly secrets: readonly string[];
}
