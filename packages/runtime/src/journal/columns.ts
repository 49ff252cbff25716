import { CallgateError } from "@callgate/contract";

/** A row as a database gives it. */
export type Row = Readonly<Record<string, unknown>>;

/** What a parsed column is held against: a Zod schema of what its readers rely on. */
export interface ColumnShape {
  safeParse(value: unknown): { readonly success: boolean };
}

/** A text column that is never null. Errors: JOURNAL_CORRUPT when it is something else. */
export function textColumn(row: Row, name: string): string {
  const value = row[name];
  if (typeof value !== "string") throw columnError(row, name);
  return value;
}

export function optionalText(row: Row, name: string): string | undefined {
  return row[name] === null ? undefined : textColumn(row, name);
}

export function optionalNumber(row: Row, name: string): number | undefined {
  return row[name] === null ? undefined : Number(row[name]);
}

/** A blob column that is never null. Errors: JOURNAL_CORRUPT when it is something else. */
export function bytesColumn(row: Row, name: string): Uint8Array {
  const value = row[name];
  if (!(value instanceof Uint8Array)) throw columnError(row, name);
  return value;
}

/** A text column that is one of a few words. Errors: JOURNAL_CORRUPT when it is none of them. */
export function wordColumn<Word extends string>(row: Row, name: string, words: readonly Word[]): Word {
  const value = textColumn(row, name);
  const word = words.find((one) => one === value);
  if (word === undefined) throw columnError(row, name);
  return word;
}

/** The value of a text column that holds JSON. Errors: JOURNAL_CORRUPT when it is none, or lacks what its readers rely on. */
export function jsonColumn<Value>(row: Row, name: string, shape: ColumnShape): Value {
  const text = textColumn(row, name);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw columnError(row, name);
  }
  if (!shape.safeParse(value).success) throw columnError(row, name);
  return value as Value;
}

/** What a person is told of a row that is not what was written. */
export function columnError(row: Row, name: string): CallgateError {
  const runId = typeof row["run_id"] === "string" ? row["run_id"] : undefined;
  const [what, details] = runId === undefined ? ["the journal", { column: name }] : [`run ${runId}`, { runId, column: name }];
  return new CallgateError("JOURNAL_CORRUPT", `Cannot read ${what}: its column ${name} does not hold what was written there. Nothing was performed and nothing was changed. Restore the journal from a backup; callgate audit verify says what else is damaged`, { details });
}
