/** What a value of a column is to a program, whatever the database calls its type. Each has one form, so that nothing is lost on the way. */
export type ValueKind =
  /** A whole number; one beyond 2^53 is a BigInt. */
  | "integer"
  /** A double. */
  | "number"
  /** Text of decimal digits, all of them: "12.30". */
  | "decimal"
  | "boolean"
  | "text"
  /** "2030-01-31" */
  | "date"
  /** "14:05:00.5" */
  | "time"
  /** "2030-01-31T14:05:00.5", no zone. */
  | "datetime"
  /** "2030-01-31T14:05:00.5Z", in UTC. */
  | "instant"
  /** Uint8Array. */
  | "bytes"
  /** What the JSON text says. */
  | "json"
  /** An array of the database's own. */
  | "list"
  /** Anything: the database does not say. */
  | "any";

/** A column of a result. */
export interface ResultColumn {
  readonly name: string;
  readonly kind: ValueKind;
}

/** A column of a table or view. */
export interface Column extends ResultColumn {
  /** The type in the database's own words, e.g. `numeric(10,2)`. */
  readonly type: string;
  readonly nullable: boolean;
  /** Leaving it out of an insert is fine. */
  readonly hasDefault: boolean;
  /** The database computes it; nobody writes it. */
  readonly isGenerated: boolean;
  readonly comment?: string;
  /** All values it can have, for an enumeration. */
  readonly values?: readonly string[];
}

export interface Table {
  /** Empty where the database has none (SQLite). */
  readonly schema: string;
  readonly name: string;
  /** A view is only read. */
  readonly kind: "table" | "view";
  readonly columns: readonly Column[];
  /** Names of the columns of the primary key, in their order; empty where there is none. */
  readonly key: readonly string[];
  readonly comment?: string;
}

/** What a database says of itself. */
export interface Schema {
  readonly tables: readonly Table[];
  /** Tables of these need no schema in their tools' names. */
  readonly defaultSchema: string;
  /** Why the database does not prove that a query only reads, for this user; undefined where it does. */
  readonly unproven?: string;
  /** A failed or lost transaction leaves nothing behind. False where a table's engine has no transactions. */
  readonly rollsBack: boolean;
  /** An INSERT can give back the key of its row. */
  readonly hasReturning: boolean;
  /** An open reader holds up writers: a SQLite file without a write-ahead log. */
  readonly readersBlockWriters: boolean;
}
