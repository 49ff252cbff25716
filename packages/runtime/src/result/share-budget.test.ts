import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { shareBudget } from "./share-budget.ts";

describe("shareBudget", () => {
  test("gives what is left by modest demands to the others, by weight", () => {
    const shares = shareBudget([{ name: "a", tokens: 10, weight: 1 }, { name: "b", tokens: 1_000, weight: 1 }, { name: "c", tokens: 1_000, weight: 2 }], 310);
    expect(Object.fromEntries(shares)).toEqual({ a: 10, b: 100, c: 200 });
  });

  test("is never over the budget, never over a demand, and wastes next to nothing", () => {
    fc.assert(
      fc.property(fc.array(fc.record({ tokens: fc.nat(5_000), weight: fc.integer({ min: 1, max: 6 }) }), { maxLength: 9 }), fc.nat(5_000), (list, budget) => {
        const demands = list.map((demand, index) => ({ ...demand, name: String(index) }));
        const shares = shareBudget(demands, budget);
        const sum = [...shares.values()].reduce((total, share) => total + share, 0);
        const wanted = demands.reduce((total, { tokens }) => total + tokens, 0);
        expect(sum).toBeLessThanOrEqual(budget);
        for (const { name, tokens } of demands) expect(shares.get(name)).toBeLessThanOrEqual(tokens);
        expect(sum).toBeGreaterThanOrEqual(Math.min(budget, wanted) - demands.length);
      }),
    );
  });
});
