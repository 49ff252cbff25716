import type { Row, Statement, Written } from "../session.ts";
import type { FaultKind } from "../sql-fault.ts";
import type { ResultColumn, Schema } from "../table.ts";

/** What the process of a database is asked. One at a time, answered in order. */
export type SqliteRequest =
  | { readonly ask: "open"; readonly file: string; readonly maxCellBytes: number }
  | { readonly ask: "schema" }
  | { readonly ask: "query"; readonly statement: Statement }
  | { readonly ask: "read"; readonly maxRows: number; readonly maxBytes: number }
  | { readonly ask: "close-query" }
  | { readonly ask: "describe"; readonly text: string }
  | { readonly ask: "check"; readonly text: string }
  | { readonly ask: "begin" }
  | { readonly ask: "run"; readonly statement: Statement }
  | { readonly ask: "commit" }
  | { readonly ask: "rollback" };

/** What each of them is answered with. */
export interface SqliteAnswers {
  readonly open: undefined;
  readonly schema: Schema;
  readonly query: readonly ResultColumn[];
  readonly read: { readonly rows: readonly Row[]; readonly done: boolean };
  readonly "close-query": undefined;
  readonly describe: readonly ResultColumn[];
  readonly check: undefined;
  readonly begin: undefined;
  readonly run: Written;
  readonly commit: undefined;
  readonly rollback: undefined;
}

export type SqliteAnswer =
  | { readonly kind: "answer"; readonly value: unknown }
  | { readonly kind: "fault"; readonly fault: FaultKind; readonly message: string; readonly name?: string; readonly code?: string };
