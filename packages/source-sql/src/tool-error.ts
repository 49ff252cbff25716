import { ToolError } from "@callgate/contract";
import { nearestNames } from "@callgate/runtime/catalog";
import type { Dialect } from "./dialect.ts";
import { placeholderExample } from "./dialect.ts";
import { SqlFault } from "./sql-fault.ts";
import type { Table } from "./table.ts";

export interface FaultContext {
  readonly dialect: Dialect;
  readonly label: string;
  readonly secrets: readonly string[];
  /** As last seen: for names that were meant. */
  readonly tables: readonly Table[];
  /** What was asked for: a failed write is told otherwise than a failed read. */
  readonly isWrite: boolean;
  /** A transaction that fails leaves nothing behind. */
  readonly rollsBack: boolean;
}

/** What a program is told of a fault. Other errors pass. */
export function toolErrorOf(error: unknown, context: FaultContext): unknown {
  if (!(error instanceof SqlFault)) return error;
  const { code, message, retryable = false, details } = tell(error, context);
  return new ToolError({
    code,
    message: context.secrets.reduce((text, secret) => text.replaceAll(secret, "[secret]"), message).slice(0, 2_000),
    retryable: retryable && !error.inDoubt,
    // Until its commit a transaction has changed nothing, whatever became of the connection. Of a query nothing is claimed: where
    // the database does not prove that it reads, it may have done something.
    notApplied: !error.inDoubt && (neverRan.has(error.kind) || (context.isWrite && context.rollsBack)),
    ...(details === undefined ? {} : { details }),
    cause: error,
  });
}

/** Faults of which the statement was not begun. */
const neverRan = new Set(["unknown_table", "unknown_column", "syntax", "several_statements", "no_rows", "parameters", "sign_in", "unreachable", "denied"]);

interface Told {
  readonly code: string;
  readonly message: string;
  readonly retryable?: boolean;
  readonly details?: { readonly nearest: readonly string[] };
}

function tell(fault: SqlFault, context: FaultContext): Told {
  const { kind, message } = fault;
  switch (kind) {
    case "unknown_table":
      return missing({ code: "UNKNOWN_TABLE", what: "table", fault }, context.tables.map(({ name }) => name));
    case "unknown_column":
      return missing({ code: "UNKNOWN_COLUMN", what: "column", fault }, new Set(context.tables.flatMap(({ columns }) => columns.map(({ name }) => name))));
    case "syntax":
      return { code: "SQL_INVALID", message: `The database does not understand the statement: ${message}` };
    case "several_statements":
      return { code: "SQL_INVALID", message: "There is more than one statement; give one at a time" };
    case "no_rows":
      return { code: "READ_ONLY", message: `Only a query can be run here (SELECT, WITH, VALUES): ${message}. What changes anything goes through execute` };
    case "read_only":
      return { code: "READ_ONLY", message: `The database refused to write: ${message}. ${context.isWrite ? "Its user or server only reads" : "What changes anything goes through execute"}` };
    case "parameters":
      return { code: "INVALID_PARAMS", message: `The values do not fit the placeholders: ${message}. Placeholders of this database are ${placeholderExample(context.dialect)}, with params as a list; or :name, with params as an object` };
    case "constraint":
      return { code: "CONSTRAINT_VIOLATED", message: `The database refused the change: ${message}` };
    case "value":
      return { code: "VALUE_INVALID", message: `The database refused a value: ${message}` };
    case "denied":
      return { code: "NOT_PERMITTED", message: `The user of the database may not do this: ${message}` };
    case "timeout":
      return { code: "STATEMENT_TIMEOUT", message: `The statement was stopped: ${message}. Ask for less, or for what an index finds` };
    case "cancelled":
      return { code: "CANCELLED", message: "The statement was stopped on the server" };
    case "conflict":
      return { code: "CONFLICT", message: `Another transaction was in the way: ${message}`, retryable: true };
    case "too_large":
      return { code: "VALUE_TOO_LARGE", message: `The result cannot be passed on: ${message}. Leave the large column out, or take a part of it (substr)` };
    case "sign_in":
    case "unreachable":
      return { code: "SOURCE_UNAVAILABLE", message: `${context.label} cannot be used: ${message}. The call did not reach it`, retryable: true };
    case "lost":
      return { code: "SOURCE_UNAVAILABLE", message: `The connection to ${context.label} was lost: ${message}`, retryable: true };
    case "other":
      return { code: "STATEMENT_FAILED", message: `The database refused the statement: ${message}` };
  }
}

function missing({ code, what, fault }: { readonly code: string; readonly what: string; readonly fault: SqlFault }, known: Iterable<string>): Told {
  const nearest = fault.missing === undefined ? [] : nearestNames(fault.missing.split(".").at(-1) ?? fault.missing, known);
  const meant = nearest.length === 0 ? "" : `; did you mean ${nearest.map((name) => `"${name}"`).join(" or ")}?`;
  return { code, message: fault.missing === undefined ? `There is no such ${what}: ${fault.message}` : `There is no ${what} "${fault.missing}"${meant}`, details: { nearest } };
}
