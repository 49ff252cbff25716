import type { BudgetAnswer, BudgetClaim, BudgetCount, BudgetSettlement, RunLease, Spent } from "@callgate/contract";
import { countOf, inOrder, notFoundError, overBudget, reservationOf, settlementOf, spentColumns, spentOf, spentValues, windowOf } from "@callgate/runtime/journal-parts";
import type { CountPlace } from "@callgate/runtime/journal-parts";
import type { Database, Query } from "./database.ts";
import type { JournalTime } from "./journal-time.ts";
import { assertOurs } from "./run-states.ts";

interface BudgetSeams {
  readonly database: Database;
  readonly time: JournalTime;
}

const columns = spentColumns.join(", ");
const atPlace = "tenant = $1 and budget_id = $2 and key = $3 and window_start_ms = $4";

/** Takes what a call is about to use up. The rows of the counts are locked, in one order for all, until it is written. */
export async function reserveBudgets({ database, time }: BudgetSeams, lease: RunLease, claim: BudgetClaim): Promise<BudgetAnswer> {
  const { tenant, callId, amounts, counters, again } = claim;
  return await database.transact("lazy", async (query) => {
    await assertTenant(query, lease, tenant);
    if (again && (await query("update callgate.budget_reservations set epoch = $3 where tenant = $1 and call_id = $2 returning 1", [tenant, callId, lease.epoch])).length > 0) return { kind: "reserved" };
    const nowMs = Number((await query("select callgate.now_ms($1) as now", [time.given()]))[0]?.["now"]);
    const places: CountPlace[] = [];
    for (const counter of inOrder(counters)) {
      const { budgetId, key, window, ofRun } = counter;
      const { startMs, endMs } = windowOf(window, nowMs);
      const place = [tenant, budgetId, key, startMs];
      await query(`insert into callgate.budget_counts (tenant, budget_id, key, window_start_ms, run_id, ${columns}) values ($1, $2, $3, $4, $5, 0, 0, 0, 0, 0) on conflict do nothing`, [...place, ofRun ? lease.runId : null]);
      const [row] = await query(`select ${columns} from callgate.budget_counts where ${atPlace} for update`, place);
      const over = overBudget(counter, spentOf(row), amounts);
      if (over !== undefined) return { ...over, ...(endMs === undefined ? {} : { retryAfterMs: endMs - nowMs }) };
      places.push({ budgetId, key, startMs });
    }
    for (const place of places) await count(query, tenant, { place, amounts });
    await query(
      "insert into callgate.budget_reservations (tenant, call_id, number, run_id, epoch, places, amounts) select $1, $2, coalesce(max(number), 0) + 1, $3, $4, $5, $6 from callgate.budget_reservations where tenant = $1 and call_id = $2",
      [tenant, callId, lease.runId, lease.epoch, JSON.stringify(places), JSON.stringify(amounts)],
    );
    return { kind: "reserved" };
  });
}

/** Puts what a call used up in the place of what was reserved for it. */
export async function settleBudgets({ database }: BudgetSeams, lease: RunLease, { tenant, callId, spent, earlier }: BudgetSettlement): Promise<void> {
  await database.transact("lazy", async (query) => {
    await assertTenant(query, lease, tenant);
    const rows = await query("select epoch, places, amounts from callgate.budget_reservations where tenant = $1 and call_id = $2 order by number for update", [tenant, callId]);
    const settlement = settlementOf(rows.map(reservationOf).filter(({ epoch }) => earlier || epoch === lease.epoch), spent);
    if (settlement !== undefined) for (const place of settlement.places) await count(query, tenant, { place, amounts: settlement.more });
    await query("delete from callgate.budget_reservations where tenant = $1 and call_id = $2", [tenant, callId]);
  });
}

export async function readBudgets({ database }: BudgetSeams, tenant: string): Promise<readonly BudgetCount[]> {
  const rows = await database.read(`select budget_id, key, window_start_ms, ${columns} from callgate.budget_counts where tenant = $1 order by budget_id, window_start_ms desc, key`, [tenant]);
  return rows.map(countOf);
}

async function assertTenant(query: Query, lease: RunLease, tenant: string): Promise<void> {
  const run = await assertOurs(query, lease, "for share of r");
  if (run["tenant"] !== tenant) throw notFoundError(lease.runId);
}

async function count(query: Query, tenant: string, { place, amounts }: { readonly place: CountPlace; readonly amounts: Spent }): Promise<void> {
  const added = spentColumns.map((column, index) => `${column} = ${column} + $${index + 5}`).join(", ");
  await query(`update callgate.budget_counts set ${added} where ${atPlace}`, [tenant, place.budgetId, place.key, place.startMs, ...spentValues(amounts)]);
}
