import type { TaintMark, TaintScope } from "@callgate/contract";
import { taintColumns, taintOf, taintValues } from "@callgate/runtime/journal-parts";
import type { Database } from "./database.ts";

/** Keeps marks for each of these scopes; of one label the first stays. */
export async function addTaint({ database }: { readonly database: Database }, tenant: string, { scopes, marks }: { readonly scopes: readonly TaintScope[]; readonly marks: readonly TaintMark[] }): Promise<void> {
  const rows = taintValues(tenant, scopes, marks);
  const columns = taintColumns.split(", ").map((_, index) => rows.map((row) => row[index] ?? null));
  await database.query("lazy", `insert into callgate.taints (${taintColumns}) select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::int[], $9::float8[]) on conflict do nothing`, columns);
}

export async function readTaint({ database }: { readonly database: Database }, tenant: string, scopes: readonly TaintScope[]): Promise<readonly TaintMark[]> {
  const rows = await database.read(
    `select label, tool, run_id, seq, at_ms from callgate.taints t
     join unnest($2::text[], $3::text[], $4::text[]) as s (kind, who, id) on t.scope_kind = s.kind and t.scope_user = s.who and t.scope_id = s.id
     where t.tenant = $1`,
    [tenant, scopes.map(({ kind }) => kind), scopes.map(({ user }) => user), scopes.map(({ id }) => id)],
  );
  return taintOf(rows);
}
