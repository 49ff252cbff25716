import type { Dialect } from "./dialect.ts";
import { placeholder, quoteName } from "./dialect.ts";
import type { Statement } from "./session.ts";
import type { Table, ValueKind } from "./table.ts";
import { bindCell } from "./bind-value.ts";

/** Writes one statement of ours. Names are quoted, values become placeholders: there is no third way for anything to get in. */
export interface SqlWriter {
  name(name: string): string;
  table(table: Table): string;
  /** The placeholder of a value of a column. */
  value(value: unknown, kind: ValueKind): string;
  statement(text: string): Statement;
}

export function createSqlWriter(dialect: Dialect): SqlWriter {
  const values: unknown[] = [];
  return {
    name: (name) => quoteName(dialect, name),
    table: ({ schema, name }) => (schema === "" ? quoteName(dialect, name) : `${quoteName(dialect, schema)}.${quoteName(dialect, name)}`),
    value(value, kind) {
      values.push(bindCell(dialect, value, kind));
      return placeholder(dialect, values.length);
    },
    statement: (text) => ({ text, values }),
  };
}
