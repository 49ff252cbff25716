import type { DatabaseSync } from "node:sqlite";
import type { TaintMark, TaintScope } from "@callgate/contract";
import { taintColumns, taintOf, taintValues } from "./taint-rows.ts";

/** Labels that reached runs and what goes on beyond them. Methods that write belong inside a transaction. */
export interface Taints {
  add(tenant: string, scopes: readonly TaintScope[], marks: readonly TaintMark[]): void;
  read(tenant: string, scopes: readonly TaintScope[]): readonly TaintMark[];
  /** Marks from before that. */
  forget(beforeMs: number): void;
}

export function createTaints(database: DatabaseSync): Taints {
  const insert = database.prepare(`insert or ignore into taints (${taintColumns}) values (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const select = database.prepare("select label, tool, run_id, seq, at_ms from taints where tenant = ? and scope_kind = ? and scope_user = ? and scope_id = ?");
  const remove = database.prepare("delete from taints where at_ms < ?");
  return {
    add(tenant, scopes, marks) {
      for (const values of taintValues(tenant, scopes, marks)) insert.run(...values);
    },
    read: (tenant, scopes) => taintOf(scopes.flatMap(({ kind, user, id }) => select.all(tenant, kind, user, id))),
    forget: (beforeMs) => void remove.run(beforeMs),
  };
}
