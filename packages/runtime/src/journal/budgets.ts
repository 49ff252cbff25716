import type { DatabaseSync } from "node:sqlite";
import { nothingSpent } from "@callgate/contract";
import type { BudgetAnswer, BudgetClaim, BudgetCount, BudgetCounter, BudgetSettlement, RunLease, Spent } from "@callgate/contract";
import { windowOf } from "../lib/budget-window.ts";
import { countOf, inOrder, overBudget, reservationOf, settlementOf, spentColumns, spentOf, spentValues } from "./budget-counts.ts";
import type { CountPlace } from "./budget-counts.ts";
import { notFoundError } from "./fence.ts";
import type { RunWriter } from "./run-writer.ts";

/** What budgets hold, over all processes of the file. */
export interface Budgets {
  /** Inside a transaction. */
  reserve(lease: RunLease, claim: BudgetClaim): BudgetAnswer;
  /** Inside a transaction. */
  settle(lease: RunLease, settlement: BudgetSettlement): void;
  read(tenant: string): readonly BudgetCount[];
  /** Inside the transaction that removes a run. What it had reserved stays spent. */
  removeRun(runId: string): void;
  /** Inside a transaction: windows that began before that. */
  forget(beforeMs: number): void;
}

export function createBudgets(database: DatabaseSync, { writer, now }: { readonly writer: RunWriter; readonly now: () => number }): Budgets {
  const columns = spentColumns.join(", ");
  const select = database.prepare(`select ${columns} from budget_counts where tenant = ? and budget_id = ? and key = ? and window_start_ms = ?`);
  const add = database.prepare(`
    insert into budget_counts (tenant, budget_id, key, window_start_ms, run_id, ${columns}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    on conflict do update set ${spentColumns.map((column) => `${column} = ${column} + excluded.${column}`).join(", ")}`);
  const hold = database.prepare("update budget_reservations set epoch = ? where tenant = ? and call_id = ?");
  const insert = database.prepare("insert into budget_reservations (tenant, call_id, number, run_id, epoch, places, amounts) select ?1, ?2, coalesce(max(number), 0) + 1, ?3, ?4, ?5, ?6 from budget_reservations where tenant = ?1 and call_id = ?2");
  const take = database.prepare("select epoch, places, amounts from budget_reservations where tenant = ? and call_id = ? order by number");
  const remove = database.prepare("delete from budget_reservations where tenant = ? and call_id = ?");
  const list = database.prepare(`select budget_id, key, window_start_ms, ${columns} from budget_counts where tenant = ? order by budget_id, window_start_ms desc, key`);
  const removeReservations = database.prepare("delete from budget_reservations where run_id = ?");
  const removeCounts = database.prepare("delete from budget_counts where run_id = ?");
  const removeOld = database.prepare("delete from budget_counts where window_start_ms > 0 and window_start_ms < ?");

  function count(tenant: string, { place, runId, amounts }: { readonly place: CountPlace; readonly runId: string | null; readonly amounts: Spent }): void {
    add.run(tenant, place.budgetId, place.key, place.startMs, runId, ...spentValues(amounts));
  }

  function assertTenant(lease: RunLease, tenant: string): void {
    if (writer.scope(lease).tenant !== tenant) throw notFoundError(lease.runId);
  }

  return {
    reserve(lease, { tenant, callId, amounts, counters, again }) {
      assertTenant(lease, tenant);
      if (again && hold.run(lease.epoch, tenant, callId).changes > 0) return { kind: "reserved" };
      const nowMs = now();
      const places = inOrder(counters).map((counter) => ({ counter, ...windowOf(counter.window, nowMs) }));
      for (const { counter, startMs, endMs } of places) {
        const over = overBudget(counter, spentOf(select.get(tenant, counter.budgetId, counter.key, startMs)), amounts);
        if (over !== undefined) return { ...over, ...(endMs === undefined ? {} : { retryAfterMs: endMs - nowMs }) };
      }
      const placeOf = ({ budgetId, key }: BudgetCounter, startMs: number): CountPlace => ({ budgetId, key, startMs });
      for (const { counter, startMs } of places) count(tenant, { place: placeOf(counter, startMs), runId: counter.ofRun ? lease.runId : null, amounts });
      insert.run(tenant, callId, lease.runId, lease.epoch, JSON.stringify(places.map(({ counter, startMs }) => placeOf(counter, startMs))), JSON.stringify(amounts));
      return { kind: "reserved" };
    },
    settle(lease, { tenant, callId, spent, earlier }) {
      assertTenant(lease, tenant);
      const ours = take.all(tenant, callId).map(reservationOf).filter(({ epoch }) => earlier || epoch === lease.epoch);
      const settlement = settlementOf(ours, spent);
      for (const place of settlement?.places ?? []) count(tenant, { place, runId: null, amounts: settlement?.more ?? nothingSpent });
      remove.run(tenant, callId);
    },
    read: (tenant) => list.all(tenant).map(countOf),
    removeRun(runId) {
      removeReservations.run(runId);
      removeCounts.run(runId);
    },
    forget: (beforeMs) => void removeOld.run(beforeMs),
  };
}
