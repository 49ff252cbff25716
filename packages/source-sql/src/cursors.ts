import { randomUUID } from "node:crypto";
import { ToolError } from "@callgate/contract";
import type { Database } from "./database.ts";
import type { Row, RowReader, SqlSession } from "./session.ts";

/** A query whose rows are not all read, and the connection it holds. */
export interface OpenQuery {
  readonly session: SqlSession;
  readonly reader: RowReader;
  /** Rows that were read to see whether there are more. */
  readonly ahead: readonly Row[];
  /** What it was begun with: the next page must be asked for in the same words. */
  readonly request: string;
  /** Of whom the rows are. */
  readonly owner: string;
}

/** Queries that wait for their next page. */
export interface Cursors {
  /** Keeps one; gives its name. */
  keep(query: OpenQuery): string;
  /** Takes it out, for the next page. Errors: `ToolError` CURSOR_EXPIRED, also for one of somebody else. */
  take(cursor: string, wanted: Pick<OpenQuery, "request" | "owner">): OpenQuery;
  /** Drops the one that has waited longest, so that its connection is free; none that was kept a moment ago, for it is being read. */
  dropOldest(): void;
  dropAll(): Promise<void>;
}

/** A program that reads page after page asks sooner than this. */
const momentMs = 1_000;

/** @param idleMs how long one waits to be asked for more */
export function createCursors(idleMs: number, giveBack: Database["giveBack"]): Cursors {
  const open = new Map<string, { readonly query: OpenQuery; readonly timer: NodeJS.Timeout; readonly keptMs: number }>();

  function remove(cursor: string): OpenQuery | undefined {
    const found = open.get(cursor);
    clearTimeout(found?.timer);
    open.delete(cursor);
    return found?.query;
  }

  async function drop(cursor: string): Promise<void> {
    const query = remove(cursor);
    if (query !== undefined) await endQuery(query, giveBack);
  }

  return {
    keep(query) {
      const cursor = randomUUID();
      const timer = setTimeout(() => void drop(cursor).catch(() => undefined), idleMs).unref();
      open.set(cursor, { query, timer, keptMs: performance.now() });
      return cursor;
    },
    take(cursor, wanted) {
      const found = open.get(cursor)?.query;
      if (found === undefined || found.owner !== wanted.owner) {
        throw new ToolError({ code: "CURSOR_EXPIRED", message: `The cursor is no longer there: one that is not read for ${idleMs / 1_000} s ends, and so do all when the process does. Ask again without it, beyond the last row you have`, notApplied: true });
      }
      if (found.request !== wanted.request) throw new ToolError({ code: "INVALID_PARAMS", message: "The cursor belongs to a call with other arguments; give the same ones, or leave it out", notApplied: true });
      remove(cursor);
      return found;
    },
    dropOldest() {
      const [oldest] = open;
      if (oldest === undefined) return;
      const [cursor, { keptMs }] = oldest;
      if (performance.now() - keptMs >= momentMs) drop(cursor).catch(() => undefined);
    },
    async dropAll() {
      await Promise.all([...open.keys()].map(drop));
    },
  };
}

/** Ends a query and gives its connection back. */
export async function endQuery({ session, reader }: Pick<OpenQuery, "session" | "reader">, giveBack: Database["giveBack"]): Promise<void> {
  try {
    await reader.close();
  } catch {
    session.destroy();
  } finally {
    giveBack(session);
  }
}
