import { budgetUnits, CallgateError } from "@callgate/contract";
import type { Budget, BudgetCounter, BudgetWindow } from "@callgate/contract";
import { assertWhole, createLimitMatcher } from "./limit-rules.ts";
import type { LimitFacts } from "./limit-rules.ts";

/** The counts of budgets that a call belongs to. */
export interface Budgets {
  readonly all: readonly Budget[];
  countersOf(facts: LimitFacts): readonly BudgetCounter[];
}

const windows: readonly BudgetWindow[] = ["hour", "day", "month"];
const most = Number.MAX_SAFE_INTEGER;

/** Undefined where there is none. Errors: `CallgateError` USAGE. */
export function createBudgets(budgets: readonly Budget[]): Budgets | undefined {
  if (budgets.length === 0) return undefined;
  budgets.forEach(check);
  const match = createLimitMatcher("budgets", budgets);
  return {
    all: budgets,
    countersOf: (facts) => match(facts).map(({ rule: { id, window, limits, per = [] }, key }) => ({ budgetId: id, key, ofRun: per.includes("run"), limits, ...(window === undefined ? {} : { window }) })),
  };
}

function check({ limits, window }: Budget, index: number): void {
  const place = `budgets[${index}]`;
  if (window !== undefined && !windows.includes(window)) throw new CallgateError("USAGE", `${place}.window knows no "${String(window)}"; there are ${windows.join(", ")}`);
  const given = Object.entries(limits).filter(([, value]) => value !== undefined);
  if (given.length === 0) throw new CallgateError("USAGE", `${place}.limits is empty: say how much, in ${budgetUnits.join(", ")}`);
  for (const [unit, value] of given) {
    if (!(budgetUnits as readonly string[]).includes(unit)) throw new CallgateError("USAGE", `${place}.limits knows no "${unit}"; there are ${budgetUnits.join(", ")}`);
    assertWhole(`${place}.limits.${unit}`, value, [1, most]);
  }
}
