import type { Dialect } from "./dialect.ts";
import { placeholder } from "./dialect.ts";

// Reads as much of SQL as is needed to tell words from what stands in quotes and comments. Nothing here is a wall: what a
// statement may do is the database's decision.

/** Quotes, comments, `:name`, and casts, which are no names. Each alternative is linear. */
const common = String.raw`'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|::|:(?<name>[A-Za-z_]\w*)`;
const tokens: Readonly<Record<Dialect, string>> = {
  sqlite: `${common}|\`[^\`]*\`|\\[[^\\]]*\\]`,
  postgres: `${common}|\\$(?<tag>[A-Za-z_]*)\\$[\\s\\S]*?\\$\\k<tag>\\$`,
  // A backslash escapes in its strings.
  mysql: String.raw`'(?:[^'\\]|''|\\[\s\S])*'|"(?:[^"\\]|""|\\[\s\S])*"|#[^\n]*|${common}|\`[^\`]*\``,
};

/** A statement whose `:names` have become the placeholders of its database. */
export interface NamedStatement {
  readonly text: string;
  /** Which name each placeholder stands for, in order. */
  readonly names: readonly string[];
}

/** Replaces `:name` by placeholders; in quotes and comments it is left alone. PostgreSQL gets one number for each name, the others a `?` for each use. */
export function readNames(dialect: Dialect, sql: string): NamedStatement {
  const names: string[] = [];
  const text = sql.replace(new RegExp(tokens[dialect], "g"), (token: string, ...rest: unknown[]) => {
    const { name } = rest.at(-1) as { readonly name?: string };
    if (name === undefined) return token;
    const known = names.indexOf(name);
    if (dialect === "postgres" && known >= 0) return placeholder(dialect, known + 1);
    names.push(name);
    return placeholder(dialect, names.length);
  });
  return { text, names };
}

/** How many `?` a statement of SQLite has: it says nothing of values that are missing. Undefined where they have numbers or names. */
export function countQuestionMarks(sql: string): number | undefined {
  const bare = sql.replace(new RegExp(tokens.sqlite, "g"), (token: string, ...rest: unknown[]) => ((rest.at(-1) as { readonly name?: string }).name === undefined ? " " : token));
  return /\?\d|[:@$][A-Za-z_]/.test(bare) ? undefined : bare.split("?").length - 1;
}

/** The first word of a statement in capitals, comments and brackets before it left out; empty where there is none. */
export function leadingWord(sql: string): string {
  let rest = sql;
  for (;;) {
    const next = rest.replace(/^(?:[\s(;]+|--[^\n]*(?:\n|$)|#[^\n]*(?:\n|$)|\/\*(?!!|M!)[\s\S]*?\*\/)/, "");
    if (next === rest) break;
    rest = next;
  }
  return /^[A-Za-z]+/.exec(rest)?.[0].toUpperCase() ?? "";
}

/** Whether nothing but space, comments and semicolons is left. */
export function isEmptyRest(sql: string): boolean {
  return sql.replace(/--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|[\s;]/g, "") === "";
}

/** First words of what begins, ends or opens something other than one change of data or tables. */
const reserved = new Set("BEGIN START COMMIT END ROLLBACK ABORT SAVEPOINT RELEASE PREPARE EXECUTE DEALLOCATE SET RESET DISCARD LOCK UNLOCK USE COPY LISTEN UNLISTEN NOTIFY LOAD ATTACH DETACH PRAGMA VACUUM DECLARE FETCH CLOSE MOVE CHECKPOINT XA KILL SHUTDOWN INSTALL UNINSTALL FLUSH".split(" "));

/** Why `execute` does not take a statement; undefined where it does. Transactions are ours, and settings would reach later calls. */
export function refusedWord(sql: string): string | undefined {
  const word = leadingWord(sql);
  // MySQL runs what is in comments that begin with `!`.
  if (word === "") return "A text without a first word";
  return reserved.has(word) ? word : undefined;
}

/** In MySQL these commit what is before them, or may hold a COMMIT, so that they are no part of a transaction. */
const committing = new Set("CREATE ALTER DROP TRUNCATE RENAME GRANT REVOKE ANALYZE OPTIMIZE REPAIR CALL IF LOOP WHILE REPEAT FOR CASE".split(" "));

/** Whether a statement of this database ends the transaction it is in. */
export function commitsByItself(dialect: Dialect, sql: string): boolean {
  return dialect === "mysql" && committing.has(leadingWord(sql));
}
