import { defineTool, ToolError } from "callgate";
import type { Tool } from "callgate";
import { z } from "zod";

export interface Closing {
  readonly day: string;
  readonly close: number;
}

/** Closing prices that rise or fall slowly and swing: the same every time. */
export function closings(symbolCount: number, days: number): ReadonlyMap<string, readonly Closing[]> {
  return new Map(Array.from({ length: symbolCount }, (_unused, index) => [
    `NW${String.fromCharCode(65 + (index % 26))}${Math.floor(index / 26)}`,
    Array.from({ length: days }, (_none, day) => ({ day: new Date(Date.UTC(2020, 0, 2 + day)).toISOString().slice(0, 10), close: Math.round((100 + day * (0.2 - (index % 5) * 0.08) + 8 * Math.sin(day / (9 + index))) * 100) / 100 })),
  ]));
}

export function marketTools(market: ReadonlyMap<string, readonly Closing[]>): readonly Tool[] {
  return [
    defineTool({ name: "symbols", description: "All shares that there are prices of", effect: "read", input: z.object({}), output: z.array(z.string()), handler: () => [...market.keys()] }),
    defineTool({
      name: "closing_prices",
      description: "Closing prices of a share, oldest first",
      effect: "read",
      input: z.object({ symbol: z.string() }),
      output: z.array(z.object({ day: z.string(), close: z.number() })),
      errors: [{ code: "UNKNOWN_SYMBOL", description: "There are no prices of it" }],
      handler({ symbol }) {
        const found = market.get(symbol);
        if (found === undefined) throw new ToolError({ code: "UNKNOWN_SYMBOL", message: `There is no share ${symbol}`, notApplied: true });
        return found.map((one) => ({ ...one }));
      },
    }),
  ];
}

export interface Order {
  readonly symbol: string;
  readonly shares: number;
}

/** Where shares would be bought. Nobody who analyses them may. */
export function orderTool(orders: Order[]): Tool {
  return defineTool({
    name: "order",
    description: "Buys shares",
    effect: "write",
    input: z.strictObject({ symbol: z.string(), shares: z.int().positive() }),
    output: z.object({ ordered: z.boolean() }),
    handler(order) {
      orders.push(order);
      return { ordered: true };
    },
  });
}

/** Worked out here a second time, without pandas: the last close, the mean of 50 days, and how often the mean of 10 days rose above it. */
export function expectedRow(prices: readonly Closing[]): { readonly last: number; readonly mean50: number; readonly crossings: number } {
  const mean = (end: number, days: number): number => (end + 1 < days ? Number.NaN : prices.slice(end + 1 - days, end + 1).reduce((sum, { close }) => sum + close, 0) / days);
  const above = prices.map((_one, index) => mean(index, 10) > mean(index, 50));
  return { last: prices.at(-1)?.close ?? Number.NaN, mean50: mean(prices.length - 1, 50), crossings: above.filter((is, index) => is && index > 0 && above[index - 1] === false).length };
}
