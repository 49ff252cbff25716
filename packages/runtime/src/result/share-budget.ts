/** What wants a share of a budget. */
export interface Demand<Name extends string> {
  readonly name: Name;
  readonly tokens: number;
  /** Shares of those that want more than there is are in proportion to this. */
  readonly weight: number;
}

/**
 * Shares a budget: whoever wants less than its share gets all of it, and what it leaves goes to the others. The sum of
 * the shares is never over the budget.
 */
export function shareBudget<Name extends string>(demands: readonly Demand<Name>[], budgetTokens: number): ReadonlyMap<Name, number> {
  const shares = new Map<Name, number>();
  let open = [...demands];
  let left = Math.max(0, budgetTokens);
  while (open.length > 0) {
    const weights = open.reduce((sum, { weight }) => sum + weight, 0);
    const share = ({ weight }: Demand<Name>): number => Math.floor((left * weight) / weights);
    const content = open.filter((demand) => demand.tokens <= share(demand));
    if (content.length === 0) {
      for (const demand of open) shares.set(demand.name, share(demand));
      return shares;
    }
    for (const { name, tokens } of content) {
      shares.set(name, tokens);
      left -= tokens;
    }
    open = open.filter((demand) => !content.includes(demand));
  }
  return shares;
}
