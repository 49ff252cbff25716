import type { ToolErrorSpec } from "@callgate/contract";

/** Rows of one page at most. */
const maxLimit = 10_000;

export function limitSchema(defaultLimit: number): Readonly<Record<string, unknown>> {
  return { type: "integer", minimum: 1, maximum: maxLimit, default: defaultLimit, description: "Rows of this page" };
}

export const cursorSchema = { type: ["string", "null"], description: "From next of the page before: gives the rows after it. Everything else must be as it was" };

export const readErrors: readonly ToolErrorSpec[] = [
  { code: "CURSOR_EXPIRED", description: "The cursor is no longer there; ask again without it, beyond the last row" },
  { code: "STATEMENT_TIMEOUT", description: "It took too long and was stopped on the server" },
];

export const writeErrors: readonly ToolErrorSpec[] = [
  { code: "CONSTRAINT_VIOLATED", description: "The database refused the change; nothing was changed" },
  { code: "CONFLICT", description: "Another transaction was in the way; nothing was changed", retryable: true },
];
