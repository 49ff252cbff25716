import { budgetUnits } from "@callgate/contract";
import type { BudgetAnswer, BudgetCount, BudgetCounter, Spent } from "@callgate/contract";
import { noWindowMs } from "../lib/budget-window.ts";
import type { Row } from "./columns.ts";
import { jsonColumn, textColumn } from "./columns.ts";
import { amountsShape, placesShape } from "./stored-shapes.ts";

// What budgets are in every database: when one is over its limit, and rows.

/** Columns of the units, in the order of `budgetUnits`. */
export const spentColumns = ["calls", "bytes", "duration_ms", "tokens", "micro_usd"] as const;

/**
 * Whether a claim does not fit into what is left. Of what a call uses nobody knows beforehand (bytes of a result, time,
 * tokens that are not declared) it is enough that something is left.
 */
export function overBudget({ budgetId, limits }: BudgetCounter, spent: Spent, amounts: Spent): Extract<BudgetAnswer, { kind: "over" }> | undefined {
  for (const unit of budgetUnits) {
    const limit = limits[unit];
    if (limit === undefined) continue;
    if (spent[unit] + amounts[unit] > limit || spent[unit] >= limit) return { kind: "over", budgetId, unit, limit, spent: spent[unit] };
  }
  return undefined;
}

/** Unit by unit. */
function addSpent(one: Spent, other: Spent, factor: 1 | -1 = 1): Spent {
  return { calls: one.calls + factor * other.calls, bytes: one.bytes + factor * other.bytes, durationMs: one.durationMs + factor * other.durationMs, tokens: one.tokens + factor * other.tokens, microUsd: one.microUsd + factor * other.microUsd };
}

/** In the order of `spentColumns`. */
export function spentValues(spent: Spent): readonly number[] {
  return budgetUnits.map((unit) => spent[unit]);
}

export function spentOf(row: Row | undefined): Spent {
  const number = (column: string): number => Number(row?.[column] ?? 0);
  return { calls: number("calls"), bytes: number("bytes"), durationMs: number("duration_ms"), tokens: number("tokens"), microUsd: number("micro_usd") };
}

export function countOf(row: Row): BudgetCount {
  const startedAtMs = Number(row["window_start_ms"]);
  return { budgetId: textColumn(row, "budget_id"), key: textColumn(row, "key"), ...(startedAtMs === noWindowMs ? {} : { startedAtMs }), spent: spentOf(row) };
}

/** Where a reservation was counted. */
export interface CountPlace {
  readonly budgetId: string;
  readonly key: string;
  readonly startMs: number;
}

/** A row of `budget_reservations`. */
export interface BudgetReservation {
  readonly epoch: number;
  readonly places: readonly CountPlace[];
  readonly amounts: Spent;
}

export function reservationOf(row: Row): BudgetReservation {
  return { epoch: Number(row["epoch"]), places: jsonColumn<CountPlace[]>(row, "places", placesShape), amounts: jsonColumn<Spent>(row, "amounts", amountsShape) };
}

/** What is still to be counted of a call that used up `spent`, and where. Undefined: nothing was reserved that is ours. */
export function settlementOf(reservations: readonly BudgetReservation[], spent: Spent): { readonly places: readonly CountPlace[]; readonly more: Spent } | undefined {
  const last = reservations.at(-1);
  if (last === undefined) return undefined;
  return { places: last.places, more: reservations.reduce((left, { amounts }) => addSpent(left, amounts, -1), spent) };
}

/** Every writer takes the counts in this order, so that no two wait for each other. */
export function inOrder(counters: readonly BudgetCounter[]): readonly BudgetCounter[] {
  return counters.toSorted((one, other) => compare(one.budgetId, other.budgetId) || compare(one.key, other.key));
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Windows that began so long ago are over, whatever their length. */
export const oldWindowMs = 32 * 86_400_000;
