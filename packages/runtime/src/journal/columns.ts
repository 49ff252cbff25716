import { CallgateError } from "@callgate/contract";

/** A row as a database gives it. */
export type Row = Readonly<Record<string, unknown>>;

/** A text column that is never null. Errors: ASSERTION when it is something else. */
export function textColumn(row: Row, name: string): string {
  const value = row[name];
  if (typeof value !== "string") throw new CallgateError("ASSERTION", `Column ${name} of the journal is no text`);
  return value;
}

export function optionalText(row: Row, name: string): string | undefined {
  return row[name] === null ? undefined : textColumn(row, name);
}

export function optionalNumber(row: Row, name: string): number | undefined {
  return row[name] === null ? undefined : Number(row[name]);
}

/** A blob column that is never null. Errors: ASSERTION when it is something else. */
export function bytesColumn(row: Row, name: string): Uint8Array {
  const value = row[name];
  if (!(value instanceof Uint8Array)) throw new CallgateError("ASSERTION", `Column ${name} of the journal is no bytes`);
  return value;
}
