/** What went wrong with a statement or a connection, in one word for all databases. */
export type FaultKind =
  | "unknown_table"
  | "unknown_column"
  | "syntax"
  | "several_statements"
  | "no_rows"
  | "parameters"
  | "constraint"
  | "value"
  /** A write where only reads are allowed. */
  | "read_only"
  /** The user of the database may not. */
  | "denied"
  | "timeout"
  | "cancelled"
  /** Another transaction was in the way; trying again can help. */
  | "conflict"
  | "too_large"
  /** User or password is refused. */
  | "sign_in"
  /** It could not be reached. */
  | "unreachable"
  /** The connection was there and is gone. */
  | "lost"
  | "other";

export interface SqlFaultInit {
  readonly kind: FaultKind;
  readonly message: string;
  /** The table or column that is not there. */
  readonly name?: string | undefined;
  /** SQLSTATE or the database's own code. */
  readonly code?: string | undefined;
  /** The connection was lost while a commit was under way: it may have been done. */
  readonly inDoubt?: boolean;
  readonly cause?: unknown;
}

/** What a session throws. Never leaves the package: `toolErrorOf` makes it one for programs. */
export class SqlFault extends Error {
  override readonly name = "SqlFault";
  readonly kind: FaultKind;
  readonly missing: string | undefined;
  readonly code: string | undefined;
  readonly inDoubt: boolean;

  constructor(init: SqlFaultInit) {
    super(init.message, { cause: init.cause });
    this.kind = init.kind;
    this.missing = init.name;
    this.code = init.code;
    this.inDoubt = init.inDoubt ?? false;
  }
}
