import { nothingSpent } from "@callgate/contract";
import type { Budget, BudgetCount, BudgetView, LimitScope } from "@callgate/contract";
import { noWindowMs, windowOf } from "../lib/budget-window.ts";

/** How budgets stand: of each the counts of its present window. One that nobody has used yet has a line without a caller. */
export function budgetViews(budgets: readonly Budget[], counts: readonly BudgetCount[], nowMs: number): readonly BudgetView[] {
  return budgets.flatMap((budget): readonly BudgetView[] => {
    const { id, per = [], window, limits } = budget;
    const { startMs, endMs } = windowOf(window, nowMs);
    const common = { id, per, limits, ...(window === undefined ? {} : { window }), ...(endMs === undefined ? {} : { resetsAtMs: endMs }) };
    const present = counts.filter((count) => count.budgetId === id && (count.startedAtMs ?? noWindowMs) === startMs);
    if (present.length === 0) return [{ ...common, who: {}, spent: nothingSpent }];
    return present.map(({ key, spent }) => ({ ...common, who: whoOf(budget, key), spent }));
  });
}

/** The last of a scope's values is its own; the tenant before it is the asker's. */
function whoOf({ per = [] }: Budget, key: string): Partial<Record<LimitScope, string>> {
  const values = key === "" ? [] : (JSON.parse(key) as readonly (readonly (string | null)[])[]);
  return Object.fromEntries(per.map((scope, index) => [scope, values[index]?.at(-1) ?? ""]));
}
